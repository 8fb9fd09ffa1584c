// Batch normalization (Ioffe and Szegedy 2015) as torch.nn.BatchNorm1d and BatchNorm2d: the plain
// single-source version.
#pragma once

#include <cmath>

#include <gpunet/functions/clamp.hpp>
#include <gpunet/ops/inverse_deviation.hpp>
#include <gpunet/ops/slice.hpp>
#include <gpunet/ops/sum_pair.hpp>

namespace gpunet {

// Sizes of one batch normalization: x, y [channels, pixels] per sample. A channel has
// slice.count * pixels elements; padding samples are left out.
struct BatchNormGeometry {
  Slice slice;
  index_t channels, pixels;

  GPUNET_FN index_t per_channel() const { return slice.count * pixels; }
  GPUNET_FN index_t elements() const { return slice.samples() * channels * pixels; }
  // Returns where element r < per_channel() of a channel lies.
  GPUNET_FN index_t offset(index_t channel, index_t r) const {
    return slice.offset(r / pixels, channel * pixels + r % pixels, channels * pixels);
  }
  // Returns the channel of the element at offset i.
  GPUNET_FN index_t channel_at(index_t i) const { return i / (slice.inner * pixels) % channels; }
  // Returns whether the element at offset i belongs to a sample and not to padding.
  GPUNET_FN bool is_real(index_t i) const {
    const index_t n = i / (slice.inner * pixels * channels) * slice.inner + i % slice.inner;
    return n < slice.count;
  }
};

// Running statistics of a batch normalization, [channels] each, and the number of batches so far.
template <class T>
struct RunningStatistics {
  T *mean, *variance;
  index_t* batches;
};

// The numbers that a rank sends to the others where all ranks have one batch, [2 channels + 1]: in
// the forward pass the means of its channels, the sums of squared distances from them, and the
// number of elements of a channel; in the backward pass the sums of dy (x - mean), the sums of dy,
// and that number. The functors with a `record` store it there unless that is null.
GPUNET_FN constexpr index_t batch_norm_record(index_t channels) {
  return 2 * channels + 1;
}

// The functors below read element i (an offset) of channel c in at(c, i). Results of functors whose
// names end in Sum are added up over a channel and passed to store(c, sum); the others run for
// every element.

// mean[c] = mean of channel c, of this rank.
template <class T>
struct ChannelMeanSum {
  BatchNormGeometry g;
  const T* x;
  T* mean;
  index_t* batches;  // counts this batch
  double* record;

  GPUNET_FN double at(index_t, index_t i) const { return static_cast<double>(x[i]); }
  GPUNET_FN void store(index_t c, double sum) const {
    const auto n = static_cast<double>(g.per_channel());
    mean[c] = static_cast<T>(sum / n);
    if (c == 0) ++*batches;
    if (!record) return;
    record[c] = sum / n;
    if (c == 0) record[2 * g.channels] = n;
  }
};

// inverse[c] = 1 / sqrt(variance of channel c + eps), and the running statistics move a part of the
// way to this batch: `momentum` of it, or 1 / batches where that is negative (so that they are the
// mean over all batches). The running variance is the unbiased one.
template <class T>
struct ChannelVarianceSum {
  BatchNormGeometry g;
  double eps, momentum;
  const T *x, *mean;
  T* inverse;
  RunningStatistics<T> running;
  double* record;

  GPUNET_FN double at(index_t c, index_t i) const {
    const double distance = static_cast<double>(x[i]) - static_cast<double>(mean[c]);
    return distance * distance;
  }
  GPUNET_FN void store(index_t c, double sum) const {
    if (record)
      record[g.channels + c] = sum;
    else
      finish(c, sum, static_cast<double>(g.per_channel()));
  }
  // For a channel of n elements.
  GPUNET_FN void finish(index_t c, double sum, double n) const {
    // Where T has no normal number for it, the outputs would be zeros: NaN, so that the overflow is
    // not hidden.
    const double deviation = 1 / std::sqrt(sum / n + eps);
    inverse[c] = static_cast<T>(deviation < 1 / static_cast<double>(detail::largest<T>) * 4
                                    ? detail::no_deviation
                                    : deviation);
    const double part = momentum < 0 ? 1 / static_cast<double>(*running.batches) : momentum;
    const auto follow = [part](T& value, double target) {
      value = static_cast<T>(part * target + (1 - part) * static_cast<double>(value));
    };
    follow(running.mean[c], static_cast<double>(mean[c]));
    follow(running.variance[c], sum / (n - 1));
  }
};

// The records of all ranks as one, rank by rank: Chan, Golub and LeVeque, "Updating Formulae and a
// Pairwise Algorithm for Computing Sample Variances", 1979. One index = one channel.
template <class T>
struct MergeRanks {
  static constexpr bool one_copy = true;
  index_t ranks;
  const double* records;  // [ranks, 2 channels + 1]
  T* mean;
  ChannelVarianceSum<T> variance;

