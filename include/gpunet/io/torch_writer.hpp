// Files of torch.save, written: such that torch.load(path, weights_only=True) gives a state_dict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/sizes.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/json.hpp>
#include <gpunet/io/tensor_file.hpp>
#include <gpunet/io/torch_types.hpp>
#include <gpunet/io/zip_writer.hpp>

namespace gpunet::io {

namespace detail {

// A pickle of protocol 2, value after value; the letters are the opcodes (Python's pickletools describes them).
class PickleWriter {
 public:
  PickleWriter& opcodes(std::string_view letters) {
    text_ += letters;
    return *this;
  }
  PickleWriter& string(std::string_view text) {
    text_ += 'X';
    append_number(text_, static_cast<std::uint32_t>(text.size()));
    text_ += text;
    return *this;
  }
  // n >= 0.
  PickleWriter& integer(index_t n) {
    if (n <= std::numeric_limits<std::int32_t>::max()) {
      text_ += 'J';
      append_number(text_, static_cast<std::uint32_t>(n));
    } else {
      text_ += "\x8a\x08";  // of 8 bytes
      append_number(text_, static_cast<std::uint64_t>(n));
    }
    return *this;
  }
  PickleWriter& tuple(const Sizes& numbers) {
    text_ += '(';
    for (const index_t n : numbers)
      integer(n);
    text_ += 't';
    return *this;
  }
  // "module.name"
  PickleWriter& global(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    text_ += concat('c', name.substr(0, dot), '\n', name.substr(dot + 1), '\n');
    return *this;
  }
  PickleWriter& ordered_dict() { return global("collections.OrderedDict").opcodes(")R"); }

  const std::string& text() const { return text_; }

 private:
  std::string text_ = "\x80\2";
};

// What calls up the tensor whose storage is the file data/KEY.
inline void write_tensor(PickleWriter& pickle, const TensorEntry& entry, std::string_view key) {
  const std::string_view storage = name_of(torch_storages, entry.dtype), dtype = name_of(torch_dtypes, entry.dtype);
  const bool typed = !storage.empty();
  const index_t numel = typed ? entry.sizes.numel() : byte_count(entry.dtype, entry.sizes);
  pickle.global(typed ? rebuild_tensor_v2 : rebuild_tensor_v3).opcodes("((");
  pickle.string("storage").global(typed ? storage : untyped_storage).string(key).string("cpu").integer(numel);
  pickle.opcodes("tQ").integer(0).tuple(entry.sizes).tuple(packed_strides(entry.sizes)).opcodes("\x89");
  pickle.ordered_dict();
  if (!typed) pickle.global(dtype);
  pickle.opcodes("tR");
}

}  // namespace detail

// Writes the tensors to `path` as torch.save(OrderedDict(...), path) does, in their order; as AtomicFile does.
inline void write_torch(const std::string& path, std::span<const TensorEntry> entries) {
  detail::check_writable(path, entries);
  detail::PickleWriter pickle;
  pickle.ordered_dict().opcodes("(");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const TensorEntry& entry = entries[i];
    require(!detail::name_of(detail::torch_storages, entry.dtype).empty() ||
                !detail::name_of(detail::torch_dtypes, entry.dtype).empty(),
            "gpunet::io: cannot write ", path, ": \"", detail::printable(entry.name), "\" has dtype ",
            to_string(entry.dtype), " (PyTorch has none like it), write a .safetensors file");
    detail::write_tensor(pickle.string(entry.name), entry, concat(i));
  }
  pickle.opcodes("u.");

  constexpr std::size_t alignment = 64;  // PyTorch's
  AtomicFile file(path);
  detail::ZipWriter archive(file);
  archive.store("archive/data.pkl", pickle.text());
  archive.store("archive/byteorder", "little");
  std::vector<std::byte> copy;
  for (std::size_t i = 0; i < entries.size(); ++i)
    archive.store(concat("archive/data/", i), {}, detail::row_major_bytes(entries[i], copy), alignment);
  archive.store("archive/version", "3\n");
  archive.finish();
  file.commit();
}

}  // namespace gpunet::io
