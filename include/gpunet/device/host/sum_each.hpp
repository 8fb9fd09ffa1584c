// Many sums of one length on Host.
#pragma once

#include <type_traits>

#include <gpunet/core/long_sum.hpp>
#include <gpunet/device/host/for_each.hpp>

namespace gpunet {

namespace detail {

// One index of the outer loop: the sum of f(i, r) over r < length, handed to f.store(i, sum).
template <class F>
struct SumEach {
  index_t length;
  F f;

  void operator()(index_t i) const {
    using T = std::remove_cvref_t<decltype(f(i, index_t{}))>;
    if constexpr (std::is_same_v<T, WideSum<T>>) {
      f.store(i, sum<T>(i, 0, length));
    } else {
      WideSum<T> total = 0;
      for (index_t r = 0; r < length; r += block)
        total += static_cast<WideSum<T>>(sum<T>(i, r, length - r < block ? length : r + block));
      f.store(i, static_cast<T>(total));
    }
  }

 private:
  static constexpr index_t block = 64;  // floats; their sums are added up in double

  template <class T>
  [[gnu::always_inline]] inline T sum(index_t i, index_t r, index_t end) const {
    // Independent partial sums: they fill a vector, and lose fewer digits than one.
    constexpr index_t lanes = 16;
    T partial[lanes] = {};
    for (; r + lanes <= end; r += lanes)
      for (index_t lane = 0; lane < lanes; ++lane)
        partial[lane] += f(i, r + lane);
    for (index_t lane = 0; r < end; ++r, ++lane)
      partial[lane] += f(i, r);
    for (index_t width = lanes / 2; width > 0; width /= 2)
      for (index_t lane = 0; lane < width; ++lane)
        partial[lane] += partial[lane + width];
    return partial[0];
  }
};

}  // namespace detail

// For every i < n: f.store(i, s) where s is the sum of f(i, r) over r < length, 0 when length is 0.
// The order of the additions is fixed. f is a named, trivially copyable functor whose two functions
// are GPUNET_FN.
template <class F>
void sum_each(Host&, index_t n, index_t length, F f) {
  static_assert(std::is_trivially_copyable_v<F>,
                "gpunet::sum_each: the functor must be trivially copyable (pointers and numbers, "
                "nothing that owns)");
  static_assert(detail::SumFunctor<F>,
                "gpunet::sum_each: the functor lacks operator()(i, r) or store(i, sum), write "
                "both, each const: GPUNET_FN T operator()(index_t i, index_t r) const, GPUNET_FN "
                "void store(index_t i, T sum) const");
  const detail::SumEach<F> sum{length, f};
  for (index_t i = 0; i < n; ++i)
    sum(i);
}

}  // namespace gpunet
