// Softmax and negative log-likelihood on Cuda: a warp for each sample, or a block where there are
// many classes.
#pragma once

#include <cmath>

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/group_reduce.cuh>
#include <gpunet/ops/cross_entropy/plain.hpp>

namespace gpunet {

namespace detail {

inline constexpr int cross_entropy_threads = 128;

// `warps` warps make one sample of a slice that lies [samples][classes]. The formulas are as in
// CrossEntropy.
template <int warps, class T>
__global__ void __launch_bounds__(cross_entropy_threads, 1)
    cross_entropy_kernel(CrossEntropy<T> loss) {
  constexpr int group = warps * warp_size;
  __shared__ T shared[warps];
  __shared__ WideSum<T> shared_sums[warps];
  const int lane = static_cast<int>(threadIdx.x) % group;
  const index_t groups = blockDim.x / group, first = blockIdx.x * groups + threadIdx.x / group;
  for (index_t n = first; n < loss.slice.samples(); n += gridDim.x * groups) {
    const T* x = loss.x + n * loss.classes;
    T* dx = loss.dx + n * loss.classes;
    T largest = x[0];
    for (index_t k = lane; k < loss.classes; k += group)
      largest = Largest{}(largest, x[k]);
    largest = combine_group<warps>(largest, Largest{}, shared);
    LongSum<T> terms;
    for (index_t k = lane; k < loss.classes; k += group)
      terms += dx[k] = std::exp(x[k] - largest);
    const T sum = static_cast<T>(combine_group<warps>(terms.wide(), Sum{}, shared_sums));
    const index_t label = loss.labels[n];
    const bool valid = label >= 0 && label < loss.classes;
    if (lane == 0) loss.losses[n] = valid ? std::log(sum) - (x[label] - largest) : loss.no_class;
    for (index_t k = lane; k < loss.classes; k += group)
      dx[k] = loss.scale * (dx[k] / sum - (k == label ? T{1} : T{0}));
  }
}

}  // namespace detail

template <class T>
void cross_entropy(Cuda& device, const CrossEntropy<T>& loss) {
  constexpr index_t many_classes = 1024;
  constexpr int threads = detail::cross_entropy_threads, warps = threads / detail::warp_size;
  const index_t samples = loss.slice.samples();
  if (samples <= 0) return;
  const auto what = [&] {
    return concat("cross_entropy of ", samples, " samples with ", loss.classes, " classes");
  };
  if (loss.classes < many_classes)
    detail::launch(device, {detail::blocks(device, samples, warps), threads}, what,
                   detail::cross_entropy_kernel<1, T>, loss);
  else
    detail::launch(device, {detail::blocks(device, samples, 1), threads}, what,
                   detail::cross_entropy_kernel<warps, T>, loss);
}

}  // namespace gpunet
