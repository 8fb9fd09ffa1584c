// Device memory that shows what a kernel did not write, and what it should not have written.
#pragma once

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/tensor/buffer.hpp>

// An array of T that begins as NaN, with a guard after its end that may be read but not written.
template <class T, class D>
class GuardedBuffer {
  static constexpr gpunet::index_t guard = 64;

 public:
  GuardedBuffer(D& device, gpunet::index_t size) : device_(device), size_(size), buffer_(device, size + guard) {
    fill_with_nan();
  }

  void fill_with_nan() { upload({}); }
  // The values, NaN after them. Not to be inlined: g++ 12 then warns of a delete that it has made up itself.
  [[gnu::noinline]] void upload(const std::vector<T>& values) {
    std::vector<T> all = values;
    all.resize(static_cast<std::size_t>(buffer_.size()), std::numeric_limits<T>::quiet_NaN());
    device_.upload(buffer_.data(), all.data(), buffer_.bytes());
  }
  std::vector<T> download() const {
    std::vector<T> all(static_cast<std::size_t>(buffer_.size()));
    device_.download(all.data(), buffer_.data(), buffer_.bytes());
    const bool untouched = std::all_of(all.begin() + size_, all.end(), [](T value) { return std::isnan(value); });
    CHECK_MESSAGE(untouched, "a kernel wrote past the end of an array");
    all.resize(static_cast<std::size_t>(size_));
    return all;
  }
  T* data() const { return buffer_.data(); }

 private:
  D& device_;
  gpunet::index_t size_;
  gpunet::Buffer<T, D> buffer_;
};
