// The concept of a device.
#pragma once

#include <concepts>
#include <cstddef>
#include <string>

#include <gpunet/core/config.hpp>

namespace gpunet {

// The rounding that a device may use to be faster. exact: that of a plain sum of products. fast:
// also algorithms that lose one or two digits more, such as Winograd's convolution (errors of up to
// 1.5e-5 of the largest number instead of 1e-6; an input that is infinite, NaN or near the largest
// float makes outputs beside its own neighborhood NaN or infinite, too). tf32, bf16: also by tensor
// cores that round the factors of products of floats to 11 or 8 bits and add up in float; where
// there are none, as fast. Cuda computes exactly unless told otherwise.
enum class Precision { exact, fast, tf32, bf16 };

class Host;  // device/host/host.hpp
inline namespace GPUNET_BACKENDS {
class Cuda;  // device/cuda/cuda.hpp; in a unit without CUDA device/select.hpp
}

// A device owns threads or a stream, allocates, copies, and is the first argument of every kernel.
// Work given to one device runs in the order given. Sizes are in bytes.
template <class D>
concept Device = requires(D& d, void* p, const void* q, std::size_t n) {
  // Aligned to 64 bytes at least, uninitialized; throws Error.
  { d.allocate(n) } -> std::same_as<void*>;
  d.deallocate(p, n);  // never throws
  d.upload(p, q, n);   // host -> device; q may be reused on return
  // Device -> host; waits until the bytes are there.
  d.download(p, q, n);
  d.copy(p, q, n);                                   // device -> the same device
  d.synchronize();                                   // waits for all work given so far
  { d.name() } -> std::convertible_to<std::string>;  // as a device string: "cpu", "cuda:0"
};

namespace detail {

// Whether a functor can be called by for_each, by sum_each.
template <class F>
concept IndexFunctor = requires(const F& f, index_t i) {
  f(i);
};
template <class F>
concept SumFunctor = requires(const F& f, index_t i) {
  f.store(i, f(i, i));
};

}  // namespace detail

}  // namespace gpunet

// The device whose templates this part of the compiled library holds: Cuda where nvcc compiles it.
#if GPUNET_NVCC
#define GPUNET_COMPILED_DEVICE ::gpunet::Cuda
#else
#define GPUNET_COMPILED_DEVICE ::gpunet::Host
#endif

// For templates that the compiled library holds: `template X(D, T, ...)` instantiates one for a
// device, an element type and further arguments. Users' units only declare them, the library
// instantiates them.
#if !GPUNET_COMPILED
#define GPUNET_EXTERN_TEMPLATES(X, ...)
#define GPUNET_COMPILE_TEMPLATES(X, ...)
#else
#if GPUNET_CUDA
#define GPUNET_EXTERN_TEMPLATES(X, ...)                                 \
  extern template X(::gpunet::Host, float __VA_OPT__(, ) __VA_ARGS__);  \
  extern template X(::gpunet::Host, double __VA_OPT__(, ) __VA_ARGS__); \
  extern template X(::gpunet::Cuda, float __VA_OPT__(, ) __VA_ARGS__);  \
  extern template X(::gpunet::Cuda, double __VA_OPT__(, ) __VA_ARGS__);
#else
#define GPUNET_EXTERN_TEMPLATES(X, ...)                                \
  extern template X(::gpunet::Host, float __VA_OPT__(, ) __VA_ARGS__); \
  extern template X(::gpunet::Host, double __VA_OPT__(, ) __VA_ARGS__);
#endif
#define GPUNET_COMPILE_TEMPLATES(X, ...)                                \
  template X(GPUNET_COMPILED_DEVICE, float __VA_OPT__(, ) __VA_ARGS__); \
  template X(GPUNET_COMPILED_DEVICE, double __VA_OPT__(, ) __VA_ARGS__);
#endif
