// A part of a batch, as kernels see it.
#pragma once

#include <type_traits>

#include <gpunet/core/config.hpp>

namespace gpunet {

// The work that the threads of a device share: the ops of a slice, or slices that run side by side.
enum class ThreadsOf { ops, slices };

// Samples that pass through the network together. Their data are [outer][feature][inner]: sample n
// is at (n / inner, n % inner). `count` samples are real; the rest, up to outer * inner, is padding
// that holds zeros.
struct Slice {
  index_t count;
  index_t outer;
  index_t inner;
  ThreadsOf threads_of = ThreadsOf::ops;

  GPUNET_FN constexpr index_t samples() const { return outer * inner; }
  // Returns a slice of one group of `inner` samples, all of them real.
  GPUNET_FN constexpr Slice one_group() const { return {inner, 1, inner, threads_of}; }

  // Returns the offset of `feature` of sample `n`, in elements. A sample has `features` of them.
  GPUNET_FN constexpr index_t offset(index_t n, index_t feature, index_t features) const {
    return (n / inner * features + feature) * inner + n % inner;
  }
};

// data of the padding samples = 0. One index = one feature of one padding sample.
template <class T>
struct ClearPadding {
  Slice slice;
  index_t features;
  T* data;
  GPUNET_FN void operator()(index_t i) const {
    data[slice.offset(slice.count + i / features, i % features, features)] = T{};
  }
};

// Add a gradient to the stored one, or replace it.
enum class Accumulate { no, yes };

// Stores a gradient as `accumulate` says.
template <class T>
GPUNET_FN void store_gradient(T& target, T value, Accumulate accumulate) {
  target = accumulate == Accumulate::yes ? target + value : value;
}

// An array that may be missing, as the bias of a layer without one: then its elements are 0, and
// stores have no effect.
template <class T>
class OptionalArray {
 public:
  constexpr OptionalArray() = default;
  GPUNET_FN OptionalArray(T* data) : data_(data) {}

  GPUNET_FN T* data() const { return data_; }
  GPUNET_FN explicit operator bool() const { return data_ != nullptr; }
  GPUNET_FN std::remove_const_t<T> operator[](index_t i) const { return data_ ? data_[i] : T{}; }
  GPUNET_FN OptionalArray operator+(index_t i) const { return data_ ? data_ + i : nullptr; }
  GPUNET_FN void store_gradient(index_t i, T value, Accumulate accumulate) const {
    if (data_) gpunet::store_gradient(data_[i], value, accumulate);
  }

 private:
  T* data_ = nullptr;
};

}  // namespace gpunet
