// A view with strides: part of a tensor, or a tensor with its dimensions in another order, without
// a copy.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/tensor/element_program.hpp>
#include <gpunet/tensor/tensor_like.hpp>

namespace gpunet {

// A borrowed array of T on device D whose neighbors along dimension d are strides()[d] elements
// apart. Functions such as transpose(x, 0, 1) and narrow(x, 0, 2, 3) return it. Like an iterator, a
// const StridedView<T, D> may write; T may be const. Assigning to a temporary one writes elements:
// select(x, 0, 2) = y. Throws Error where the tensor no longer exists.
template <class T, class D>
class StridedView : public detail::RefusedMethods {
 public:
  using value_type = std::remove_const_t<T>;
  using device_type = D;

  // Views memory on `device` that is owned elsewhere, without a copy, as torch.from_blob. Its
  // lifetime is not checked.
  StridedView(D& device, T* data, const Sizes& sizes, const detail::Strides& strides,
              detail::BorrowedLifetime lifetime = {})
      : device_(&device),
        data_(data),
        sizes_(sizes),
        strides_(strides),
        lifetime_(std::move(lifetime)) {}
  template <class U>
  requires std::is_same_v<const U, T> StridedView(const StridedView<U, D>& other)
      : StridedView(other.device(), other.data(), other.sizes(), other.strides(),
                    other.lifetime()) {}
  StridedView(const StridedView&) = default;
  // Makes this the other view.
  StridedView& operator=(const StridedView&) & = default;

  // Writes elements of the same shape, or of one that broadcasts to it: a tensor, a view, an
  // expression or a number.
  void operator=(const StridedView& other) const&& { write(other); }
  template <class X>
  void operator=(X&& x) const&& {
    write(std::forward<X>(x));
  }

  // Returns the address of the first element, on the device.
  T* data() const {
    require_alive();
    return data_;
  }
  const Sizes& sizes() const { return sizes_; }
  index_t size(int dimension) const { return sizes_.at(dimension); }
  index_t numel() const { return sizes_.numel(); }
  const detail::Strides& strides() const { return strides_; }
  D& device() const { return *device_; }
  const detail::BorrowedLifetime& lifetime() const { return lifetime_; }
  // Returns whether the elements lie densely in row-major order.
  bool is_contiguous() const;

  // Returns element i of the first dimension. A negative index counts from the end.
  StridedView operator[](index_t i) const { return select(*this, 0, i); }
  // The same for each i, see Tensor.
  auto begin() const { return detail::RowIterator<const StridedView>{this, 0}; }
  auto end() const { return detail::end_of_rows(*this); }

  // Returns a dense copy.
  Tensor<value_type, D> contiguous() const;
  // Returns the elements in row-major order. Waits for the device.
  std::vector<value_type> to_vector() const { return contiguous().to_vector(); }
  // Returns the only element. Waits for the device. Throws Error for another number of elements.
  value_type item() const;

 private:
  void require_alive() const {
    if (lifetime_.is_over()) [[unlikely]]
      detail::fail({"gpunet::StridedView: the tensor of this view of shape ", to_string(sizes_),
                    " no longer exists (its memory is gone), keep the tensor as long as the view"});
  }
  template <class X>
  void write(X&& x) const;

  D* device_;
  T* data_;
  Sizes sizes_;
  detail::Strides strides_;
  detail::BorrowedLifetime lifetime_;
};

namespace detail {

// Returns a view of a whole tensor.
template <class T, class D>
StridedView<T, D> view_of(Tensor<T, D>& tensor) {
  return {device_of_view(tensor), tensor.data(), tensor.sizes(), dense_strides(tensor.sizes()),
          TensorAccess::lifetime(tensor)};
}
template <class T, class D>
StridedView<const T, D> view_of(const Tensor<T, D>& tensor) {
  return {device_of_view(tensor), tensor.data(), tensor.sizes(), dense_strides(tensor.sizes()),
          TensorAccess::lifetime(tensor)};
}
template <class T, class D>
const StridedView<T, D>& view_of(const StridedView<T, D>& view) {
  return view;
}

template <DenseView X>
StridedView<typename X::element_type, typename X::device_type> view_of(const X& x) {
  return {x.device(), x.data(), x.sizes(), dense_strides(x.sizes())};
}

}  // namespace detail

}  // namespace gpunet
