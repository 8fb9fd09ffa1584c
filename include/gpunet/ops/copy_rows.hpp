// Copies of rows that lie apart.
#pragma once

#include <algorithm>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>

namespace gpunet::detail {

// to [row][column] = from [row][column], whose rows are `from_row` and `to_row` apart. One
// index = one element.
template <class T>
struct CopyRows {
  index_t columns, from_row, to_row;
  const T* from;
  T* to;
  GPUNET_FN void operator()(index_t i) const {
    const index_t row = i / columns, column = i % columns;
    to[row * to_row + column] = from[row * from_row + column];
  }
};

template <class D, class T>
void copy_rows(D& device, index_t rows, const CopyRows<T>& f) {
  for_each(device, rows * f.columns, f);
}
template <class T>
void copy_rows(Host& device, index_t rows, const CopyRows<T>& f) {
  constexpr index_t worth_threads = index_t{1} << 16;
  device.run_if(rows * f.columns > worth_threads, rows, [&](index_t row, int) {
    std::copy_n(f.from + row * f.from_row, f.columns, f.to + row * f.to_row);
  });
}

}  // namespace gpunet::detail
