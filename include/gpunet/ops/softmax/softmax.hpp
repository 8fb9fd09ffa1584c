// Softmax over the first dimension of a sample, and its logarithm: for arrays, and as a node of a
// graph.
#pragma once

#include <cmath>

#include <gpunet/core/long_sum.hpp>
#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// Whether a softmax is stored, or its logarithm.
enum class SoftmaxKind { probabilities, logarithms };

// y_k = exp(x_k - max x) / sum_k exp(x_k - max x) over k < classes, or the logarithm of it; x
// [classes, rest] per sample, so that element (k, p) of outer o lies at
// (o * classes + k) * width + p with width = rest * inner. One index = one column (o, p).
template <class T>
struct SoftmaxForward {
  static constexpr bool one_copy = true;
  index_t classes, width;
  const T* x;
  T* y;
  SoftmaxKind kind = SoftmaxKind::probabilities;

  GPUNET_FN void operator()(index_t i) const {
    const index_t first = i / width * classes * width + i % width;
    T largest = x[first];
    for (index_t k = 1; k < classes; ++k)
      if (const T value = x[first + k * width]; value > largest) largest = value;
    LongSum<T> terms;
    for (index_t k = 0; k < classes; ++k)
      terms += y[first + k * width] = std::exp(x[first + k * width] - largest);
    const T sum = terms.value();
    if (kind == SoftmaxKind::probabilities)
      for (index_t k = 0; k < classes; ++k)
        y[first + k * width] /= sum;
    else
      for (index_t k = 0; k < classes; ++k)
        y[first + k * width] = x[first + k * width] - largest - std::log(sum);
  }
};

// dx_k = y_k (dy_k - sum_j dy_j y_j), or of logarithms dy_k - exp(y_k) sum_j dy_j. One index = one
// column.
template <class T>
struct SoftmaxBackward {
  static constexpr bool one_copy = true;
  index_t classes, width;
  const T *y, *dy;
  T* dx;
  SoftmaxKind kind = SoftmaxKind::probabilities;

  GPUNET_FN void operator()(index_t i) const {
    const index_t first = i / width * classes * width + i % width;
    const bool logarithms = kind == SoftmaxKind::logarithms;
    LongSum<T> terms;
    for (index_t k = 0; k < classes; ++k)
      terms += dy[first + k * width] * (logarithms ? T{1} : y[first + k * width]);
    const T sum = terms.value();
    for (index_t k = 0; k < classes; ++k) {
      const index_t at = first + k * width;
      dx[at] = logarithms ? dy[at] - std::exp(y[at]) * sum : y[at] * (dy[at] - sum);
    }
  }
};

template <class D, class T>
void softmax_forward(D& device, index_t columns, const SoftmaxForward<T>& softmax) {
  for_each(device, columns, softmax);
}

template <class D, class T>
void softmax_backward(D& device, index_t columns, const SoftmaxBackward<T>& softmax) {
  for_each(device, columns, softmax);
}

// The same for floats on Host: vectors over the samples of a slice, or over the classes of a row.
void softmax_forward(Host& device, index_t columns, const SoftmaxForward<float>& softmax);
void softmax_backward(Host& device, index_t columns, const SoftmaxBackward<float>& softmax);

// x, y [classes, ...]
struct SoftmaxOp {
  index_t classes;
  SoftmaxKind kind = SoftmaxKind::probabilities;

  OpTraits traits(const Sizes&, const Sizes&) const { return {.stored_as = StoredAs::full}; }
  std::string extra_repr(const Sizes&, const Sizes&) const { return "dim=1"; }

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;

 private:
  index_t columns(const OpPass& pass) const {
    return classes > 0 ? pass.in_features / classes * pass.slice.inner : 0;
  }
};

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::SoftmaxForward<float>);
GPUNET_EXTERN_LOOP(gpunet::SoftmaxForward<double>);

#if !GPUNET_COMPILED
#include <gpunet/ops/softmax/softmax.ipp>
#endif
