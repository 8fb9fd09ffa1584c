// Expressions of tensors: chains of element-wise work that run as one loop on Host, as one kernel
// on Cuda.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/tensor/strided_view.hpp>

namespace gpunet {

namespace detail {

// How the memory that is written lies to memory that is read.
enum class Overlap { none, same, some, unknown };
Overlap overlap(const Operand& in, const Operand& out);
// Returns whether two elements of an array are one.
bool overlaps_itself(const Sizes& sizes, const Strides& strides);
// Throws Error if elements of the program cannot be written to `out`. Returns whether they have to
// be computed elsewhere first.
bool check_written(const ElementProgram& program, const Operand& out, std::string_view function);

template <class D, class F>
Loop loop_on() {
  if constexpr (std::is_same_v<D, Host>)
    return block_loop<F>();
  else
    return nullptr;
}

}  // namespace detail

namespace detail {

// An expression without the type of its elements, so that it is compiled once.
template <class D>
class AnyExpression {
 public:
  AnyExpression(D* device, const Operand& operand) : device_(device), program_(operand) {}
  // These two not inline, because each expression would compile them.
  AnyExpression(AnyExpression&&) noexcept;
  ~AnyExpression();

  const Sizes& sizes() const { return program_.sizes(); }
  index_t size(int dimension) const { return sizes().at(dimension); }
  index_t numel() const { return sizes().numel(); }
  // Throws Error where no operand has one.
  D& device() const {
    if (!device_) refuse_device();
    return *device_;
  }
  // Throws Error in debug builds if a tensor in it no longer exists.
  const ElementProgram& program() const {
    for (const BorrowedLifetime& lifetime : borrowed_)
      if (lifetime.is_over()) [[unlikely]]
        refuse_lifetime();
    return program_;
  }
  // Notes that it reads memory of this owner.
  void borrow(BorrowedLifetime lifetime) { borrowed_.push_back(std::move(lifetime)); }

  // Computes the elements.
  Buffer<std::byte, D> compute();
  // Computes them into an array of their shape; into the elements of a view, to whose shape they
  // broadcast.
  void write_to(void* data, const Strides& strides) const;
  void write_to(D* device, const Operand& view, std::string_view function);
  // Returns whether they can be written to an array of this layout while they are read.
  bool can_replace(const D* device, const Operand& array) const;
  // Computes the elements unless they are in an array, and returns the array.
  const Operand& materialize();
  // Uses memory, which it owns.
  void own(D* device, ElementType type, const Sizes& sizes, Buffer<std::byte, D>&& memory);

 protected:
  // Adds a step on these elements, and on the elements of others.
  void add(const ElementStep& step);
  void add(const ElementStep& step, AnyExpression& b, std::string_view function);
  void add(const ElementStep& step, AnyExpression& b, AnyExpression& c, std::string_view function);
  void use_layout(index_t offset, const Sizes& sizes, const Strides& strides) {
    program_.use_layout(offset, sizes, strides);
  }

 private:
  [[noreturn, gnu::cold]] static void refuse_device();
  [[noreturn, gnu::cold]] static void refuse_lifetime();
  bool owns_whole_array() const;
  // Takes the memory of another expression, whose program has become part of this one.
  void take(AnyExpression& b, std::string_view function);

  D* device_;
  ElementProgram program_;
  std::vector<Buffer<std::byte, D>> owned_;
  std::vector<BorrowedLifetime> borrowed_;  // in debug builds
};

// Returns the array that a tensor is.
template <class T, class D>
Operand array_of(const Tensor<T, D>& x) {
  return {x.data(), element_type<T>, x.sizes(), dense_strides(x.sizes())};
}
template <class T, class D>
Operand array_of(const StridedView<T, D>& x) {
  return {x.data(), element_type<std::remove_const_t<T>>, x.sizes(), x.strides()};
}

}  // namespace detail

// The value of `2 * a + b` until it becomes a tensor: by Tensor y = 2 * a + b, by assignment to a
// tensor or a view, or as the argument of a function such as sum. It refers to the tensors in it
// (temporary ones it owns), which have to exist until then, and is used once.
template <class T, class D>
class [[nodiscard]] Expression : public detail::AnyExpression<D>, public detail::RefusedMethods {
  using Base = detail::AnyExpression<D>;

