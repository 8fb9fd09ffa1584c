// Bodies of safetensors.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/dtype.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/mapped_file.hpp>
#include <gpunet/io/safetensors.hpp>

namespace gpunet::io {

namespace detail {

inline constexpr std::size_t sizeof_length = sizeof(std::uint64_t);
inline constexpr std::size_t max_header = 100'000'000;  // bytes; the format's limit
inline constexpr std::string_view metadata_key = "__metadata__";

// Reads the three members of a tensor.
GPUNET_INLINE StoredTensor read_tensor(JsonReader& json, const std::string& name) {
  StoredTensor tensor{.entry = {.name = name}};
  int members = 0;
  json.object([&](const std::string& key) {
    ++members;
    if (key == "dtype") {
      const std::string dtype = json.string();
      const auto known = dtype_from(dtype);
      if (!known || known == Dtype::C128)
        json.fail(concat("the unknown dtype \"", printable(dtype), "\""),
                  "(gpunet has none like it, or the file is damaged), save another");
      tensor.entry.dtype = *known;
    } else if (key == "shape") {
      json.array([&] {
        if (tensor.entry.sizes.rank() == Sizes::max_rank)
          json.fail(concat("more than ", Sizes::max_rank, " dimensions"),
                    "(the most that gpunet handles), reshape it");
        tensor.entry.sizes.append(json.integer());
      });
    } else if (key == "data_offsets") {
      std::vector<index_t> offsets;
      json.array([&] {
        offsets.push_back(json.integer());
        if (offsets.size() > 2) json.fail("more than two data_offsets");
      });
      if (offsets.size() != 2 || offsets[0] > offsets[1])
        json.fail("data_offsets that are no [begin, end]");
      tensor.begin = offsets[0], tensor.end = offsets[1];
    } else {
      json.fail(concat("the unknown key \"", printable(key), "\" in a tensor"));
    }
  });
  if (members != 3) json.fail("a tensor without dtype, shape or data_offsets");
  if (byte_count(tensor.entry.dtype, tensor.entry.sizes) != tensor.end - tensor.begin)
    json.fail(concat("the tensor \"", printable(name), "\" of shape ",
                     to_string(tensor.entry.sizes), " and dtype ", to_string(tensor.entry.dtype),
                     " does not fit its ", tensor.end - tensor.begin, " bytes"));
  return tensor;
}

GPUNET_INLINE Header read_header(std::string_view text, std::size_t data_bytes,
                                 const std::string& path) {
  const std::string place = concat("gpunet::io: ", path);
  JsonReader json(text, place, sizeof(std::uint64_t));
  if (!text.starts_with('{')) json.fail("no '{' at the beginning of the header");
  Header header;
  std::vector<StoredTensor> tensors;  // as the header has them
  json.object([&](const std::string& key) {
    if (key == metadata_key)
      json.object([&](const std::string& name) { header.metadata[name] = json.string(); });
    else
      tensors.push_back(read_tensor(json, key));
  });
  json.finish();

  // Begin, end, index: so empty tensors stay in their order.
  std::vector<std::array<index_t, 3>> order;
  for (const StoredTensor& tensor : tensors)
    order.push_back({tensor.begin, tensor.end, static_cast<index_t>(order.size())});
  std::sort(order.begin(), order.end());
  index_t next = 0;
  for (const auto& [begin, end, i] : order) {
    StoredTensor& tensor = tensors[static_cast<std::size_t>(i)];
    require(tensor.begin == next, place, ": the tensor \"", printable(tensor.entry.name),
            "\" begins at byte ", tensor.begin, " of the data (want ", next,
            ": no holes, no overlaps), save it again");
    next = tensor.end;
    header.tensors.push_back(std::move(tensor));
  }
  require(static_cast<std::size_t>(next) == data_bytes, place, ": ", data_bytes,
          " bytes of data follow the header (want ", next,
          ": the file is cut short or too long), fetch it again");
  return header;
}

// Returns the header of a file with these tensors, one after another, padded so that the data
// starts at a multiple of
// 8.
GPUNET_INLINE std::string write_header(const std::vector<const TensorEntry*>& entries,
                                       const Metadata& metadata) {
  std::string out = "{";
  const auto begin_member = [&](std::string_view key) {
    if (out.back() != '{') out += ',';
    out += json_string(key);
    out += ':';
  };
  if (!metadata.empty()) {
    begin_member(metadata_key);
    out += '{';
    for (const auto& [key, value] : metadata)
      begin_member(key), out += json_string(value);
    out += '}';
  }
  std::size_t offset = 0;
  for (const TensorEntry* entry : entries) {
    std::string shape = to_string(entry->sizes);
    std::erase(shape, ' ');
    begin_member(entry->name);
    const std::size_t end =
        offset + static_cast<std::size_t>(byte_count(entry->dtype, entry->sizes));
    out += concat("{\"dtype\":\"", to_string(entry->dtype), "\",\"shape\":", shape,
                  ",\"data_offsets\":[", offset, ",", end, "]}");
    offset = end;
  }
  out += '}';
  return out + std::string((8 - out.size() % 8) % 8, ' ');
}

// Returns whether a comes before b: large alignment first, so that every tensor is aligned in the
// file.
GPUNET_INLINE bool by_alignment(const TensorEntry* a, const TensorEntry* b) {
  return a->dtype != b->dtype ? a->dtype > b->dtype : name_is_less(a, b);
}

// The source of tensors that stay in the file.
struct SafetensorsSource : ByteSource {
  explicit SafetensorsSource(const std::string& path) : file(path) {}
  void read(std::size_t first_byte, std::span<std::byte> out) const override {
    file.read_at(first_byte, out);
  }
  InputFile file;
};

// Returns the length of the header, given the first bytes of a file.
GPUNET_INLINE std::size_t header_length(std::span<const std::byte> start, std::size_t file_size,
                                        const std::string& path) {
  std::uint64_t length = 0;
  require(start.size() == sizeof length, "gpunet::io: ", path, " has ", file_size,
          " bytes (a safetensors file has at least 8), fetch or save it again");
  std::memcpy(&length, start.data(), sizeof length);
  require(length <= max_header, "gpunet::io: ", path, ": a header of ", length,
          " bytes (the format allows ", max_header,
          ": it is damaged, or no safetensors file), give the file that was meant, or save this "
          "one again, in several files where it has too many tensors");
  require(length <= file_size - sizeof length, "gpunet::io: ", path, ": a header of ", length,
          " bytes in a file of ", file_size,
          " (it is cut short, or no safetensors file), fetch it again, or save it from Python with "
          "safetensors");
  return static_cast<std::size_t>(length);
}

}  // namespace detail

template <class Place>
void SafetensorsFile::take_header(std::string_view text, std::size_t data_bytes, Place place) {
  detail::Header header = detail::read_header(text, data_bytes, path());
  metadata_ = std::move(header.metadata);
  in_saved_order_ = false;  // but in that of types and names
  for (detail::StoredTensor& tensor : header.tensors) {
    place(tensor.entry, static_cast<std::size_t>(tensor.begin),
          static_cast<std::size_t>(tensor.end));
    add(std::move(tensor.entry));
  }
}

GPUNET_INLINE SafetensorsFile SafetensorsFile::read(const std::string& path,
                                                    const ReadOptions& options) {
  return read(path, std::make_shared<const FileBytes>(path, options.map));
}

GPUNET_INLINE SafetensorsFile SafetensorsFile::read(const std::string& path,
                                                    std::shared_ptr<const FileBytes> file) {
  const std::span<const std::byte> bytes = file->bytes();
  const std::size_t length = detail::header_length(
      bytes.first(std::min(bytes.size(), detail::sizeof_length)), bytes.size(), path);
  const std::span<const std::byte> data = bytes.subspan(detail::sizeof_length + length);
  SafetensorsFile out(path);
  out.owner_ = std::move(file);
  out.take_header(detail::as_text(bytes.subspan(detail::sizeof_length, length)), data.size(),
                  [&](TensorEntry& entry, std::size_t begin, std::size_t end) {
                    entry.bytes = data.subspan(begin, end - begin);
                  });
  return out;
}

GPUNET_INLINE SafetensorsFile SafetensorsFile::open(const std::string& path) {
  const auto source = std::make_shared<detail::SafetensorsSource>(path);
  InputFile* const file = &source->file;
  std::vector<std::byte> start(std::min(file->size(), detail::sizeof_length));
  file->read(start);
  std::string header(detail::header_length(start, file->size(), path), '\0');
  file->read(std::as_writable_bytes(std::span(header)));
  const std::size_t data = detail::sizeof_length + header.size();
  SafetensorsFile out(path);
  out.owner_ = source;
  out.take_header(header, file->size() - data,
                  [&](TensorEntry& entry, std::size_t begin, std::size_t) {
                    entry.source = source.get();
                    entry.first_byte = data + begin;
                  });
  return out;
}

GPUNET_INLINE void write_safetensors(const std::string& path, std::span<const TensorEntry> entries,
                                     const Metadata& metadata, int keep_last) {
  detail::check_writable(path, entries);
  for (const TensorEntry& entry : entries) {
    const std::string place =
        concat("gpunet::io: cannot write ", path, ": \"", detail::printable(entry.name), "\" ");
    require(entry.name != detail::metadata_key, place,
            "means something else in the format, rename that tensor");
    require(entry.dtype != Dtype::C128, place,
            "has dtype C128 (the format has none), convert it or use .npz");
  }
  for (const auto& [key, value] : metadata)
    require(detail::is_utf8(key) && detail::is_utf8(value), "gpunet::io: cannot write ", path,
            ": the metadata \"", detail::printable(key), "\" is not UTF-8, change it");

  const std::vector<const TensorEntry*> order = detail::sorted(entries, detail::by_alignment);
  const std::string header = detail::write_header(order, metadata);
  require(header.size() <= detail::max_header, "gpunet::io: cannot write ", path,
          ": its header has ", header.size(), " bytes (the format allows ", detail::max_header,
          "), use several files");
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  std::vector<std::byte> copy;
  for (const TensorEntry* entry : order)
    file.write(detail::row_major_bytes(*entry, copy));
  file.commit(keep_last);
}

}  // namespace gpunet::io
