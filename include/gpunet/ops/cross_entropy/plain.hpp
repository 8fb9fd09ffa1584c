// Softmax and negative log-likelihood in one, per sample.
#pragma once

#include <cmath>
#include <limits>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/device/device.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// loss_n = log sum_k exp(x_k) - x_label and dx = scale * (softmax(x) - onehot(label)), both shifted by max x
// against overflow. x, dx [classes] per sample. Padding samples get dx = 0; a label that is no class gives NaN. One
// index = one sample of the slice.
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
    T sum{};
    for (index_t k = 0; k < classes; ++k)
      sum += dx[first + k * step] = std::exp(x[first + k * step] - largest);
    const index_t label = labels[n];
    const bool valid = label >= 0 && label < classes;
    losses[n] = valid ? std::log(sum) - (x[first + label * step] - largest) : no_class;
    for (index_t k = 0; k < classes; ++k) {
      const T probability = dx[first + k * step] / sum;
      dx[first + k * step] = scale * (probability - (k == label ? T{1} : T{0}));
    }
  }
};

// All samples of the slice.
template <class D, class T>
void cross_entropy(D& device, const CrossEntropy<T>& loss) {
  for_each(device, loss.slice.samples(), loss);
}

// Throws Error for a label that is no class; `name` is the caller's in gpunet. Only devices whose memory can be read here
// check; on others the loss is NaN.
template <class D>
void check_labels(std::string_view, D&, const label_t*, index_t, index_t) {}

inline void check_labels(std::string_view name, Host&, const label_t* labels, index_t count, index_t classes) {
  for (index_t n = 0; n < count; ++n)
    require(labels[n] >= 0 && labels[n] < classes, "gpunet::", name, ": label ", labels[n], " of sample ", n,
            " of the batch is no class (want 0 to ", classes - 1,
            "): check the labels, or give the network as many outputs as there are classes");
}

}  // namespace gpunet
