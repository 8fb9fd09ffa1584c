// The most likely class of every sample, and counts of correct ones.
#pragma once

#include <limits>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// The label that a kernel leaves out if there is none: no label_t has this value.
inline constexpr index_t ignore_nothing = std::numeric_limits<index_t>::min();

// predictions[i] = the k for which x_k is largest (ties: the first; NaN counts as maximum). One
// index = one place of one real sample of the slice.
template <class T>
struct ArgMax {
  static constexpr bool one_copy = true;
  Slice slice;
  index_t classes;
  const T* x;
  label_t* predictions;  // [count, places]
  index_t places = 1;    // of a sample, whose outputs are [classes, places]

  GPUNET_FN void operator()(index_t i) const {
    const index_t first = slice.offset(i / places, i % places, classes * places),
                  step = places * slice.inner;
    index_t best = 0;
    for (index_t k = 1; k < classes; ++k) {
      const T most = x[first + best * step];
      if (most == most && !(x[first + k * step] <= most)) best = k;
    }
    predictions[i] = static_cast<label_t>(best);
  }
};

// counts[2 k] += labels of class k, counts[2 k + 1] += correctly predicted labels of class k,
// counts[2 classes] += ignored labels, which are in no other count. One sum = one count.
struct CountClass {
  const label_t* predictions;
  const label_t* labels;
  index_t* counts;  // [2 classes + 1]
  index_t classes;
  index_t ignored = ignore_nothing;

  GPUNET_FN index_t operator()(index_t i, index_t n) const {
    const bool is_ignored = labels[n] == ignored, counts_ignored = i == 2 * classes;
    if (is_ignored || counts_ignored) return is_ignored && counts_ignored ? 1 : 0;
    return labels[n] == i / 2 && (i % 2 == 0 || predictions[n] == labels[n]) ? 1 : 0;
  }
  GPUNET_FN void store(index_t i, index_t sum) const { counts[i] += sum; }
};

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::ArgMax<float>);
GPUNET_EXTERN_LOOP(gpunet::ArgMax<double>);
GPUNET_EXTERN_SUM(gpunet::CountClass);
