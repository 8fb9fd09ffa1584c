// NumPy's .npy files.
#include <gpunet/io/npy.hpp>

#include "fuzz.hpp"

namespace {

const fuzz::Register npy({"npy",
                          [](fuzz::Bytes bytes) {
                            fuzz::read_elements(gpunet::io::NpyFile::read(fuzz::file_of(bytes)));
                          },
                          [] {
                            return fuzz::corpus(".npy");
                          }});

}  // namespace
