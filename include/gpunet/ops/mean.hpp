// The mean of an array; on Host bitwise identical to PyTorch's losses.
#pragma once

#include <algorithm>
#include <array>

#include <gpunet/core/config.hpp>
#include <gpunet/device/host/sum_each.hpp>

namespace gpunet {

// result[0] = sum of x / n. One sum.
template <class T>
struct Mean {
  index_t n;
  const T* x;
  T* result;
  GPUNET_FN T operator()(index_t, index_t r) const { return x[r]; }
  GPUNET_FN void store(index_t, T sum) const { result[0] = sum / static_cast<T>(n); }
};

// Computes result[0] = sum of x[0..n) / divisor.
template <class D, class T>
void mean(D& device, index_t n, const T* x, T* result, index_t divisor) {
  sum_each(device, 1, n, Mean<T>{divisor, x, result});
}

namespace detail {

// Returns the sum of x in the order in which torch's nll_loss adds on a CPU, a cascade that loses
// few digits: the first one, then runs of 16, then 16 such sums, and so on; at last the remaining
// sums, from the shortest to the longest.
template <class T>
T cascade_sum(index_t n, const T* x) {
  constexpr index_t run = 16, at_once = 8;
  std::array<T, 8> levels{};  // [1]: sums of runs, [2]: of 16 of those, ...
  if (n > 0) levels.back() = x[0];
  index_t done = 1;
  while (done + run <= n) {
    const index_t runs = std::min((n - done) / run, at_once);
    std::array<T, at_once> sums{};  // side by side: an addition has to wait for the one before
    for (index_t i = 0; i < run; ++i)
      for (index_t k = 0; k < runs; ++k)
        sums[static_cast<std::size_t>(k)] += x[done + k * run + i];
    for (index_t k = 0; k < runs; ++k) {
      done += run;
      levels[1] += sums[static_cast<std::size_t>(k)];
      for (std::size_t level = 1; level + 1 < levels.size() && ((done - 1) >> 4 * level) % run == 0;
           ++level) {
        levels[level + 1] += levels[level];
        levels[level] = 0;
      }
    }
  }
  for (; done < n; ++done)
    levels[0] += x[done];
  T sum{};
  for (const T level : levels)
    sum += level;
  return sum;
}

}  // namespace detail

// Computes result[0] = sum of x[0..n) / divisor.
template <class T>
void mean(Host&, index_t n, const T* x, T* result, index_t divisor) {
  result[0] = detail::cascade_sum(n, x) / static_cast<T>(divisor);
}

// Computes result[0] = mean of x[0..n).
template <class D, class T>
void mean(D& device, index_t n, const T* x, T* result) {
  mean(device, n, x, result, n);
}

}  // namespace gpunet
