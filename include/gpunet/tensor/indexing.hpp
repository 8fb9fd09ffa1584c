// Elements of tensors chosen by indices or by a mask. Names and results are PyTorch's. Indices are
// tensors of index_t or std::int32_t on the same device. Throw Error for an index out of range: on
// Cuda the function waits for the device to know.
#pragma once

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/tensor/join.hpp>
#include <gpunet/tensor/reduce.hpp>
#include <gpunet/tensor/scan.hpp>

namespace gpunet {

namespace detail {

// y[o, j, i] = x[o, index[j], i], or x[o, index[o, j, i], i]; x [outer, length, inner], y [outer,
// count, inner]. E has the bytes of an element. One index = one element of y.
template <class E>
struct PickElements {
  index_t length, count, inner;
  const E* x;
  const index_t* index;
  E* y;
  bool has_own_index;  // every element

  GPUNET_FN void operator()(index_t at) const {
    const index_t row = at / inner, o = row / count;
    const index_t j = index[has_own_index ? at : row - o * count];
    y[at] = x[(o * length + j) * inner + at % inner];
  }
};

// The same on the elements of one type's size.
template <class D, class E>
void pick(D& device, index_t outer, const PickElements<E>& pick) {
  for_each(device, outer * pick.count * pick.inner, pick);
}
template <class E>
void pick(Host& device, index_t outer, const PickElements<E>& pick) {
  constexpr index_t part = 1 << 14;  // elements
  const index_t rows = outer * pick.count, inner = pick.inner,
                of_task = std::max(index_t{1}, part / inner);
  device.run_if(rows * inner > 2 * part, (rows + of_task - 1) / of_task,
                [&, inner](index_t task, int) {
                  const index_t begin = task * of_task, end = std::min(rows, begin + of_task);
                  index_t o = begin / pick.count, j = begin % pick.count;
                  for (index_t row = begin; row < end; ++row) {
                    const E* const x = pick.x + o * pick.length * inner;
                    E* const y = pick.y + row * inner;
                    if (inner == 1) {  // all rows of x
                      const index_t here = std::min(pick.count - j, end - row);
                      const index_t* const index = pick.index + (pick.has_own_index ? row : j);
                      for (index_t i = 0; i < here; ++i)
                        y[i] = x[index[i]];
                      row += here - 1;
                      j += here - 1;
                    } else if (!pick.has_own_index) {
                      std::copy_n(x + pick.index[j] * inner, inner, y);
                    } else {
                      const index_t* const index = pick.index + row * inner;
                      for (index_t i = 0; i < inner; ++i)
                        y[i] = x[index[i] * inner + i];
                    }
                    if (++j == pick.count) {
                      j = 0;
                      ++o;
                    }
                  }
                });
}

// y[o, index[o, j, i], i] += or = source[o, j, i] for j in order. One index = one o and i.
enum class Scatter : std::uint8_t { assign, add };
template <class T>
struct ScatterElements {
  static constexpr bool one_copy = true;
  Scatter how;
  index_t length, count, inner;
  const T* source;
  const index_t* index;
  T* y;

