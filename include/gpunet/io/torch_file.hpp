// Files of torch.save: a pickle that describes tensors, and the bytes of their storages.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>
#include <gpunet/io/tensor_file.hpp>

namespace gpunet::io {

class FileBytes;

// A file written by torch.save (.pth, .pt), of any version since 0.4: a state_dict, a checkpoint
// that contains state_dicts, a list of tensors. Its pickle is read as data; nothing that it names
// is executed. Everything that it states about tensors is checked when it is read, and so are
// checksums of the data if there are any. Beside the data of its tensors, reading takes at most 128
// bytes of memory per byte of the file, and 4 MB.
class TorchFile : public TensorFile {
 public:
  // Throws Error naming the path, and the byte where there is one.
  static TorchFile read(const std::string& path, const ReadOptions& options = {});
  // Reads bytes that are already in memory.
  static TorchFile read(const std::string& path, std::shared_ptr<const FileBytes> contents,
                        const ReadOptions& options = {});

 private:
  using TensorFile::TensorFile;
};

// Writes the tensors to `path` as torch.save(OrderedDict(...), path) does, in their order; as
// AtomicFile.
void write_torch(const std::string& path, std::span<const TensorEntry> entries);

namespace detail {

class ZipArchive;
struct ZipMember;

// Returns the size of the pickle with the magic number at the start of a file in the old format, in
// any protocol; 0 if there is none.
std::size_t torch_magic_size(std::string_view text);

// Returns the pickle of an archive that torch.save wrote; null for any other.
const ZipMember* find_torch_pickle(const ZipArchive& archive);

// Returns whether an archive was written by torch.jit.save: since PyTorch 1.3 it contains
// NAME/constants.pkl, before NAME/model.json.
bool is_torch_script(const ZipArchive& archive);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/torch_file.ipp>
#endif