 public:
  using value_type = T;
  using device_type = D;

  using Base::Base;
  Expression(Expression&&) = default;

  // Computes the elements.
  Tensor<T, D> eval() && {
    const Sizes sizes = this->sizes();
    D& device = this->device();
    return detail::TensorAccess::adopt(device, sizes, this->compute().template as<T>());
  }
  // Computes them into a tensor, which gets the shape: into its memory if it has the shape, and
  // they are not read from there in another order.
  void eval_to(Tensor<T, D>& out) && {
    if (this->can_replace(detail::TensorAccess::device(out), detail::array_of(out)))
      this->write_to(out.data(), detail::dense_strides(out.sizes()));
    else
      out = std::move(*this).eval();
  }
  // Computes them into the elements of a view.
  void eval_to(const StridedView<T, D>& out, std::string_view function) && {
    this->write_to(&out.device(), detail::array_of(out), function);
  }
  std::vector<T> to_vector() && { return std::move(*this).eval().to_vector(); }
  T item() && { return std::move(*this).eval().item(); }

  // Steps, see tensor/functions.hpp.
  template <class Op>
  auto apply() && {
    using R = decltype(Op{}(T{}));
    this->add({detail::loop_on<D, detail::UnaryLoop<Op, T>>(), Op::code, detail::element_type<T>,
               detail::element_type<R>});
    return std::move(*this).template as<R>();
  }
  template <class Op>
  auto apply(Expression&& b, std::string_view function) && {
    using R = decltype(Op{}(T{}, T{}));
    this->add({detail::loop_on<D, detail::BinaryLoop<Op, T>>(), Op::code, detail::element_type<T>,
               detail::element_type<R>},
              b, function);
    return std::move(*this).template as<R>();
  }
  template <class Op>
  auto apply(Expression&& b, Expression&& c, std::string_view function) && {
    this->add({detail::loop_on<D, detail::TernaryLoop<Op, T>>(), Op::code, detail::element_type<T>,
               detail::element_type<T>},
              b, c, function);
    return std::move(*this);
  }
  template <class R>
  Expression<R, D> cast() && {
    if constexpr (!std::is_same_v<R, T>)
      this->add({detail::loop_on<D, detail::CastLoop<R, T>>(), detail::element::Code::Cast,
                 detail::element_type<T>, detail::element_type<R>});
    return std::move(*this).template as<R>();
  }
  // Returns a where this is true, else b.
  template <class R>
  Expression<R, D> choose(Expression<R, D>&& a, Expression<R, D>&& b,
                          std::string_view function) && {
    static_assert(std::is_same_v<T, bool>);
    this->add({detail::loop_on<D, detail::WhereLoop<R>>(), detail::element::Code::Where,
               detail::element_type<R>, detail::element_type<R>},
              a, b, function);
    return std::move(*this).template as<R>();
  }
  // Returns the same elements, which have to be in an array, with another layout in its memory.
  Expression with_layout(index_t offset, const Sizes& sizes, const detail::Strides& strides) && {
    this->use_layout(offset, sizes, strides);
    return std::move(*this);
  }

 private:
  template <class U, class E>
  friend class Expression;

