// Small files, byte for byte as Python's safetensors.torch.save makes them
// (safetensors 0.8.0, torch 2.15.0).
#pragma once

#include <string>

namespace python_files {

using namespace std::string_literals;

// save({"fc.weight": tensor([[1., -2., .5], [3.25, 0., -.125]]), "fc.bias": tensor([1e-3, 7.])},
// {"format": "pt"})
inline const std::string two_tensors =
    "\xa0\0\0\0\0\0\0\0"s
    R"({"__metadata__":{"format":"pt"},"fc.bias":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
    R"("fc.weight":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]}}     )"
    "o\x12\x83:\0\0\xe0@\0\0\x80?\0\0\0\xc0\0\0\0?\0\0P@\0\0\0\0\0\0\0\xbe"s;

// save({"half": tensor([1.5, -0., 65504., 6e-8, inf], dtype=float16),
//       "bf": tensor([1.5, -3e38, 1e-40], dtype=bfloat16), "wide": tensor(.1, dtype=float64),
//       "none": zeros(0, 3), "steps": tensor(7), "mask": tensor([True, False, True])})
inline const std::string many_types =
    "`\1\0\0\0\0\0\0"s
    R"({"steps":{"dtype":"I64","shape":[],"data_offsets":[0,8]},"wide":{"dtype":"F64","shape":[],"data_offsets":[8,16]},)"
    R"("none":{"dtype":"F32","shape":[0,3],"data_offsets":[16,16]},"bf":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},)"
    R"("half":{"dtype":"F16","shape":[5],"data_offsets":[22,32]},"mask":{"dtype":"BOOL","shape":[3],"data_offsets":[32,35]}}     )"
    "\x07\0\0\0\0\0\0\0\x9a\x99\x99\x99\x99\x99\xb9?\xc0?b\xff\1\0\0>\0\x80\xff{\1\0\0|\1\0\1"s;

// save({'a"\\\né😀\x01': tensor([1.])}, {"k\t": "\x7f"})
inline const std::string odd_name =
    "h\0\0\0\0\0\0\0"s
    R"({"__metadata__":{"k\t":")"
    "\x7f"
    R"("},"a\"\\\n)"
    "\xc3\xa9\xf0\x9f\x98\x80"
    R"(\u0001":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}     )"
    "\0\0\x80?"s;

// save({})
inline const std::string nothing = "\x08\0\0\0\0\0\0\0{}      "s;

}  // namespace python_files
