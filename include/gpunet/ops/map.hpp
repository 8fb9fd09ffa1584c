// Element-wise functions of one or two arrays.
#pragma once

#include <cstdint>

#include <gpunet/device/cuda/loops.hpp>

namespace gpunet {

namespace detail {

// Refuses a functor that cannot be called with numbers of types Ts by static_assert.
template <class F, class... Ts>
constexpr void check_map_functor() {
  static_assert(
      requires(const F& f, const Ts&... values) { f(values...); },
      "gpunet::map: the functor does not take a number of each array, or is not const, write "
      "GPUNET_FN T operator()(T x) const for one array, operator()(T a, T b) const for two");
}

}  // namespace detail

// y[i] = f(x[i])
template <class F, class T>
struct MapOne {
  F f;
  const T* x;
  T* y;
  GPUNET_FN void operator()(index_t i) const { y[i] = f(x[i]); }
};

// y[i] = f(a[i], b[i])
template <class F, class T>
struct MapTwo {
  F f;
  const T* a;
  const T* b;
  T* y;
  GPUNET_FN void operator()(index_t i) const { y[i] = f(a[i], b[i]); }
};

// factor * x
template <class T>
struct MultiplyBy {
  T factor;
  GPUNET_FN T operator()(T x) const { return factor * x; }
};

// p[i] = value
template <class T>
struct Fill {
  T value;
  T* p;
  GPUNET_FN void operator()(index_t i) const { p[i] = value; }
};

// Computes y[i] = f(x[i]) for i < n. y may be x.
template <class D, class F, class T>
void map(D& device, index_t n, F f, const T* x, T* y) {
  detail::check_map_functor<F, T>();
  for_each(device, n, MapOne<F, T>{f, x, y});
}

// Computes y[i] = f(a[i], b[i]) for i < n. y may be a or b.
template <class D, class F, class T>
void map(D& device, index_t n, F f, const T* a, const T* b, T* y) {
  detail::check_map_functor<F, T, T>();
  for_each(device, n, MapTwo<F, T>{f, a, b, y});
}

// p[i] = value for i < n.
template <class D, class T>
void fill(D& device, index_t n, T value, T* p) {
  for_each(device, n, Fill<T>{value, p});
}

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::Fill<float>);
GPUNET_EXTERN_LOOP(gpunet::Fill<double>);
GPUNET_EXTERN_LOOP(gpunet::Fill<gpunet::index_t>);
GPUNET_EXTERN_LOOP(gpunet::Fill<std::uint64_t>);
