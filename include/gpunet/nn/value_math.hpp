// Arithmetic with values of a network that is being built: element by element with broadcasting,
// sums, shapes, random numbers. Names and results are PyTorch's; dimension 0 is the batch.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include <gpunet/nn/value.hpp>
#include <gpunet/ops/elementwise.hpp>

namespace gpunet::nn {

namespace detail {

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
// As maximum and minimum.
Value max(const Value& a, const Value& b);
Value min(const Value& a, const Value& b);

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

// Powers of each element; of negative x for whole exponents only, as std::pow. The gradient of
// clamp at its bounds and outside is 0.
Value pow(const Value& x, double exponent);
Value clamp(const Value& x, double min, double max);
// Returns a function of functions/ for each element. exp(x), gelu(x) and others call it.
template <class F>
Value apply_function(const F& f, const Value& x) {
  return detail::elementwise_node(F::function_name, f, x);
}

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

#if !GPUNET_COMPILED
#include <gpunet/nn/value_math.ipp>
#endif
