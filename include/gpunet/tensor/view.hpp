// A view: borrowed memory on a device, with a shape.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/refused.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/device/device.hpp>

namespace gpunet {

template <class T, class D>
class Tensor;  // tensor/tensor.hpp
template <class T, class D>
class StridedView;  // tensor/strided_view.hpp
template <class T, class D>
class View;

// Returns the elements of a view on `device` in row-major order. Waits for the device.
template <class T, class D>
std::vector<std::remove_const_t<T>> to_vector(D& device, const View<T, D>& view);

namespace detail {
struct TensorAccess;

// Returns element i of the first dimension of a tensor or a view.
template <class X, class I>
auto row_of(X& x, I i) {
  constexpr bool has_select = requires {
    select(x, 0, i);
  };
  static_assert(has_select,
                "gpunet::Tensor: elements of tensors are views of another header, include "
                "<gpunet/tensors.hpp> (a loop over parameters is one over net.named_parameters())");
  if constexpr (has_select) return select(x, 0, i);
}

// An iterator over the first dimension of a tensor or a view.
template <class X>
struct RowIterator {
  X* x;
  index_t i;

  auto operator*() const { return (*x)[i]; }
  RowIterator& operator++() {
    ++i;
    return *this;
  }
  friend bool operator==(const RowIterator& a, const RowIterator& b) { return a.i == b.i; }
};
template <class X>
RowIterator<X> end_of_rows(X& x) {
  require(x.sizes().rank() > 0,
          "gpunet::Tensor::end: a tensor without dimensions has no first one to iterate over, use "
          "item()");
  return {&x, x.sizes()[0]};
}
}  // namespace detail

// A dense row-major array of T that is owned elsewhere, on device D. D is part of the type, so that
// data of one kind of device cannot reach a kernel of another. T may be const. Functions of
// <gpunet/tensors.hpp> take it as a tensor.
template <class T, class D>
class View {
 public:
  using element_type = T;
  using device_type = D;

  View() = default;
  // `device` is where the functions of tensors run; without it, they throw an Error.
  View(T* data, const Sizes& sizes, D* device = nullptr)
      : data_(data), sizes_(sizes), device_(device) {}
  // Converts a writable view to a read-only one. A template, so that it is not a copy constructor
  // if T is not const.
  template <class U>
  requires(std::is_const_v<T>&& std::is_same_v<const U, T> && !std::is_const_v<U>)
      View(const View<U, D>& other)
      : data_(other.data()), sizes_(other.sizes()), device_(other.device_) {}

  T* data() const { return data_; }
  const Sizes& sizes() const { return sizes_; }
  index_t size(int dimension) const { return sizes_.at(dimension); }
  index_t numel() const { return sizes_.numel(); }
  // Returns where the memory is. Throws Error for a view that was made without a device.
  D& device() const {
    require(device_ != nullptr,
            "gpunet::View: a view without a device (functions of tensors run there), give the "
            "tensor, or View(data, sizes, &device)");
    return *device_;
  }

  // Returns element i of the first dimension, as a view; iterates over them; see Tensor.
  template <std::integral I>
  auto operator[](I i) const {
    return detail::row_of(*this, i);
  }
  auto begin() const { return detail::RowIterator<const View>{this, 0}; }
  auto end() const { return detail::end_of_rows(*this); }

  // Return copies, as Tensor's functions do.
  Tensor<std::remove_const_t<T>, D> clone() const { return to(device()); }
  template <Device Target>
  Tensor<std::remove_const_t<T>, Target> to(Target& target) const;
  std::vector<std::remove_const_t<T>> to_vector() const {
    return gpunet::to_vector(device(), *this);
  }
  std::remove_const_t<T> item() const;

  // Returns the same elements with the dimensions from start_dim on merged into one, as
  // torch.flatten: flatten(1) makes images [n, 1, 28, 28] rows [n, 784]. Throws Error if there is
  // no such dimension.
  View flatten(int start_dim = 0) const {
    require(start_dim >= 0 && start_dim < std::max(sizes_.rank(), 1),
            "gpunet::View::flatten: start_dim ", start_dim, " of shape ", to_string(sizes_),
            " (want 0 to ", std::max(sizes_.rank(), 1) - 1, ")");
    Sizes flat;
    for (int i = 0; i < start_dim; ++i)
      flat.append(sizes_[i]);
    Sizes rest;
    for (int i = start_dim; i < sizes_.rank(); ++i)
      rest.append(sizes_[i]);
    require(rest.at_most(index_t{1} << 62), "gpunet::View::flatten: the dimensions from ",
            start_dim, " of shape ", to_string(sizes_),
            " make one over 2^62, give a larger start_dim");
    flat.append(rest.numel());
    return {data_, flat, device_};
  }

 private:
  friend struct detail::TensorAccess;
  template <class U, class E>
  friend class View;

  T* data_ = nullptr;
  Sizes sizes_{0};
  D* device_ = nullptr;
};

template <class T, class D>
std::vector<std::remove_const_t<T>> to_vector(D& device, const View<T, D>& view) {
  const auto size = static_cast<std::size_t>(view.numel());
  if constexpr (std::is_same_v<std::remove_const_t<T>, bool>) {  // std::vector<bool> has no array
    const auto values = std::make_unique<bool[]>(size);
    if (size > 0) device.download(values.get(), view.data(), size);
    return std::vector<bool>(values.get(), values.get() + size);
  } else {
    std::vector<std::remove_const_t<T>> values(size);
    if (size > 0) device.download(values.data(), view.data(), size * sizeof(T));
    return values;
  }
}

}  // namespace gpunet
