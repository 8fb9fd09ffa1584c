// Batch normalization (Ioffe and Szegedy 2015) as torch.nn.BatchNorm1d and BatchNorm2d: the plain single-source version.
#pragma once

#include <cmath>

#include <gpunet/ops/slice.hpp>

namespace gpunet {

// Sizes of one batch normalization: x, y [channels, pixels] per sample. A channel has slice.count * pixels elements;
// those of padding samples are left out.
struct BatchNormGeometry {
  Slice slice;
  index_t channels, pixels;

  GPUNET_FN index_t per_channel() const { return slice.count * pixels; }
  GPUNET_FN index_t elements() const { return slice.samples() * channels * pixels; }
  // Where element r < per_channel() of a channel lies.
  GPUNET_FN index_t offset(index_t channel, index_t r) const {
    return slice.offset(r / pixels, channel * pixels + r % pixels, channels * pixels);
  }
  // The channel of the element at offset i.
  GPUNET_FN index_t channel_at(index_t i) const { return i / (slice.inner * pixels) % channels; }
  // Whether the element at offset i belongs to a sample and not to padding.
  GPUNET_FN bool is_real(index_t i) const {
    const index_t n = i / (slice.inner * pixels * channels) * slice.inner + i % slice.inner;
    return n < slice.count;
  }
};

// What a batch normalization keeps from batch to batch, [channels] each, and the number of batches so far.
template <class T>
struct RunningStatistics {
  T *mean, *variance;
  index_t* batches;
};

// Two sums at once, in double as PyTorch's for floats on a CPU: batches are long.
struct SumPair {
  double first, second;
  GPUNET_FN SumPair& operator+=(const SumPair& other) {
    first += other.first;
    second += other.second;
    return *this;
  }
};

// mean[c] = mean of channel c. One sum = one channel.
template <class T>
struct ChannelMean {
  BatchNormGeometry g;
  const T* x;
  T* mean;
  index_t* batches;  // counts this batch
  GPUNET_FN double operator()(index_t c, index_t r) const { return static_cast<double>(x[g.offset(c, r)]); }
  GPUNET_FN void store(index_t c, double sum) const {
    mean[c] = static_cast<T>(sum / static_cast<double>(g.per_channel()));
    if (c == 0) ++*batches;
  }
};

// inverse[c] = 1 / std::sqrt(variance of channel c + eps), and the running statistics move a part of the way to this batch:
// `momentum` of it, or 1 / batches where that is negative (so that they are the mean over all batches). The running
// variance is the unbiased one. One sum = one channel.
template <class T>
struct ChannelVariance {
  BatchNormGeometry g;
  double eps, momentum;
  const T *x, *mean;
  T* inverse;
  RunningStatistics<T> running;

  GPUNET_FN double operator()(index_t c, index_t r) const {
    const double distance = static_cast<double>(x[g.offset(c, r)]) - static_cast<double>(mean[c]);
    return distance * distance;
  }
  GPUNET_FN void store(index_t c, double sum) const {
    const auto n = static_cast<double>(g.per_channel());
    inverse[c] = static_cast<T>(1 / std::sqrt(sum / n + eps));
    const double part = momentum < 0 ? 1 / static_cast<double>(*running.batches) : momentum;
    running.mean[c] = static_cast<T>(part * mean[c] + (1 - part) * running.mean[c]);
    running.variance[c] = static_cast<T>(part * (sum / (n - 1)) + (1 - part) * running.variance[c]);
  }
};

// inverse[c] = 1 / std::sqrt(variance[c] + eps). One index = one channel.
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

// y = (x - mean) inverse w + b. One index = one element.
template <class T>
struct Normalize {
  static constexpr bool one_copy = true;
  BatchNormGeometry g;
  const T *x, *mean, *inverse, *w, *b;
  T* y;
  GPUNET_FN void operator()(index_t i) const {
    const index_t c = g.channel_at(i);
    y[i] = (x[i] - mean[c]) * (inverse[c] * w[c]) + b[c];
  }
};

// dw = sum of dy x', db = sum of dy, with x' = (x - mean) inverse; and both as means for the gradient of x.
// One sum = one channel.
template <class T>
struct BatchNormParameterGradients {
  BatchNormGeometry g;
  const T *x, *dy, *mean, *inverse;
  T *dw, *db;
  Accumulate accumulate;
  T* means;  // [2][channels]

