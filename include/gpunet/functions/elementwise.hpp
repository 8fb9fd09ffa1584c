// Functions of one number, element by element, with PyTorch's names and gradients. They take values
// and tensors; tensors of integers become float first, unless said otherwise. A new one needs three
// places here: its struct, its function, and its line in a list at the end.
#pragma once

#include <cmath>
#include <numbers>
#include <string_view>
#include <type_traits>

#include <gpunet/core/math.hpp>
#include <gpunet/device/functor_math.hpp>
#include <gpunet/functions/clamp.hpp>
#include <gpunet/functions/function.hpp>

namespace gpunet::functions {

// scale * x + offset
struct Affine : Function<Affine> {
  double scale = 1, offset = 0;
  constexpr Affine(double factor, double summand) : scale(factor), offset(summand) {}
  template <class T>
  GPUNET_FN T value(T x) const {
    return static_cast<T>(scale) * x + static_cast<T>(offset);
  }
  template <class T>
  GPUNET_FN T gradient(T, T, T dy) const {
    return static_cast<T>(scale) * dy;
  }
};

// numerator / x
struct Reciprocal : Function<Reciprocal> {
  static constexpr std::string_view function_name = "reciprocal";
  double numerator = 1;
  GPUNET_FN constexpr explicit Reciprocal(double number = 1) : numerator(number) {}
  template <class T>
  GPUNET_FN T value(T x) const {
    return static_cast<T>(numerator) / x;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T y, T dy) const {
    return -dy * (y / x);
  }
};

// e^x
struct Exp : Function<Exp> {
  static constexpr std::string_view function_name = "exp";
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::exp(x);
  }
  template <class T>
  GPUNET_FN T gradient(T, T y, T dy) const {
    return y * dy;
  }
};

// 2^x
struct Exp2 : Function<Exp2> {
  static constexpr std::string_view function_name = "exp2";
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::exp2(x);
  }
  template <class T>
  GPUNET_FN T gradient(T, T y, T dy) const {
    return dy * y * static_cast<T>(std::numbers::ln2);
  }
};

// exp(x) - 1
struct Expm1 : Function<Expm1> {
  static constexpr std::string_view function_name = "expm1";
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::expm1(x);
  }
  template <class T>
  GPUNET_FN T gradient(T, T y, T dy) const {
    return dy * (y + T{1});
  }
};

// The natural logarithm.
struct Log : Function<Log> {
  static constexpr std::string_view function_name = "log";
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::log(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy / x;
  }
};

// The logarithm to base 2.
struct Log2 : Function<Log2> {
  static constexpr std::string_view function_name = "log2";
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::log2(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy / (x * static_cast<T>(std::numbers::ln2));
  }
};

// The logarithm to base 10.
struct Log10 : Function<Log10> {
  static constexpr std::string_view function_name = "log10";
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::log10(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy / (x * static_cast<T>(std::numbers::ln10));
  }
};

// log(1 + x)
struct Log1p : Function<Log1p> {
  static constexpr std::string_view function_name = "log1p";
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::log1p(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy / (x + T{1});
  }
};

// The square root.
struct Sqrt : Function<Sqrt> {
  static constexpr std::string_view function_name = "sqrt";
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::sqrt(x);
  }
  template <class T>
  GPUNET_FN T gradient(T, T y, T dy) const {
    return dy / (2 * y);
  }
};

// The square root of a sum of squares: the gradient of a length of 0 is 0, as of torch.linalg.norm.
struct Length : Function<Length> {
  static constexpr std::string_view function_name = "pairwise_distance";
  template <class T>
  GPUNET_FN T value(T x) const {
    return Sqrt().value(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T y, T dy) const {
    return y == 0 ? T{} : Sqrt().gradient(x, y, dy);
  }
};

// The sine.
struct Sin : Function<Sin> {
  static constexpr std::string_view function_name = "sin";
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::sin(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy * math::cos(x);
  }
};

// The cosine.
struct Cos : Function<Cos> {
  static constexpr std::string_view function_name = "cos";
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::cos(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return -dy * math::sin(x);
  }
};

// The tangent.
struct Tan : Function<Tan> {
  static constexpr std::string_view function_name = "tan";
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::tan(x);
  }
  template <class T>
  GPUNET_FN T gradient(T, T y, T dy) const {
    return dy * (y * y + T{1});
  }
};

// The arc sine.
struct Asin : Function<Asin> {
  static constexpr std::string_view function_name = "asin";
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::asin(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy / std::sqrt(T{1} - x * x);
  }
};

// The arc cosine.
struct Acos : Function<Acos> {
  static constexpr std::string_view function_name = "acos";
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::acos(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return -dy / std::sqrt(T{1} - x * x);
  }
};

// The arc tangent.
struct Atan : Function<Atan> {
  static constexpr std::string_view function_name = "atan";
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::atan(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy / (x * x + T{1});
  }
};

// The hyperbolic sine.
struct Sinh : Function<Sinh> {
  static constexpr std::string_view function_name = "sinh";
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::sinh(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy * std::cosh(x);
  }
};

