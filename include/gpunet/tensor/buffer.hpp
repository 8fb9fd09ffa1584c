// Owned memory on a device.
#pragma once

#include <type_traits>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/device/device.hpp>

namespace gpunet {

namespace detail {

// The largest number of elements of T: their size in bytes still fits into index_t.
template <class T>
inline constexpr index_t most_in_memory = (index_t{1} << 62) / static_cast<index_t>(sizeof(T));

}  // namespace detail

// An owning, fixed-size, move-only array of T on device D. The device must outlive it.
template <class T, class D>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>,
                "gpunet::Buffer: the element type must be trivially copyable");

 public:
  Buffer() = default;
  // Allocates `size` uninitialized elements. Throws Error if the size is out of range or memory
  // runs out.
  Buffer(D& device, index_t size) : device_(&device), size_(size) {
    constexpr index_t most = detail::most_in_memory<T>;
    require(0 <= size && size <= most, "gpunet::Buffer: ", size, " elements of ", sizeof(T),
            " bytes (want 0 to ", most, ", no memory holds more), use a smaller batch or network");
    if (size > 0) data_ = static_cast<T*>(device.allocate(bytes()));
  }
  Buffer(Buffer&& other) noexcept
      : device_(other.device_),
        size_(std::exchange(other.size_, 0)),
        data_(std::exchange(other.data_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Buffer() {
    if (data_) device_->deallocate(data_, bytes());
  }

  // Returns the same memory, owned as elements of U. Nothing is left here.
  template <class U>
  Buffer<U, D> as() && {
    Buffer<U, D> other;
    other.device_ = device_;
    other.size_ = static_cast<index_t>(bytes() / sizeof(U));
    other.data_ = reinterpret_cast<U*>(std::exchange(data_, nullptr));
    size_ = 0;
    return other;
  }

  // Replaces the memory by `size` uninitialized elements. The old memory is released first.
  void reset(D& device, index_t size) {
    *this = Buffer();
    *this = Buffer(device, size);
  }

  T* data() const { return data_; }
  index_t size() const { return size_; }
  std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

 private:
  template <class U, class E>
  friend class Buffer;

  D* device_ = nullptr;
  index_t size_ = 0;
  T* data_ = nullptr;
};

}  // namespace gpunet
