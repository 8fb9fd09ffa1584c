// The order of a slice on Host: transpositions of a fixed width.
#pragma once

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

// One index = one feature of all Inner samples: rows [Inner][features] -> y [features][Inner].
template <class T, int Inner>
struct InterleaveFeature {
  static constexpr bool one_copy = true;
  index_t features;
  const T* rows;
  T* y;
  void operator()(index_t feature) const {
    for (int j = 0; j < Inner; ++j)
      y[feature * Inner + j] = rows[j * features + feature];
  }
};

// The way back.
template <class T, int Inner>
struct DeinterleaveFeature {
  static constexpr bool one_copy = true;
  index_t features;
  const T* x;
  T* rows;
  void operator()(index_t feature) const {
    for (int j = 0; j < Inner; ++j)
      rows[j * features + feature] = x[feature * Inner + j];
  }
};

namespace detail {

// A full group of samples of a width that has a functor of its own.
inline bool is_full_group(const Slice& slice) {
  return slice.outer == 1 && slice.count == slice.inner && (slice.inner == 4 || slice.inner == 16);
}

}  // namespace detail

template <class T>
void interleave(Host& device, const Slice& slice, index_t features, const T* rows, T* y) {
  if (!detail::is_full_group(slice)) return interleave<Host, T>(device, slice, features, rows, y);
  if (slice.inner == 4)
    for_each(device, features, InterleaveFeature<T, 4>{features, rows, y});
  else
    for_each(device, features, InterleaveFeature<T, 16>{features, rows, y});
}

template <class T>
void deinterleave(Host& device, const Slice& slice, index_t features, const T* x, T* rows) {
  if (!detail::is_full_group(slice)) return deinterleave<Host, T>(device, slice, features, x, rows);
  if (slice.inner == 4)
    for_each(device, features, DeinterleaveFeature<T, 4>{features, x, rows});
  else
    for_each(device, features, DeinterleaveFeature<T, 16>{features, x, rows});
}

}  // namespace gpunet
