// All bodies of this folder and the kernels of layers that are ops themselves, a part of the
// compiled library.
#pragma once

#include <gpunet/nn/activations.hpp>
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

GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Tanh>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Sigmoid>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Hardtanh>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::ReLU6>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::LeakyReLU>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::ELU>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::SELU>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::GELUByErf>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::GELUByTanh>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::SiLU>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Mish>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::LogSigmoid>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Softplus>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Softsign>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Hardswish>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Hardsigmoid>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Abs>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Affine>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Clamp>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Cos>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Exp>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Length>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Log>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Pow>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Reciprocal>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Sin>>);
GPUNET_COMPILE_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Sqrt>>);
GPUNET_COMPILE_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Square>>);

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
