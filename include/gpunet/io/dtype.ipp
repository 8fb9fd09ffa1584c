// Bodies of dtype.hpp.
#pragma once

#include <gpunet/io/dtype.hpp>

namespace gpunet::io {

GPUNET_INLINE std::optional<Dtype> dtype_from(std::string_view name) {
  for (std::size_t i = 0; i < detail::dtypes.size(); ++i)
    if (detail::dtypes[i].name == name) return static_cast<Dtype>(i);
  return std::nullopt;
}

}  // namespace gpunet::io