  GPUNET_FN void operator()(index_t column) const {
    const index_t o = column / inner, i = column % inner;
    for (index_t j = 0; j < count; ++j) {
      const index_t at = (o * count + j) * inner + i;
      T& target = y[(o * length + index[at]) * inner + i];
      if (how == Scatter::add)
        target = element::Add{}(target, source[at]);
      else
        target = source[at];
    }
  }
};

// Runs it. On Host not by for_each, whose threads take subnormal numbers for 0.
template <class D, class T>
void run_scatter(D& device, index_t columns, const ScatterElements<T>& scatter) {
  for_each(device, columns, scatter);
}
template <class T>
void run_scatter(Host& device, index_t columns, const ScatterElements<T>& scatter) {
  // A block is neighboring columns of one o, whose elements of a row lie together.
  constexpr index_t most = 128, part = 1 << 14;
  const index_t inner = scatter.inner, count = scatter.count, wide = std::min(inner, most);
  if (columns * count == 0) return;
  const index_t of_row = ceil_div(inner, wide), blocks = columns / inner * of_row;
  const index_t of_task = std::max(index_t{1}, part / (wide * count));
  const auto run = [&](auto write) {
    device.run_if(columns * count > 2 * part, ceil_div(blocks, of_task), [&](index_t task, int) {
      const KeepSubnormals keep;
      for (index_t block = task * of_task; block < std::min(blocks, (task + 1) * of_task);
           ++block) {
        const index_t o = block / of_row, begin = block % of_row * wide,
                      end = std::min(inner, begin + wide);
        const index_t* index = scatter.index + o * count * inner;
        const T* source = scatter.source + o * count * inner;
        T* const y = scatter.y + o * scatter.length * inner;
        if (inner == 1)
          for (index_t j = 0; j < count; ++j)
            write(y[index[j]], source[j]);
        else
          for (index_t j = 0; j < count; ++j, index += inner, source += inner)
            for (index_t i = begin; i < end; ++i)
              write(y[index[i] * inner + i], source[i]);
      }
    });
  };
  if (scatter.how == Scatter::add)
    run([](T& target, T value) { target = element::Add{}(target, value); });
  else
    run([](T& target, T value) { target = value; });
}

template <class T>
using BitsOfElement =
    std::conditional_t<sizeof(T) == 8, std::uint64_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint8_t>>;

// The elements of a tensor in row-major order: a view of them if they lie so, else a copy.
template <class T, class D>
struct DenseElements {
  Tensor<T, D> own;
  StridedView<const T, D> view;
};

template <class X>
auto dense(X&& x) {
  using T = ValueOf<X>;
  using D = DeviceOf<X>;
  auto held = stored(std::forward<X>(x));
  if constexpr (!std::is_same_v<decltype(held), Tensor<T, D>>) {
    if (held.is_contiguous()) return DenseElements<T, D>{Tensor<T, D>(), held};
    Tensor<T, D> copy = held.contiguous();
    const StridedView<const T, D> view = view_of(std::as_const(copy));
    return DenseElements<T, D>{std::move(copy), view};
  } else {
    const StridedView<const T, D> view = view_of(std::as_const(held));
    return DenseElements<T, D>{std::move(held), view};
  }
}

// Returns the place of the first index that is not from 0 to extent - 1, or -1.
index_t place_of_wrong_index(Host& device, const index_t* indices, index_t n, index_t extent);
#if GPUNET_CUDA
inline index_t place_of_wrong_index(Cuda& device, const index_t* indices, index_t n,
                                    index_t extent) {
  const StridedView<const index_t, Cuda> view(device, indices, Sizes{n}, dense_strides(Sizes{n}));
  if (!any((view < 0) | (view >= extent)).item()) return -1;
  return argmax(cast<std::uint8_t>((view < 0) | (view >= extent))).item();
}
#endif

// Returns indices as dense elements of index_t, all of them from 0 to extent - 1.
template <class X, class D>
auto checked_indices(X&& index, const D& device, index_t extent, std::string_view function) {
  static_assert(
      std::is_same_v<DeviceOf<X>, D>,
      "gpunet::index_select: the indices are on another kind of device than the tensor, move them: "
      "x.to(device)");
  static_assert(std::is_same_v<ValueOf<X>, index_t> || std::is_same_v<ValueOf<X>, std::int32_t>,
                "gpunet::index_select: the indices have to be index_t or std::int32_t, convert "
                "them: cast<index_t>(x)");
  auto indices = [&] {
    if constexpr (std::is_same_v<ValueOf<X>, index_t>)
      return dense(std::forward<X>(index));
    else
      return dense(gpunet::cast<index_t>(std::forward<X>(index)));
  }();
  require_one_device(&indices.view.device(), &device, function);
  const index_t n = indices.view.numel();
  const index_t place =
      n > 0 ? place_of_wrong_index(indices.view.device(), indices.view.data(), n, extent) : -1;
  require(place < 0 || extent > 0, "gpunet::", function, ": ", n,
          " indices for an empty dimension (there is no element to choose), give a tensor with "
          "elements");
  if (place >= 0) [[unlikely]]
    fail({"gpunet::", function, ": index ", flatten(indices.view)[place].item(), " at place ",
          place, " is out of range (want 0 to ", extent - 1, "), check the indices"});
  return indices;
}

// Requires index shapes for gather and scatter: the rank of x, and no larger than x but in `dim`.
void check_index_shape(const Sizes& x, const Sizes& index, int dim, std::string_view function);

// Returns the part of x that indices of a shape along `dim` can reach.
template <class V>
V reachable(const V& x, const Sizes& index, int dim) {
  V part = x;
  for (int d = 0; d < index.rank(); ++d)
    if (d != dim) part = narrow(part, d, 0, index[d]);
  return part;
}

template <class X, class I, class S>
auto scattered(X&& x, int dim, I&& index, S&& source, Scatter how, std::string_view function) {
  using T = ValueOf<X>;
  static_assert(std::is_same_v<ValueOf<S>, T>,
                "gpunet::scatter: the source has another element type than the tensor, convert it: "
                "cast<float>(x)");
  const auto held = stored(std::forward<X>(x));
  const auto from = dense(std::forward<S>(source));
  const auto of = view_of(held);
  const Sizes index_sizes = index.sizes();
  const int at = dimension_at(dim, of.sizes().rank(), function);
  require(from.view.sizes() == index_sizes, "gpunet::", function, ": a source of shape ",
          to_string(from.view.sizes()), " for indices of shape ", to_string(index_sizes),
          " (want the same)");
  require_one_device(&from.view.device(), &of.device(), function);
  check_index_shape(of.sizes(), index_sizes, at, function);
  const auto indices = checked_indices(std::forward<I>(index), of.device(), of.size(at), function);
  Tensor<T, DeviceOf<X>> out = of.contiguous();
  const bool covers = [&] {
    for (int d = 0; d < of.sizes().rank(); ++d)
      if (d != at && of.sizes()[d] != index_sizes[d]) return false;
    return true;
  }();
  // The part that is written, dense: the whole result, or a copy.
  auto part = reachable(view_of(out), index_sizes, at);
  Tensor<T, DeviceOf<X>> copy;
  if (!covers) copy = part.contiguous();
  T* const y = covers ? out.data() : copy.data();
  const FoldSizes shape = along(part.sizes(), at);
  run_scatter(out.device(), shape.outer * shape.inner,
              ScatterElements<T>{how, shape.length, index_sizes[at], shape.inner, from.view.data(),
                                 indices.view.data(), y});
  if (!covers) std::move(part) = copy;
  return out;
}

}  // namespace detail

// Returns the elements along a dimension at the indices, a tensor of one dimension.
template <detail::TensorLike X, detail::TensorLike I>
auto index_select(X&& x, int dim, I&& index) {
  using T = detail::ValueOf<X>;
  const auto held = detail::dense(std::forward<X>(x));
  const auto& elements = held.view;
  const int at = detail::dimension_at(dim, elements.sizes().rank(), "index_select");
  require(index.sizes().rank() == 1, "gpunet::index_select: indices of shape ",
          to_string(index.sizes()), " (want one dimension), flatten them");
  const detail::FoldSizes shape = detail::along(elements.sizes(), at);
  const auto indices = detail::checked_indices(std::forward<I>(index), elements.device(),
                                               shape.length, "index_select");
  Sizes sizes;
  for (int d = 0; d < elements.sizes().rank(); ++d)
    sizes.append(d == at ? indices.view.numel() : elements.sizes()[d]);
  Tensor<T, detail::DeviceOf<X>> out(elements.device(), sizes);
  using E = detail::BitsOfElement<T>;
  if (out.numel() > 0)
    detail::pick(
        out.device(), shape.outer,
        detail::PickElements<E>{shape.length, indices.view.numel(), shape.inner,
                                reinterpret_cast<const E*>(elements.data()), indices.view.data(),
                                reinterpret_cast<E*>(out.data()), false});
  return out;
}

// Returns y[i][j] = x[i][index[i][j]] for dim 1, and so on: an element along `dim` for each index.
template <detail::TensorLike X, detail::TensorLike I>
auto gather(X&& x, int dim, I&& index) {
  using T = detail::ValueOf<X>;
  const auto held = detail::stored(std::forward<X>(x));
  const auto view = detail::view_of(held);
  const Sizes sizes = index.sizes();
  const int at = detail::dimension_at(dim, view.sizes().rank(), "gather");
  detail::check_index_shape(view.sizes(), sizes, at, "gather");
  const auto indices =
      detail::checked_indices(std::forward<I>(index), view.device(), view.size(at), "gather");
  const auto part = detail::reachable(view, sizes, at);
  const detail::FoldSizes shape = detail::along(part.sizes(), at);
  Tensor<T, detail::DeviceOf<X>> out(view.device(), sizes);
  if (out.numel() == 0) return out;
  using E = detail::BitsOfElement<T>;
  const auto elements = detail::dense(part);
  detail::pick(
      out.device(), shape.outer,
      detail::PickElements<E>{shape.length, sizes[at], shape.inner,
                              reinterpret_cast<const E*>(elements.view.data()), indices.view.data(),
                              reinterpret_cast<E*>(out.data()), true});
  return out;
}

// Returns x, where y[i][index[i][j]] += source[i][j] for dim 1, and so on; of `scatter`, the last
// source is assigned. In order, so results are bitwise repeatable on both devices.
template <detail::TensorLike X, detail::TensorLike I, detail::TensorLike S>
auto scatter_add(X&& x, int dim, I&& index, S&& source) {
  return detail::scattered(std::forward<X>(x), dim, std::forward<I>(index), std::forward<S>(source),
                           detail::Scatter::add, "scatter_add");
}
template <detail::TensorLike X, detail::TensorLike I, detail::TensorLike S>
auto scatter(X&& x, int dim, I&& index, S&& source) {
  return detail::scattered(std::forward<X>(x), dim, std::forward<I>(index), std::forward<S>(source),
                           detail::Scatter::assign, "scatter");
}

// Returns [..., classes] with a 1 at the class of each element. Throws Error for a class out of
// range.
template <detail::TensorLike I>
auto one_hot(I&& classes, index_t count) {
  require(count >= 1, "gpunet::one_hot: ", count, " classes (want 1 or more)");
  const auto indices =
      detail::checked_indices(std::forward<I>(classes), classes.device(), count, "one_hot");
  return Tensor(cast<index_t>(unsqueeze(indices.view, -1) == arange(indices.view.device(), count)));
}

// Returns the indices of the elements that are true, or not 0, in row-major order: [found,
// dimensions]. Waits for the device.
template <detail::TensorLike X>
Tensor<index_t, detail::DeviceOf<X>> nonzero(X&& x) {
  const Tensor flags = cast<bool>(std::forward<X>(x));
  const auto places = detail::places_of_true(flags.view(), flags.device());
  const int rank = flags.sizes().rank();
  if (rank == 1) return Tensor(reshape(places, {-1, 1}));
  Tensor<index_t, detail::DeviceOf<X>> out(flags.device(), {places.numel(), rank});
  const detail::Strides strides = detail::dense_strides(flags.sizes());
  for (int d = 0; d < rank; ++d)
    select(out, 1, d) = remainder(floor_divide(places, strides[static_cast<std::size_t>(d)]),
                                  std::max(flags.sizes()[d], index_t{1}));
  return out;
}

// Returns the elements where the mask, of the same shape, is true. Waits for the device.
template <detail::TensorLike X, detail::TensorLike M>
auto masked_select(X&& x, M&& mask) {
  static_assert(std::is_same_v<detail::ValueOf<M>, bool>,
                "gpunet::masked_select: the mask has to be a tensor of bools: x > 0");
  const auto shape = broadcast_shapes(x.sizes(), mask.sizes());
  require(shape && *shape == x.sizes(), "gpunet::masked_select: a mask of shape ",
          to_string(mask.sizes()), " for a tensor of shape ", to_string(x.sizes()),
          " (want one that broadcasts to it)");
  Tensor<bool, detail::DeviceOf<X>> flags(x.device(), x.sizes());
  detail::expression(std::forward<M>(mask)).eval_to(detail::view_of(flags), "masked_select");
  const auto elements = detail::dense(std::forward<X>(x));
  const auto places = detail::places_of_true(flags.view(), flags.device());
  return index_select(flatten(elements.view), 0, places);
}

}  // namespace gpunet

#define GPUNET_INDEXING_LOOPS(OF)                    \
  OF(gpunet::detail::PickElements<std::uint8_t>);    \
  OF(gpunet::detail::PickElements<std::uint32_t>);   \
  OF(gpunet::detail::PickElements<std::uint64_t>);   \
  OF(gpunet::detail::ScatterElements<float>);        \
  OF(gpunet::detail::ScatterElements<double>);       \
  OF(gpunet::detail::ScatterElements<std::uint8_t>); \
  OF(gpunet::detail::ScatterElements<bool>);         \
  OF(gpunet::detail::ScatterElements<std::int32_t>); \
  OF(gpunet::detail::ScatterElements<gpunet::index_t>)
GPUNET_INDEXING_LOOPS(GPUNET_EXTERN_LOOP);

#if !GPUNET_COMPILED
#include <gpunet/tensor/indexing.ipp>
#endif
