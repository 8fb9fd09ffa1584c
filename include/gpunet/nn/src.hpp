// All bodies of this folder and the kernels of layers that are ops themselves, a part of the
// compiled library.
#pragma once

#include <gpunet/nn/any_activation.hpp>
#include <gpunet/nn/constant.ipp>
#include <gpunet/nn/cross_entropy_loss.ipp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/functional.ipp>
#include <gpunet/nn/identity.hpp>
#include <gpunet/nn/init.ipp>
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

#define GPUNET_COMPILE_PAIRS(Name) \
  GPUNET_COMPILE_KERNELS(          \
      gpunet::detail::OwnKernels<  \
          gpunet::BinaryOp<gpunet::nn::detail::LossOfValues<gpunet::functions::Name>>>);
GPUNET_LOSSES_OF_PAIRS(GPUNET_COMPILE_PAIRS)
#undef GPUNET_COMPILE_PAIRS

#define GPUNET_COMPILE_LOSS(Name) GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::functions::Name);
GPUNET_ELEMENTWISE_LOSSES(GPUNET_COMPILE_LOSS)
#undef GPUNET_COMPILE_LOSS
GPUNET_COMPILE_ELEMENTWISE_LOSS(gpunet::nn::detail::OutputItself);

namespace gpunet::nn::detail {

GPUNET_COMPILE_TEMPLATES(GPUNET_LOSS_OF_PART)

}  // namespace gpunet::nn::detail
