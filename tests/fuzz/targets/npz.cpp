// NumPy's .npz files, stored and deflated.
#include <gpunet/io/npz.hpp>
#include <gpunet/io/zlib.hpp>

#include "fuzz.hpp"

namespace {

const fuzz::Register npz({"npz",
                          [](fuzz::Bytes bytes) {
                            fuzz::read_elements(gpunet::io::NpzFile::read(fuzz::file_of(bytes)));
                          },
                          [] {
                            std::vector<std::string> files = fuzz::corpus(".npz");
                            for (std::string& file : files)
                              file = fuzz::without_sums(file);
                            return files;
                          }});

}  // namespace
