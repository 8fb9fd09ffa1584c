// All bodies of this folder for Cuda, a part of the compiled library.
#pragma once

#include <gpunet/ops/argmax.hpp>
#include <gpunet/ops/cross_entropy/cuda/warps.cuh>
#include <gpunet/ops/src.hpp>

namespace gpunet {

template void cross_entropy(Cuda&, const CrossEntropy<float>&);
template void cross_entropy(Cuda&, const CrossEntropy<double>&);

}  // namespace gpunet

GPUNET_COMPILE_LOOP(gpunet::Fill<float>);
GPUNET_COMPILE_LOOP(gpunet::Fill<double>);
GPUNET_COMPILE_LOOP(gpunet::Fill<gpunet::index_t>);
GPUNET_COMPILE_LOOP(gpunet::Fill<std::uint64_t>);
GPUNET_COMPILE_LOOP(gpunet::GatherSamples<float>);
GPUNET_COMPILE_LOOP(gpunet::GatherSamples<std::uint8_t>);
GPUNET_COMPILE_LOOP(gpunet::GatherSamples<float, float>);
GPUNET_COMPILE_LOOP(gpunet::MapTwo<gpunet::Add, float>);
GPUNET_COMPILE_LOOP(gpunet::MapTwo<gpunet::Add, double>);
GPUNET_COMPILE_LOOP(gpunet::Deinterleave<float>);
GPUNET_COMPILE_LOOP(gpunet::Deinterleave<double>);
GPUNET_COMPILE_LOOP(gpunet::ArgMax<float>);
GPUNET_COMPILE_LOOP(gpunet::ArgMax<double>);
GPUNET_COMPILE_SUM(gpunet::CountClass);
GPUNET_COMPILE_LOOP(gpunet::SoftmaxForward<float>);
GPUNET_COMPILE_LOOP(gpunet::SoftmaxForward<double>);
