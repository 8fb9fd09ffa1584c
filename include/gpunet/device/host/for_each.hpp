// Index loops on Host.
#pragma once

#include <type_traits>

#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/isa.hpp>

namespace gpunet {

namespace detail {

// A loop whose functor is known by its address alone: f(i) for begin <= i < end, on this thread.
using Loop = void (*)(const void* functor, index_t begin, index_t end);

// The loop over an F that gains nothing from vectors, or for the baseline of x86-64: there short
// code, which compiles faster, matters more than speed.
template <class F>
void loop_plain(const void* functor, index_t begin, index_t end) {
  const F f = *static_cast<const F*>(functor);
  for (index_t i = begin; i < end; ++i)
    f(i);
}

// The loop over an F, vectorized for one path. The functor is copied, so that nothing in the loop
// can change it.
#if GPUNET_X86
template <class F>
[[GPUNET_VECTORIZE, gnu::target(GPUNET_TARGET_AVX2)]] void loop_avx2(const void* functor,
                                                                     index_t begin, index_t end) {
  const F f = *static_cast<const F*>(functor);
  GPUNET_INDEPENDENT_ITERATIONS
  for (index_t i = begin; i < end; ++i)
    f(i);
}
template <class F>
[[GPUNET_VECTORIZE, gnu::target(GPUNET_TARGET_AVX512)]] void loop_avx512(const void* functor,
                                                                         index_t begin,
                                                                         index_t end) {
  const F f = *static_cast<const F*>(functor);
  GPUNET_INDEPENDENT_ITERATIONS
  for (index_t i = begin; i < end; ++i)
    f(i);
}
#else
template <class F>
[[GPUNET_VECTORIZE]] void loop_baseline(const void* functor, index_t begin, index_t end) {
  const F f = *static_cast<const F*>(functor);
  GPUNET_INDEPENDENT_ITERATIONS
  for (index_t i = begin; i < end; ++i)
    f(i);
}
#endif

// True if a functor asks for one plain loop instead of one per vector path.
template <class F>
inline constexpr bool wants_one_copy = requires {
  requires F::one_copy;
};

// The loop over an F for the path in use.
template <class F>
Loop loop_over() {
  if constexpr (wants_one_copy<F>) return loop_plain<F>;
#if GPUNET_X86
  else
    return isa() == Isa::avx512 ? loop_avx512<F>
           : isa() == Isa::avx2 ? loop_avx2<F>
                                : loop_plain<F>;
#else
  else
    return loop_baseline<F>;
#endif
}

// Runs a loop over i < n, in chunks on several threads where that pays: below `chunk` indices a
// second thread costs more than it gives.
void run_loop(Host& device, index_t n, Loop loop, const void* functor, index_t chunk = 1 << 16);

// Runs the loop over a functor.
struct RunLoop {
  Host& device;
  index_t n;

  template <class F>
  void operator()(const F& f) const {
    static_assert(IndexFunctor<F>,
                  "gpunet::for_each: the functor does not take an index, or is not const, write "
                  "GPUNET_FN void operator()(index_t i) const");
    run_loop(device, n, loop_over<F>(), &f);
  }
};

}  // namespace detail

// Calls f(i) for every i < n. The calls must not depend on each other: they run in any order, in
// vectors, on any thread. f is a named, trivially copyable functor; its operator() is GPUNET_FN.
// One whose branches do not depend on i may have
//   template <class Loop> void without_branches(const Loop& loop) const;
// which calls loop(g) with a functor g for the case at hand, because compilers neither hoist such
// branches nor vectorize a loop that contains them.
template <class F>
void for_each(Host& device, index_t n, F f) {
  static_assert(std::is_trivially_copyable_v<F>,
                "gpunet::for_each: the functor must be trivially copyable (pointers and numbers, "
                "nothing that owns)");
  const detail::RunLoop loop{device, n};
  if constexpr (requires { f.without_branches(loop); })
    f.without_branches(loop);
  else
    loop(f);
}

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/device/host/for_each.ipp>
#endif
