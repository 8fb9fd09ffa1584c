// NumPy's .npz files: a zip archive with a .npy file for each array.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

class FileBytes;

// A .npz file. Compressed arrays (which need <gpunet/io/zlib.hpp>) are decompressed when their
// elements are requested; damage in them is found then. Arrays of texts or objects, and other files
// in the archive, are entries with a problem.
class NpzFile : public TensorFile {
 public:
  // Throws Error naming the path, the array, and the byte where there is one.
  static NpzFile read(const std::string& path, const ReadOptions& options = {});
  // Reads bytes that are already in memory.
  static NpzFile read(const std::string& path, std::shared_ptr<const FileBytes> contents,
                      const ReadOptions& options = {});

 private:
  using TensorFile::TensorFile;
};

// How a .npz file is written.
struct NpzOptions {
  bool compress = false;  // as np.savez_compressed; needs <gpunet/io/zlib.hpp>
};

// Writes the arrays to `path`, as AtomicFile. np.load reads the file.
void write_npz(const std::string& path, std::span<const TensorEntry> entries,
               NpzOptions options = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/npz.ipp>
#endif
