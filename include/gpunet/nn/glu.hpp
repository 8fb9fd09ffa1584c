// The gated linear unit.
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/glu.hpp>

namespace gpunet::nn {

// y = a sigmoid(b), where a and b are the halves of x along a dimension, as torch.nn.GLU(dim): -1
// is the last one, and counted from the front the batch is 0 and the first of a sample 1. Dauphin
// and others, "Language Modeling with Gated Convolutional Networks", ICML 2017.
template <int dim = -1>
class GLU {
  static_assert(
      dim != 0,
      "gpunet::nn::GLU: the dimension is 0, the batch (1 is the first of a sample, -1 the last)");

 public:
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(
        (dim < 0 ? -dim : dim) <= In::rank,
        "gpunet::nn::GLU: the input has fewer dimensions, give a smaller one (-1 is the last)");
    if constexpr ((dim < 0 ? -dim : dim) <= In::rank) {
      const auto extent = in.template at<axis<In>>();
      require(extent % 2 == 0, "gpunet::nn::GLU: ", index_t{extent},
              " numbers along the dimension that is halved (want an even number), give the layer "
              "before one more");
      return with_extent<axis<In>>(in, extent / Dim<2>{});
    } else {
      return in;
    }
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const Sizes sizes = in.sizes();
    GluOp op{1, 1, dim};
    for (int i = 0; i < In::rank; ++i)
      (i < static_cast<int>(axis<In>) ? op.rows : op.half) *= sizes[i];
    op.half /= 2;
    return builder.add(op, x, output(in).sizes());
  }

 private:
  template <class In>
  static constexpr std::size_t axis = static_cast<std::size_t>(dim < 0 ? In::rank + dim : dim - 1);
};

}  // namespace gpunet::nn
