// Bodies of convert.hpp.
#pragma once

#include <type_traits>

#include <gpunet/core/error.hpp>
#include <gpunet/ops/convert.hpp>

namespace gpunet {

namespace detail {

template <class D, class H>
struct ConversionCalls {
  static void widen(D& device, index_t n, const void* from, float* to) {
    for_each(device, n, Convert<H, float>{static_cast<const H*>(from), to});
  }
  static void narrow(D& device, index_t n, const float* from, void* to) {
    for_each(device, n, Convert<float, H>{from, static_cast<H*>(to)});
  }
  static void round(D& device, index_t n, const float* from, float* to) {
    for_each(device, n, RoundTo<H>{from, to});
  }

  static constexpr Conversions<D, float> table = {widen, narrow, round};
};

}  // namespace detail

template <class D, class T>
const Conversions<D, T>* conversions_of(Storage storage, const char* where) {
  if (storage == Storage::full) return nullptr;
  require(std::is_same_v<T, float>, where,
          ": a network of double with a storage of 16 bits (which would lose all that double "
          "adds), use one of float");
  if constexpr (std::is_same_v<T, float>)
    return storage == Storage::bfloat16 ? &detail::ConversionCalls<D, bfloat16>::table
                                        : &detail::ConversionCalls<D, float16>::table;
  else
    return nullptr;
}

GPUNET_COMPILE_TEMPLATES(GPUNET_CONVERSIONS_OF)

}  // namespace gpunet
