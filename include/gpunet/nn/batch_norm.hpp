// Batch normalization layers.
#pragma once

#include <array>
#include <optional>

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/ops/batch_norm/batch_norm.hpp>

namespace gpunet::nn {

// Options of batch normalization, as in PyTorch.
struct BatchNormOptions {
  double eps = 1e-5;  // added to the variance
  // The weight of each batch in the running statistics; std::nullopt: they are the mean over all
  // batches.
  std::optional<double> momentum = 0.1;
};

namespace detail {

// The common part of BatchNorm1d, 2d and 3d: y = (x - mean) / sqrt(variance + eps) w + b for
// each channel, w and b [channels]. In training mode mean and variance are over the batch, and
// update running_mean and running_var; in evaluation mode they are running_mean and running_var.
class BatchNorm {
 public:
  constexpr BatchNorm() = default;
  constexpr explicit BatchNorm(const BatchNormOptions& options) : options_(options) {
    require(options.eps >= 0, "gpunet::nn::BatchNorm: eps ", options.eps, " (want 0 or more)");
    require(!options.momentum || (*options.momentum >= 0 && *options.momentum <= 1),
            "gpunet::nn::BatchNorm: momentum ", options.momentum.value_or(0), " (want 0 to 1)");
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return std::array{constant("weight", {channels(in)}, 1), constant("bias", {channels(in)}, 0)};
  }

  template <class In>
  constexpr auto buffers(In in) const {
    const Sizes each{channels(in)};
    return std::array{BufferSpec{"running_mean", each, 0}, BufferSpec{"running_var", each, 1},
                      BufferSpec{"num_batches_tracked", {}, 0, BufferKind::count},
                      BufferSpec{"batch_mean", each, 0, BufferKind::numbers, false},
                      BufferSpec{"batch_inverse", each, 0, BufferKind::numbers, false}};
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const BatchNormOp op{channels(in), per_channel(in), options_.eps,
                         options_.momentum.value_or(-1.0)};
    return builder.add(op, x, in.sizes(), parameters(in), buffers(in));
  }

 private:
  template <class In>
  static constexpr index_t channels(In in) {
    return in.template at<0>();
  }

  BatchNormOptions options_{};
};

}  // namespace detail

// Batch normalization of [features], over the batch, or of [channels, length], over batch and
// length, as torch.nn.BatchNorm1d.
class BatchNorm1d : public detail::BatchNorm {
 public:
  using detail::BatchNorm::BatchNorm;
  GPUNET_REFUSED_FEATURES(BatchNorm1d)
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 1 || In::rank == 2,
                  "gpunet::nn::BatchNorm1d: the input has to have rank 1 [features] or 2 "
                  "[channels, length], use BatchNorm2d for images");
    return in;
  }
};

// Batch normalization of [channels, height, width], over batch, height and width, as
// torch.nn.BatchNorm2d.
class BatchNorm2d : public detail::BatchNorm {
 public:
  using detail::BatchNorm::BatchNorm;
  GPUNET_REFUSED_FEATURES(BatchNorm2d)
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 3,
                  "gpunet::nn::BatchNorm2d: the input has to have rank 3 [channels, height, "
                  "width], use BatchNorm1d for features");
    return in;
  }
};

// Batch normalization of [channels, depth, height, width], over all but the channels, as
// torch.nn.BatchNorm3d.
class BatchNorm3d : public detail::BatchNorm {
 public:
  using detail::BatchNorm::BatchNorm;
  GPUNET_REFUSED_FEATURES(BatchNorm3d)
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 4,
                  "gpunet::nn::BatchNorm3d: the input has to have rank 4 [channels, depth, height, "
                  "width], use BatchNorm2d for images");
    return in;
  }
};

}  // namespace gpunet::nn
