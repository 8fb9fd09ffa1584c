// Bodies of batch_norm.hpp.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/ops/batch_norm/batch_norm.hpp>
#include <gpunet/ops/batch_norm/host/channels.hpp>
#include <gpunet/ops/batch_ranks.hpp>

namespace gpunet {

namespace detail {

// The statistics that a pass uses, and the running ones. In evaluation mode slices may run in
// parallel, so each has its inverse deviations in its own scratch memory.
template <class T>
struct BatchNormStatistics {
  RunningStatistics<T> running;
  T *mean, *inverse;
  template <class P>
  BatchNormStatistics(const P& pass, index_t channels)
      : running{pass.buffers[0], pass.buffers[1], pass.buffers.count(2)},
        mean(pass.mode == nn::Mode::train ? pass.buffers[3] : pass.buffers[0]),
        inverse(pass.mode == nn::Mode::train ? pass.buffers[4] : pass.scratch + 2 * channels) {}
};

}  // namespace detail

template <class D, class T>
index_t BatchNormOp::scratch(const D&, const Slice&, T) const {
  return 3 * channels;
}

template <class D, class T>
void BatchNormOp::forward(D& device, const ForwardPass<T>& pass) const {
  const BatchNormGeometry g{pass.slice, channels, width};
  const detail::BatchNormStatistics<T> of(pass, channels);
  if (pass.mode == nn::Mode::train) {
    require(g.per_channel() > 1 || pass.ranks,
            "gpunet::nn::BatchNorm: one value per channel in training, which has no variance, give "
            "it batches of 2 or more (the last of a loader may be shorter: drop_last), or call "
            "eval() on the model");
    const index_t size = batch_norm_record(channels), ranks = pass.ranks ? pass.ranks->ranks() : 0;
    double* const record = pass.ranks ? pass.ranks->numbers((1 + ranks) * size) : nullptr;
    const ChannelVarianceSum<T> variance{g,       eps,        momentum,   pass.x,
                                         of.mean, of.inverse, of.running, record};
    sum_channels(device, ChannelMeanSum<T>{g, pass.x, of.mean, of.running.batches, record});
    sum_channels(device, variance);
    if (pass.ranks) {
      pass.ranks->gather(record, size, record + size);
      for_each(device, channels, MergeRanks<T>{ranks, record + size, of.mean, variance});
    }
  } else {
    for_each(device, g.channels, InverseDeviation<T>{eps, of.running.variance, of.inverse});
  }
  for_each_in_channels(
      device, NormalizeElement<T>{g, pass.x, of.mean, of.inverse, pass.parameters[0],
                                  pass.parameters[1], Clamp<T>(clamps.value_or(Bounds{})), pass.y});
}

template <class D, class T>
void BatchNormOp::backward(D& device, const BackwardPass<T>& pass) const {
  const BatchNormGeometry g{pass.slice, channels, width};
  const detail::BatchNormStatistics<T> of(pass, channels);
  if (pass.mode == nn::Mode::eval)
    for_each(device, g.channels, InverseDeviation<T>{eps, of.running.variance, of.inverse});
  const T* w = pass.parameters[0];
  T* means = pass.scratch;
  const index_t size = batch_norm_record(channels);
  double* const record = pass.ranks && pass.dx ? pass.ranks->numbers(size) : nullptr;
  const auto run = [&]<class Gradient>(const Gradient& dy) {
    // dx needs the sums where statistics depend on x.
    if (pass.mode == nn::Mode::train || !pass.skips_parameters)
      sum_channels(device, BatchNormParameterSum<T, Gradient>{g, pass.x, dy, of.mean, of.inverse,
                                                              pass.gradients[0], pass.gradients[1],
                                                              pass.accumulate, means, record});
    if (!pass.dx) return;
    if (record) {
      pass.ranks->sum(record, size);
      for_each(device, channels, MeansOfRanks<T>{channels, record, of.inverse, means});
    }
    if (pass.mode == nn::Mode::train)
      for_each_in_channels(device, BatchNormTrainingGradient<T, Gradient>{
                                       g, pass.x, dy, of.mean, of.inverse, w, means, pass.dx});
    else
      for_each_in_channels(device,
                           BatchNormInputGradient<T, Gradient>{g, dy, of.inverse, w, pass.dx});
  };
  if (clamps)
    run(ClampedGradient<T>{pass.dy, pass.y, Clamp<T>(*clamps)});
  else
    run(GivenGradient<T>{pass.dy});
}

}  // namespace gpunet
