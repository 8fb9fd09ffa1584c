// Weight files in the safetensors format: 8 bytes with the length of a JSON header, the header, the data.
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

// A safetensors file. Everything the header says is checked when it is read.
class SafetensorsFile : public TensorFile {
 public:
  // Throws Error naming the path, and the byte where there is one.
  static SafetensorsFile read(const std::string& path, const ReadOptions& options = {});
  // The same of bytes that are in memory already.
  static SafetensorsFile read(const std::string& path, std::shared_ptr<const FileBytes> file);

  // Reads the header alone. The bytes of the tensors stay in the file, from where copy_as() reads them: loading takes no
  // memory beside its destination.
  static SafetensorsFile open(const std::string& path);

 private:
  using TensorFile::TensorFile;

  // Calls place(entry, begin, end) for each tensor: where its bytes are in the data.
  template <class Place>
  void take_header(std::string_view text, std::size_t data_bytes, Place place);
};

// Writes the tensors to `path`, as AtomicFile does. Byte for byte what the format's Python package writes.
void write_safetensors(const std::string& path, std::span<const TensorEntry> entries,
                       const Metadata& metadata = {});

namespace detail {

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

// Reads and checks the header of a file with `data_bytes` bytes of data. Tensors come in the order of their data,
// which they cover without holes and overlaps. Allocates a few times what the header takes.
Header read_header(std::string_view text, std::size_t data_bytes, const std::string& path);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/safetensors.ipp>
#endif
