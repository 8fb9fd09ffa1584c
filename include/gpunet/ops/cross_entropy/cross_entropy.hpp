// Softmax and negative log-likelihood of one label per sample; targets.hpp has the options.
#pragma once

#include <optional>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/cross_entropy/plain.hpp>

namespace gpunet {

// The same for floats on Host: in vectors over the samples of a slice.
void cross_entropy(Host& device, const CrossEntropy<float>& loss);

#if GPUNET_CUDA
// The same on Cuda: a warp for each sample.
template <class T>
void cross_entropy(Cuda& device, const CrossEntropy<T>& loss);
#endif

// Throws Error for an invalid label, but for those to ignore; `name` is the caller's, for the
// message. Only devices whose memory the CPU can read check; on others the loss is NaN.
template <class D>
void check_labels(std::string_view, D&, const label_t*, index_t, index_t,
                  std::optional<index_t> = {}) {}

void check_labels(std::string_view name, Host&, const label_t* labels, index_t count,
                  index_t classes, std::optional<index_t> ignored = {});

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/cross_entropy/cross_entropy.ipp>
#endif
#if GPUNET_NVCC && !GPUNET_COMPILED
#include <gpunet/ops/cross_entropy/cuda/warps.cuh>
#endif
