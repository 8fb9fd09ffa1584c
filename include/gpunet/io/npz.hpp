// NumPy's .npz files: a zip archive with a .npy file for each array.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <gpunet/core/config.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

class FileBytes;

// A .npz file. Arrays that are deflated (which takes <gpunet/io/zlib.hpp>) are unpacked when their elements are asked for;
// what is damaged in them is found then. Arrays of texts or objects, and other files in it, are entries with a problem.
class NpzFile : public TensorFile {
 public:
  // Throws Error naming the path, the array, and the byte where there is one.
  static NpzFile read(const std::string& path, const ReadOptions& options = {});
  // The same of bytes that are in memory already.
  static NpzFile read(const std::string& path, std::shared_ptr<const FileBytes> contents,
                      const ReadOptions& options = {});

 private:
  using TensorFile::TensorFile;
};

struct NpzOptions {
  bool compress = false;  // as np.savez_compressed does; takes <gpunet/io/zlib.hpp>
};

// Writes the arrays to `path`, as AtomicFile does: what np.load reads.
void write_npz(const std::string& path, std::span<const TensorEntry> entries, NpzOptions options = {});

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/npz.ipp>
#endif