// The hyperbolic cosine.
struct Cosh : Function<Cosh> {
  static constexpr std::string_view function_name = "cosh";
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::cosh(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy * std::sinh(x);
  }
};

// The error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x.
struct Erf : Function<Erf> {
  static constexpr std::string_view function_name = "erf";
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::erf(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy * static_cast<T>(2 * std::numbers::inv_sqrtpi) * math::exp(-(x * x));
  }
};

// x^exponent. As in PyTorch, roots are computed by sqrt: NaN of -infinity, and -0 of -0.
struct Pow : Function<Pow> {
  static constexpr std::string_view function_name = "pow";
  double exponent = 1;
  constexpr explicit Pow(double power) : exponent(power) {}
  template <class T>
  GPUNET_FN T value(T x) const {
    return power(x, exponent);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return exponent == 0 ? T{} : dy * (static_cast<T>(exponent) * power(x, exponent - 1));
  }

 private:
  template <class T>
  GPUNET_FN static T power(T x, double exponent) {
    if (exponent == 0.5) return std::sqrt(x);
    if (exponent == -0.5) return T{1} / std::sqrt(x);
    return std::pow(x, static_cast<T>(exponent));
  }
};

// min(max(x, low), high). The gradient is 0 at the bounds, outside, and of NaN, as in PyTorch.
struct Clamp : Function<Clamp> {
  static constexpr std::string_view function_name = "clamp";
  double low = 0, high = 1;
  constexpr Clamp(double lowest, double highest) : low(lowest), high(highest) {}
  template <class T>
  GPUNET_FN T value(T x) const {
    return gpunet::Clamp<T>(static_cast<T>(low), static_cast<T>(high))(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return math::select(x > static_cast<T>(low) && x < static_cast<T>(high), dy, T{});
  }
  Bounds bounds() const { return {low, high}; }
};

namespace detail {

// Integers wrap around: computed as these.
template <class T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                                             std::make_unsigned<T>, std::type_identity<T>>::type;
// A number of that type, for arithmetic.
template <class T>
[[gnu::always_inline]] GPUNET_FN inline Wrapping<T> wrapping(T x) {
  return static_cast<Wrapping<T>>(x);
}

}  // namespace detail

// |x|; the gradient at 0 is 0.
struct Abs : Function<Abs> {
  static constexpr std::string_view function_name = "abs";
  static constexpr OfIntegers of_integers = OfIntegers::as_integers;
  template <class T>
  GPUNET_FN T value(T x) const {
    if constexpr (std::is_floating_point_v<T>)
      return std::fabs(x);
    else if constexpr (std::is_signed_v<T>)
      return x < 0 ? static_cast<T>(-detail::wrapping(x)) : x;
    else
      return x;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return math::select(x > T{}, dy, math::select(x < T{}, -dy, T{}));
  }
};

// x * x
struct Square : Function<Square> {
  static constexpr std::string_view function_name = "square";
  static constexpr OfIntegers of_integers = OfIntegers::as_integers;
  template <class T>
  GPUNET_FN T value(T x) const {
    return static_cast<T>(detail::wrapping(x) * detail::wrapping(x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return 2 * x * dy;
  }
};

// The base of functions that are constant between jumps: their gradient is 0.
template <class F>
struct StepFunction : Function<F> {
  template <class T>
  GPUNET_FN T gradient(T, T, T) const {
    return T{};
  }
};

// -1, 0 or 1; 0 of NaN.
struct Sign : StepFunction<Sign> {
  static constexpr std::string_view function_name = "sign";
  static constexpr OfIntegers of_integers = OfIntegers::as_integers;
  template <class T>
  GPUNET_FN T value(T x) const {
    if constexpr (std::is_unsigned_v<T>)
      return static_cast<T>(x != T{});
    else
      return static_cast<T>((x > T{}) - (x < T{}));
  }
};

// To the next integer below.
struct Floor : StepFunction<Floor> {
  static constexpr std::string_view function_name = "floor";
  static constexpr OfIntegers of_integers = OfIntegers::unchanged;
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::floor(x);
  }
};

// To the next integer above.
struct Ceil : StepFunction<Ceil> {
  static constexpr std::string_view function_name = "ceil";
  static constexpr OfIntegers of_integers = OfIntegers::unchanged;
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::ceil(x);
  }
};

// To the nearest integer, halves to the even one.
struct Round : StepFunction<Round> {
  static constexpr std::string_view function_name = "round";
  static constexpr OfIntegers of_integers = OfIntegers::unchanged;
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::nearbyint(x);
  }
};

// To the nearest integer towards 0.
struct Trunc : StepFunction<Trunc> {
  static constexpr std::string_view function_name = "trunc";
  static constexpr OfIntegers of_integers = OfIntegers::unchanged;
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::trunc(x);
  }
};

}  // namespace gpunet::functions

