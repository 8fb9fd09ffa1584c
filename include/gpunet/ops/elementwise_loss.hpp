// Losses that compare outputs and targets number by number.
#pragma once

#include <algorithm>
#include <type_traits>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/interleave.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet {

// The weights of classes, of a loss whose f has `static constexpr bool has_class_weights = true`
// and takes them as third argument.
template <class T>
struct ElementWeights {
  const T* of_class = nullptr;
  index_t elements = 1;  // of a class in one output
  index_t places = 1;    // see LossPass

  // Returns the weight of feature k of sample n.
  GPUNET_FN T operator()(index_t n, index_t k) const {
    return of_class[(places == 1 ? k : n % places) / elements];
  }
};

// The arguments of such a loss f, with f.value(x, t) and f.gradient(x, t), for a slice.
template <class T>
struct ElementwiseLossArgs {
  Slice slice;
  index_t features;
  const T* x;
  const T* targets;  // [count, features]; null: f does not look at them
  T divisor;         // of the sum over the features of a sample
  T scale;           // of the gradient
  T* losses;         // [count]
  T* dx;
  ElementWeights<T> weights = {};
};

namespace detail {

template <class F>
inline constexpr bool has_class_weights = requires {
  F::has_class_weights;
};

}  // namespace detail

// losses[n] = sum over k of f.value(x[n, k], t[n, k]) / divisor. One sum for each real sample.
template <class F, class T>
struct ElementwiseLossSums {
  F f;
  Slice slice;
  index_t features;
  const T* x;
  const T* t;  // in the order of the slice
  T divisor;
  T* losses;
  ElementWeights<T> weights;
  // Returns the loss of feature k of sample n, which lies at `at`.
  GPUNET_FN T value(index_t n, index_t k, index_t at) const {
    if constexpr (detail::has_class_weights<F>)
      return f.value(x[at], t[at], weights(n, k));
    else
      return f.value(x[at], t[at]);
  }
  GPUNET_FN T operator()(index_t n, index_t k) const {
    return value(n, k, slice.offset(n, k, features));
  }
  GPUNET_FN void store(index_t n, T sum) const { losses[n] = sum / divisor; }
};

// dx = factor * f.gradient(x, t). One index = one number. t may be dx.
template <class F, class T>
struct ElementwiseLossGradient {
  F f;
  const T* x;
  const T* t;
  T factor;
  T* dx;
  Slice slice;
  index_t features;
  ElementWeights<T> weights;
  GPUNET_FN void operator()(index_t i) const {
    if constexpr (detail::has_class_weights<F>) {
      const index_t row = i / slice.inner, n = row / features * slice.inner + i % slice.inner;
      dx[i] = factor * f.gradient(x[i], t[i], weights(n, row % features));
    } else {
      dx[i] = factor * f.gradient(x[i], t[i]);
    }
  }
};

namespace detail {

// Computes the sums of groups of `inner` samples side by side, of which threads share long ones.
template <int inner, class F, class T>
void sum_groups(Host& device, const ElementwiseLossSums<F, T>& sums) {
  constexpr index_t enough = 1 << 12;  // features
  constexpr int most_parts = 16;
  constexpr auto lanes = static_cast<std::size_t>(inner);
  const index_t features = sums.features,
                parts = std::clamp(features / enough, index_t{1}, index_t{most_parts});
  for (index_t first = 0; first < sums.slice.count; first += inner) {
    WideSum<T> totals[most_parts][lanes];
    device.run_if(parts > 1, parts, [&](index_t part, int) {
      const index_t end = (part + 1) * features / parts;
      WideSum<T> total[lanes] = {};
      for (index_t k = part * features / parts; k < end;) {
        T run[lanes] = {};
        for (const index_t some = std::min(end, k + sum_run); k < some; ++k)
          for (int j = 0; j < inner; ++j)
            run[j] += sums.value(first + j, k, first * features + k * inner + j);
        for (int j = 0; j < inner; ++j)
          total[j] += static_cast<WideSum<T>>(run[j]);
      }
      std::copy_n(total, inner, totals[part]);
    });
    for (index_t j = 0; j < std::min(index_t{inner}, sums.slice.count - first); ++j) {
      WideSum<T> total = 0;
      for (index_t part = 0; part < parts; ++part)
        total += totals[part][j];
      sums.store(first + j, static_cast<T>(total));
    }
  }
}

// Computes losses[n] of the real samples.
template <class D, class F, class T>
void sum_losses(D& device, const ElementwiseLossSums<F, T>& sums) {
  if constexpr (std::is_same_v<D, Host>) {
    if (sums.slice.inner == 16) return sum_groups<16>(device, sums);
    if (sums.slice.inner == 4) return sum_groups<4>(device, sums);
  }
  sum_each(device, sums.slice.count, sums.features, sums);
}

}  // namespace detail

// Computes the losses and gradients of a slice.
template <class D, class F, class T>
void elementwise_loss(D& device, F f, const ElementwiseLossArgs<T>& args) {
  const Slice& slice = args.slice;
  const T* t = args.targets ? args.targets : args.x;
  if (args.targets &&
      // The targets wait where their gradients will be.
      (slice.inner > 1 || slice.samples() > slice.count)) {
    interleave(device, slice, args.features, t, args.dx);
    t = args.dx;
  }
  detail::sum_losses(device, ElementwiseLossSums<F, T>{f, slice, args.features, args.x, t,
                                                       args.divisor, args.losses, args.weights});
  for_each(device, slice.samples() * args.features,
           ElementwiseLossGradient<F, T>{f, args.x, t, args.scale / args.divisor, args.dx, slice,
                                         args.features, args.weights});
  if (const index_t padding = slice.samples() - slice.count; padding > 0)
    for_each(device, padding * args.features, ClearPadding<T>{slice, args.features, args.dx});
}

}  // namespace gpunet

// For losses f that the compiled library holds: units do not compile them, and the library does.
#define GPUNET_ELEMENTWISE_LOSS(D, T, ...) \
  void ::gpunet::elementwise_loss(D&, __VA_ARGS__, const ::gpunet::ElementwiseLossArgs<T>&)
#if !GPUNET_COMPILED
#define GPUNET_EXTERN_ELEMENTWISE_LOSS(...) static_assert(true)
#elif GPUNET_CUDA
#define GPUNET_EXTERN_ELEMENTWISE_LOSS(...)                                     \
  extern template GPUNET_ELEMENTWISE_LOSS(::gpunet::Host, float, __VA_ARGS__);  \
  extern template GPUNET_ELEMENTWISE_LOSS(::gpunet::Host, double, __VA_ARGS__); \
  extern template GPUNET_ELEMENTWISE_LOSS(::gpunet::Cuda, float, __VA_ARGS__);  \
  extern template GPUNET_ELEMENTWISE_LOSS(::gpunet::Cuda, double, __VA_ARGS__)
#else
#define GPUNET_EXTERN_ELEMENTWISE_LOSS(...)                                    \
  extern template GPUNET_ELEMENTWISE_LOSS(::gpunet::Host, float, __VA_ARGS__); \
  extern template GPUNET_ELEMENTWISE_LOSS(::gpunet::Host, double, __VA_ARGS__)
#endif
#define GPUNET_COMPILE_ELEMENTWISE_LOSS(...)                                    \
  template GPUNET_ELEMENTWISE_LOSS(GPUNET_COMPILED_DEVICE, float, __VA_ARGS__); \
  template GPUNET_ELEMENTWISE_LOSS(GPUNET_COMPILED_DEVICE, double, __VA_ARGS__)
