// A tensor: owned memory on a device, with a shape.
#pragma once

#include <algorithm>
#include <concepts>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/lifetime.hpp>
#include <gpunet/core/refused.hpp>
#include <gpunet/device/transfer.hpp>
#include <gpunet/tensor/buffer.hpp>
#include <gpunet/tensor/refused_methods.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet {

template <class T, class D>
class Expression;  // tensor/expression.hpp

namespace detail {

// The base of results of several tensors, the first of which has elements of T.
template <class T, class D>
struct SeveralTensors {};

template <bool never>
constexpr void refuse_second_use() {
  static_assert(never,
                "gpunet::Expression: an expression is used once (it has no memory of its own), "
                "make a tensor of it: Tensor y = a + b");
}
}  // namespace detail

// A dense row-major array of T with a shape, on device D, which must outlive it. Move-only: copies
// are explicit, by clone() and to(device).
template <class T, class D = detail::WrongArguments>
class Tensor : public detail::RefusedMethods {
 public:
  using value_type = T;
  using device_type = D;

  Tensor() = default;
  // Allocates uninitialized elements. Throws Error for a shape that is too large.
  Tensor(D& device, const Sizes& sizes)
      : device_(&device), sizes_(checked(sizes)), buffer_(device, sizes_.numel()) {}
  // Copies `values`, in row-major order, to the device. Throws Error unless there are sizes.numel()
  // of them.
  Tensor(D& device, const Sizes& sizes, const std::vector<T>& values) : Tensor(device, sizes) {
    require(static_cast<index_t>(values.size()) == numel(), "gpunet::Tensor: ", values.size(),
            " values for the shape ", to_string(sizes), " (want ", numel(), ")");
    if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no array
      const auto array = std::make_unique<bool[]>(values.size());
      std::copy(values.begin(), values.end(), array.get());
      device.upload(data(), array.get(), buffer_.bytes());
    } else {
      device.upload(data(), values.data(), buffer_.bytes());
    }
  }
  // A vector alone, which might be values or sizes, does not compile.
  template <class U>
  Tensor(D&, const std::vector<U>&) {
    static_assert(sizeof(U) == 0,
                  "gpunet::Tensor: a vector without a shape, write Tensor<float, Host> x(host, {2, "
                  "3}, values) for values, empty<float>(host, sizes) for sizes");
  }
  // Neither do other values than a vector of T, sizes without braces, and arguments in another
  // order.
  template <class Values>
  requires(!std::is_convertible_v<const Values&, std::vector<T>>)
      Tensor(D& device, const Sizes& sizes, const Values&)
      : Tensor(device, sizes) {
    static_assert(
        detail::never<Values>,
        "gpunet::Tensor: the values are no std::vector of the tensor's element type, convert them: "
        "std::vector<float>(values.begin(), values.end()), or write full(host, {2, 3}, value) for "
        "one number");
  }
  template <class... Numbers>
  requires(sizeof...(Numbers) > 0 &&
           (std::is_arithmetic_v<Numbers> && ...)) explicit Tensor(D&, Numbers...) {
    static_assert(
        detail::never<Numbers...>,
        "gpunet::Tensor: sizes without braces, write Tensor<float, Host> x(host, {2, 3})");
  }
  template <class U>
  Tensor(D&, const std::vector<U>&, const Sizes&) {
    refuse_order<U>();
  }
  template <class First, class... More>
  explicit Tensor(const Sizes&, const First&, const More&...) {
    refuse_order<First>();
  }
  template <std::same_as<D> Temporary, class... Values>
  explicit Tensor(Temporary&&, const Sizes&, const Values&...) {
    static_assert(detail::never<Temporary>,
                  "gpunet::Tensor: the device is a temporary (it has to outlive the tensor), keep "
                  "it in a variable: Host host;");
  }

  // Computes an expression: Tensor y = 2 * a + b.
  Tensor(Expression<T, D>&& expression) : Tensor(std::move(expression).eval()) {}
  // The same into the memory of this tensor if it has the shape, and the expression does not read
  // it in another order.
  Tensor& operator=(Expression<T, D>&& expression) {
    std::move(expression).eval_to(*this);
    return *this;
  }
  // Elements of another type do not compile.
  template <class U>
  requires(!std::is_same_v<U, T>) Tensor(Expression<U, D>&&) { refuse_elements<U>(); }
  template <class U>
  requires(!std::is_same_v<U, T>) Tensor& operator=(Expression<U, D>&&) {
    return refuse_elements<U>(), *this;
  }
  // Neither does an expression with a name, nor a result of several tensors.
  template <bool never = false>
  Tensor(const Expression<T, D>&) {
    detail::refuse_second_use<never>();
  }
  template <bool never = false>
  Tensor(const detail::SeveralTensors<T, D>&) {
    static_assert(never,
                  "gpunet::Tensor: the function returns several tensors, name them, or take one: "
                  "auto [values, indices] = topk(x, 3), Tensor y = topk(x, 3).values");
  }
  // Copies the elements of a view.
  template <class U>
  requires std::is_same_v<std::remove_const_t<U>, T> Tensor(const StridedView<U, D>& view)
      : Tensor(view.contiguous()) {}
  template <class U>
  requires std::is_same_v<std::remove_const_t<U>, T> Tensor(const View<U, D>& view)
      : Tensor(view.clone()) {}

  // On one line, which compilers show.
  Tensor(const Tensor&) GPUNET_DELETED("gpunet::Tensor: write x.clone() to copy, or std::move(x)");
  Tensor& operator=(const Tensor&) GPUNET_DELETED("gpunet::Tensor: y = x.clone() or std::move(x)");
  // A moved-from tensor is empty.
  Tensor(Tensor&& other) noexcept
      : device_(other.device_),
        sizes_(std::exchange(other.sizes_, Sizes{0})),
        buffer_(std::move(other.buffer_)),
        lifetime_(std::move(other.lifetime_)) {}
  Tensor& operator=(Tensor&& other) noexcept {
    device_ = other.device_;
    sizes_ = std::exchange(other.sizes_, Sizes{0});
    buffer_ = std::move(other.buffer_);
    lifetime_ = std::move(other.lifetime_);
    return *this;
  }

  T* data() { return buffer_.data(); }
  const T* data() const { return buffer_.data(); }
  const Sizes& sizes() const { return sizes_; }
  // The extent of a dimension, which may be counted from the end: -1 is the last. Throws Error if
  // there is no such dimension.
  index_t size(int dimension) const { return sizes_.at(dimension); }
  index_t numel() const { return sizes_.numel(); }
  D& device() const { return *device_; }

  operator View<T, D>() & { return {data(), sizes_, device_}; }
  operator View<const T, D>() const& { return {data(), sizes_, device_}; }
  View<T, D> view() & { return *this; }
  View<const T, D> view() const& { return *this; }
  // Views of a temporary tensor do not compile.
  template <class U>
  requires std::is_same_v<const U, const T>
  operator View<U, D>() const&& { return view_of_temporary<U>(); }
  template <class U = const T>
  View<U, D> view() const&& {
    return view_of_temporary<U>();
  }

  // Returns element i of the first dimension, as a view: x[i][j] = 1. A negative index counts from
  // the end.
  template <std::integral I>
  auto operator[](I i) & {
    return detail::row_of(*this, i);
  }
  template <std::integral I>
  auto operator[](I i) const& {
    return detail::row_of(*this, i);
  }
  // The same for each i: for (auto row : x). Throw Error for a tensor without dimensions.
  auto begin() & { return detail::RowIterator<Tensor>{this, 0}; }
  auto begin() const& { return detail::RowIterator<const Tensor>{this, 0}; }
  auto end() & { return detail::end_of_rows(*this); }
  auto end() const& { return detail::end_of_rows(*this); }

  // Returns a copy on the same device.
  Tensor clone() const { return device_ ? to(*device_) : Tensor(); }
  // Returns a copy on `target`: this device, another of the same kind, or one of another kind.
  template <Device Target>
  Tensor<T, Target> to(Target& target) const {
    return view().to(target);
  }

  // Returns the elements in row-major order. Waits for the device.
  std::vector<T> to_vector() const {
    return numel() > 0 ? gpunet::to_vector(*device_, view()) : std::vector<T>();
  }

  // Returns the element of a one-element tensor. Waits for the device. Throws Error for any other
  // shape.
  T item() const { return view().item(); }

 private:
  friend struct detail::TensorAccess;

  template <class U>
  static View<U, D> view_of_temporary() {
    static_assert(
        sizeof(U) == 0,
        "gpunet::Tensor::view: the tensor is a temporary (the view would outlive its memory), "
        "keep the tensor in a variable");
    return {};
  }
  template <class U>
  static void refuse_elements() {
    static_assert(sizeof(U) == 0,
                  "gpunet::Tensor: the elements have another type than the tensor, convert them: "
                  "cast<float>(x)");
  }
  template <class First>
  static void refuse_order() {
    static_assert(detail::never<First>,
                  "gpunet::Tensor: the arguments are in another order, write Tensor<float, Host> "
                  "x(host, {2, 3}, values)");
  }
  static const Sizes& checked(const Sizes& sizes) {
    constexpr index_t most = detail::most_in_memory<T>;
    require(sizes.at_most(most), "gpunet::Tensor: the shape ", to_string(sizes), " has more than ",
            most, " elements, check the sizes");
    return sizes;
  }

  D* device_ = nullptr;
  Sizes sizes_{0};
  Buffer<T, D> buffer_;
  detail::OwnerLifetime lifetime_;  // of the memory, for views
};