  GPUNET_FN SumPair operator()(index_t c, index_t r) const {
    const index_t i = g.offset(c, r);
    const double gradient = static_cast<double>(dy[i]);
    return {gradient * (static_cast<double>(x[i]) - static_cast<double>(mean[c])), gradient};
  }
  GPUNET_FN void store(index_t c, const SumPair& sum) const {
    const double w = sum.first * static_cast<double>(inverse[c]), n = static_cast<double>(g.per_channel());
    store_gradient(dw[c], static_cast<T>(w), accumulate);
    store_gradient(db[c], static_cast<T>(sum.second), accumulate);
    means[c] = static_cast<T>(w / n);
    means[g.channels + c] = static_cast<T>(sum.second / n);
  }
};

// dx = w inverse (dy - mean of dy - x' mean of dy x') where the statistics are the batch's, w inverse dy where they are
// fixed; 0 for padding. One index = one element.
template <class T>
struct BatchNormInputGradient {
  static constexpr bool one_copy = true;
  BatchNormGeometry g;
  const T *x, *dy, *mean, *inverse, *w;
  const T* means;  // null where the statistics are fixed
  T* dx;
  GPUNET_FN void operator()(index_t i) const {
    const index_t c = g.channel_at(i);
    T gradient = dy[i];
    if (means) gradient -= means[g.channels + c] + (x[i] - mean[c]) * inverse[c] * means[c];
    dx[i] = g.is_real(i) ? w[c] * inverse[c] * gradient : T{};
  }
};

// The passes of the layer, each over all channels.
template <class D, class T>
void channel_mean(D& device, const BatchNormGeometry& g, const T* x, T* mean, index_t* batches) {
  sum_each(device, g.channels, g.per_channel(), ChannelMean<T>{g, x, mean, batches});
}

template <class D, class T>
void channel_variance(D& device, const BatchNormGeometry& g, double eps, double momentum, const T* x, const T* mean,
                      T* inverse, const RunningStatistics<T>& running) {
  sum_each(device, g.channels, g.per_channel(), ChannelVariance<T>{g, eps, momentum, x, mean, inverse, running});
}

template <class D, class T>
void inverse_deviation(D& device, index_t channels, double eps, const T* variance, T* inverse) {
  for_each(device, channels, InverseDeviation<T>{eps, variance, inverse});
}

template <class D, class T>
void normalize(D& device, const BatchNormGeometry& g, const T* x, const T* mean, const T* inverse, const T* w,
               const T* b, T* y) {
  for_each(device, g.elements(), Normalize<T>{g, x, mean, inverse, w, b, y});
}

template <class D, class T>
void batch_norm_parameter_gradients(D& device, const BatchNormGeometry& g, const T* x, const T* dy, const T* mean,
                                    const T* inverse, T* dw, T* db, Accumulate accumulate, T* means) {
  sum_each(device, g.channels, g.per_channel(),
           BatchNormParameterGradients<T>{g, x, dy, mean, inverse, dw, db, accumulate, means});
}

template <class D, class T>
void batch_norm_input_gradient(D& device, const BatchNormGeometry& g, const T* x, const T* dy, const T* mean,
                               const T* inverse, const T* w, const T* means, T* dx) {
  for_each(device, g.elements(), BatchNormInputGradient<T>{g, x, dy, mean, inverse, w, means, dx});
}

}  // namespace gpunet
