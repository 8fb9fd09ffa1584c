// Weight files in the safetensors format: 8 bytes with the length of a JSON header, the header, the
// data.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

class FileBytes;

// A safetensors file. Everything that the header states is checked when it is read.
class SafetensorsFile : public TensorFile {
 public:
  // Throws Error naming the path, and the byte where there is one.
  static SafetensorsFile read(const std::string& path, const ReadOptions& options = {});
  // Reads bytes that are already in memory.
  static SafetensorsFile read(const std::string& path, std::shared_ptr<const FileBytes> file);

  // Reads the header only. The data stay in the file, from which copy_as() reads them: loading
  // needs no memory beside its destination.
  static SafetensorsFile open(const std::string& path);

 private:
  using TensorFile::TensorFile;

  // Calls place(entry, begin, end) for each tensor, with the range of its bytes in the data.
  template <class Place>
  void take_header(std::string_view text, std::size_t data_bytes, Place place);
};

// Writes the tensors to `path`, as AtomicFile, and keeps earlier files as its commit(). Bitwise
// identical to the format's Python package.
void write_safetensors(const std::string& path, std::span<const TensorEntry> entries,
                       const Metadata& metadata = {}, int keep_last = 1);

namespace detail {

// A tensor in the header; its bytes are [begin, end) of the data.
struct StoredTensor {
  TensorEntry entry;
  index_t begin = 0, end = 0;
};

// The contents of a header.
struct Header {
  std::vector<StoredTensor> tensors;
  Metadata metadata;
};

// Reads and checks the header of a file with `data_bytes` bytes of data. Returns tensors in the
// order of their data, which they cover without gaps and overlaps. Allocates a small multiple of
// the header's size.
Header read_header(std::string_view text, std::size_t data_bytes, const std::string& path);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/safetensors.ipp>
#endif