  explicit Expression(Base&& other) : Base(std::move(other)) {}
  template <class R>
  Expression<R, D> as() && {
    return Expression<R, D>(static_cast<Base&&>(*this));
  }
};

namespace detail {

// Return the expression that a tensor, a view or an expression is.
template <class T, class D>
Expression<T, D> expression(const Tensor<T, D>& x) {
  Expression<T, D> all(TensorAccess::device(x), array_of(x));
#if GPUNET_ASSERTIONS
  all.borrow(TensorAccess::lifetime(x));
#endif
  return all;
}
template <class T, class D>
Expression<T, D> expression(Tensor<T, D>&& x) {
  Expression<T, D> owner(nullptr, Operand{});
  const Sizes sizes = x.sizes();
  owner.own(TensorAccess::device(x), element_type<T>, sizes,
            TensorAccess::release(std::move(x)).template as<std::byte>());
  return owner;
}
template <class T, class D>
Expression<std::remove_const_t<T>, D> expression(const StridedView<T, D>& x) {
  Expression<std::remove_const_t<T>, D> all(&x.device(), array_of(x));
#if GPUNET_ASSERTIONS
  all.borrow(x.lifetime());
#endif
  return all;
}
template <DenseView X>
auto expression(const X& x) {
  using T = ValueOf<X>;
  return Expression<T, DeviceOf<X>>(
      TensorAccess::device(x),
      Operand{x.data(), element_type<T>, x.sizes(), dense_strides(x.sizes())});
}
template <class T, class D>
Expression<T, D> expression(Expression<T, D>&& x) {
  return std::move(x);
}
template <class T, class D>
Expression<T, D> expression(Expression<T, D>& x) {
  refuse_second_use<sizeof(T) == 0>();
  return std::move(x);
}

// A number beside a tensor.
template <class X>
concept Number = std::is_arithmetic_v<std::remove_cvref_t<X>>;

// Requires operands of one device: of Host any two.
template <class D>
void require_one_device([[maybe_unused]] const D* a, [[maybe_unused]] const D* b,
                        [[maybe_unused]] std::string_view function) {
  if constexpr (!std::is_same_v<D, Host>)
    require(a == b, "gpunet::", function,
            ": operands of two devices of one kind, move one of them with to(device)");
}

// Returns x as something that can be read twice: a view, or a tensor of the result.
template <class X>
auto stored(X&& x) {
  if constexpr (std::is_lvalue_reference_v<X> && requires { view_of(x); })
    return view_of(std::as_const(x));
  else
    return expression(std::forward<X>(x)).eval();
}

// Returns a number as an operand beside elements of T.
template <class T, class D, class N>
Expression<T, D> number(N value) {
  static_assert(!std::is_integral_v<T> || std::is_integral_v<N>,
                "gpunet::Expression: a number with a fraction meets a tensor of integers (it would "
                "be cut off), convert the tensor first: cast<float>(x)");
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<N, bool>)
    require(
        std::in_range<T>(value), "gpunet::Expression: the number ", value,
        " meets a tensor of integers from ", std::numeric_limits<T>::min(), " to ",
        std::numeric_limits<T>::max(),
        " (it cannot be converted without overflow), convert the tensor first: cast<index_t>(x)");
  return Expression<T, D>(nullptr, Operand::of_number(static_cast<T>(value)));
}

}  // namespace detail

template <class T, class D>
bool StridedView<T, D>::is_contiguous() const {
  index_t stride = 1;
  for (int d = sizes_.rank() - 1; d >= 0; --d) {
    if (sizes_[d] != 1 && strides_[static_cast<std::size_t>(d)] != stride && numel() > 0)
      return false;
    stride *= sizes_[d];
  }
  return true;
}
template <class T, class D>
Tensor<std::remove_const_t<T>, D> StridedView<T, D>::contiguous() const {
  return detail::expression(*this).eval();
}
template <class T, class D>
std::remove_const_t<T> StridedView<T, D>::item() const {
  require(numel() == 1, "gpunet::StridedView::item: a view of shape ", to_string(sizes_),
          " has no single value, use to_vector()");
  value_type value;
  device_->download(&value, data(), sizeof value);
  return value;
}
template <class T, class D>
template <class X>
void StridedView<T, D>::write(X&& x) const {
  static_assert(!std::is_const_v<T>,
                "gpunet::StridedView: the view is of a const tensor (which is not to be written), "
                "view one that is not const");
  if constexpr (detail::Number<X>)
    detail::number<T, D>(x).eval_to(*this, "StridedView");
  else if constexpr (detail::TensorLike<X>) {
    static_assert(std::is_same_v<detail::DeviceOf<X>, D>,
                  "gpunet::StridedView: the elements are on another kind of device, move them with "
                  "to(device)");
    static_assert(std::is_same_v<detail::ValueOf<X>, T>,
                  "gpunet::StridedView: the elements have another type than the view, convert "
                  "them: cast<float>(x)");
    detail::expression(std::forward<X>(x)).eval_to(*this, "StridedView");
  } else {
    static_assert(detail::TensorLike<X>,
                  "gpunet::StridedView: assign a tensor, a view, an expression or a number");
  }
}

#if GPUNET_COMPILED
extern template class detail::AnyExpression<Host>;
#if GPUNET_CUDA
extern template class detail::AnyExpression<Cuda>;
#endif
#endif

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/tensor/expression.ipp>
#endif
