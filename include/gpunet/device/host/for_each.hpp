// Index loops on Host.
#pragma once

#include <algorithm>
#include <type_traits>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/isa.hpp>

namespace gpunet {

namespace detail {

template <class F>
[[GPUNET_VECTORIZE]] void loop_baseline(index_t begin, index_t end, F f) {
  GPUNET_INDEPENDENT_ITERATIONS
  for (index_t i = begin; i < end; ++i)
    f(i);
}
#if GPUNET_X86
template <class F>
[[GPUNET_VECTORIZE, gnu::target(GPUNET_TARGET_AVX2)]] void loop_avx2(index_t begin, index_t end, F f) {
  GPUNET_INDEPENDENT_ITERATIONS
  for (index_t i = begin; i < end; ++i)
    f(i);
}
template <class F>
[[GPUNET_VECTORIZE, gnu::target(GPUNET_TARGET_AVX512)]] void loop_avx512(index_t begin, index_t end, F f) {
  GPUNET_INDEPENDENT_ITERATIONS
  for (index_t i = begin; i < end; ++i)
    f(i);
}
#endif

// Whether a functor asks for one copy of its loop instead of one per vector path.
template <class F>
inline constexpr bool wants_one_copy = requires {
  requires F::one_copy;
};

// f(i) for begin <= i < end on this thread, vectorised for the path in use.
template <class F>
void loop(index_t begin, index_t end, F f) {
#if GPUNET_X86
  if constexpr (!wants_one_copy<F>) {
    if (isa() == Isa::avx512) return loop_avx512(begin, end, f);
    if (isa() == Isa::avx2) return loop_avx2(begin, end, f);
  }
#endif
  loop_baseline(begin, end, f);
}

}  // namespace detail

// Calls f(i) for every i < n. The calls must not depend on each other: they run in any order, in vectors, on any
// thread. f is a named, trivially copyable functor; its operator() is GPUNET_FN.
template <class F>
void for_each(Host& device, index_t n, F f) {
  static_assert(
      std::is_trivially_copyable_v<F>,
      "gpunet::for_each: the functor must be trivially copyable (pointers and numbers, nothing that owns)");
  constexpr index_t chunk = 1 << 16;  // below this many indices a second thread costs more than it gives
  if (n <= chunk || device.threads() == 1) return detail::loop(0, n, f);
  device.run(ceil_div(n, chunk), [&](index_t i, int) { detail::loop(i * chunk, std::min(n, (i + 1) * chunk), f); });
}

}  // namespace gpunet
