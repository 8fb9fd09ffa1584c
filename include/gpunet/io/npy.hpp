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
  // The same of bytes that are in memory already.
  static NpyFile read(const std::string& path, std::shared_ptr<const FileBytes> contents);

 private:
  using TensorFile::TensorFile;
};

// Writes one array to `path`, as AtomicFile does; its name is not kept. Byte for byte what np.save writes.
void write_npy(const std::string& path, const TensorEntry& entry);

namespace detail {

class ByteReader;

inline constexpr std::string_view npy_magic = "\x93NUMPY", npy_ending = ".npy";

// How many bytes of a .npy file are before its data, by its first twelve: the magic, a version, the length of the header.
// All of them where these are no start of such a file.
std::size_t npy_header_size(std::span<const std::byte> start);

// The header of a .npy file, up to its data, at which `bytes` is left.
TensorEntry read_npy_header(ByteReader& bytes);

// Checks that the data, of `left` bytes, is as long as the header says.
void check_npy_data(const ByteReader& bytes, const TensorEntry& entry, std::uint64_t left);

// The header and the bytes of a .npy file; `copy` keeps what has to be put in order.
std::pair<std::string, std::span<const std::byte>> npy_parts(const std::string& path, const TensorEntry& entry,
                                                             std::vector<std::byte>& copy);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/npy.ipp>
#endif