  GPUNET_FN void operator()(index_t c) const {
    const index_t channels = variance.g.channels;
    double n = 0, center = 0, squares = 0;
    for (index_t r = 0; r < ranks; ++r) {
      const double* const of_rank = records + r * batch_norm_record(channels);
      const double more = of_rank[2 * channels], distance = of_rank[c] - center;
      squares += of_rank[channels + c] + distance * distance * (n * more / (n + more));
      n += more;
      center += distance * (more / n);
    }
    mean[c] = static_cast<T>(center);
    variance.finish(c, squares, n);
  }
};

// inverse[c] = 1 / sqrt(variance[c] + eps). One index = one channel.
template <class T>
struct InverseDeviation {
  static constexpr bool one_copy = true;
  double eps;
  const T* variance;
  T* inverse;
  GPUNET_FN void operator()(index_t c) const {
    inverse[c] = static_cast<T>(1 / std::sqrt(static_cast<double>(variance[c]) + eps));
  }
};

// y = clamp((x - mean) inverse w + b).
template <class T>
struct NormalizeElement {
  BatchNormGeometry g;
  const T *x, *mean, *inverse, *w, *b;
  Clamp<T> clamp;
  T* y;
  GPUNET_FN void at(index_t c, index_t i) const {
    y[i] = clamp((x[i] - mean[c]) * (inverse[c] * w[c]) + b[c]);
  }
  GPUNET_FN void pad(index_t i) const { y[i] = T{}; }
};

// The gradient of the normalized numbers (dy below): that of y, or with bounds that of y within
// them and 0 at them.
template <class T>
struct GivenGradient {
  const T* dy;
  GPUNET_FN T operator[](index_t i) const { return dy[i]; }
};
template <class T>
struct ClampedGradient {
  const T *dy, *y;
  Clamp<T> clamp;
  GPUNET_FN T operator[](index_t i) const { return clamp.gradient(y[i], dy[i]); }
};

// dw = sum of dy x', db = sum of dy, with x' = (x - mean) inverse; and both as means for the
// gradient of x.
template <class T, class Gradient>
struct BatchNormParameterSum {
  BatchNormGeometry g;
  const T* x;
  Gradient dy;
  const T *mean, *inverse;
  T *dw, *db;
  Accumulate accumulate;
  T* means;  // [2][channels]
  double* record;

  GPUNET_FN SumPair at(index_t c, index_t i) const {
    const double gradient = static_cast<double>(dy[i]);
    return {gradient * (static_cast<double>(x[i]) - static_cast<double>(mean[c])), gradient};
  }
  GPUNET_FN void store(index_t c, const SumPair& sum) const {
    const double w = sum.first * static_cast<double>(inverse[c]),
                 n = static_cast<double>(g.per_channel());
    store_gradient(dw[c], static_cast<T>(w), accumulate);
    store_gradient(db[c], static_cast<T>(sum.second), accumulate);
    means[c] = static_cast<T>(w / n);
    means[g.channels + c] = static_cast<T>(sum.second / n);
    if (!record) return;
    record[c] = sum.first;
    record[g.channels + c] = sum.second;
    if (c == 0) record[2 * g.channels] = n;
  }
};

// The means for the gradient of x from the sum of the records of all ranks. One index = one
// channel.
template <class T>
struct MeansOfRanks {
  static constexpr bool one_copy = true;
  index_t channels;
  const double* record;
  const T* inverse;
  T* means;  // [2][channels]

  GPUNET_FN void operator()(index_t c) const {
    const double n = record[2 * channels];
    means[c] = static_cast<T>(record[c] * static_cast<double>(inverse[c]) / n);
    means[channels + c] = static_cast<T>(record[channels + c] / n);
  }
};

// dx = w inverse dy: the statistics are fixed.
template <class T, class Gradient>
struct BatchNormInputGradient {
  BatchNormGeometry g;
  Gradient dy;
  const T *inverse, *w;
  T* dx;
  GPUNET_FN void at(index_t c, index_t i) const { dx[i] = w[c] * inverse[c] * dy[i]; }
  GPUNET_FN void pad(index_t i) const { dx[i] = T{}; }
};

// dx = w inverse (dy - mean of dy - x' mean of dy x'): the statistics are the batch's and depend on
// x.
template <class T, class Gradient>
struct BatchNormTrainingGradient {
  BatchNormGeometry g;
  const T* x;
  Gradient dy;
  const T *mean, *inverse, *w;
  const T* means;  // [2][channels]
  T* dx;
  GPUNET_FN void at(index_t c, index_t i) const {
    const T mean_dy = means[g.channels + c], mean_dy_x = means[c];
    dx[i] = w[c] * inverse[c] * (dy[i] - mean_dy - (x[i] - mean[c]) * (inverse[c] * mean_dy_x));
  }
  GPUNET_FN void pad(index_t i) const { dx[i] = T{}; }
};

// The sum over element r of channel c.
template <class F>
struct SumOfChannel {
  F f;
  GPUNET_FN auto operator()(index_t c, index_t r) const { return f.at(c, f.g.offset(c, r)); }
  template <class Sum>
  GPUNET_FN void store(index_t c, const Sum& sum) const {
    f.store(c, sum);
  }
};

// One index = one element.
template <class F>
struct ElementOfChannel {
  static constexpr bool one_copy = true;
  F f;
  GPUNET_FN void operator()(index_t i) const {
    if (f.g.is_real(i))
      f.at(f.g.channel_at(i), i);
    else
      f.pad(i);
  }
};

// Calls f.store(c, sum of f.at(c, i) over channel c) for all channels.
template <class D, class F>
void sum_channels(D& device, const F& f) {
  sum_each(device, f.g.channels, f.g.per_channel(), SumOfChannel<F>{f});
}

// Calls f.at(c, i) for every element of every channel, f.pad(i) for padding samples.
template <class D, class F>
void for_each_in_channels(D& device, const F& f) {
  for_each(device, f.g.elements(), ElementOfChannel<F>{f});
}

}  // namespace gpunet
