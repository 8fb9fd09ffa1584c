// Safetensors files.
#include <gpunet/io/safetensors.hpp>

#include "fuzz.hpp"
#include "io/python_files.hpp"

namespace {

const fuzz::Register safetensors(
    {"safetensors",
     [](fuzz::Bytes bytes) {
       fuzz::read_elements(gpunet::io::SafetensorsFile::read(fuzz::file_of(bytes)));
     },
     [] {
       using namespace python_files;
       return std::vector<std::string>{two_tensors, many_types, odd_name, nothing};
     }});

}  // namespace
