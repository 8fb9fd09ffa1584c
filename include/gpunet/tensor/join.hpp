// Tensors made of parts of others, in new memory. Names and results are PyTorch's. A negative
// dimension counts from the end.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/padding.hpp>
#include <gpunet/tensor/create.hpp>

namespace gpunet {

namespace detail {

// Returns the shape of tensors that are joined along a dimension, which is counted from 0 on.
// Throws Error unless the other extents are the same.
Sizes joined_sizes(std::span<const Sizes> sizes, int dim);

// One of several tensors in braces: a view, or the result of an expression.
template <class T, class D>
class JoinedPart {
 public:
  template <TensorLike X>
  requires(std::is_same_v<ValueOf<X>, T>&& std::is_same_v<DeviceOf<X>, D>) JoinedPart(X&& x) {
    if constexpr (requires { view_of(x); })
      view_.emplace(view_of(std::as_const(x)));
    else
      view_.emplace(
          view_of(std::as_const(computed_.emplace(expression(std::forward<X>(x)).eval()))));
  }
  const StridedView<const T, D>& view() const { return *view_; }

 private:
  std::optional<Tensor<T, D>> computed_;
  std::optional<StridedView<const T, D>> view_;
};

// The same of any element type and device, for the message about tensors that differ. A class, to
// which a std::initializer_list is preferred, so that its function is taken only if no other can
// be.
struct AnyJoinedPart {
  template <TensorLike X>
  AnyJoinedPart(X&&) {}
};
struct AnyJoinedParts {
  AnyJoinedParts(std::initializer_list<AnyJoinedPart>) {}
};

template <class T, class D>
std::vector<StridedView<const T, D>> views_of(const std::vector<Tensor<T, D>>& tensors) {
  std::vector<StridedView<const T, D>> views;
  for (const Tensor<T, D>& tensor : tensors)
    views.push_back(view_of(tensor));
  return views;
}
template <class T, class D>
std::vector<StridedView<const T, D>> views_of(std::initializer_list<JoinedPart<T, D>> parts) {
  std::vector<StridedView<const T, D>> views;
  for (const JoinedPart<T, D>& part : parts)
    views.push_back(part.view());
  return views;
}

}  // namespace detail

// Returns tensors joined along a dimension: cat({a, b, c}, 1) of tensors, views and expressions;
// cat(tensors, 1) of a vector.
template <class T, class D>
Tensor<T, D> cat(const std::vector<StridedView<const T, D>>& parts, int dim = 0) {
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
  return cat(detail::views_of(tensors), dim);
}

// Tensors without braces do not compile.
template <detail::TensorLike A, detail::TensorLike B, class... More>
auto cat(A&&, B&&, const More&...) {
  static_assert(detail::never<A>, "gpunet::cat: the tensors stand in braces, write cat({a, b}, 0)");
}
template <detail::TensorLike A, detail::TensorLike B, class... More>
auto stack(A&&, B&&, const More&...) {
  static_assert(detail::never<A>,
                "gpunet::stack: the tensors stand in braces, write stack({a, b}, 0)");
}
// Returns tensors of one shape joined along a new dimension: stack({a, b}, 1).
template <class T, class D>
Tensor<T, D> stack(const std::vector<StridedView<const T, D>>& parts, int dim = 0) {
  require(!parts.empty(), "gpunet::stack: no tensors, give at least one");
  const int at = detail::dimension_at(dim, parts[0].sizes().rank() + 1, "stack");
  std::vector<StridedView<const T, D>> all;
  for (const auto& part : parts) {
    require(part.sizes() == parts[0].sizes(), "gpunet::stack: tensors of shapes ",
            to_string(parts[0].sizes()), " and ", to_string(part.sizes()),
            " (want the same for all), reshape one of them");
    all.push_back(unsqueeze(part, at));
  }
  return cat(all, at);
}
template <class T, class D>
Tensor<T, D> stack(const std::vector<Tensor<T, D>>& tensors, int dim = 0) {
  return stack(detail::views_of(tensors), dim);
}

// Returns x with its elements shifted along a dimension; those beyond its end come first.
template <detail::TensorLike X>
auto roll(X&& x, index_t shift, int dim) {
  const auto held = detail::stored(std::forward<X>(x));
  const auto view = detail::view_of(held);
  const index_t extent = view.sizes().rank() > 0
                             ? view.size(detail::dimension_at(dim, view.sizes().rank(), "roll"))
                             : 0;
  const index_t by = extent > 0 ? ((shift % extent) + extent) % extent : 0;
  using View = StridedView<const detail::ValueOf<X>, detail::DeviceOf<X>>;
  return cat(
      std::vector<View>{narrow(view, dim, extent - by, by), narrow(view, dim, 0, extent - by)},
      dim);
}

// Returns x repeated so often along each dimension, as Tensor.repeat.
template <detail::TensorLike X>
auto repeat(X&& x, std::initializer_list<index_t> times) {
  using T = detail::ValueOf<X>;
  const auto held = detail::stored(std::forward<X>(x));
  const auto view = detail::view_of(held);
  const int rank = static_cast<int>(times.size()), missing = rank - view.sizes().rank();
  require(missing >= 0, "gpunet::repeat: ", rank, " numbers for a tensor of shape ",
          to_string(view.sizes()), " (want one for each dimension or more)");
  require(2 * rank <= Sizes::max_rank, "gpunet::repeat: ", rank, " dimensions (want at most ",
          Sizes::max_rank / 2, ")");
  Sizes source, target, result;  // each dimension in two: the repetitions, and its own
  int d = 0;
  for (const index_t n : times) {
    require(n >= 0, "gpunet::repeat: ", n, " times (want 0 or more)");
    const index_t extent = d < missing ? 1 : view.sizes()[d - missing];
    source.append(1);
    source.append(extent);
    target.append(n);
    target.append(extent);
    require(extent == 0 || n <= most_elements / extent, "gpunet::repeat: ", n, " times ", extent,
            " elements (want at most 2^48, no memory holds more)");
    result.append(n * extent);
    ++d;
  }
  Tensor<T, detail::DeviceOf<X>> out(view.device(), result);
  if (out.numel() > 0)
    detail::with_sizes(out, target) = detail::with_sizes(Tensor(detail::expression(view)), source);
  return out;
}

// Returns x with elements around it, as torch.nn.functional.pad: `paddings` are two numbers for
// each dimension, from the last on: left, right, top, bottom. The mode is "constant" (then the
// elements are `value`, and negative paddings leave some out), "reflect", "replicate" or
// "circular".
template <detail::TensorLike X>
auto pad(X&& x, std::initializer_list<index_t> paddings, std::string_view mode = "constant",
         detail::ValueOf<X> value = {}) {
  using T = detail::ValueOf<X>;
  const std::span<const index_t> given(paddings.begin(), paddings.size());
  const auto held = detail::stored(std::forward<X>(x));
  auto from = detail::view_of(held);
  const PadMode how = pad_mode_of("gpunet::pad", mode);
  require(how == PadMode::constant || value == T{}, "gpunet::pad: value ", value,
          " for the mode \"", mode, "\" (it adds elements of the tensor), leave one out");
  const int rank = from.sizes().rank();
  Tensor<T, detail::DeviceOf<X>> out(from.device(),
                                     padded_sizes("gpunet::pad", how, from.sizes(), given));
  if (out.numel() == 0) return out;
  const auto before = [&](int d) {
    return padding_of(given, rank, d)[0];
  };
  const auto after = [&](int d) {
    return padding_of(given, rank, d)[1];
  };
  // Returns all of the result with the dimensions from `first` on inside of their padding.
  const auto inside = [&](int first) {
    auto view = detail::view_of(out);
    for (int d = first; d < rank; ++d) {
      const index_t start = std::max(index_t{0}, before(d));
      view = narrow(view, d, start, out.size(d) - start - std::max(index_t{0}, after(d)));
    }
    return view;
  };
  for (int d = 0; d < rank; ++d) {
    const index_t start = std::max(index_t{0}, -before(d));
    from = narrow(from, d, start, from.size(d) - start - std::max(index_t{0}, -after(d)));
  }
  if (from.numel() > 0) inside(0) = from;
  for (int d = 0; d < rank; ++d) {
    const auto all = inside(d + 1);
    const index_t left = std::max(index_t{0}, before(d)), right = std::max(index_t{0}, after(d)),
                  extent = out.size(d) - left - right;
    // Writes `n` elements at `to` from `source`, where the other elements of a mode begin.
    const auto fill = [&](index_t to, index_t n, index_t reflected, index_t repeated,
                          index_t circular) {
      if (n == 0) return;
      if (how == PadMode::constant)
        narrow(all, d, to, n) = value;
      else if (how == PadMode::reflect)
        narrow(all, d, to, n) = flip(narrow(all, d, reflected, n), {d});
      else if (how == PadMode::replicate)
        narrow(all, d, to, n) = narrow(all, d, repeated, 1);
      else
        narrow(all, d, to, n) = narrow(all, d, circular, n);
    };
    fill(0, left, left + 1, left, extent);
    fill(left + extent, right, left + extent - 1 - right, left + extent - 1, left);
  }
  return out;
}

namespace detail {

// Returns the elements of a matrix on one side of a diagonal, else 0.
template <class X, class Keep>
auto triangle(X&& x, Keep keep) {
  const auto held = stored(std::forward<X>(x));
  const auto view = view_of(held);
  const int rank = view.sizes().rank();
  require(rank >= 2, "gpunet::tril: a tensor of shape ", to_string(view.sizes()),
          " (want 2 dimensions or more)");
  auto& device = view.device();
  const auto rows = arange(device, view.size(-2)), columns = arange(device, view.size(-1));
  return Tensor(where(keep(unsqueeze(columns, 0) - unsqueeze(rows, 1)), view, ValueOf<X>{}));
}

}  // namespace detail

// Return the lower and the upper triangle of matrices, up to and from the k-th diagonal above the
// main one; else 0.
template <detail::TensorLike X>
auto tril(X&& x, index_t k = 0) {
  return detail::triangle(std::forward<X>(x),
                          [k](auto&& distance) { return std::move(distance) <= k; });
}
template <detail::TensorLike X>
auto triu(X&& x, index_t k = 0) {
  return detail::triangle(std::forward<X>(x),
                          [k](auto&& distance) { return std::move(distance) >= k; });
}

// cat and stack of tensors in braces, of which a template cannot deduce the types; they are
// compiled where they are called.
#define GPUNET_JOINED(name, D, T)                                                         \
  template <int = 0>                                                                      \
  Tensor<T, D> name(std::initializer_list<detail::JoinedPart<T, D>> parts, int dim = 0) { \
    return name(detail::views_of(parts), dim);                                            \
  }
#define GPUNET_JOINED_ON(name, D)      \
  GPUNET_JOINED(name, D, float)        \
  GPUNET_JOINED(name, D, double)       \
  GPUNET_JOINED(name, D, std::int32_t) \
  GPUNET_JOINED(name, D, std::int64_t) \
  GPUNET_JOINED(name, D, std::uint8_t) \
  GPUNET_JOINED(name, D, bool)
#define GPUNET_JOINED_REFUSED(name)                                                               \
  template <int never = 0>                                                                        \
  Tensor<float, Host> name(detail::AnyJoinedParts, int = 0) {                                     \
    static_assert(never != 0,                                                                     \
                  "gpunet::" #name                                                                \
                  ": the tensors have different element types or kinds of device, convert them: " \
                  "cast<float>(x), x.to(device)");                                                \
    return {};                                                                                    \
  }
GPUNET_JOINED_ON(cat, Host)
GPUNET_JOINED_ON(stack, Host)
GPUNET_JOINED_REFUSED(cat)
GPUNET_JOINED_REFUSED(stack)
#if GPUNET_CUDA
GPUNET_JOINED_ON(cat, Cuda)
GPUNET_JOINED_ON(stack, Cuda)
#endif
#undef GPUNET_JOINED
#undef GPUNET_JOINED_ON
#undef GPUNET_JOINED_REFUSED

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/tensor/join.ipp>
#endif
