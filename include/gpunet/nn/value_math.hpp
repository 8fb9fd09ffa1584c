// Arithmetic with values of a network that is being built: element by element with broadcasting,
// sums, shapes, random numbers. Names and results are PyTorch's; dimension 0 is the batch.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include <gpunet/device/functor_math.hpp>
#include <gpunet/nn/value.hpp>
#include <gpunet/ops/clamp.hpp>
#include <gpunet/ops/elementwise.hpp>

namespace gpunet::nn {

namespace detail {

// scale * x + offset
struct Affine {
  static constexpr bool is_of_gpunet = true;
  double scale = 1, offset = 0;
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
struct Reciprocal {
  static constexpr bool is_of_gpunet = true;
  double numerator = 1;
  template <class T>
  GPUNET_FN T value(T x) const {
    return static_cast<T>(numerator) / x;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T y, T dy) const {
    return -dy * (y / x);
  }
};

struct Exp {
  static constexpr bool is_of_gpunet = true;
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::exp(x);
  }
  template <class T>
  GPUNET_FN T gradient(T, T y, T dy) const {
    return y * dy;
  }
};

struct Log {
  static constexpr bool is_of_gpunet = true;
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::log(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy / x;
  }
};

struct Sqrt {
  static constexpr bool is_of_gpunet = true;
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
struct Length : Sqrt {
  template <class T>
  GPUNET_FN T gradient(T x, T y, T dy) const {
    return y == 0 ? T{} : Sqrt::gradient(x, y, dy);
  }
};

struct Square {
  static constexpr bool is_of_gpunet = true;
  template <class T>
  GPUNET_FN T value(T x) const {
    return x * x;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return 2 * x * dy;
  }
};

// |x|; the gradient at 0 is 0.
struct Abs {
  static constexpr bool is_of_gpunet = true;
  template <class T>
  GPUNET_FN T value(T x) const {
    return std::fabs(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return math::select(x > T{}, dy, math::select(x < T{}, -dy, T{}));
  }
};

struct Sin {
  static constexpr bool is_of_gpunet = true;
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::sin(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy * math::cos(x);
  }
};

struct Cos {
  static constexpr bool is_of_gpunet = true;
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::cos(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return -dy * math::sin(x);
  }
};

// x^exponent. As in PyTorch, roots are computed by sqrt: NaN of -infinity, and -0 of -0.
struct Pow {
  static constexpr bool is_of_gpunet = true;
  double exponent = 1;
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
struct Clamp {
  static constexpr bool is_of_gpunet = true;
  double low = 0, high = 1;
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

inline namespace GPUNET_BACKENDS {

// Appends f(x), element by element.
template <class F>
Value elementwise_node(std::string_view function, const F& f, const Value& x) {
  return add_node<F>(function, ElementwiseOp<F>{f}, x, x.sizes());
}

}  // namespace GPUNET_BACKENDS
}  // namespace detail

inline namespace GPUNET_BACKENDS {

// Returns f(x), element by element, for a functor F of your own with value(x) and gradient(x, y,
// dy), see Elementwise.
template <class F>
Value elementwise(const Value& x, const F& f) {
  return detail::elementwise_node("elementwise", f, x);
}

// Element by element. Shapes are aligned at their last dimension, and an extent of 1 is repeated,
// as in PyTorch. Throw Error for shapes that do not fit.
Value operator+(const Value& a, const Value& b);
Value operator-(const Value& a, const Value& b);
Value operator*(const Value& a, const Value& b);
Value operator/(const Value& a, const Value& b);
Value maximum(const Value& a, const Value& b);
Value minimum(const Value& a, const Value& b);

// The same with a number.
Value operator+(const Value& x, double number);
Value operator+(double number, const Value& x);
Value operator-(const Value& x, double number);
Value operator-(double number, const Value& x);
Value operator*(const Value& x, double number);
Value operator*(double number, const Value& x);
Value operator/(const Value& x, double number);
Value operator/(double number, const Value& x);
Value operator-(const Value& x);
template <class B>
Value& operator+=(Value& a, const B& b) {
  return a = a + b;
}
template <class B>
Value& operator-=(Value& a, const B& b) {
  return a = a - b;
}
template <class B>
Value& operator*=(Value& a, const B& b) {
  return a = a * b;
}
template <class B>
Value& operator/=(Value& a, const B& b) {
  return a = a / b;
}

// Functions of each element. The gradient of abs at 0 is 0; that of clamp at its bounds and outside
// is 0. pow takes negative x for whole exponents only, as std::pow.
Value exp(const Value& x);
Value log(const Value& x);
Value sqrt(const Value& x);
Value square(const Value& x);
Value abs(const Value& x);
Value sin(const Value& x);
Value cos(const Value& x);
Value pow(const Value& x, double exponent);
Value clamp(const Value& x, double min, double max);

// The sum, or the mean, of all elements of a sample: a value without dimensions.
Value sum(const Value& x);
Value mean(const Value& x);
// Along some dimensions: sum(x, {1, 2}). They vanish, or with keepdim have an extent of 1. Throw
// Error for a dimension that is not there, is the batch, or is given twice.
Value sum(const Value& x, std::initializer_list<int> dims, bool keepdim = false);
Value mean(const Value& x, std::initializer_list<int> dims, bool keepdim = false);
Value sum(const Value& x, int dim, bool keepdim = false);
Value mean(const Value& x, int dim, bool keepdim = false);

// Other shapes of the same elements: those of a sample, without the batch. One size of reshape may
// be -1, which is computed.
Value reshape(const Value& x, std::initializer_list<index_t> sizes);
Value flatten(const Value& x);
// Dimension i of the result is dimension dims[i] of x: permute(x, {0, 3, 1, 2}). The batch stays
// the first.
Value permute(const Value& x, std::initializer_list<int> dims);
// With two dimensions exchanged.
Value transpose(const Value& x, int dim0, int dim1);
// Joined along a dimension: cat({a, b}, 1). Throws Error unless the other extents are the same.
Value cat(std::initializer_list<Value> values, int dim);
Value cat(std::span<const Value> values, int dim);
// The part from `start` on of a dimension, `length` long.
Value narrow(const Value& x, int dim, index_t start, index_t length);

// Returns x, through which no gradient goes.
Value detach(const Value& x);

// Returns random numbers of a standard normal distribution, of the shape of x: other ones in each
// pass in training mode, the same on all devices and for any number of threads.
Value randn_like(const Value& x);

// Comparisons and matrix products do not compile.
#define GPUNET_REFUSED_OF_VALUES(name, message)                                           \
  template <class A, class B>                                                             \
  requires(std::is_same_v<A, Value> || std::is_same_v<B, Value>) Value name(const A& a,   \
                                                                            const B& b) { \
    static_assert(sizeof(A) == 0, "gpunet::nn::" #name message);                          \
    if constexpr (std::is_same_v<A, Value>)                                               \
      return a;                                                                           \
    else                                                                                  \
      return b;                                                                           \
  }
#define GPUNET_REFUSED_COMPARISON(name)                                     \
  GPUNET_REFUSED_OF_VALUES(                                                 \
      name,                                                                 \
      ": no comparisons of values (they have no gradient), write relu(x), " \
      "maximum(a, b), clamp(x, min, max), or elementwise(x, f) with a functor of yours")
GPUNET_REFUSED_COMPARISON(operator<)
GPUNET_REFUSED_COMPARISON(operator<=)
GPUNET_REFUSED_COMPARISON(operator>)
GPUNET_REFUSED_COMPARISON(operator>=)
GPUNET_REFUSED_COMPARISON(operator==)
GPUNET_REFUSED_COMPARISON(operator!=)
GPUNET_REFUSED_OF_VALUES(
    matmul,
    ": no matrix products of values, write linear(x, out_features) for one with weights, "
    "scaled_dot_product_attention(query, key, value) for those of attention")
#undef GPUNET_REFUSED_COMPARISON
#undef GPUNET_REFUSED_OF_VALUES

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::nn

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Affine>>);
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Reciprocal>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Exp>>);
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Length>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Log>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Sqrt>>);
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Square>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Abs>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Sin>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Cos>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Pow>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::Clamp>>);
#else
#include <gpunet/nn/value_math.ipp>
#endif
