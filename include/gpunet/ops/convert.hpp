// Arrays of 16-bit numbers, from and to float.
#pragma once

#include <cstdint>

#include <gpunet/core/float16.hpp>
#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>

namespace gpunet {

// How arrays are stored: as they are computed, or in 16 bits.
enum class Storage : std::uint8_t { full, bfloat16, float16 };

// to[i] = from[i]
template <class From, class To>
struct Convert {
  const From* from;
  To* to;
  GPUNET_FN void operator()(index_t i) const { to[i] = static_cast<To>(from[i]); }
};

// to[i] = from[i], rounded to the numbers of H. to may be from.
template <class H>
struct RoundTo {
  const float* from;
  float* to;
  GPUNET_FN void operator()(index_t i) const { to[i] = H(from[i]); }
};

// The conversions between arrays of T and a 16-bit storage on device D. Networks have a pointer to
// it, so that programs without 16-bit storage compile no conversions.
template <class D, class T>
struct Conversions {
  void (*widen)(D& device, index_t n, const void* from, T* to);
  void (*narrow)(D& device, index_t n, const T* from, void* to);
  // The 16-bit type that `narrow` stores; `to` may be `from`.
  void (*round)(D& device, index_t n, const T* from, T* to);
};

// Returns the conversions of a storage; null for Storage::full. Throws Error for a 16-bit storage
// of doubles; `where` is the caller's name.
template <class D, class T>
const Conversions<D, T>* conversions_of(Storage storage, const char* where);

#define GPUNET_CONVERSIONS_OF(D, T) const Conversions<D, T>* conversions_of(Storage, const char*)
GPUNET_EXTERN_TEMPLATES(GPUNET_CONVERSIONS_OF)

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/convert.ipp>
#endif
