// Between PyTorch's order of a batch and the order of a slice.
#pragma once

#include <gpunet/ops/slice.hpp>

namespace gpunet {

// rows [count, features] -> slice [outer][features][inner], padding samples zero. One index = one element of the
// slice.
template <class T>
struct Interleave {
  static constexpr bool one_copy = true;
  Slice slice;
  index_t features;
  const T* rows;
  T* y;
  GPUNET_FN void operator()(index_t i) const {
    const index_t inner = i % slice.inner, feature = i / slice.inner % features;
    const index_t n = i / (slice.inner * features) * slice.inner + inner;
    y[i] = n < slice.count ? rows[n * features + feature] : T{};
  }
};

// The way back, real samples only. One index = one element of rows [count, features].
template <class T>
struct Deinterleave {
  static constexpr bool one_copy = true;
  Slice slice;
  index_t features;
  const T* x;
  T* rows;
  GPUNET_FN void operator()(index_t i) const { rows[i] = x[slice.offset(i / features, i % features, features)]; }
};

template <class D, class T>
void interleave(D& device, const Slice& slice, index_t features, const T* rows, T* y) {
  for_each(device, slice.samples() * features, Interleave<T>{slice, features, rows, y});
}

template <class D, class T>
void deinterleave(D& device, const Slice& slice, index_t features, const T* x, T* rows) {
  for_each(device, slice.count * features, Deinterleave<T>{slice, features, x, rows});
}

}  // namespace gpunet
