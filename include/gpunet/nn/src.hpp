// All bodies of this folder and the kernels of layers that are ops themselves, a part of the
// compiled library.
#pragma once

#include <gpunet/nn/any_activation.hpp>
#include <gpunet/nn/bce_loss.hpp>
#include <gpunet/nn/constant.ipp>
#include <gpunet/nn/cross_entropy_loss.ipp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/functional.ipp>
#include <gpunet/nn/hinge_embedding_loss.hpp>
#include <gpunet/nn/identity.hpp>
#include <gpunet/nn/init.ipp>
#include <gpunet/nn/kl_div_loss.hpp>
#include <gpunet/nn/l1_loss.hpp>
#include <gpunet/nn/mse_loss.hpp>
#include <gpunet/nn/output_loss.hpp>
#include <gpunet/nn/reshape.hpp>
#include <gpunet/nn/value.ipp>
#include <gpunet/nn/value_math.ipp>
#include <gpunet/ops/binary_kernels.hpp>

GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::Flatten>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::Identity>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::nn::detail::ReshapeOp>);

#define GPUNET_COMPILE_FUNCTION(scope, Name) \
  GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::scope::Name>>);
GPUNET_FUNCTIONS(GPUNET_COMPILE_FUNCTION)
#undef GPUNET_COMPILE_FUNCTION

GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<gpunet::BinaryOp<
        gpunet::nn::detail::LossOfValues<gpunet::nn::detail::BinaryCrossEntropy>>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<
        gpunet::BinaryOp<gpunet::nn::detail::LossOfValues<gpunet::nn::detail::Divergence>>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<
        gpunet::BinaryOp<gpunet::nn::detail::LossOfValues<gpunet::nn::detail::Hinge>>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<
        gpunet::BinaryOp<gpunet::nn::detail::LossOfValues<gpunet::nn::detail::HuberError>>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<gpunet::BinaryOp<
        gpunet::nn::detail::LossOfValues<gpunet::nn::detail::SmoothAbsoluteError>>>);

GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::AbsoluteError);
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::BinaryCrossEntropy);
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::BinaryCrossEntropyOfClasses);
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::BinaryCrossEntropyOfLogits);
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::Divergence);
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::Hinge);
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::HuberError);
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::OutputItself);
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::SmoothAbsoluteError);
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::SquaredError);

namespace gpunet::nn::detail {

GPUNET_COMPILE_TEMPLATES(GPUNET_LOSS_OF_PART)

}  // namespace gpunet::nn::detail
