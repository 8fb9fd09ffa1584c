// Files of torch.save: a pickle that says what there is, and the bytes of the storages.
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

// A file that torch.save wrote (.pth, .pt), of any version since 0.4: a state_dict, a checkpoint
// with state_dicts inside, a list of tensors. Its pickle is read as data; nothing that it names is executed. All that
// it says about tensors is checked when it is read, and the check sums of its data where it has them. Besides the data of
// its tensors, reading takes at most 128 bytes of memory for each byte of the file, and 4 MB.
class TorchFile : public TensorFile {
 public:
  // Throws Error naming the path, and the byte where there is one.
  static TorchFile read(const std::string& path, const ReadOptions& options = {});
  // The same of bytes that are in memory already.
  static TorchFile read(const std::string& path, std::shared_ptr<const FileBytes> contents);

 private:
  using TensorFile::TensorFile;
};

// Writes the tensors to `path` as torch.save(OrderedDict(...), path) does, in their order; as AtomicFile does.
void write_torch(const std::string& path, std::span<const TensorEntry> entries);

namespace detail {

class ZipArchive;
struct ZipMember;

// How many bytes at the beginning are the pickle of the magic number of the old format, in any protocol; 0 if none are.
std::size_t torch_magic_size(std::string_view text);

// The pickle of an archive that torch.save wrote; null in any other.
const ZipMember* find_torch_pickle(const ZipArchive& archive);

// Whether an archive is of torch.jit.save: since PyTorch 1.3 with the file NAME/constants.pkl, before with NAME/model.json.
bool is_torch_script(const ZipArchive& archive);

}  // namespace detail

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/torch_file.ipp>
#endif
