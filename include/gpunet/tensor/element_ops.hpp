// The operations of expressions: functors over the elements, the same on every device. Definitions
// are PyTorch's.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include <gpunet/core/math.hpp>
#include <gpunet/functions/activations.hpp>
#include <gpunet/functions/elementwise.hpp>
#include <gpunet/functions/losses.hpp>
#include <gpunet/functions/pairs.hpp>

// Those of two numbers of a type, of one, and of floats only: X(Name). Comparisons and tests make
// bools. The others of one number are in functions/.
#define GPUNET_BINARY_OPS(X) \
  X(Add) X(Subtract) X(Multiply) X(Maximum) X(Minimum) X(Remainder) X(FloorDivide)
#define GPUNET_BINARY_FLOAT_OPS(X) X(Divide) X(Pow) X(Atan2)
#define GPUNET_BIT_OPS(X) X(And) X(Or) X(Xor)
#define GPUNET_COMPARISONS(X) X(Equal) X(NotEqual) X(Less) X(LessEqual)
#define GPUNET_UNARY_OPS(X) X(Negate) X(Cube)
#define GPUNET_TESTS(X) X(IsNan) X(IsInf) X(IsFinite)
// Functions of floats in functions/, by the number of further operands, which are options or
// targets: X(namespace, Name).
#define GPUNET_FUNCTIONS_OF_0(X) \
  GPUNET_FLOAT_FUNCTIONS(X) GPUNET_ACTIVATIONS(X) GPUNET_GELUS(X) X(functions, LogFactorial)
#define GPUNET_FUNCTIONS_OF_1(X) GPUNET_ACTIVATIONS_OF_1(X) GPUNET_ERRORS(X)
#define GPUNET_FUNCTIONS_OF_2(X) GPUNET_ACTIVATIONS_OF_2(X) GPUNET_ERRORS_OF_1(X)