template <class T, class D>
Tensor(Expression<T, D>&&) -> Tensor<T, D>;
template <class T, class D>
Tensor(const StridedView<T, D>&) -> Tensor<std::remove_const_t<T>, D>;
template <class T, class D>
Tensor(const View<T, D>&) -> Tensor<std::remove_const_t<T>, D>;

template <class T, class D>
template <Device Target>
Tensor<std::remove_const_t<T>, Target> View<T, D>::to(Target& target) const {
  Tensor<std::remove_const_t<T>, Target> copy(target, sizes_);
  if (numel() > 0)
    transfer(device(), static_cast<const T*>(data_), target, copy.data(),
             static_cast<std::size_t>(numel()) * sizeof(T));
  return copy;
}
template <class T, class D>
std::remove_const_t<T> View<T, D>::item() const {
  require(numel() == 1, "gpunet::Tensor::item: a tensor of shape ", to_string(sizes_),
          " has no single value, use to_vector()");
  std::remove_const_t<T> value;
  device().download(&value, data_, sizeof(T));
  return value;
}

// Gives the compiler one clear error for a type without a device, and where no type follows from
// the arguments.
template <class T, detail::Wrong D>
class Tensor<T, D> : public detail::AnyArguments {
  static_assert(std::is_void_v<T>,
                "gpunet::Tensor: a tensor without a device, write Tensor<float, Host>");
  static_assert(
      !std::is_void_v<T>,
      "gpunet::Tensor: the element type and the device do not follow from the arguments, write "
      "Tensor<float, Host> x(host, {2, 3}, values) with a std::vector<float>, or tensor(host, "
      "{1.5f, 2.5f})");

