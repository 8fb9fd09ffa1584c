// Files of torch.save: archives, and the format before PyTorch 1.6.
#include <gpunet/io/torch_file.hpp>

#include "fuzz.hpp"

namespace {

const fuzz::Register torch_file({"torch_file",
                                 [](fuzz::Bytes bytes) {
                                   fuzz::read_elements(
                                       gpunet::io::TorchFile::read(fuzz::file_of(bytes)));
                                 },
                                 [] {
                                   std::vector<std::string> files = fuzz::corpus(".pth");
                                   for (std::string& file : files)
                                     file = fuzz::without_sums(file);
                                   return files;
                                 }});

}  // namespace