namespace gpunet::detail::element {

using functions::detail::wrapping;

// The operations as numbers, for programs that are interpreted. Cast converts from the type of a
// step to that of its result, Where chooses by a bool.
enum class Code : std::uint8_t {
#define GPUNET_NAME(Name) Name,
#define GPUNET_FUNCTION_NAME(scope, Name) Name,
  GPUNET_BINARY_OPS(GPUNET_NAME) GPUNET_BINARY_FLOAT_OPS(GPUNET_NAME) GPUNET_BIT_OPS(GPUNET_NAME)
      GPUNET_COMPARISONS(GPUNET_NAME) GPUNET_UNARY_OPS(GPUNET_NAME) GPUNET_TESTS(GPUNET_NAME)
          GPUNET_NUMBER_FUNCTIONS(GPUNET_FUNCTION_NAME) GPUNET_FUNCTIONS_OF_0(GPUNET_FUNCTION_NAME)
              GPUNET_FUNCTIONS_OF_1(GPUNET_FUNCTION_NAME)
                  GPUNET_FUNCTIONS_OF_2(GPUNET_FUNCTION_NAME)
#undef GPUNET_FUNCTION_NAME
#undef GPUNET_NAME
                      Where,
  Cast,
};

// The number of a function F of functions/.
template <class F>
inline constexpr Code code_of{};
#define GPUNET_CODE(scope, Name) \
  template <>                    \
  inline constexpr Code code_of<gpunet::scope::Name> = Code::Name;
GPUNET_NUMBER_FUNCTIONS(GPUNET_CODE)
GPUNET_FUNCTIONS_OF_0(GPUNET_CODE)
GPUNET_FUNCTIONS_OF_1(GPUNET_CODE)
GPUNET_FUNCTIONS_OF_2(GPUNET_CODE)
#undef GPUNET_CODE

// A function F as an operation; further operands are its options, of losses the target and an
// option.
template <class F>
struct Apply {
  static constexpr Code code = code_of<F>;
  template <class T>
  [[gnu::always_inline]] GPUNET_FN inline T operator()(T x) const {
    return F().value(x);
  }
  template <class T, class... Options>
  [[gnu::always_inline]] GPUNET_FN inline T operator()(T x, T option, Options... more) const {
    return F::value(x, option, more...);
  }
};

// Defines the functor `Name` of one number x, of two numbers a and b.
#define GPUNET_ELEMENT_OP1(Name, ...)                                    \
  struct Name {                                                          \
    static constexpr Code code = Code::Name;                             \
    template <class T>                                                   \
    [[gnu::always_inline]] GPUNET_FN inline auto operator()(T x) const { \
      __VA_ARGS__                                                        \
    }                                                                    \
  };
#define GPUNET_ELEMENT_OP2(Name, ...)                                         \
  struct Name {                                                               \
    static constexpr Code code = Code::Name;                                  \
    template <class T>                                                        \
    [[gnu::always_inline]] GPUNET_FN inline auto operator()(T a, T b) const { \
      __VA_ARGS__                                                             \
    }                                                                         \
  };

GPUNET_ELEMENT_OP2(Add, return functions::BroadcastSum{}.value(a, b);)
GPUNET_ELEMENT_OP2(Subtract, return functions::Difference{}.value(a, b);)
GPUNET_ELEMENT_OP2(Multiply, return functions::Product{}.value(a, b);)
GPUNET_ELEMENT_OP2(Divide, return functions::Quotient{}.value(a, b);)
GPUNET_ELEMENT_OP2(Maximum, return functions::Maximum{}.value(a, b);)
GPUNET_ELEMENT_OP2(Minimum, return functions::Minimum{}.value(a, b);)
GPUNET_ELEMENT_OP2(Pow, return std::pow(a, b);)
GPUNET_ELEMENT_OP2(Atan2, return std::atan2(a, b);)

// a // b, rounded down. Of integers, 0 if b is 0.
GPUNET_ELEMENT_OP2(
    FloorDivide,
    if constexpr (std::is_floating_point_v<T>) {
      if (b == T{}) return a / b;
      const T rest = std::fmod(a, b);
      T quotient = (a - rest) / b;
      if (rest != T{} && (rest < T{}) != (b < T{})) quotient -= T{1};
      if (quotient == T{}) return std::copysign(T{}, a / b);
      const T whole = std::floor(quotient);
      return quotient - whole > T{0.5} ? whole + T{1} : whole;
    } else {
      if (b == T{}) return T{};
      if constexpr (std::is_signed_v<T>)
        if (b == T{-1}) return static_cast<T>(-static_cast<std::make_unsigned_t<T>>(a));
      const T quotient = static_cast<T>(a / b);
      if constexpr (std::is_signed_v<T>)
        if (a % b != 0 && (a < 0) != (b < 0)) return static_cast<T>(quotient - 1);
      return quotient;
    })
// a - b (a // b): has the sign of b. Of integers, a if b is 0.
GPUNET_ELEMENT_OP2(
    Remainder,
    if constexpr (std::is_floating_point_v<T>) {
      const T rest = std::fmod(a, b);
      return rest != T{} && (rest < T{}) != (b < T{}) ? rest + b : rest;
    } else {
      if (b == T{}) return a;
      if constexpr (std::is_signed_v<T>)
        if (b == T{-1}) return T{};
      const T rest = static_cast<T>(a % b);
      if constexpr (std::is_signed_v<T>)
        if (rest != 0 && (rest < 0) != (b < 0)) return static_cast<T>(rest + b);
      return rest;
    })

GPUNET_ELEMENT_OP2(And, return static_cast<T>(a & b);)
GPUNET_ELEMENT_OP2(Or, return static_cast<T>(a | b);)
GPUNET_ELEMENT_OP2(Xor, return static_cast<T>(a ^ b);)

GPUNET_ELEMENT_OP2(Equal, return a == b;)
GPUNET_ELEMENT_OP2(NotEqual, return a != b;)
GPUNET_ELEMENT_OP2(Less, return a < b;)
GPUNET_ELEMENT_OP2(LessEqual, return a <= b;)

GPUNET_ELEMENT_OP1(Negate, return static_cast<T>(-wrapping(x));)
GPUNET_ELEMENT_OP1(Cube, return Multiply{}(Multiply{}(x, x), x);)
GPUNET_ELEMENT_OP1(IsNan, return x != x;)
GPUNET_ELEMENT_OP1(IsInf, return std::fabs(x) > gpunet::detail::largest<T>;)
GPUNET_ELEMENT_OP1(IsFinite, return std::fabs(x) <= gpunet::detail::largest<T>;)

#undef GPUNET_ELEMENT_OP1
#undef GPUNET_ELEMENT_OP2

// A number of another type. As in PyTorch, what is not 0 is true; NaN and numbers that an integer
// type does not have become its smallest, as on x86.
template <class To, class From>
[[gnu::always_inline]] GPUNET_FN inline To cast(From x) {
  if constexpr (std::is_same_v<To, bool>)
    return x != From{};
  else if constexpr (std::is_same_v<To, std::uint8_t> && std::is_floating_point_v<From>)
    return static_cast<To>(cast<std::int32_t>(x));  // wraps around, as in PyTorch
  else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr To smallest = -gpunet::detail::largest<To> - 1;
    constexpr From first = static_cast<From>(smallest);
    // Before the conversion, which is undefined for other numbers.
    return x >= first && x < -first ? static_cast<To>(x) : smallest;
  } else
    return static_cast<To>(x);
}

}  // namespace gpunet::detail::element