 public:
  using AnyArguments::AnyArguments;
};
Tensor(...)->Tensor<void, detail::WrongArguments>;

namespace detail {

// The members of a tensor for expressions and views.
struct TensorAccess {
  // Null for a tensor that was made without one.
  template <class T, class D>
  static D* device(const Tensor<T, D>& tensor) {
    return tensor.device_;
  }
  template <class T, class D>
  static D* device(const View<T, D>& view) {
    return view.device_;
  }
  template <class T, class D>
  static BorrowedLifetime lifetime(const Tensor<T, D>& tensor) {
    return BorrowedLifetime(tensor.lifetime_);
  }
  // Takes the memory of a tensor.
  template <class T, class D>
  static Buffer<T, D> release(Tensor<T, D>&& tensor) {
    tensor.sizes_ = Sizes{0};
    tensor.lifetime_ = {};  // ends it for views
    return std::move(tensor.buffer_);
  }
  // Makes a tensor of memory.
  template <class T, class D>
  static Tensor<T, D> adopt(D& device, const Sizes& sizes, Buffer<T, D>&& buffer) {
    Tensor<T, D> tensor;
    tensor.device_ = &device;
    tensor.sizes_ = sizes;
    tensor.buffer_ = std::move(buffer);
    return tensor;
  }
};

}  // namespace detail

// A function parameter that accepts a View or a Tensor, also a temporary one. It is read until the
// function returns.
template <class T, class D>
class ViewArgument : public View<const T, D> {
 public:
  ViewArgument(const View<const T, D>& view) : View<const T, D>(view) {}
  ViewArgument(const View<T, D>& view) : View<const T, D>(view) {}
  ViewArgument(const Tensor<T, D>& tensor) : View<const T, D>(tensor) {}
};

}  // namespace gpunet
