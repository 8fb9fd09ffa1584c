// Norms of an array.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/sum_each.hpp>

namespace gpunet {

// The kinds of norms: the term that an element adds to a sum, and the norm as a function of the
// sum. Sums are double, so that they neither overflow nor lose digits for elements of type float.
struct Norm1 {
  GPUNET_FN double operator()(double x) const { return std::abs(x); }
  static GPUNET_FN double finish(double sum) { return sum; }
};
struct Norm2 {
  GPUNET_FN double operator()(double x) const { return x * x; }
  static GPUNET_FN double finish(double sum) { return std::sqrt(sum); }
};
struct NormInf {
  // A sum whose addition is the maximum; NaN stays.
  struct Largest {
    double value;
    GPUNET_FN Largest& operator+=(const Largest& other) {
      if (!(value > other.value) && value == value) value = other.value;
      return *this;
    }
  };
  GPUNET_FN Largest operator()(double x) const { return {std::abs(x)}; }
  static GPUNET_FN double finish(Largest sum) { return sum.value; }
};

// No norm: 0 if all elements are finite, else nan.
struct IsFinite {
  template <class T>
  GPUNET_FN T operator()(T x) const {
    return x - x;
  }
  template <class T>
  static GPUNET_FN T finish(T sum) {
    return sum;
  }
};

// sums[b] = the sum over block b of x. One sum = one block.
template <class Kind, class T>
struct NormBlocks {
  using Sum = decltype(Kind{}(T{}));
  index_t n, length;
  const T* x;
  Sum* sums;
  GPUNET_FN Sum operator()(index_t b, index_t r) const {
    const index_t i = b * length + r;
    return i < n ? Kind{}(x[i]) : Sum{};
  }
  GPUNET_FN void store(index_t b, Sum sum) const { sums[b] = sum; }
};

// result[0] = the norm, of the sums of all blocks. One sum.
template <class Kind, class T>
struct NormOfBlocks {
  using Sum = decltype(Kind{}(T{}));
  const Sum* sums;
  T* result;
  GPUNET_FN Sum operator()(index_t, index_t r) const { return sums[r]; }
  GPUNET_FN void store(index_t, Sum sum) const { result[0] = static_cast<T>(Kind::finish(sum)); }
};

// The sums of all blocks.
template <class D, class Kind, class T>
void sum_blocks(D& device, index_t blocks, const NormBlocks<Kind, T>& block) {
  sum_each(device, blocks, block.length, block);
}

inline constexpr index_t norm_block = 4096;

// Returns the bytes that norm() needs for the sums over blocks of n elements.
constexpr index_t norm_scratch_bytes(index_t n) {
  static_assert(sizeof(NormInf::Largest) == sizeof(double));
  return std::max(ceil_div(n, norm_block), index_t{1}) * static_cast<index_t>(sizeof(double));
}

// Computes the sums over blocks of x[0..n). Returns their number.
template <class Kind, class D, class T>
index_t begin_norm(D& device, index_t n, const T* x, typename NormBlocks<Kind, T>::Sum* sums) {
  const index_t blocks = std::max(ceil_div(n, norm_block), index_t{1});
  sum_blocks(device, blocks, NormBlocks<Kind, T>{n, ceil_div(n, blocks), x, sums});
  return blocks;
}
// result[0] = the norm, of the sums of one array or several.
template <class Kind, class D, class T>
void finish_norm(D& device, index_t blocks, const typename NormBlocks<Kind, T>::Sum* sums,
                 T* result) {
  sum_each(device, 1, blocks, NormOfBlocks<Kind, T>{sums, result});
}

// result[0] = the norm of x[0..n), bitwise identical for any number of threads.
template <class Kind, class D, class T>
void norm(D& device, index_t n, const T* x, void* scratch, T* result) {
  auto* const sums = static_cast<typename NormBlocks<Kind, T>::Sum*>(scratch);
  const index_t blocks = begin_norm<Kind>(device, n, x, sums);
  finish_norm<Kind>(device, blocks, sums, result);
}

// NormBlocks without a test for the end, which would cost vectors.
template <class Kind, class T>
struct NormBlock {
  using Sum = typename NormBlocks<Kind, T>::Sum;
  const T* x;
  Sum* sum;
  Sum operator()(index_t, index_t r) const { return Kind{}(x[r]); }
  void store(index_t, Sum of_block) const { *sum = of_block; }
};

namespace detail {

// The sum of one block of n elements.
template <class Kind, class T>
void sum_block(index_t n, const T* x, typename NormBlocks<Kind, T>::Sum* sum) {
  if constexpr (std::is_same_v<Kind, IsFinite> && std::is_same_v<T, float>) {
    // Compilers make vectors of the sum below at -O3 only; 0 and nan need no order.
    typedef float Vector __attribute__((vector_size(16)));
    constexpr index_t lanes = 4;
    const auto term = [&](index_t v) {
      Vector values;
      __builtin_memcpy(&values, x + v * lanes, sizeof values);
      return values - values;
    };
    Vector even = {}, odd = {};
    for (; n >= 4 * lanes; n -= 4 * lanes, x += 4 * lanes) {
      even += term(0) + term(2);
      odd += term(1) + term(3);
    }
    even += odd;
    *sum = even[0] + even[1] + even[2] + even[3];
    for (; n > 0; --n, ++x)
      *sum += *x - *x;
  } else {
    SumEach<NormBlock<Kind, T>>{n, {x, sum}}(0);
  }
}

}  // namespace detail

// Computes the sums of all blocks, each by one thread.
template <class Kind, class T>
void sum_blocks(Host& device, index_t blocks, const NormBlocks<Kind, T>& all) {
  constexpr index_t few = 64;  // below, a second thread costs more than it gives
  device.run_if(blocks >= few, blocks, [&](index_t b, int) {
    const index_t begin = b * all.length;
    detail::sum_block<Kind>(std::clamp(all.n - begin, index_t{0}, all.length), all.x + begin,
                            all.sums + b);
  });
}

}  // namespace gpunet
