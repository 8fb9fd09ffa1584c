// Between PyTorch's order of a batch and the order of a slice.
#pragma once

#include <algorithm>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/transpose.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// rows [count, features] -> slice [outer][features][inner], padding samples zero. One index = one
// element of the slice.
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

// The inverse, real samples only. One index = one element of rows [count, features].
template <class T>
struct Deinterleave {
  static constexpr bool one_copy = true;
  Slice slice;
  index_t features;
  const T* x;
  T* rows;
  GPUNET_FN void operator()(index_t i) const {
    rows[i] = x[slice.offset(i / features, i % features, features)];
  }
};

template <class D, class T>
void interleave(D& device, const Slice& slice, index_t features, const T* rows, T* y) {
  for_each(device, slice.samples() * features, Interleave<T>{slice, features, rows, y});
}

template <class D, class T>
void deinterleave(D& device, const Slice& slice, index_t features, const T* x, T* rows) {
  for_each(device, slice.count * features, Deinterleave<T>{slice, features, x, rows});
}

namespace detail {

// Transposes from [rows][columns] to [columns][rows], both at least 4, with rows `from_row` and
// `to_row` apart. The last blocks overlap the ones before where 4 is no divisor.
inline void transpose(index_t rows, index_t columns, const float* from, index_t from_row, float* to,
                      index_t to_row) {
  const auto block = [=](index_t i, index_t j) {
    const index_t row = std::min(i, rows - 4), column = std::min(j, columns - 4);
    transpose_block(from + row * from_row + column, from_row, to + column * to_row + row, to_row);
  };
  // Blocks of 16 along the longer side, the shorter side within: whole cache lines are read and
  // written before the next ones are touched, of which few may lie in the cache at a time where
  // rows are multiples of 4096 bytes apart.
  constexpr index_t line = 16;
  if (rows < columns)
    for (index_t first = 0; first < columns; first += line)
      for (index_t i = 0; i < rows; i += 4)
        for (index_t j = first; j < std::min(columns, first + line); j += 4)
          block(i, j);
  else
    for (index_t first = 0; first < rows; first += line)
      for (index_t j = 0; j < columns; j += 4)
        for (index_t i = first; i < std::min(rows, first + line); i += 4)
          block(i, j);
}

// Some features of a group of samples.
struct GroupPart {
  index_t group, samples;  // samples: real ones
  index_t first, features;
};

// Calls task(part) for all features of every group of `inner` samples; on several threads where the
// slice has enough elements.
template <class Task>
void for_each_group(Host& device, const Slice& slice, index_t features, Task task) {
  constexpr index_t enough = 1 << 16;
  const index_t elements = slice.samples() * features;
  const index_t parts = slice.outer > 1 ? 1 : std::max(index_t{1}, elements / enough);
  device.run_if(elements >= enough, slice.outer * parts, [&](index_t i, int) {
    const index_t group = i / parts, part = i % parts, first = part * features / parts;
    task(GroupPart{group, std::clamp(slice.count - group * slice.inner, index_t{0}, slice.inner),
                   first, (part + 1) * features / parts - first});
  });
}

}  // namespace detail

inline void interleave(Host& device, const Slice& slice, index_t features, const float* rows,
                       float* y) {
  const index_t inner = slice.inner;
  if (inner < 4 || features < 4) return interleave<Host, float>(device, slice, features, rows, y);
  detail::for_each_group(device, slice, features, [=](const detail::GroupPart& part) {
    const float* from = rows + part.group * inner * features + part.first;
    float* to = y + (part.group * features + part.first) * inner;
    const index_t count = part.samples;
    if (count >= 4)
      detail::transpose(count, part.features, from, features, to, inner);
    else
      for (index_t feature = 0; feature < part.features; ++feature)
        for (index_t n = 0; n < count; ++n)
          to[feature * inner + n] = from[n * features + feature];
    if (count == inner) return;
    for (index_t feature = 0; feature < part.features; ++feature)
      std::fill(to + feature * inner + count, to + (feature + 1) * inner, 0.0f);
  });
}

inline void deinterleave(Host& device, const Slice& slice, index_t features, const float* x,
                         float* rows) {
  const index_t inner = slice.inner;
  if (inner < 4 || features < 4) return deinterleave<Host, float>(device, slice, features, x, rows);
  detail::for_each_group(device, slice, features, [=](const detail::GroupPart& part) {
    const float* from = x + (part.group * features + part.first) * inner;
    float* to = rows + part.group * inner * features + part.first;
    if (part.samples >= 4)
      return detail::transpose(part.features, part.samples, from, inner, to, features);
    for (index_t n = 0; n < part.samples; ++n)
      for (index_t feature = 0; feature < part.features; ++feature)
        to[n * features + feature] = from[feature * inner + n];
  });
}

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::Deinterleave<float>);
GPUNET_EXTERN_LOOP(gpunet::Deinterleave<double>);
