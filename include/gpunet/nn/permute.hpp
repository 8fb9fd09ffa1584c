// Dimensions in another order.
#pragma once

#include <array>
#include <cstddef>

#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/gather.hpp>

namespace gpunet::nn {

// Dimension i of the output is dimension dims[i] of the input, as torch.permute, with the
// dimensions of a sample: 0 is the first one behind the batch. Permute<2, 0, 1> makes [channels,
// height, width] of [height, width, channels].
template <index_t... dims>
class Permute {
  static constexpr bool is_permutation() {
    std::array<bool, sizeof...(dims)> found{};
    for (index_t dim : {dims...})
      if (dim >= 0 && dim < static_cast<index_t>(found.size()))
        found[static_cast<std::size_t>(dim)] = true;
    for (bool one : found)
      if (!one) return false;
    return true;
  }
  static_assert(sizeof...(dims) >= 1 && sizeof...(dims) < Sizes::max_rank,
                "gpunet::nn::Permute: give 1 to 7 dimensions, as in Permute<2, 0, 1>");
  static_assert(is_permutation(),
                "gpunet::nn::Permute: the dimensions have to be 0, 1, ... in any order, each once "
                "(those of a sample, without the batch)");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == sizeof...(dims),
                  "gpunet::nn::Permute: the input has another number of dimensions, name each "
                  "dimension of a sample once (without the batch)");
    if constexpr (In::rank == sizeof...(dims))
      return Shape(in.template at<static_cast<std::size_t>(dims)>()...);
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes out = output(in).sizes();
    GatherOp op{GatherOp::Kind::permute, sizeof...(dims)};
    int i = 0;
    ((op.axes[static_cast<std::size_t>(i)] = {out[i], out[i], 0, static_cast<std::int8_t>(dims)},
      ++i),
     ...);
    return builder.add(op, x, out);
  }
};

}  // namespace gpunet::nn