namespace gpunet::nn {

// Return f(x), element by element, for a value or a tensor x.
template <FunctionArgument X>
auto exp(X&& x) {
  return apply_function(functions::Exp(), std::forward<X>(x));
}
template <FunctionArgument X>
auto exp2(X&& x) {
  return apply_function(functions::Exp2(), std::forward<X>(x));
}
// exp(x) - 1
template <FunctionArgument X>
auto expm1(X&& x) {
  return apply_function(functions::Expm1(), std::forward<X>(x));
}
template <FunctionArgument X>
auto log(X&& x) {
  return apply_function(functions::Log(), std::forward<X>(x));
}
template <FunctionArgument X>
auto log2(X&& x) {
  return apply_function(functions::Log2(), std::forward<X>(x));
}
template <FunctionArgument X>
auto log10(X&& x) {
  return apply_function(functions::Log10(), std::forward<X>(x));
}
// log(1 + x)
template <FunctionArgument X>
auto log1p(X&& x) {
  return apply_function(functions::Log1p(), std::forward<X>(x));
}
template <FunctionArgument X>
auto sqrt(X&& x) {
  return apply_function(functions::Sqrt(), std::forward<X>(x));
}
// 1 / x
template <FunctionArgument X>
auto reciprocal(X&& x) {
  return apply_function(functions::Reciprocal(), std::forward<X>(x));
}
template <FunctionArgument X>
auto sin(X&& x) {
  return apply_function(functions::Sin(), std::forward<X>(x));
}
template <FunctionArgument X>
auto cos(X&& x) {
  return apply_function(functions::Cos(), std::forward<X>(x));
}
template <FunctionArgument X>
auto tan(X&& x) {
  return apply_function(functions::Tan(), std::forward<X>(x));
}
template <FunctionArgument X>
auto asin(X&& x) {
  return apply_function(functions::Asin(), std::forward<X>(x));
}
template <FunctionArgument X>
auto acos(X&& x) {
  return apply_function(functions::Acos(), std::forward<X>(x));
}
template <FunctionArgument X>
auto atan(X&& x) {
  return apply_function(functions::Atan(), std::forward<X>(x));
}
template <FunctionArgument X>
auto sinh(X&& x) {
  return apply_function(functions::Sinh(), std::forward<X>(x));
}
template <FunctionArgument X>
auto cosh(X&& x) {
  return apply_function(functions::Cosh(), std::forward<X>(x));
}
// The error function.
template <FunctionArgument X>
auto erf(X&& x) {
  return apply_function(functions::Erf(), std::forward<X>(x));
}
// Of integers, too: the type stays.
template <FunctionArgument X>
auto abs(X&& x) {
  return apply_function(functions::Abs(), std::forward<X>(x));
}
template <FunctionArgument X>
auto square(X&& x) {
  return apply_function(functions::Square(), std::forward<X>(x));
}
template <FunctionArgument X>
auto sign(X&& x) {
  return apply_function(functions::Sign(), std::forward<X>(x));
}
// To whole numbers of the same type; integers stay. Gradients are 0.
template <FunctionArgument X>
auto floor(X&& x) {
  return apply_function(functions::Floor(), std::forward<X>(x));
}
template <FunctionArgument X>
auto ceil(X&& x) {
  return apply_function(functions::Ceil(), std::forward<X>(x));
}
// Halves to the even number.
template <FunctionArgument X>
auto round(X&& x) {
  return apply_function(functions::Round(), std::forward<X>(x));
}
template <FunctionArgument X>
auto trunc(X&& x) {
  return apply_function(functions::Trunc(), std::forward<X>(x));
}
// 1 / sqrt(x)
template <FunctionArgument X>
auto rsqrt(X&& x) {
  return reciprocal(sqrt(std::forward<X>(x)));
}

}  // namespace gpunet::nn

namespace gpunet {

// The same names for tensors.
using nn::abs, nn::acos, nn::asin, nn::atan, nn::ceil, nn::cos, nn::cosh, nn::erf, nn::exp;
using nn::exp2, nn::expm1, nn::floor, nn::log, nn::log10, nn::log1p, nn::log2, nn::reciprocal;
using nn::round, nn::rsqrt, nn::sign, nn::sin, nn::sinh, nn::sqrt, nn::square, nn::tan, nn::trunc;

}  // namespace gpunet

// Functions of floats, functions that take integers as well, and ops of values alone:
// X(namespace, struct).
// clang-format off
#define GPUNET_FLOAT_FUNCTIONS(X) \
  X(functions, Exp) X(functions, Exp2) X(functions, Expm1) X(functions, Log) X(functions, Log2) \
  X(functions, Log10) X(functions, Log1p) X(functions, Sqrt) X(functions, Reciprocal) \
  X(functions, Sin) X(functions, Cos) X(functions, Tan) X(functions, Asin) X(functions, Acos) \
  X(functions, Atan) X(functions, Sinh) X(functions, Cosh) X(functions, Erf) \
  X(functions, Floor) X(functions, Ceil) X(functions, Round) X(functions, Trunc)
#define GPUNET_NUMBER_FUNCTIONS(X) X(functions, Abs) X(functions, Sign) X(functions, Square)
#define GPUNET_VALUE_FUNCTIONS(X) \
  X(functions, Affine) X(functions, Length) X(functions, Pow) X(functions, Clamp)
// clang-format on
