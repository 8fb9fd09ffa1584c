// Batch normalization layers.
#pragma once

#include <array>
#include <optional>

#include <gpunet/core/python_number.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/batch_norm.host.hpp>

namespace gpunet::nn {

// As torch.nn.BatchNorm1d and BatchNorm2d take them.
struct BatchNormOptions {
  double eps = 1e-5;  // added to the variance
  // How far the running statistics move towards each batch; std::nullopt: they are the mean over all batches.
  std::optional<double> momentum = 0.1;
};

namespace detail {

// What BatchNorm1d and BatchNorm2d have in common: y = (x - mean) / sqrt(variance + eps) w + b for each channel, w, b
// [channels]. In training with the statistics of the batch, which running_mean and running_var follow; else with those.
class BatchNorm {
 public:
  static constexpr bool couples_samples = true;

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

  template <class In>
  std::string extra_repr(In in) const {
    return concat(channels(in), ", eps=", python_repr(options_.eps),
                  ", momentum=", options_.momentum ? python_repr(*options_.momentum) : "None",
                  ", affine=True, bias=True, track_running_stats=True");
  }

  template <class D, class In, class T>
  index_t scratch(const D&, In in, const Slice&, T) const {
    return 3 * channels(in);
  }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass) const {
    const BatchNormGeometry g = geometry(in, pass.slice);
    const Statistics<T> of(pass, g);
    if (pass.mode == Mode::train) {
      require(g.per_channel() > 1,
              "gpunet::nn::BatchNorm: one value per channel in training, which has no variance, give it batches of "
              "2 or more (the last of a loader may be shorter: drop_last), or call eval() on the model");
      sum_channels(device, ChannelMeanSum<T>{g, pass.x, of.mean, of.running.batches});
      sum_channels(device, ChannelVarianceSum<T>{g, options_.eps, options_.momentum.value_or(-1.0), pass.x, of.mean,
                                                 of.inverse, of.running});
    } else {
      for_each(device, g.channels, InverseDeviation<T>{options_.eps, of.running.variance, of.inverse});
    }
    for_each_in_channels(
        device, Normalize<T>{g, pass.x, of.mean, of.inverse, pass.parameters[0], pass.parameters[1], pass.y});
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass) const {
    const BatchNormGeometry g = geometry(in, pass.slice);
    const Statistics<T> of(pass, g);
    if (pass.mode == Mode::eval)
      for_each(device, g.channels, InverseDeviation<T>{options_.eps, of.running.variance, of.inverse});
    const T *dy = pass.dy, *w = pass.parameters[0];
    T* means = pass.scratch;
    sum_channels(device, BatchNormParameterSum<T>{g, pass.x, dy, of.mean, of.inverse, pass.gradients[0],
                                                  pass.gradients[1], pass.accumulate, means});
    if (!pass.dx) return;
    if (pass.mode == Mode::train)
      for_each_in_channels(device,
                           BatchNormTrainingGradient<T>{g, pass.x, dy, of.mean, of.inverse, w, means, pass.dx});
    else
      for_each_in_channels(device, BatchNormInputGradient<T>{g, dy, of.inverse, w, pass.dx});
  }

 private:
  // Where the statistics are: those that this pass goes by, and those that are kept. In eval mode slices may run side by
  // side, so each has its inverse deviations in scratch memory of its own.
  template <class T>
  struct Statistics {
    RunningStatistics<T> running;
    T *mean, *inverse;
    template <class Pass>
    Statistics(const Pass& pass, const BatchNormGeometry& g)
        : running{pass.buffers[0], pass.buffers[1], pass.buffers.count(2)},
          mean(pass.mode == Mode::train ? pass.buffers[3] : pass.buffers[0]),
          inverse(pass.mode == Mode::train ? pass.buffers[4] : pass.scratch + 2 * g.channels) {}
  };

  template <class In>
  static constexpr index_t channels(In in) {
    return in.template at<0>();
  }
  template <class In>
  static constexpr BatchNormGeometry geometry(In in, const Slice& slice) {
    return {slice, channels(in), in.numel() / channels(in)};
  }

  BatchNormOptions options_{};
};

}  // namespace detail

// Over the batch for each feature of [features], or over batch and length for each channel of [channels, length], as
// torch.nn.BatchNorm1d.
class BatchNorm1d : public detail::BatchNorm {
 public:
  using detail::BatchNorm::BatchNorm;
  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank == 1 || In::rank == 2,
                  "gpunet::nn::BatchNorm1d: the input has to have rank 1 [features] or 2 [channels, length], use "
                  "BatchNorm2d for images");
    return in;
  }
};

// Over batch, height and width for each channel of [channels, height, width], as torch.nn.BatchNorm2d.
class BatchNorm2d : public detail::BatchNorm {
 public:
  using detail::BatchNorm::BatchNorm;
  template <class In>
  constexpr auto output(In in) const {
    static_assert(
        In::rank == 3,
        "gpunet::nn::BatchNorm2d: the input has to have rank 3 [channels, height, width], use BatchNorm1d for "
        "features");
    return in;
  }
};

}  // namespace gpunet::nn
