// Batch normalization as a node of a graph.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = clamp((x - mean) / sqrt(variance + eps) w + b) for each channel of [channels, width].
// Parameters w, b; buffers running mean, running variance, number of batches, mean and inverse
// deviation of the batch. Layers do not clamp; fuse() sets the bounds of the activation behind.
struct BatchNormOp {
  index_t channels, width;
  double eps, momentum;  // momentum below 0: the running statistics are the mean over all batches
  std::optional<Bounds> clamps = std::nullopt;

  OpTraits traits(const Sizes&, const Sizes&) const { return {.couples_samples = true}; }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat(channels, ", eps=", detail::python_repr(eps),
                  ", momentum=", momentum < 0 ? "None" : detail::python_repr(momentum),
                  ", affine=True, bias=True, track_running_stats=True");
  }

  template <class D, class T>
  index_t scratch(const D&, const Slice&, T) const;

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;

  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/batch_norm/batch_norm.ipp>
#endif
