// Bodies of dlpack.hpp.
#pragma once

#include <iterator>
#include <string>
#include <string_view>

#include <gpunet/tensor/dlpack.hpp>

namespace gpunet::detail {

GPUNET_INLINE void check_dlpack(const dlpack::ManagedTensor* managed, dlpack::TypeCode code,
                                int bits, bool on_host, int ordinal) {
  const dlpack::Array& array = managed->array;
  const auto kind = [](int type_code) {
    constexpr std::string_view names[] = {"int",    "uint",    "float", "handle",
                                          "bfloat", "complex", "bool"};
    return type_code < std::ssize(names) ? std::string(names[type_code])
                                         : concat("type ", type_code, " of ");
  };
  require(array.type_lanes == 1, "gpunet::from_dlpack: elements of ", array.type_lanes,
          " numbers each (lanes; want 1), make the lanes a dimension before");
  require(array.type_code == code && array.type_bits == bits, "gpunet::from_dlpack: elements of ",
          kind(array.type_code), int{array.type_bits}, " (want ", kind(code), bits,
          "), convert them before, or name their type: from_dlpack<float>(device, managed)");
  const bool is_on_host =
      array.device_type == dlpack::processor || array.device_type == dlpack::pinned_host;
  const bool is_on_gpu =
      array.device_type == dlpack::gpu || array.device_type == dlpack::managed_gpu;
  require(on_host ? is_on_host : is_on_gpu && array.device_id == ordinal,
          "gpunet::from_dlpack: memory of device type ", array.device_type, ", number ",
          array.device_id, " (want ", on_host ? "1, the processor" : "2, a GPU, of number ",
          on_host ? "" : std::to_string(ordinal), "), move the tensor before");
  require(0 <= array.rank && array.rank <= Sizes::max_rank, "gpunet::from_dlpack: ", array.rank,
          " dimensions (want 0 to ", Sizes::max_rank, "), join some before");
}

}  // namespace gpunet::detail
