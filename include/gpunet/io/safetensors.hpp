// Weight files in the safetensors format: 8 bytes with the length of a JSON header, the header, the data.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/sizes.hpp>
#include <gpunet/io/dtype.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/json.hpp>

namespace gpunet::io {

// A named array as a file holds it. Borrows its bytes: row-major, little-endian, not aligned.
struct TensorEntry {
  std::string name = {};
  Dtype dtype = Dtype::F32;
  Sizes sizes = {};
  std::span<const std::byte> bytes = {};
};

// Texts that a file carries beside its tensors.
using Metadata = std::map<std::string, std::string, std::less<>>;

namespace detail {

inline constexpr std::size_t max_header = 100'000'000;  // bytes; the format's limit
inline constexpr std::string_view metadata_key = "__metadata__";

// A tensor of the header; its bytes are [begin, end) of the data.
struct StoredTensor {
  TensorEntry entry;
  index_t begin = 0, end = 0;
};

// What a header says.
struct Header {
  std::vector<StoredTensor> tensors;
  Metadata metadata;
};

// Bytes that elements of the type take; -1 if that is no whole number or cannot be counted. Safe for every size.
inline index_t byte_count(Dtype dtype, const Sizes& sizes) {
  index_t bits = bits_of(dtype);
  for (index_t extent : sizes)
    if (__builtin_mul_overflow(bits, std::max<index_t>(extent, 1), &bits)) return -1;
  if (std::find(sizes.begin(), sizes.end(), 0) != sizes.end()) return 0;
  return bits % 8 == 0 ? bits / 8 : -1;
}

// Reads the three members of a tensor.
inline StoredTensor read_tensor(JsonReader& json, const std::string& name) {
  StoredTensor tensor{.entry = {.name = name}};
  int members = 0;
  json.object([&](const std::string& key) {
    ++members;
    if (key == "dtype") {
      const std::string dtype = json.string();
      const auto known = dtype_from(dtype);
      if (!known) json.fail(concat("the unknown dtype \"", printable(dtype), "\""));
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
      if (offsets.size() != 2 || offsets[0] > offsets[1]) json.fail("data_offsets that are no [begin, end]");
      tensor.begin = offsets[0], tensor.end = offsets[1];
    } else {
      json.fail(concat("the unknown key \"", printable(key), "\" in a tensor"));
    }
  });
  if (members != 3) json.fail("a tensor without dtype, shape or data_offsets");
  if (byte_count(tensor.entry.dtype, tensor.entry.sizes) != tensor.end - tensor.begin)
    json.fail(concat("the tensor \"", printable(name), "\" of shape ", to_string(tensor.entry.sizes), " and dtype ",
                     to_string(tensor.entry.dtype), " does not fit its ", tensor.end - tensor.begin, " bytes"));
  return tensor;
}

// Reads and checks the header of a file with `data_bytes` bytes of data. Tensors come in the order of their data,
// which they cover without holes and overlaps. Allocates a few times what the header takes.
inline Header read_header(std::string_view text, std::size_t data_bytes, const std::string& path) {
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

  std::vector<std::array<index_t, 3>> order;  // begin, end, and which tensor: empty ones stay in their order
  for (const StoredTensor& tensor : tensors)
    order.push_back({tensor.begin, tensor.end, static_cast<index_t>(order.size())});
  std::sort(order.begin(), order.end());
  index_t next = 0;
  for (const auto& [begin, end, i] : order) {
    StoredTensor& tensor = tensors[static_cast<std::size_t>(i)];
    require(tensor.begin == next, place, ": the tensor \"", printable(tensor.entry.name), "\" begins at byte ",
            tensor.begin, " of the data (want ", next, ": no holes, no overlaps), save it again");
    next = tensor.end;
    header.tensors.push_back(std::move(tensor));
  }
  require(static_cast<std::size_t>(next) == data_bytes, place, ": ", data_bytes,
          " bytes of data follow the header (want ", next, ": the file is cut short or too long), fetch it again");
  return header;
}

// The header of a file with these tensors, one after another, padded so that the data begins at a multiple of 8.
inline std::string write_header(const std::vector<const TensorEntry*>& entries, const Metadata& metadata) {
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
    const std::size_t end = offset + entry->bytes.size();
    out += concat("{\"dtype\":\"", to_string(entry->dtype), "\",\"shape\":", shape, ",\"data_offsets\":[", offset,
                  ",", end, "]}");
    offset = end;
  }
  out += '}';
  return out + std::string((8 - out.size() % 8) % 8, ' ');
}

// Pointers to the entries in some order.
inline std::vector<const TensorEntry*> sorted(std::span<const TensorEntry> entries,
                                              bool (*before)(const TensorEntry*, const TensorEntry*)) {
  std::vector<const TensorEntry*> order;
  for (const TensorEntry& entry : entries)
    order.push_back(&entry);
  std::sort(order.begin(), order.end(), before);
  return order;
}

inline bool by_name(const TensorEntry* a, const TensorEntry* b) {
  return a->name < b->name;
}

// Large alignment first, so that every tensor is aligned in the file.
inline bool by_alignment(const TensorEntry* a, const TensorEntry* b) {
  return a->dtype != b->dtype ? a->dtype > b->dtype : by_name(a, b);
}

// Decodes stored elements one by one.
template <class Stored, class T, class Decode>
void decode(std::span<const std::byte> bytes, std::span<T> out, Decode decode_one) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof stored, sizeof stored);
    out[i] = static_cast<T>(decode_one(stored));
  }
}

}  // namespace detail

