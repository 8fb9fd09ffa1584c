// NumPy's .npy files: one array.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

class FileBytes;

// A .npy file: one array, whose name is empty.
class NpyFile : public TensorFile {
 public:
  // Throws Error naming the path, and the byte where there is one.
  static NpyFile read(const std::string& path, const ReadOptions& options = {});
  // Reads bytes that are already in memory.
  static NpyFile read(const std::string& path, std::shared_ptr<const FileBytes> contents);

 private:
  using TensorFile::TensorFile;
};

// Writes one array to `path`, as AtomicFile; its name is not stored. Bitwise identical to np.save.
void write_npy(const std::string& path, const TensorEntry& entry);

namespace detail {

class ByteReader;

inline constexpr std::string_view npy_magic = "\x93NUMPY", npy_ending = ".npy";

// Returns the number of bytes before the data, given the first twelve of a .npy file: magic,
// version, length of the header. Returns start.size() if this is not the start of such a file.
std::size_t npy_header_size(std::span<const std::byte> start);

// Reads the header of a .npy file; afterwards `bytes` is at the data.
TensorEntry read_npy_header(ByteReader& bytes);

// Throws Error unless the data, of `left` bytes, has the length that the header states.
void check_npy_data(const ByteReader& bytes, const TensorEntry& entry, std::uint64_t left);

// Returns the header and the data of a .npy file; `copy` stores data that must be reordered.
std::pair<std::string, std::span<const std::byte>> npy_parts(const std::string& path,
                                                             const TensorEntry& entry,
                                                             std::vector<std::byte>& copy);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/npy.ipp>
#endif
