// The most likely class of every sample, and counts of correct ones.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// predictions[n] = the k for which x_k is largest (ties: the first; NaN counts as maximum). One index = one real sample of
// the slice.
template <class T>
struct ArgMax {
  static constexpr bool one_copy = true;
  Slice slice;
  index_t classes;
  const T* x;
  label_t* predictions;  // [count]

  GPUNET_FN void operator()(index_t n) const {
    const index_t first = slice.offset(n, 0, classes);
    index_t best = 0;
    for (index_t k = 1; k < classes; ++k) {
      const T most = x[first + best * slice.inner];
      if (most == most && !(x[first + k * slice.inner] <= most)) best = k;
    }
    predictions[n] = static_cast<label_t>(best);
  }
};

// counts[2 k] += samples of class k, counts[2 k + 1] += those predicted correctly. One sum = one
// count.
struct CountClass {
  const label_t* predictions;
  const label_t* labels;
  index_t* counts;

  GPUNET_FN index_t operator()(index_t i, index_t n) const {
    return labels[n] == i / 2 && (i % 2 == 0 || predictions[n] == labels[n]) ? 1 : 0;
  }
  GPUNET_FN void store(index_t i, index_t sum) const { counts[i] += sum; }
};

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::ArgMax<float>);
GPUNET_EXTERN_LOOP(gpunet::ArgMax<double>);
GPUNET_EXTERN_SUM(gpunet::CountClass);