// A safetensors file in memory. Everything the header says is checked before the data is read.
class SafetensorsFile {
 public:
  // Throws Error naming the path, and the byte where there is one.
  static SafetensorsFile read(const std::string& path) {
    InputFile input(path);
    std::uint64_t length = 0;
    require(input.size() >= sizeof length, "gpunet::io: ", path, " has ", input.size(),
            " bytes (a safetensors file has at least 8), fetch or save it again");
    input.read(std::as_writable_bytes(std::span(&length, 1)));
    const std::size_t rest = input.size() - sizeof length;
    require(length <= rest && length <= detail::max_header, "gpunet::io: ", path, ": a header of ", length,
            " bytes in a file of ", input.size(),
            " (it is cut short, or no safetensors file), fetch it again, or save it from Python with safetensors");
    std::string text(static_cast<std::size_t>(length), '\0');
    input.read(std::as_writable_bytes(std::span(text)));
    const std::size_t data_bytes = rest - text.size();
    detail::Header header = detail::read_header(text, data_bytes, path);

    SafetensorsFile file;
    file.path_ = path;
    file.metadata_ = std::move(header.metadata);
    file.data_ = std::make_unique_for_overwrite<std::byte[]>(data_bytes);
    input.read({file.data_.get(), data_bytes});
    for (detail::StoredTensor& tensor : header.tensors) {
      tensor.entry.bytes = {file.data_.get() + tensor.begin, static_cast<std::size_t>(tensor.end - tensor.begin)};
      file.entries_.push_back(std::move(tensor.entry));
    }
    return file;
  }

  const std::string& path() const { return path_; }
  // In the order of the data. They borrow from this object.
  const std::vector<TensorEntry>& entries() const { return entries_; }
  const Metadata& metadata() const { return metadata_; }

 private:
  std::string path_;
  std::vector<TensorEntry> entries_;
  Metadata metadata_;
  std::unique_ptr<std::byte[]> data_;
};

// Writes the tensors to `path`, as AtomicFile does. Byte for byte what the format's Python package writes.
inline void write_safetensors(const std::string& path, std::span<const TensorEntry> entries,
                              const Metadata& metadata = {}) {
  const TensorEntry* before = nullptr;
  for (const TensorEntry* entry : detail::sorted(entries, detail::by_name)) {
    const std::string place =
        concat("gpunet::io: cannot write ", path, ": \"", detail::printable(entry->name), "\" ");
    require(detail::is_utf8(entry->name), place, "is not UTF-8, rename it");
    require(entry->name != detail::metadata_key, place, "means something else in the format, rename that tensor");
    require(!before || before->name != entry->name, place, "is the name of two tensors, rename one");
    require(detail::byte_count(entry->dtype, entry->sizes) == static_cast<index_t>(entry->bytes.size()), place,
            "has ", entry->bytes.size(), " bytes, which do not fit its shape ", to_string(entry->sizes),
            " and dtype ", to_string(entry->dtype), ", give all elements");
    before = entry;
  }
  for (const auto& [key, value] : metadata)
    require(detail::is_utf8(key) && detail::is_utf8(value), "gpunet::io: cannot write ", path, ": the metadata \"",
            detail::printable(key), "\" is not UTF-8, change it");

  const std::vector<const TensorEntry*> order = detail::sorted(entries, detail::by_alignment);
  const std::string header = detail::write_header(order, metadata);
  require(header.size() <= detail::max_header, "gpunet::io: cannot write ", path, ": its header has ",
          header.size(), " bytes (the format allows ", detail::max_header, "), use several files");
  const std::uint64_t length = header.size();
  AtomicFile file(path);
  file.write(std::as_bytes(std::span(&length, 1)));
  file.write(header);
  for (const TensorEntry* entry : order)
    file.write(entry->bytes);
  file.commit();
}

// Copies the elements of a floating-point tensor to `out`, as float or double; there must be as many.
template <class T>
void copy_as(const TensorEntry& entry, std::span<T> out) {
  require(static_cast<index_t>(out.size()) == entry.sizes.numel(), "gpunet::io::copy_as: ", out.size(),
          " elements for \"", detail::printable(entry.name), "\" of shape ", to_string(entry.sizes), ", make room");
  switch (entry.dtype) {
    case Dtype::F32:
      return detail::decode<float>(entry.bytes, out, [](float x) { return x; });
    case Dtype::F64:
      return detail::decode<double>(entry.bytes, out, [](double x) { return x; });
    case Dtype::F16:
      return detail::decode<std::uint16_t>(entry.bytes, out, detail::half_to_float);
    case Dtype::BF16:
      return detail::decode<std::uint16_t>(entry.bytes, out, detail::bfloat_to_float);
    default:
      throw Error(concat("gpunet::io::copy_as: \"", detail::printable(entry.name), "\" has dtype ",
                         to_string(entry.dtype),
                         " (parameters are F64, F32, F16 or BF16), convert it before saving"));
  }
}

}  // namespace gpunet::io
