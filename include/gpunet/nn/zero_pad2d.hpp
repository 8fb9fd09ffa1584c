// A border of zeros.
#pragma once

#include <cstddef>
#include <cstdint>

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/gather.hpp>

namespace gpunet::nn {

// Zeros around images, as torch.nn.ZeroPad2d: [c, h, w] -> [c, top + h + bottom, left + w + right].
// ZeroPad2d<n> is the same number on all four sides, ZeroPad2d<left, right, top, bottom> one for
// each.
template <index_t left, index_t... others>
class ZeroPad2d {
  static_assert(sizeof...(others) == 0 || sizeof...(others) == 3,
                "gpunet::nn::ZeroPad2d: give one padding, or four: left, right, top, bottom");
  // Of side 0 to 3: left, right, top, bottom.
  static constexpr index_t padding(std::size_t side) {
    const index_t given[] = {left, others...};
    return given[sizeof...(others) == 3 ? side : 0];
  }
  static constexpr bool is_possible() {
    for (index_t n : {left, others...})
      if (n < 0 || n > 1 << 16) return false;
    return true;
  }
  static_assert(is_possible(), "gpunet::nn::ZeroPad2d: a padding has to be 0 to 65536");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::ZeroPad2d: the input has to have rank 3 [channels, height, width], "
                  "give Input three sizes");
    if constexpr (In::rank == 3) {
      const Shape out(in.template at<0>(), in.template at<1>() + Dim<padding(2) + padding(3)>{},
                      in.template at<2>() + Dim<padding(0) + padding(1)>{});
      require_possible_image("ZeroPad2d", out.template at<0>(), out.template at<1>(),
                             out.template at<2>(), 0);
      return out;
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes from = in.sizes(), out = output(in).sizes();
    return builder.add(GatherOp{GatherOp::Kind::zero_pad2d,
                                3,
                                {{{from[0], out[0], 0, 0},
                                  {from[1], out[1], static_cast<std::int32_t>(padding(2)), 1},
                                  {from[2], out[2], static_cast<std::int32_t>(padding(0)), 2}}}},
                       x, out);
  }
};

}  // namespace gpunet::nn
