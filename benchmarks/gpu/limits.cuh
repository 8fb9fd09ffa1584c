// The limits of a GPU as work: copied bytes, and multiply-adds in float and on tensor cores.
#pragma once

#include <string>

#include <gpunet/device/cuda/gemm/tensor_core_tile.cuh>
#include <gpunet/device/cuda/launch.cuh>

#include "../work.hpp"

namespace bench::gpu {

using gpunet::Cuda;

inline constexpr unsigned copy_threads = 512, peak_threads = 256;  // of a block

// target = source, 16 bytes at a time.
template <class = void>
__global__ void __launch_bounds__(copy_threads, 1)
    copy_kernel(const float4* __restrict__ source, float4* __restrict__ target, index_t n) {
  const index_t threads = index_t{gridDim.x} * blockDim.x;
#pragma unroll 4
  for (index_t i = index_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += threads)
    target[i] = source[i];
}

// Independent sums of a thread, which hide the latency of each.
inline constexpr int peak_sums = 16;

// `rounds` times one multiply-add on each sum of each thread. Nothing is ever written, but the
// compiler cannot know. A scheduler issues one instruction per cycle, and unrolled eight times the
// loop's own are 2 % of them.
template <class = void>
__global__ void __launch_bounds__(peak_threads, 1)
    multiply_add_kernel(int rounds, float factor, float term, float* out) {
  float sums[peak_sums];
#pragma unroll
  for (int i = 0; i < peak_sums; ++i)
    sums[i] = static_cast<float>(threadIdx.x) + static_cast<float>(i);
#pragma unroll 8
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < peak_sums; ++i)
      sums[i] = sums[i] * factor + term;
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < peak_sums; ++i)
    total += sums[i];
  if (total == -1) *out = total;
}

inline constexpr int tensor_tiles = 8;  // independent tiles of a warp

// The same with the instruction of the library's own tf32 products, [16, 8] += [16, 8] [8, 8] for
// each tile of each warp.
template <class = void>
__global__ void __launch_bounds__(peak_threads, 1)
    tensor_kernel(int rounds, std::uint32_t bits, float* out) {
  float tiles[tensor_tiles][4] = {};
  const std::uint32_t a[4] = {bits, bits ^ threadIdx.x, bits, bits}, b[2] = {bits, bits};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < tensor_tiles; ++i)
      gpunet::detail::Tf32::multiply(tiles[i], a, b);
  }
  float total = 0;
#pragma unroll
  for (int i = 0; i < tensor_tiles; ++i)
    total += tiles[i][0] + tiles[i][1] + tiles[i][2] + tiles[i][3];
  if (total == -1) *out = total;
}

// Copies an array, `bytes` read and as many written in a step; much larger than the caches, it is
// memory that counts. value() is the number of bytes that a step moves.
class CopyOnCuda : public Work {
 public:
  CopyOnCuda(Cuda& device, index_t bytes)
      : device_(device), n_(bytes / 16), source_(device, {4 * n_}), target_(device, {4 * n_}) {
    gpunet::fill(device, 4 * n_, 1.f, source_.data());
  }
  void run(index_t steps) override {
    const unsigned blocks = 16 * static_cast<unsigned>(device_.multiprocessors());
    for (index_t i = 0; i < steps; ++i)
      gpunet::detail::launch(
          device_, {blocks, copy_threads}, [] { return std::string("copy"); }, copy_kernel<>,
          reinterpret_cast<const float4*>(source_.data()),
          reinterpret_cast<float4*>(target_.data()), n_);
  }
  double value() const override { return 32.0 * static_cast<double>(n_); }

 private:
  Cuda& device_;
  index_t n_;
  gpunet::Tensor<float, Cuda> source_, target_;
};

// Multiply-adds in registers, on the tensor cores where the device may round to tf32. value() is
// the number of operations of a step.
class PeakOnCuda : public Work {
 public:
  PeakOnCuda(Cuda& device, int rounds)
      : device_(device),
        rounds_(rounds),
        blocks_(8 * static_cast<unsigned>(device.multiprocessors())),
        out_(device, {1}) {}

  void run(index_t steps) override {
    const auto what = [] {
      return std::string("multiply_add");
    };
    for (index_t i = 0; i < steps; ++i)
      if (on_tensor_cores())
        gpunet::detail::launch(device_, {blocks_, peak_threads}, what, tensor_kernel<>, rounds_,
                               0x3f800000u, out_.data());
      else
        gpunet::detail::launch(device_, {blocks_, peak_threads}, what, multiply_add_kernel<>,
                               rounds_, 0.5f, 1.f, out_.data());
  }
  double value() const override {
    const double in_a_round =
        on_tensor_cores() ? tensor_tiles * 2.0 * 16 * 8 * 8 / 32 : 2.0 * peak_sums;  // per thread
    return in_a_round * rounds_ * peak_threads * blocks_;
  }

 private:
  bool on_tensor_cores() const {
    return device_.precision() == gpunet::Precision::tf32 &&
           device_.architecture() >= gpunet::detail::tensor_architecture;
  }

  Cuda& device_;
  int rounds_;
  unsigned blocks_;
  gpunet::Tensor<float, Cuda> out_;
};

}  // namespace bench::gpu
