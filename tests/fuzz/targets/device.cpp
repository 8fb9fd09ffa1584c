// The string that names a device.
#include <gpunet/device/select.hpp>

#include "fuzz.hpp"

namespace {

const fuzz::Register device({"device",
                             [](fuzz::Bytes bytes) {
                               const std::string_view text = fuzz::text_of(bytes);
                               const std::string name = gpunet::with_device(
                                   text, {.threads = 1},
                                   [](auto& any) { return std::string(any.name()); });
                               fuzz::ensure(!name.empty(), "a device without a name");
                             },
                             [] {
                               return std::vector<std::string>{"cpu",    "cuda",  "cuda:1",
                                                               "auto",   "cpu:0", "cuda:2147483648",
                                                               "auto:1", ""};
                             }});

}  // namespace
