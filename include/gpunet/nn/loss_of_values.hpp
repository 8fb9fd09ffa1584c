// Losses of two numbers, element by element, as functions of values.
#pragma once

#include <gpunet/nn/bce_loss.hpp>
#include <gpunet/nn/hinge_embedding_loss.hpp>
#include <gpunet/nn/kl_div_loss.hpp>
#include <gpunet/nn/l1_loss.hpp>
#include <gpunet/ops/binary.hpp>

namespace gpunet::nn::detail {

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

}  // namespace gpunet::nn::detail

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<gpunet::BinaryOp<
        gpunet::nn::detail::LossOfValues<gpunet::nn::detail::BinaryCrossEntropy>>>);
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<
        gpunet::BinaryOp<gpunet::nn::detail::LossOfValues<gpunet::nn::detail::Divergence>>>);
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<
        gpunet::BinaryOp<gpunet::nn::detail::LossOfValues<gpunet::nn::detail::Hinge>>>);
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<
        gpunet::BinaryOp<gpunet::nn::detail::LossOfValues<gpunet::nn::detail::HuberError>>>);
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<gpunet::BinaryOp<
        gpunet::nn::detail::LossOfValues<gpunet::nn::detail::SmoothAbsoluteError>>>);
#endif
