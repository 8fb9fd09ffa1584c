// Arithmetic and functions of tensors, element by element. Names, results and broadcasting (shapes
// are aligned at their last dimension, an extent of 1 is repeated) are PyTorch's.
//
//   Tensor y = exp(-square(x - mean) / (2 * variance));        one loop on Host, one kernel on Cuda
//   y += 0.5 * x;                                               in place
//   select(y, 0, 3) = 0;                                        a part of it
//
// Operands are tensors, views, expressions and numbers. They have one element type (convert with
// cast<float>(x)), except numbers, which are converted to it. Throw Error for shapes that do not
// broadcast.
#pragma once

#include <tuple>

#include <gpunet/functions/activations.hpp>
#include <gpunet/functions/elementwise.hpp>
#include <gpunet/tensor/expression.hpp>
#include <gpunet/tensor/print.hpp>

namespace gpunet {

namespace detail {

template <class X>
requires TensorLike<X>
inline constexpr bool is_function_argument<X> = true;

template <class A, class B>
concept OneIsTensor = (TensorLike<A> && (TensorLike<B> || Number<B>)) ||
                      (Number<A> && TensorLike<B>);

// The operand that is a tensor.
template <class A, class B>
using TensorOf = std::conditional_t<TensorLike<A>, A, B>;

template <class T, class D, class X>
Expression<T, D> operand(X&& x) {
  if constexpr (Number<X>) {
    return number<T, D>(x);
  } else {
    static_assert(std::is_same_v<DeviceOf<X>, D>,
                  "gpunet::Tensor: the operands are on two kinds of device, move one of them with "
                  "to(device)");
    static_assert(
        std::is_same_v<ValueOf<X>, T>,
        "gpunet::Tensor: the operands have two element types, convert one of them: cast<float>(x)");
    return expression(std::forward<X>(x));
  }
}

// Refuses operations that a type of elements does not have; true.
template <class Op, class T>
constexpr bool has_operation() {
  constexpr bool is_bit_op =
      detail::element::Code::And <= Op::code && Op::code <= detail::element::Code::Xor;
  constexpr bool is_comparison =
      detail::element::Code::Equal <= Op::code && Op::code <= detail::element::Code::LessEqual;
  static_assert(
      !std::is_same_v<T, bool> || is_bit_op || is_comparison,
      "gpunet::Tensor: arithmetic of bools, use & and |, or convert them: cast<float>(x)");
  static_assert(!std::is_floating_point_v<T> || !is_bit_op,
                "gpunet::Tensor: & and | of floats, compare them first: (x > 0) & (x < 1)");
  return true;
}

template <class Op, class A, class B>
auto binary(A&& a, B&& b, std::string_view function) {
  using X = TensorOf<A, B>;
  using T = ValueOf<X>;
  using D = DeviceOf<X>;
  if constexpr (has_operation<Op, T>())  // first, so that its errors come before others
    return operand<T, D>(std::forward<A>(a))
        .template apply<Op>(operand<T, D>(std::forward<B>(b)), function);
}

// The same of floats: integers become float first.
template <class X>
auto as_floats(X&& x) {
  if constexpr (Number<X>)
    return x;
  else if constexpr (std::is_floating_point_v<ValueOf<X>>)
    return expression(std::forward<X>(x));
  else
    return expression(std::forward<X>(x)).template cast<float>();
}
template <class Op, class A, class B>
auto binary_of_floats(A&& a, B&& b, std::string_view function) {
  return binary<Op>(as_floats(std::forward<A>(a)), as_floats(std::forward<B>(b)), function);
}

}  // namespace detail

// Returns the elements converted to another type: float, double, std::int32_t, index_t,
// std::uint8_t or bool.
template <class T, detail::TensorLike X>
auto cast(X&& x) {
  static_assert(detail::Element<T>,
                "gpunet::cast: the type has to be float, double, std::int32_t, index_t, "
                "std::uint8_t or bool");
  return detail::expression(std::forward<X>(x)).template cast<T>();
}

// Return where a is larger than b, element by element; the other comparisons are below.
template <class A, class B>
requires detail::OneIsTensor<A, B>
auto operator>(A&& a, B&& b) {
  return detail::binary<detail::element::Less>(std::forward<B>(b), std::forward<A>(a), "operator>");
}
// The same, or where they are equal.
template <class A, class B>
requires detail::OneIsTensor<A, B>
auto operator>=(A&& a, B&& b) {
  return detail::binary<detail::element::LessEqual>(std::forward<B>(b), std::forward<A>(a),
                                                    "operator>=");
}

// Return each element with the opposite sign.
template <detail::TensorLike X>
auto operator-(X&& x) {
  if constexpr (detail::has_operation<detail::element::Negate, detail::ValueOf<X>>())
    return detail::expression(std::forward<X>(x)).template apply<detail::element::Negate>();
}

// Return where an element is NaN, is infinite, is neither; integers become float first.
template <detail::TensorLike X>
auto isnan(X&& x) {
  return detail::as_floats(std::forward<X>(x)).template apply<detail::element::IsNan>();
}
template <detail::TensorLike X>
auto isinf(X&& x) {
  return detail::as_floats(std::forward<X>(x)).template apply<detail::element::IsInf>();
}
template <detail::TensorLike X>
auto isfinite(X&& x) {
  return detail::as_floats(std::forward<X>(x)).template apply<detail::element::IsFinite>();
}

// Returns a function of functions/ for each element. exp(x), gelu(x) and others call it.
template <class F, detail::TensorLike X>
auto apply_function(const F& f, X&& x) {
  using T = detail::ValueOf<X>;
  using D = detail::DeviceOf<X>;
  using Op = detail::element::Apply<F>;
  if constexpr (F::of_integers == OfIntegers::unchanged && std::is_integral_v<T>) {
    return detail::expression(std::forward<X>(x));
  } else if constexpr (F::of_integers == OfIntegers::as_integers) {
    if constexpr (detail::has_operation<Op, T>())
      return detail::expression(std::forward<X>(x)).template apply<Op>();
  } else if constexpr (requires { f.options(); }) {
    auto floats = detail::as_floats(std::forward<X>(x));
    using Float = typename decltype(floats)::value_type;
    return std::apply(
        [&](auto... options) {
          return std::move(floats).template apply<Op>(
              detail::number<Float, D>(static_cast<Float>(options))..., F::function_name);
        },
        f.options());
  } else {
    return detail::as_floats(std::forward<X>(x)).template apply<Op>();
  }
}

// Returns x to a power, a number or a tensor; of integers as floats. Powers of -2 to 3 and square
// roots are computed as such.
template <class A, class B>
requires detail::OneIsTensor<A, B>
auto pow(A&& x, B&& exponent) {
  using T = detail::ValueOf<detail::TensorOf<A, B>>;
  if constexpr (detail::Number<B> && std::is_floating_point_v<T>) {
    const auto power = static_cast<double>(exponent);
    auto base = detail::expression(std::forward<A>(x));
    if (power == 2)
      return std::move(base).template apply<detail::element::Apply<functions::Square>>();
    if (power == 3) return std::move(base).template apply<detail::element::Cube>();
    if (power == 0.5)
      return std::move(base).template apply<detail::element::Apply<functions::Sqrt>>();
    if (power == -0.5) return rsqrt(std::move(base));
    if (power == -1)
      return std::move(base).template apply<detail::element::Apply<functions::Reciprocal>>();
    if (power == -2)
      return reciprocal(
          std::move(base).template apply<detail::element::Apply<functions::Square>>());
    return detail::binary<detail::element::Pow>(std::move(base), exponent, "pow");
  } else {
    return detail::binary_of_floats<detail::element::Pow>(std::forward<A>(x),
                                                          std::forward<B>(exponent), "pow");
  }
}

// Returns min(max(x, min), max).
template <detail::TensorLike X, class Min, class Max>
auto clamp(X&& x, Min&& min, Max&& max) {
  return minimum(maximum(std::forward<X>(x), std::forward<Min>(min)), std::forward<Max>(max));
}
// Returns max(x, 0).
template <detail::TensorLike X>
auto relu(X&& x) {
  return maximum(0, std::forward<X>(x));  // in this order: of equal ones it is x, which may be -0
}

// Returns where the condition, a tensor of bools, is true the elements of a, else of b.
template <detail::TensorLike C, class A, class B>
requires detail::OneIsTensor<A, B>
auto where(C&& condition, A&& a, B&& b) {
  static_assert(std::is_same_v<detail::ValueOf<C>, bool>,
                "gpunet::where: the condition has to be a tensor of bools: x > 0");
  using X = detail::TensorOf<A, B>;
  using T = detail::ValueOf<X>;
  using D = detail::DeviceOf<X>;
  return detail::operand<bool, D>(std::forward<C>(condition))
      .template choose<T>(detail::operand<T, D>(std::forward<A>(a)),
                          detail::operand<T, D>(std::forward<B>(b)), "where");
}

// Returns x with a number where the mask, a tensor of bools, is true. Shapes broadcast.
template <detail::TensorLike X, detail::TensorLike M, detail::Number N>
auto masked_fill(X&& x, M&& mask, N value) {
  static_assert(std::is_same_v<detail::ValueOf<M>, bool>,
                "gpunet::masked_fill: the mask has to be a tensor of bools: x > 0");
  return where(std::forward<M>(mask), value, std::forward<X>(x));
}

// Return the conjunction, the disjunction and the negation of bools.
template <detail::TensorLike X>
auto operator!(X&& x) {
  static_assert(std::is_same_v<detail::ValueOf<X>, bool>,
                "gpunet::Tensor: ! of numbers, write x == 0");
  return std::forward<X>(x) ^ true;
}
template <detail::TensorLike X>
auto logical_not(X&& x) {
  return !cast<bool>(std::forward<X>(x));
}
template <detail::TensorLike A, detail::TensorLike B>
auto logical_and(A&& a, B&& b) {
  return cast<bool>(std::forward<A>(a)) & cast<bool>(std::forward<B>(b));
}
template <detail::TensorLike A, detail::TensorLike B>
auto logical_or(A&& a, B&& b) {
  return cast<bool>(std::forward<A>(a)) | cast<bool>(std::forward<B>(b));
}

// && and || of C++ do not compile: they would take the tensors as conditions.
#define GPUNET_REFUSED_OF_CONDITIONS(name)                                                   \
  template <class A, class B>                                                                \
  requires(detail::TensorLike<A> || detail::TensorLike<B>) auto name(A&&, B&&) {             \
    static_assert(detail::never<A>,                                                          \
                  "gpunet::Tensor: && and || of tensors, write & and |: (x > 0) & (x < 1)"); \
  }
GPUNET_REFUSED_OF_CONDITIONS(operator&&)
GPUNET_REFUSED_OF_CONDITIONS(operator||)
#undef GPUNET_REFUSED_OF_CONDITIONS

namespace detail {

// Writes the result of x += y to x.
template <class T, class D, class R>
void assign_result(Expression<R, D>&& result, const StridedView<T, D>& x,
                   std::string_view function) {
  static_assert(!std::is_const_v<T>,
                "gpunet::StridedView: the view is of a const tensor (which is not to be written), "
                "view one that is not const");
  static_assert(std::is_same_v<R, std::remove_const_t<T>>,
                "gpunet::Tensor: the result has floats, which a tensor of integers cannot hold, "
                "use x = floor_divide(x, y)");
  if constexpr (std::is_same_v<R, T>) std::move(result).eval_to(x, function);
}

}  // namespace detail

// Bools and integers with all bits changed.
template <detail::TensorLike X>
requires std::is_integral_v<detail::ValueOf<X>>
auto operator~(X&& x) {
  if constexpr (std::is_same_v<detail::ValueOf<X>, bool>)
    return std::forward<X>(x) ^ true;
  else
    return std::forward<X>(x) ^ static_cast<detail::ValueOf<X>>(-1);
}

// std::cout << x[0] << (x + 1)
template <class T, class D>
std::ostream& operator<<(std::ostream& out, const StridedView<T, D>& view) {
  return out << view.contiguous();
}
template <class T, class D>
std::ostream& operator<<(std::ostream& out, Expression<T, D>&& expression) {
  return out << std::move(expression).eval();
}

// Return a function of two operands, element by element. Shapes broadcast.
#define GPUNET_TENSOR_BINARY(name, Op)                                                         \
  template <class A, class B>                                                                  \
  requires detail::OneIsTensor<A, B>                                                           \
  auto name(A&& a, B&& b) {                                                                    \
    return detail::binary<detail::element::Op>(std::forward<A>(a), std::forward<B>(b), #name); \
  }
GPUNET_TENSOR_BINARY(operator+, Add)
GPUNET_TENSOR_BINARY(operator-, Subtract)
GPUNET_TENSOR_BINARY(operator*, Multiply)
GPUNET_TENSOR_BINARY(operator==, Equal)
GPUNET_TENSOR_BINARY(operator!=, NotEqual)
GPUNET_TENSOR_BINARY(operator<, Less)
GPUNET_TENSOR_BINARY(operator<=, LessEqual)
// Of bools or integers, bit by bit.
GPUNET_TENSOR_BINARY(operator&, And)
GPUNET_TENSOR_BINARY(operator|, Or)
GPUNET_TENSOR_BINARY(operator^, Xor)
// NaN where one of the two is.
GPUNET_TENSOR_BINARY(maximum, Maximum)
GPUNET_TENSOR_BINARY(minimum, Minimum)
// a - b floor(a / b), and floor(a / b); of integers whose b is 0: a, and 0.
GPUNET_TENSOR_BINARY(remainder, Remainder)
GPUNET_TENSOR_BINARY(floor_divide, FloorDivide)
#undef GPUNET_TENSOR_BINARY

// Return a function of two floats, element by element; integers become float first.
#define GPUNET_TENSOR_FLOAT_BINARY(name, Op)                                                     \
  template <class A, class B>                                                                    \
  requires detail::OneIsTensor<A, B>                                                             \
  auto name(A&& a, B&& b) {                                                                      \
    return detail::binary_of_floats<detail::element::Op>(std::forward<A>(a), std::forward<B>(b), \
                                                         #name);                                 \
  }
GPUNET_TENSOR_FLOAT_BINARY(operator/, Divide)
GPUNET_TENSOR_FLOAT_BINARY(atan2, Atan2)
#undef GPUNET_TENSOR_FLOAT_BINARY

// In place, on a tensor or a view: x += 2 * y. The shape of the right side has to broadcast to that
// of the left one.
#define GPUNET_TENSOR_ASSIGNMENT(name, op)                                                \
  template <class T, class D, class X>                                                    \
  requires(detail::TensorLike<X> || detail::Number<X>) Tensor<T, D>                       \
  &name(Tensor<T, D>& x, X&& y) {                                                         \
    detail::assign_result(x op std::forward<X>(y), detail::view_of(x), #name);            \
    return x;                                                                             \
  }                                                                                       \
  template <class T, class D, class X>                                                    \
  requires(detail::TensorLike<X> || detail::Number<X>) const StridedView<T, D>& name(     \
      const StridedView<T, D>& x, X&& y) {                                                \
    detail::assign_result(x op std::forward<X>(y), x, #name);                             \
    return x;                                                                             \
  }                                                                                       \
  template <detail::DenseView V, class X>                                                 \
  requires(detail::TensorLike<X> || detail::Number<X>) const V& name(const V& x, X&& y) { \
    detail::assign_result(x op std::forward<X>(y), detail::view_of(x), #name);            \
    return x;                                                                             \
  }
GPUNET_TENSOR_ASSIGNMENT(operator+=, +)
GPUNET_TENSOR_ASSIGNMENT(operator-=, -)
GPUNET_TENSOR_ASSIGNMENT(operator*=, *)
GPUNET_TENSOR_ASSIGNMENT(operator/=, /)
GPUNET_TENSOR_ASSIGNMENT(operator&=, &)
GPUNET_TENSOR_ASSIGNMENT(operator|=, |)
#undef GPUNET_TENSOR_ASSIGNMENT

}  // namespace gpunet
