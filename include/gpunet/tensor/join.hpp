// Tensors made of parts of others, in new memory. Names and results are PyTorch's. A negative dimension counts from the end.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include <gpunet/tensor/create.hpp>

namespace gpunet {

namespace detail {

// Returns the shape of tensors that are joined along a dimension, which is counted from 0 on. Throws Error unless the other extents
// are the same.
Sizes joined_sizes(std::span<const Sizes> sizes, int dim);

}  // namespace detail

// Returns tensors joined along a dimension: cat(0, a, b, c) of tensors and views; cat(tensors, 0) of a vector.
template <detail::TensorLike A, detail::TensorLike... B>
auto cat(int dim, const A& a, const B&... b) {
  using T = detail::ValueOf<A>;
  using D = detail::DeviceOf<A>;
  static_assert(
      (std::is_same_v<detail::ValueOf<B>, T> && ...) && (std::is_same_v<detail::DeviceOf<B>, D> && ...),
      "gpunet::cat: the tensors have different element types or kinds of device, convert them: cast<float>(x), "
      "x.to(device)");
  const std::array<StridedView<const T, D>, 1 + sizeof...(B)> parts{detail::view_of(a), detail::view_of(b)...};
  return cat(std::span<const StridedView<const T, D>>(parts), dim);
}
template <class T, class D>
Tensor<T, D> cat(std::span<const StridedView<const T, D>> parts, int dim) {
  require(!parts.empty(), "gpunet::cat: no tensors, give at least one");
  const int at = detail::dimension_at(dim, parts[0].sizes().rank(), "cat");
  std::vector<Sizes> sizes;
  for (const auto& part : parts)
    sizes.push_back(part.sizes());
  Tensor<T, D> out(parts[0].device(), detail::joined_sizes(sizes, at));
  index_t start = 0;
  for (const auto& part : parts) {
    if (part.numel() > 0) narrow(out, at, start, part.size(at)) = part;
    start += part.size(at);
  }
  return out;
}
template <class T, class D>
Tensor<T, D> cat(const std::vector<Tensor<T, D>>& tensors, int dim = 0) {
  std::vector<StridedView<const T, D>> parts;
  for (const Tensor<T, D>& tensor : tensors)
    parts.push_back(detail::view_of(tensor));
  return cat(std::span<const StridedView<const T, D>>(parts), dim);
}

// Returns tensors of one shape joined along a new dimension.
template <detail::TensorLike A, detail::TensorLike... B>
auto stack(int dim, const A& a, const B&... b) {
  return cat(detail::dimension_at(dim, detail::view_of(a).sizes().rank() + 1, "stack"),
             unsqueeze(detail::view_of(a), dim), unsqueeze(detail::view_of(b), dim)...);
}
template <class T, class D>
Tensor<T, D> stack(const std::vector<Tensor<T, D>>& tensors, int dim = 0) {
  std::vector<StridedView<const T, D>> parts;
  for (const Tensor<T, D>& tensor : tensors)
    parts.push_back(unsqueeze(detail::view_of(tensor), dim));
  return cat(std::span<const StridedView<const T, D>>(parts), dim);
}

// Returns x with its elements shifted along a dimension; those beyond its end come first.
template <detail::TensorLike X>
auto roll(X&& x, index_t shift, int dim) {
  const auto held = detail::stored(std::forward<X>(x));
  const auto view = detail::view_of(held);
  const index_t extent =
      view.sizes().rank() > 0 ? view.size(detail::dimension_at(dim, view.sizes().rank(), "roll")) : 0;
  const index_t by = extent > 0 ? ((shift % extent) + extent) % extent : 0;
  return cat(dim, narrow(view, dim, extent - by, by), narrow(view, dim, 0, extent - by));
}

// Returns x repeated so often along each dimension, as Tensor.repeat.
template <detail::TensorLike X>
auto repeat(X&& x, std::initializer_list<index_t> times) {
  using T = detail::ValueOf<X>;
  const auto held = detail::stored(std::forward<X>(x));
  const auto view = detail::view_of(held);
  const int rank = static_cast<int>(times.size()), missing = rank - view.sizes().rank();
  require(missing >= 0, "gpunet::repeat: ", rank, " numbers for a tensor of shape ", to_string(view.sizes()),
          " (want one for each dimension or more)");
  require(2 * rank <= Sizes::max_rank, "gpunet::repeat: ", rank, " dimensions (want at most ", Sizes::max_rank / 2,
          ")");
  Sizes source, target, result;  // each dimension in two: how often, and its own
  int d = 0;
  for (const index_t n : times) {
    require(n >= 0, "gpunet::repeat: ", n, " times (want 0 or more)");
    const index_t extent = d < missing ? 1 : view.sizes()[d - missing];
    source.append(1);
    source.append(extent);
    target.append(n);
    target.append(extent);
    result.append(n * extent);
    ++d;
  }
  Tensor<T, detail::DeviceOf<X>> out(view.device(), result);
  if (out.numel() > 0)
    detail::with_sizes(out, target) = detail::with_sizes(Tensor(detail::expression(view)), source);
  return out;
}

namespace detail {

// Returns the elements of a matrix on one side of a diagonal, else 0.
template <class X, class Keep>
auto triangle(X&& x, Keep keep) {
  const auto held = stored(std::forward<X>(x));
  const auto view = view_of(held);
  const int rank = view.sizes().rank();
  require(rank >= 2, "gpunet::tril: a tensor of shape ", to_string(view.sizes()), " (want 2 dimensions or more)");
  auto& device = view.device();
  const auto rows = arange(device, view.size(-2)), columns = arange(device, view.size(-1));
  return Tensor(where(keep(unsqueeze(columns, 0) - unsqueeze(rows, 1)), view, ValueOf<X>{}));
}

}  // namespace detail

// Return the lower and the upper triangle of matrices, up to and from the k-th diagonal above the main one; else 0.
template <detail::TensorLike X>
auto tril(X&& x, index_t k = 0) {
  return detail::triangle(std::forward<X>(x), [k](auto&& distance) { return std::move(distance) <= k; });
}
template <detail::TensorLike X>
auto triu(X&& x, index_t k = 0) {
  return detail::triangle(std::forward<X>(x), [k](auto&& distance) { return std::move(distance) >= k; });
}

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/tensor/join.ipp>
#endif
