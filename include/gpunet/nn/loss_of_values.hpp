// Losses of two numbers, element by element, as functions of values.
#pragma once

#include <string_view>

#include <gpunet/nn/elementwise_losses.hpp>
#include <gpunet/nn/value.hpp>
#include <gpunet/ops/binary.hpp>

namespace gpunet::nn {

namespace detail {

// The loss of x and a target t, both values: a functor of elementwise_loss.hpp that has the
// gradient of the target, too.
template <class Loss>
struct LossOfValues {
  Loss loss = {};
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    return loss.value(x, t);
  }
  template <class T>
  GPUNET_FN T gradient_a(T x, T t, T dy) const {
    return dy * loss.gradient(x, t);
  }
  template <class T>
  GPUNET_FN T gradient_b(T x, T t, T dy) const {
    return dy * loss.target_gradient(x, t);
  }
};

inline namespace GPUNET_BACKENDS {

// Throws Error unless targets have the shape of x.
void require_targets(std::string_view loss, const Value& x, const Value& target);

}  // namespace GPUNET_BACKENDS
}  // namespace detail

inline namespace GPUNET_BACKENDS {

// Returns the losses of the numbers of x and target. huber_loss and others call it.
template <class Loss>
Value loss_of_values(std::string_view function, const Value& x, const Value& target,
                     const Loss& loss) {
  detail::require_targets(function, x, target);
  using F = detail::LossOfValues<Loss>;
  return detail::add_node<F>(function, BinaryOp<F>{Broadcast(x.sizes(), target.sizes()), {loss}},
                             std::array{x, target}, x.sizes());
}

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::nn

#if GPUNET_COMPILED
#define GPUNET_EXTERN_PAIRS(Name) \
  GPUNET_EXTERN_KERNELS(          \
      gpunet::detail::OwnKernels< \
          gpunet::BinaryOp<gpunet::nn::detail::LossOfValues<gpunet::functions::Name>>>);
GPUNET_LOSSES_OF_PAIRS(GPUNET_EXTERN_PAIRS)
#undef GPUNET_EXTERN_PAIRS
#endif
