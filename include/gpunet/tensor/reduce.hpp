// Reductions of tensors: sums, means, extremes and others over all dimensions or some of them.
// Names and results are PyTorch's.
//
//   sum(x)   sum(x, 1)   mean(x, {0, 2}, true)
//
// With `true` (keepdim) reduced dimensions have an extent of 1.
//
// An expression is computed while it is reduced and not stored: sum(square(x - y)) reads x and y
// once. A negative dimension counts from the end. Throw Error for a dimension that is not there or
// is given twice.
#pragma once

#include <cmath>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include <gpunet/tensor/argmax.hpp>
#include <gpunet/tensor/fold.hpp>
#include <gpunet/tensor/functions.hpp>
#include <gpunet/tensor/shapes.hpp>

namespace gpunet {

template <class T, class D>
struct ValuesAndIndices;

namespace detail {

// How a shape is reduced.
struct ReducedShape {
  FoldSizes sizes;
  // Of the dimensions, so that they are [outer, length, inner].
  std::array<int, Sizes::max_rank> order;
  int rank;
  Sizes result;

  // No dimensions: all of them.
  ReducedShape(const Sizes& shape, std::span<const int> dims, bool keepdim,
               std::string_view function);
};

// Dimensions that are reduced: one, several, or all of them.
class Dims {
 public:
  Dims() = default;
  Dims(int dim) : dims_{dim}, count_(1) {}
  template <class X>
  requires(std::is_same_v<X, bool> || std::is_floating_point_v<X>) Dims(X) {
    static_assert(sizeof(X) == 0,
                  "gpunet::sum: a dimension is a whole number, and keepdim stands behind it: "
                  "sum(x, 1, true)");
  }
  Dims(std::initializer_list<int> dims) : Dims(std::span(dims.begin(), dims.size())) {}
  Dims(const std::vector<int>& dims) : Dims(std::span(dims)) {}
  explicit Dims(std::span<const int> dims) : count_(dims.size()) {
    require(dims.size() <= dims_.size(), "gpunet::sum: ", dims.size(), " dimensions (want at most ",
            Sizes::max_rank, "), give those of the tensor");
    std::copy(dims.begin(), dims.end(), dims_.begin());
  }
  operator std::span<const int>() const { return {dims_.data(), count_}; }

