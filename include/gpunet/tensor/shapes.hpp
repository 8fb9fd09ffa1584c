// Other shapes of the elements of a tensor, without a copy, as in PyTorch: of a tensor or view a StridedView, of a temporary or an
// expression an expression. A negative dimension counts from the end. Throw Error for a dimension that is not there.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>

#include <gpunet/tensor/expression.hpp>

namespace gpunet {

// From `start` to before `stop`, every `step`-th: as Python's start:stop:step. Negative indices count from the end, what is beyond
// it is cut off.
struct Slicer {
  std::optional<index_t> start = {}, stop = {};
  index_t step = 1;
};

namespace detail {

// How an array lies in memory; the offset is that of its first element from where it was.
struct Layout {
  index_t offset;
  Sizes sizes;
  Strides strides;
};

// Returns the number from 0 on of a dimension of a shape with `rank` dimensions. Throws Error if it is not there.
int dimension_at(int dim, int rank, std::string_view function);
// Returns `sizes` with the extent that is -1 computed for so many elements. Throws Error if it does not fit.
Sizes resolved_sizes(std::span<const index_t> sizes, index_t elements, std::string_view function);

Layout permuted(const Layout& x, std::span<const int> dims);
Layout transposed(const Layout& x, int dim0, int dim1);
// Throws Error where the elements would have to be copied.
Layout reshaped(const Layout& x, std::span<const index_t> sizes, std::string_view function);
Layout flattened(const Layout& x, int start_dim, int end_dim);
Layout squeezed(const Layout& x);
Layout squeezed(const Layout& x, int dim);
Layout unsqueezed(const Layout& x, int dim);
Layout narrowed(const Layout& x, int dim, index_t start, index_t length);
Layout sliced(const Layout& x, int dim, const Slicer& slice);
Layout selected(const Layout& x, int dim, index_t index);
Layout expanded(const Layout& x, std::span<const index_t> sizes);
Layout flipped(const Layout& x, std::span<const int> dims);
Layout diagonal_of(const Layout& x);

// Returns the elements of x in the layout f(layout).
template <class X, class F>
auto relaid(X&& x, const F& f) {
  using V = std::remove_cvref_t<X>;
  constexpr bool owns = std::is_same_v<V, Tensor<ValueOf<X>, DeviceOf<X>>> && !std::is_lvalue_reference_v<X>;
  if constexpr (!owns && requires { view_of(x); }) {
    const auto view = view_of(x);
    const Layout to = f(Layout{0, view.sizes(), view.strides()});
    auto* const data = view.data();  // null if there are no elements
    return std::remove_const_t<decltype(view)>(view.device(), data ? data + to.offset : data, to.sizes, to.strides,
                                               view.lifetime());
  } else {
    auto elements = expression(std::forward<X>(x));
    const Operand& array = elements.materialize();
    const Layout to = f(Layout{0, array.sizes, array.strides});
    return std::move(elements).with_layout(to.offset, to.sizes, to.strides);
  }
}

// Returns x with a shape of as many elements.
template <class X>
auto with_sizes(X&& x, const Sizes& sizes) {
  return relaid(std::forward<X>(x),
                [&](const Layout& of) { return reshaped(of, std::span(sizes.begin(), sizes.end()), "reshape"); });
}

}  // namespace detail

// Returns x with its dimensions in another order: dimension i of the result is dimension dims[i] of x.
template <detail::TensorLike X>
auto permute(X&& x, std::initializer_list<int> dims) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) { return permuted(of, dims); });
}
// Returns x with two dimensions exchanged.
template <detail::TensorLike X>
auto transpose(X&& x, int dim0, int dim1) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) { return transposed(of, dim0, dim1); });
}
// Returns x [rows, columns] as [columns, rows]; a vector stays one. Throws Error for more than two dimensions.
template <detail::TensorLike X>
auto t(X&& x) {
  return detail::relaid(std::forward<X>(x), [](const detail::Layout& of) {
    require(of.sizes.rank() <= 2, "gpunet::t: a tensor of shape ", to_string(of.sizes),
            " (want at most 2 dimensions), write transpose(x, -2, -1)");
    return of.sizes.rank() == 2 ? detail::transposed(of, 0, 1) : of;
  });
}

// Returns the elements in the same order, [sizes]. One extent may be -1, which is computed. A view whose elements do not lie so is refused: it
// has to be copied first.
template <detail::TensorLike X>
auto reshape(X&& x, std::initializer_list<index_t> sizes) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) {
    return reshaped(of, std::span(sizes.begin(), sizes.size()), "reshape");
  });
}
// Returns x with the dimensions from start_dim to end_dim merged into one.
template <detail::TensorLike X>
auto flatten(X&& x, int start_dim = 0, int end_dim = -1) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return flattened(of, start_dim, end_dim); });
}
// Returns x without all dimensions of extent 1, or without dimension `dim` if its extent is 1.
template <detail::TensorLike X>
auto squeeze(X&& x) {
  return detail::relaid(std::forward<X>(x), [](const detail::Layout& of) { return squeezed(of); });
}
template <detail::TensorLike X>
auto squeeze(X&& x, int dim) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) { return squeezed(of, dim); });
}
// Returns x with a dimension of extent 1 before dimension `dim`.
template <detail::TensorLike X>
auto unsqueeze(X&& x, int dim) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) { return unsqueezed(of, dim); });
}

// Returns the part of x whose extent of dimension `dim` is `length`, from `start` on.
template <detail::TensorLike X>
auto narrow(X&& x, int dim, index_t start, index_t length) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return narrowed(of, dim, start, length); });
}
// Returns part of a dimension: slice(x, 0, {1, 5, 2}) is x[1:5:2], slice(x, 1, {.stop = -1}) is x[:, :-1].
template <detail::TensorLike X>
auto slice(X&& x, int dim, const Slicer& part) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) { return sliced(of, dim, part); });
}
// Returns x at one index of a dimension, without that dimension. A negative index counts from the end.
template <detail::TensorLike X>
auto select(X&& x, int dim, index_t index) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) { return selected(of, dim, index); });
}
// Returns x with extents of 1 repeated to those of `sizes`; -1 keeps an extent, and new dimensions may stand before.
template <detail::TensorLike X>
auto expand(X&& x, std::initializer_list<index_t> sizes) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) {
    return expanded(of, std::span(sizes.begin(), sizes.size()));
  });
}
// Returns x with the elements along these dimensions in the opposite order.
template <detail::TensorLike X>
auto flip(X&& x, std::initializer_list<int> dims) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) { return flipped(of, dims); });
}
// Returns the diagonal of a matrix, [min(rows, columns)].
template <detail::TensorLike X>
auto diagonal(X&& x) {
  return detail::relaid(std::forward<X>(x), [](const detail::Layout& of) { return diagonal_of(of); });
}

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/tensor/shapes.ipp>
#endif
