// Other shapes of the elements of a tensor, without a copy, as in PyTorch: of a tensor or view a
// StridedView, of a temporary or an expression an expression. A negative dimension counts from the
// end. Throw Error for a dimension that is not there.
#pragma once

#include <concepts>
#include <initializer_list>
#include <optional>
#include <span>
#include <vector>

#include <gpunet/tensor/expression.hpp>

namespace gpunet {

// From `start` to before `stop`, every `step`-th: as Python's start:stop:step. Negative indices
// count from the end, indices beyond it are cut off.
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

// Returns `sizes` with the extent that is -1 computed for so many elements. Throws Error if it does
// not fit.
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

// Returns the extents of parts of a dimension: of `length` elements each but the last; of about the
// same length; those given. Throw Error for parts that do not make the dimension.
std::vector<index_t> split_extents(index_t extent, index_t length);
std::vector<index_t> chunk_extents(index_t extent, index_t chunks);
std::vector<index_t> given_extents(index_t extent, std::span<const index_t> lengths);

// Whether views of X outlive it: whether it is a view, or a tensor that is not temporary.
template <class X>
inline constexpr bool has_views =
    (std::is_lvalue_reference_v<X> ||
     !std::is_same_v<std::remove_cv_t<X>, Tensor<ValueOf<X>, DeviceOf<X>>>)&&requires(X& x) {
  view_of(x);
};

// Returns the elements of x in the layout f(layout).
template <class X, class F>
auto relaid(X&& x, const F& f) {
  if constexpr (has_views<X>) {
    const auto view = view_of(x);
    const Layout to = f(Layout{0, view.sizes(), view.strides()});
    auto* const data = view.data();  // null if there are no elements
    return std::remove_const_t<decltype(view)>(view.device(), data ? data + to.offset : data,
                                               to.sizes, to.strides, view.lifetime());
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
  return relaid(std::forward<X>(x), [&](const Layout& of) {
    return reshaped(of, std::span(sizes.begin(), sizes.end()), "reshape");
  });
}

}  // namespace detail

// Returns x with its dimensions in another order: dimension i of the result is dimension dims[i] of
// x.
template <detail::TensorLike X>
auto permute(X&& x, std::initializer_list<int> dims) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return permuted(of, dims); });
}
// Returns x with two dimensions exchanged.
template <detail::TensorLike X>
auto transpose(X&& x, int dim0, int dim1) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return transposed(of, dim0, dim1); });
}
// Returns x [rows, columns] as [columns, rows]; a vector stays one. Throws Error for more than two
// dimensions.
template <detail::TensorLike X>
auto t(X&& x) {
  return detail::relaid(std::forward<X>(x), [](const detail::Layout& of) {
    require(of.sizes.rank() <= 2, "gpunet::t: a tensor of shape ", to_string(of.sizes),
            " (want at most 2 dimensions), write transpose(x, -2, -1)");
    return of.sizes.rank() == 2 ? detail::transposed(of, 0, 1) : of;
  });
}

// Returns the elements in the same order, [sizes]. One extent may be -1, which is computed. A view
// whose elements do not lie so is refused: it has to be copied first.
template <detail::TensorLike X>
auto reshape(X&& x, std::initializer_list<index_t> sizes) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) {
    return reshaped(of, std::span(sizes.begin(), sizes.size()), "reshape");
  });
}
// The same with sizes in a vector, and with the sizes of another tensor: reshape(x, y.sizes()).
template <detail::TensorLike X, std::integral I>
auto reshape(X&& x, const std::vector<I>& sizes) {
  const std::vector<index_t> all(sizes.begin(), sizes.end());
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) {
    return reshaped(of, std::span(all), "reshape");
  });
}
template <detail::TensorLike X>
auto reshape(X&& x, const Sizes& sizes) {
  return detail::with_sizes(std::forward<X>(x), sizes);
}
// Returns x with the dimensions from start_dim to end_dim merged into one.
template <detail::TensorLike X>
auto flatten(X&& x, int start_dim = 0, int end_dim = -1) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) {
    return flattened(of, start_dim, end_dim);
  });
}
// Returns x without all dimensions of extent 1, or without dimension `dim` if its extent is 1.
template <detail::TensorLike X>
auto squeeze(X&& x) {
  return detail::relaid(std::forward<X>(x), [](const detail::Layout& of) { return squeezed(of); });
}
template <detail::TensorLike X>
auto squeeze(X&& x, int dim) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return squeezed(of, dim); });
}
// Returns x with a dimension of extent 1 before dimension `dim`.
template <detail::TensorLike X>
auto unsqueeze(X&& x, int dim) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return unsqueezed(of, dim); });
}

