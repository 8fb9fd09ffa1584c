// Softmax and negative log-likelihood in one, per sample: the plain single-source version.
#pragma once

#include <cmath>
#include <limits>

#include <gpunet/core/long_sum.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// loss_n = log sum_k exp(x_k) - x_label and dx = scale * (softmax(x) - onehot(label)), both shifted
// by max x to avoid overflow. x, dx [classes] per sample. Padding samples get dx = 0; an invalid
// label gives NaN. One index = one sample of the slice.
template <class T>
struct CrossEntropy {
  static constexpr bool one_copy = true;
  Slice slice;
  index_t classes;
  const T* x;
  const label_t* labels;  // [count]
  T scale;
  T* losses;  // [count]
  T* dx;
  T no_class = std::numeric_limits<T>::quiet_NaN();

  GPUNET_FN void operator()(index_t n) const {
    const index_t first = slice.offset(n, 0, classes), step = slice.inner;
    if (n >= slice.count) {
      for (index_t k = 0; k < classes; ++k)
        dx[first + k * step] = T{};
      return;
    }
    T largest = x[first];
    for (index_t k = 1; k < classes; ++k)
      if (const T value = x[first + k * step]; value > largest) largest = value;
    LongSum<T> terms;
    for (index_t k = 0; k < classes; ++k)
      terms += dx[first + k * step] = std::exp(x[first + k * step] - largest);
    const T sum = terms.value();
    const index_t label = labels[n];
    const bool valid = label >= 0 && label < classes;
    losses[n] = valid ? std::log(sum) - (x[first + label * step] - largest) : no_class;
    for (index_t k = 0; k < classes; ++k) {
      const T probability = dx[first + k * step] / sum;
      dx[first + k * step] = scale * (probability - (k == label ? T{1} : T{0}));
    }
  }
};

// Computes all samples of the slice.
template <class D, class T>
void cross_entropy(D& device, const CrossEntropy<T>& loss) {
  for_each(device, loss.slice.samples(), loss);
}

}  // namespace gpunet