 private:
  std::array<int, Sizes::max_rank> dims_{};
  std::size_t count_ = 0;
};

// The type in which sums of T are accumulated.
template <class T>
using SumOf = std::conditional_t<std::is_floating_point_v<T>, double, index_t>;

// Returns the fold of an expression, without its type.
template <class D>
Buffer<std::byte, D> folded(const AnyExpression<D>& x, const ReducedShape& shape,
                            const FoldStep& step, const Operand& of_nothing);

// Returns the fold by Op over some dimensions, accumulated in A.
template <class Op, class A, class T, class D>
Tensor<A, D> folded(const Expression<T, D>& x, const ReducedShape& shape, A of_nothing) {
  FoldStep step{Op::code, element_type<T>, element_type<A>};
  if constexpr (std::is_same_v<D, Host>) {
    step.fold_elements = block_loop<BinaryLoop<Op, T>>();
    step.fold = block_loop<BinaryLoop<Op, A>>();
    step.fold_rows = block_loop<FoldRows<Op, T, A>>();
    if constexpr (!std::is_same_v<T, A>) step.convert = block_loop<CastLoop<A, T>>();
    step.in_runs = std::is_floating_point_v<T> && !std::is_same_v<Op, element::Multiply>;
  }
  return TensorAccess::adopt(
      x.device(), shape.result,
      folded(static_cast<const AnyExpression<D>&>(x), shape, step, Operand::of_number(of_nothing))
          .template as<A>());
}

// Returns the sum or product.
template <class Op, class X>
auto summed(X&& x, std::span<const int> dims, bool keepdim, std::string_view function) {
  using T = ValueOf<X>;
  if constexpr (std::is_same_v<T, bool>) {
    return summed<Op>(cast<std::uint8_t>(std::forward<X>(x)), dims, keepdim, function);
  } else {
    const auto elements = expression(std::forward<X>(x));
    using A = SumOf<T>;
    return folded<Op, A>(elements, ReducedShape(elements.sizes(), dims, keepdim, function),
                         A{std::is_same_v<Op, element::Multiply>});
  }
}

template <class Op, class X>
auto extreme(X&& x, std::span<const int> dims, bool keepdim, std::string_view function) {
  using T = ValueOf<X>;
  static_assert(!std::is_same_v<T, bool>,
                "gpunet::amax: a tensor of bools, use any(x) or all(x), or convert it: "
                "cast<std::uint8_t>(x)");
  const auto elements = expression(std::forward<X>(x));
  const ReducedShape shape(elements.sizes(), dims, keepdim, function);
  require(shape.sizes.length > 0 || shape.result.numel() == 0, "gpunet::", function,
          ": a tensor of shape ", to_string(elements.sizes()),
          " has no elements to reduce (there is no largest or smallest), give some");
  return folded<Op, T>(elements, shape, T{});
}

template <class X>
constexpr void require_floats() {
  static_assert(std::is_floating_point_v<ValueOf<X>>,
                "gpunet::mean: the tensor has integers, convert it: mean(cast<float>(x))");
}

// Returns the variance, in double.
template <class X>
auto variance(X&& x, std::span<const int> dims, bool keepdim, double correction,
              std::string_view function) {
  require_floats<X>();
  const auto elements = stored(std::forward<X>(x));
  const ReducedShape kept(elements.sizes(), dims, true, function),
      shape(elements.sizes(), dims, keepdim, function);
  const auto count = static_cast<double>(shape.sizes.length);
  const auto total = folded<element::Add, double>(expression(elements), kept, 0.0);
  const auto squares = square(gpunet::cast<double>(elements) - total / count);
  return folded<element::Add, double>(squares, shape, 0.0) /
         (count > correction ? count - correction : 0.0);
}

// Returns the extremes along a dimension, and their indices.
template <class Op, class X>
auto extreme_and_place(X&& x, int dim, bool keepdim, std::string_view function) {
  constexpr bool smallest = std::is_same_v<Op, element::Minimum>;
  const auto elements = stored(std::forward<X>(x));
  auto best = extreme<Op>(elements, Dims(dim), keepdim, function);
  return ValuesAndIndices<ValueOf<X>, DeviceOf<X>>{
      {}, std::move(best), find_best(elements, dim, keepdim, smallest, function)};
}

template <class Op, class D>
Tensor<bool, D> of_bools(const Expression<bool, D>& x, std::span<const int> dims, bool keepdim,
                         bool of_nothing, std::string_view function) {
  return folded<Op, bool>(x, ReducedShape(x.sizes(), dims, keepdim, function), of_nothing);
}

// The type that a sum of T has: that of floats, index_t for integers.
template <class T, class X>
auto as_sum(X&& x) {
  if constexpr (std::is_floating_point_v<T> && !std::is_same_v<T, ValueOf<X>>)
    return expression(std::forward<X>(x)).template cast<T>().eval();
  else
    return std::forward<X>(x);
}

}  // namespace detail

// Return the sum and the product. They are accumulated in double; sums of integers and bools in
// index_t, which is their type.
template <detail::TensorLike X>
auto sum(X&& x, const detail::Dims& dims = {}, bool keepdim = false) {
  return detail::as_sum<detail::ValueOf<X>>(
      detail::summed<detail::element::Add>(std::forward<X>(x), dims, keepdim, "sum"));
}
template <detail::TensorLike X>
auto prod(X&& x, const detail::Dims& dims = {}, bool keepdim = false) {
  return detail::as_sum<detail::ValueOf<X>>(
      detail::summed<detail::element::Multiply>(std::forward<X>(x), dims, keepdim, "prod"));
}
// Returns the mean, of floats.
template <detail::TensorLike X>
auto mean(X&& x, const detail::Dims& dims = {}, bool keepdim = false) {
  detail::require_floats<X>();
  using T = detail::ValueOf<X>;
  const auto elements = detail::expression(std::forward<X>(x));
  const detail::ReducedShape shape(elements.sizes(), dims, keepdim, "mean");
  const auto total = detail::folded<detail::element::Add, double>(elements, shape, 0.0);
  return Tensor(cast<T>(total / shape.sizes.length));
}

// Return the variance, divided by the number of elements less `correction`, and its root
// (torch.std).
template <detail::TensorLike X>
auto var(X&& x, const detail::Dims& dims = {}, bool keepdim = false, double correction = 1) {
  using T = detail::ValueOf<X>;
  return Tensor(cast<T>(detail::variance(std::forward<X>(x), dims, keepdim, correction, "var")));
}
template <detail::TensorLike X>
auto stddev(X&& x, const detail::Dims& dims = {}, bool keepdim = false, double correction = 1) {
  using T = detail::ValueOf<X>;
  return Tensor(
      cast<T>(sqrt(detail::variance(std::forward<X>(x), dims, keepdim, correction, "stddev"))));
}

// Returns the norm (sum |x|^p)^(1/p); with p infinite, the largest |x|. Throws Error unless p is
// above 0.
template <detail::TensorLike X>
auto norm(X&& x, double p = 2, const detail::Dims& dims = {}, bool keepdim = false) {
  detail::require_floats<X>();
  using T = detail::ValueOf<X>;
  const auto total = [&](auto&& powers) {
    const detail::ReducedShape shape(powers.sizes(), dims, keepdim, "norm");
    return detail::folded<detail::element::Add, double>(powers, shape, 0.0);
  };
  if (p == 2) return Tensor(cast<T>(sqrt(total(square(std::forward<X>(x))))));
  if (p == 1) return Tensor(cast<T>(total(abs(std::forward<X>(x)))));
  if (p == std::numeric_limits<double>::infinity())
    return Tensor(
        detail::extreme<detail::element::Maximum>(abs(std::forward<X>(x)), dims, keepdim, "norm"));
  require(p > 0, "gpunet::norm: p is ", p, " (want a number above 0, or infinity)");
  return Tensor(cast<T>(pow(total(pow(abs(std::forward<X>(x)), p)), 1 / p)));
}

// Return the largest and the smallest element; NaN counts as both. Throw Error where there is none.
template <detail::TensorLike X>
auto amax(X&& x, const detail::Dims& dims = {}, bool keepdim = false) {
  return detail::extreme<detail::element::Maximum>(std::forward<X>(x), dims, keepdim, "amax");
}
template <detail::TensorLike X>
auto amin(X&& x, const detail::Dims& dims = {}, bool keepdim = false) {
  return detail::extreme<detail::element::Minimum>(std::forward<X>(x), dims, keepdim, "amin");
}
template <detail::TensorLike X>
auto max(X&& x) {
  return amax(std::forward<X>(x));
}
template <detail::TensorLike X>
auto min(X&& x) {
  return amin(std::forward<X>(x));
}

// As maximum(x, y) and minimum(x, y), element by element.
template <detail::TensorLike X, detail::TensorLike Y>
auto max(X&& x, Y&& y) {
  return maximum(std::forward<X>(x), std::forward<Y>(y));
}
template <detail::TensorLike X, detail::TensorLike Y>
auto min(X&& x, Y&& y) {
  return minimum(std::forward<X>(x), std::forward<Y>(y));
}

// The largest or smallest elements along a dimension and their indices: auto [values,
// indices] = max(x, 1).
template <class T, class D>
struct ValuesAndIndices : detail::SeveralTensors<T, D> {
  Tensor<T, D> values;
  Tensor<label_t, D> indices;
};
// Return the largest, and the smallest, elements along a dimension and their indices.
template <detail::TensorLike X>
auto max(X&& x, int dim, bool keepdim = false) {
  return detail::extreme_and_place<detail::element::Maximum>(std::forward<X>(x), dim, keepdim,
                                                             "max");
}
// See max.
template <detail::TensorLike X>
auto min(X&& x, int dim, bool keepdim = false) {
  return detail::extreme_and_place<detail::element::Minimum>(std::forward<X>(x), dim, keepdim,
                                                             "min");
}

// Returns log(sum(exp(x))), of floats.
template <detail::TensorLike X>
auto logsumexp(X&& x, const detail::Dims& dims = {}, bool keepdim = false) {
  if constexpr (detail::has_softmax<X>()) {
    const auto held = detail::stored(std::forward<X>(x));
    const auto view = detail::view_of(held);
    const detail::ReducedShape shape(view.sizes(), dims, keepdim, "logsumexp");
    if (view.numel() == 0) return Tensor(log(sum(exp(view), dims, keepdim)));
    Tensor largest = amax(view, dims, true);
    largest = where(isinf(largest), 0, largest);  // inf - inf would be NaN
    Tensor y = log(sum(exp(view - largest), dims, true)) + largest;
    return detail::with_sizes(std::move(y), shape.result).eval();
  }
}

// Return whether any, or each, of the elements is true; numbers other than 0 are.
template <detail::TensorLike X>
auto any(X&& x, const detail::Dims& dims = {}, bool keepdim = false) {
  return detail::of_bools<detail::element::Or>(cast<bool>(std::forward<X>(x)), dims, keepdim, false,
                                               "any");
}
template <detail::TensorLike X>
auto all(X&& x, const detail::Dims& dims = {}, bool keepdim = false) {
  return detail::of_bools<detail::element::And>(cast<bool>(std::forward<X>(x)), dims, keepdim, true,
                                                "all");
}

// Returns the number of elements that are true, or other than 0, as index_t.
template <detail::TensorLike X>
auto count_nonzero(X&& x, const detail::Dims& dims = {}) {
  return sum(cast<bool>(std::forward<X>(x)), dims);
}

// Returns whether two tensors have the same shape and equal elements. Waits for the device.
template <detail::TensorLike A, detail::TensorLike B>
bool equal(A&& a, B&& b) {
  if (!(a.sizes() == b.sizes())) return false;
  return all(std::forward<A>(a) == std::forward<B>(b)).item();
}

// Returns where |a - b| <= atol + rtol |b|, or a = b; with equal_nan also where both are NaN. Of
// integers as floats. Shapes broadcast.
template <detail::TensorLike A, detail::TensorLike B>
auto isclose(A&& a, B&& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) {
  require(rtol >= 0 && atol >= 0, "gpunet::isclose: rtol is ", rtol, " and atol ", atol,
          " (want 0 or more)");
  const auto of_a = detail::stored(std::forward<A>(a));
  const auto of_b = detail::stored(std::forward<B>(b));
  const auto x = [&] {
    return detail::as_floats(of_a);
  };
  const auto y = [&] {
    return detail::as_floats(of_b);
  };
  auto same = of_a == of_b;
  Tensor close =
      rtol > 0 || atol > 0
          ? std::move(same) | ((abs(x() - y()) <= atol + abs(rtol * y())) & isfinite(x() - y()))
          : std::move(same);
  if (equal_nan) close |= isnan(of_a) & isnan(of_b);
  return close;
}
// Returns whether all are. Waits for the device.
template <detail::TensorLike A, detail::TensorLike B>
bool allclose(A&& a, B&& b, double rtol = 1e-5, double atol = 1e-8, bool equal_nan = false) {
  return all(isclose(std::forward<A>(a), std::forward<B>(b), rtol, atol, equal_nan)).item();
}

namespace detail {

#if GPUNET_COMPILED
extern template Buffer<std::byte, Host> folded(const AnyExpression<Host>&, const ReducedShape&,
                                               const FoldStep&, const Operand&);
#if GPUNET_CUDA
extern template Buffer<std::byte, Cuda> folded(const AnyExpression<Cuda>&, const ReducedShape&,
                                               const FoldStep&, const Operand&);
#endif
#endif

}  // namespace detail

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/tensor/reduce.ipp>
#endif