// Returns the part of x whose extent of dimension `dim` is `length`, from `start` on.
template <detail::TensorLike X>
auto narrow(X&& x, int dim, index_t start, index_t length) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return narrowed(of, dim, start, length); });
}
// Returns part of a dimension: slice(x, 0, {1, 5, 2}) is x[1:5:2], slice(x, 1, {.stop = -1}) is
// x[:, :-1].
template <detail::TensorLike X>
auto slice(X&& x, int dim, const Slicer& part) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return sliced(of, dim, part); });
}
// Returns x at one index of a dimension, without that dimension. A negative index counts from the
// end.
template <detail::TensorLike X>
auto select(X&& x, int dim, index_t index) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return selected(of, dim, index); });
}
// Returns x with extents of 1 repeated to the extents of `sizes`; -1 keeps an extent, and new
// dimensions may stand before.
template <detail::TensorLike X>
auto expand(X&& x, std::initializer_list<index_t> sizes) {
  return detail::relaid(std::forward<X>(x), [&](const detail::Layout& of) {
    return expanded(of, std::span(sizes.begin(), sizes.size()));
  });
}
// Returns x with the elements along these dimensions in the opposite order.
template <detail::TensorLike X>
auto flip(X&& x, std::initializer_list<int> dims) {
  return detail::relaid(std::forward<X>(x),
                        [&](const detail::Layout& of) { return flipped(of, dims); });
}
// Returns the diagonal of a matrix, [min(rows, columns)].
template <detail::TensorLike X>
auto diagonal(X&& x) {
  return detail::relaid(std::forward<X>(x),
                        [](const detail::Layout& of) { return diagonal_of(of); });
}

namespace detail {

// Returns views of the parts of a dimension, whose extents f(extent) returns.
template <class X, class F>
auto parts_of(X&& x, int dim, std::string_view function, const F& f) {
  static_assert(has_views<X>,
                "gpunet::split: the parts are views, which a temporary tensor would not outlive, "
                "keep it in a variable: Tensor y = 2 * x");
  if constexpr (has_views<X>) {
    const auto view = view_of(x);
    const int at = dimension_at(dim, view.sizes().rank(), function);
    std::vector<std::remove_const_t<decltype(view)>> parts;
    index_t start = 0;
    for (const index_t length : f(view.size(at))) {
      parts.push_back(narrow(view, at, start, length));
      start += length;
    }
    return parts;
  }
}

}  // namespace detail

// Return views of the parts of a dimension, in a std::vector: with `length` elements each, the last
// one with fewer; with the given lengths; `chunks` parts of the same length, the last one with
// fewer, or fewer parts, as in PyTorch.
template <detail::TensorLike X>
auto split(X&& x, index_t length, int dim = 0) {
  return detail::parts_of(std::forward<X>(x), dim, "split",
                          [&](index_t extent) { return detail::split_extents(extent, length); });
}
template <detail::TensorLike X>
auto split(X&& x, std::initializer_list<index_t> lengths, int dim = 0) {
  return detail::parts_of(std::forward<X>(x), dim, "split", [&](index_t extent) {
    return detail::given_extents(extent, std::span(lengths.begin(), lengths.size()));
  });
}
template <detail::TensorLike X>
auto chunk(X&& x, index_t chunks, int dim = 0) {
  return detail::parts_of(std::forward<X>(x), dim, "chunk",
                          [&](index_t extent) { return detail::chunk_extents(extent, chunks); });
}

// Numbers without braces do not compile.
#define GPUNET_REFUSED_NUMBERS(name)                                                             \
  template <detail::TensorLike X, std::integral... Numbers>                                      \
  requires(sizeof...(Numbers) > 0) auto name(X&&, Numbers...) {                                  \
    static_assert(detail::never<X>,                                                              \
                  "gpunet::" #name ": the numbers stand in braces, write " #name "(x, {1, 2})"); \
  }
GPUNET_REFUSED_NUMBERS(reshape)
GPUNET_REFUSED_NUMBERS(permute)
GPUNET_REFUSED_NUMBERS(expand)
#undef GPUNET_REFUSED_NUMBERS

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/tensor/shapes.ipp>
#endif
