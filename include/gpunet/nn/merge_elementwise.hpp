// Which element-wise layers may run as one kernel with those before them; graph/fuse.hpp does it.
#pragma once

#include <type_traits>

#include <gpunet/device/traits.hpp>
#include <gpunet/graph/graph.hpp>
#include <gpunet/ops/elementwise.hpp>

namespace gpunet::nn::detail {

// The absence of a function.
struct NoFunction {};

// The function of the element-wise layers that were lowered last, one after another, and the type
// of op that computes it.
template <class F = NoFunction>
struct ElementwiseTail {
  F function = {};
  const OpType* type = nullptr;
};

// Offers to merge the node of an element-wise layer with the tail before it. Returns the tail that
// ends with it, an empty one after another layer. Functions of gpunet are merged with a user's
// only: units without a CUDA compiler, which have no user's functions on Cuda, have no kernels of
// compositions either, and lower a network as other units do.
template <class Builder, class F, class L>
auto merge_elementwise(Builder& builder, const ElementwiseTail<F>& before, const L& layer) {
  if constexpr (requires { layer.function(); } &&
                DeviceTraits<typename Builder::device_type>::merges_elementwise) {
    const auto function = layer.function();
    using G = std::remove_const_t<decltype(function)>;
    using Both = ElementwiseOp<Composition<F, G>>;
    if constexpr (std::is_same_v<F, NoFunction> || (is_elementary<F> && is_elementary<G>) ||
                  sizeof(Both) > Node::most_bytes) {
      return ElementwiseTail<G>{function, builder.last_type()};
    } else {
      const Both both{{before.function, function}};
      builder.offer_merged(before.type, both);
      return ElementwiseTail<Composition<F, G>>{both.f, &op_type<Both>};
    }
  } else {
    return ElementwiseTail<>{};
  }
}

}  // namespace gpunet::nn::detail
