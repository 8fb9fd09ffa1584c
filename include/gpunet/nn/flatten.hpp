// Images to rows.
#pragma once

#include <gpunet/nn/layer.hpp>

namespace gpunet::nn {

// [a, b, ...] -> [a * b * ...]: the same memory under another shape.
struct Flatten {
  static constexpr bool is_view = true;
  constexpr auto output(auto in) const { return Shape(in.numel()); }
  std::string extra_repr(auto) const { return "start_dim=1, end_dim=-1"; }
};

}  // namespace gpunet::nn
