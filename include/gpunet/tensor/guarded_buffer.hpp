// Device memory that detects elements a kernel forgot to write and writes past the end. For tests;
// not in gpunet.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet {

// An array of floating-point numbers, initially NaN, followed by a guard of NaNs that may be read
// but not written.
template <class T, class D>
class GuardedBuffer {
  static constexpr index_t guard = 64;

 public:
  // The device must outlive it; so must the name, which messages begin with: "pass.y, ".
  GuardedBuffer(D& device, index_t size, std::string_view name = "")
      : device_(device), size_(size), name_(name), buffer_(device, size + guard) {
    fill_with_nan();
  }

  // Sets all elements to NaN. Memory of the host by memset: gradient checks spend most of their
  // time here.
  void fill_with_nan() {
    if constexpr (DeviceTraits<D>::has_host_memory)
      std::memset(buffer_.data(), 0xFF, buffer_.bytes());
    else
      upload({});
  }
  // Stores the values, and NaN after them. Not inlined: g++ 12 would warn of a delete that is not
  // there.
  [[gnu::noinline]] void upload(const std::vector<T>& values) {
    std::vector<T> all = values;
    all.resize(static_cast<std::size_t>(buffer_.size()), std::numeric_limits<T>::quiet_NaN());
    device_.upload(buffer_.data(), all.data(), buffer_.bytes());
  }
  // Throws Error if the guard was written to.
  void check() const {
    const std::vector<T> after = elements(size_, guard);
    require(std::all_of(after.begin(), after.end(), [](T value) { return std::isnan(value); }),
            "gpunet::GuardedBuffer: a kernel wrote past the end of ", name_, "an array of ", size_,
            " elements, check the sizes that it is given");
  }
  // Returns the elements; throws Error if the guard was written to.
  std::vector<T> download() const {
    check();
    return elements(0, size_);
  }
  // Returns the address of the elements, on the device.
  T* data() const { return buffer_.data(); }

 private:
  std::vector<T> elements(index_t first, index_t count) const {
    std::vector<T> values(static_cast<std::size_t>(count));
    device_.download(values.data(), buffer_.data() + first, values.size() * sizeof(T));
    return values;
  }

  D& device_;
  index_t size_;
  std::string_view name_;
  Buffer<T, D> buffer_;
};

}  // namespace gpunet
