// Sorting of tensors. Names and results are PyTorch's: sorting is stable, NaN counts as the largest
// number. On Cuda by CUB.
#pragma once

#include <bit>
#include <limits>

#include <gpunet/tensor/indexing.hpp>

namespace gpunet {

namespace detail {

// Rows of dense elements that are sorted. Together they have fewer than 2^32.
struct SortedRows {
  const std::byte* data;  // [rows, length]
  ElementType type;
  index_t rows, length;
  bool descending;
};

// Returns an unsigned number of the order of an element: -0 is 0, NaN the largest. By bits, because
// threads of Host may take subnormal numbers for 0.
template <class T>
GPUNET_FN std::uint64_t sort_key(T x, bool descending) {
  std::uint64_t key;
  if constexpr (std::is_same_v<T, float>) {
    std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
    if (bits == 0x80000000u) bits = 0;
    bits = x != x ? 0xffffffffu : bits >> 31 ? ~bits : bits | 0x80000000u;
    key = descending ? static_cast<std::uint32_t>(~bits) : bits;
  } else if constexpr (sizeof(T) < 8) {
    const auto bits = static_cast<std::uint32_t>(static_cast<std::int32_t>(x)) ^ 0x80000000u;
    key = descending ? static_cast<std::uint32_t>(~bits) : bits;
  } else {
    std::uint64_t bits;
    if constexpr (std::is_same_v<T, double>) {
      bits = __builtin_bit_cast(std::uint64_t, x);
      if (bits == std::uint64_t{1} << 63) bits = 0;
      bits = x != x ? ~std::uint64_t{0} : bits >> 63 ? ~bits : bits | std::uint64_t{1} << 63;
    } else {
      bits = static_cast<std::uint64_t>(x) ^ std::uint64_t{1} << 63;
    }
    key = descending ? ~bits : bits;
  }
  return key;
}

// Writes the places of the elements of each row in order, [rows, first], for first <= length. Only
// so many are in order.
void sort_rows(Host& device, const SortedRows& rows, index_t first, index_t* places);
// Returns the number of occurrences of each number from 0 to count - 1. There are no others.
Tensor<index_t, Host> counts(const View<const index_t, Host>& numbers, index_t count, Host& device);
#if GPUNET_CUDA
void sort_rows(Cuda& device, const SortedRows& rows, index_t first, index_t* places);
Tensor<index_t, Cuda> counts(const View<const index_t, Cuda>& numbers, index_t count, Cuda& device);
#endif

template <class T, class D>
struct Sorted : SeveralTensors<T, D> {
  Tensor<T, D> values;
  Tensor<index_t, D> indices;
};

// Returns the first elements along a dimension in order.
template <class X>
auto sorted(X&& x, int dim, bool descending, index_t first, std::string_view function) {
  using T = ValueOf<X>;
  using D = DeviceOf<X>;
  static_assert(!std::is_same_v<T, bool>,
                "gpunet::sort: a tensor of bools, convert it: cast<std::uint8_t>(x)");
  const auto held = stored(std::forward<X>(x));
  const auto view = view_of(held);
  const int rank = view.sizes().rank();
  if (rank == 0 && first == 1 && (dim == 0 || dim == -1))
    return Sorted<T, D>{{}, view.contiguous(), zeros<index_t>(view.device(), {})};
  const int at = dimension_at(dim, rank, function);
  const auto dense_rows = dense(transpose(view, at, rank - 1));
  const auto& rows = dense_rows.view;
  require(rows.numel() < index_t{1} << 32, "gpunet::", function, ": ", rows.numel(),
          " elements (want fewer than 2^32), sort parts of them");
  const index_t length = view.size(at);
  require(0 <= first && first <= length, "gpunet::", function, ": k is ", first,
          " for a dimension of ", length, " elements (want 0 to ", length, ")");
  D& device = view.device();
  Sizes sizes;
  for (int d = 0; d < rank; ++d)
    sizes.append(d == rank - 1 ? first : rows.sizes()[d]);
  Sorted<T, D> out{{}, Tensor<T, D>(device, sizes), Tensor<index_t, D>(device, sizes)};
  if (out.values.numel() > 0) {
    const index_t count = rows.numel() / length;
    sort_rows(device,
              {reinterpret_cast<const std::byte*>(rows.data()), element_type<T>, count, length,
               descending},
              first, out.indices.data());
    using E = BitsOfElement<T>;
    pick(device, count,
         PickElements<E>{length, first, 1, reinterpret_cast<const E*>(rows.data()),
                         out.indices.data(), reinterpret_cast<E*>(out.values.data()), true});
  }
  if (at == rank - 1) return out;
  return Sorted<T, D>{{},
                      transpose(out.values, at, rank - 1).contiguous(),
                      transpose(out.indices, at, rank - 1).contiguous()};
}

}  // namespace detail

// Returns the elements along a dimension in order, and their indices: auto [values,
// indices] = sort(x).
template <detail::TensorLike X>
auto sort(X&& x, int dim = -1, bool descending = false) {
  const Sizes sizes = x.sizes();
  const bool is_number = sizes.rank() == 0 && (dim == 0 || dim == -1);
  const index_t length = is_number ? 1 : sizes[detail::dimension_at(dim, sizes.rank(), "sort")];
  return detail::sorted(std::forward<X>(x), dim, descending, length, "sort");
}
template <detail::TensorLike X>
auto argsort(X&& x, int dim = -1, bool descending = false) {
  return sort(std::forward<X>(x), dim, descending).indices;
}

// Returns the k largest (or smallest) elements along a dimension in order, and their indices.
template <detail::TensorLike X>
auto topk(X&& x, index_t k, int dim = -1, bool largest = true) {
  return detail::sorted(std::forward<X>(x), dim, largest, k, "topk");
}

// Returns the medians along a dimension, of an even number the lower of two, and their indices; NaN
// where an element is, and the index of the first one. Throws Error where there is none.
template <detail::TensorLike X>
auto median(X&& x, int dim, bool keepdim = false) {
  using T = detail::ValueOf<X>;
  using D = detail::DeviceOf<X>;
  const auto held = detail::stored(std::forward<X>(x));
  const auto view = detail::view_of(held);
  const Sizes sizes = view.sizes();
  const bool is_number = sizes.rank() == 0 && (dim == 0 || dim == -1);
  const int at = is_number ? 0 : detail::dimension_at(dim, sizes.rank(), "median");
  auto ordered = sort(view, dim);
  if (is_number) return ordered;
  const index_t length = sizes[at];
  require(length > 0, "gpunet::median: a tensor of shape ", to_string(sizes),
          " has no elements along dimension ", dim, ", give some");
  const auto middle = [&](const auto& y) {
    return narrow(y, at, (length - 1) / 2, 1);
  };
  Tensor values = middle(ordered.values);
  Tensor indices = middle(ordered.indices);
  if constexpr (std::is_floating_point_v<T>) {
    const Tensor has_nan = isnan(narrow(ordered.values, at, length - 1, 1));  // the last in order
    values = where(has_nan, std::numeric_limits<T>::quiet_NaN(), values);
    indices = where(has_nan, cast<index_t>(argmax(view, at, true)), indices);
  }
  if (keepdim) return detail::Sorted<T, D>{{}, std::move(values), std::move(indices)};
  return detail::Sorted<T, D>{
      {}, squeeze(std::move(values), at).eval(), squeeze(std::move(indices), at).eval()};
}
// Returns the median of all elements; of no floats NaN.
template <detail::TensorLike X>
auto median(X&& x) {
  using T = detail::ValueOf<X>;
  const auto elements = detail::dense(std::forward<X>(x));
  if constexpr (std::is_floating_point_v<T>)
    if (elements.view.numel() == 0)
      return full<T>(elements.view.device(), {}, std::numeric_limits<T>::quiet_NaN());
  return median(flatten(elements.view), 0).values;
}

// Returns the different elements in order; the index of each element of x among them; the number of
// occurrences of each. Waits for the device.
template <class T, class D>
struct Unique : detail::SeveralTensors<T, D> {
  Tensor<T, D> values;
  Tensor<index_t, D> inverse, counts;
};
// Returns them.
template <detail::TensorLike X>
auto unique(X&& x) {
  using T = detail::ValueOf<X>;
  using D = detail::DeviceOf<X>;
  const auto held = detail::stored(std::forward<X>(x));
  const auto view = detail::view_of(held);
  D& device = view.device();
  const index_t n = view.numel();
  if (n == 0)
    return Unique<T, D>{{},
                        Tensor<T, D>(device, {0}),
                        Tensor<index_t, D>(device, view.sizes()),
                        Tensor<index_t, D>(device, {0})};
  const auto elements = detail::dense(view);
  const auto [values, indices] = sort(flatten(elements.view), 0);
  Tensor<bool, D> begins = full<bool>(device, {n}, true);
  if (n > 1)
    narrow(begins, 0, 1, n - 1) = narrow(values, 0, 1, n - 1) != narrow(values, 0, 0, n - 1);
  const Tensor places = reshape(nonzero(begins), {-1});
  const auto ends =
      cat({narrow(places, 0, 1, places.numel() - 1), full<index_t>(device, {1}, n)}, 0);
  const Tensor numbers = cumsum(begins, 0) - 1;
  Tensor<index_t, D> inverse = scatter(zeros<index_t>(device, {n}), 0, indices, numbers);
  return Unique<T, D>{{},
                      index_select(values, 0, places),
                      detail::with_sizes(std::move(inverse), view.sizes()).eval(),
                      Tensor(ends - places)};
}

// Returns the number of elements in each of `bins` intervals of the same length from min to max, as
// torch.histc; elements outside, and NaN, are not counted. With min = max, from the smallest to the
// largest element.
template <detail::TensorLike X>
auto histc(X&& x, index_t bins = 100, double min = 0, double max = 0) {
  using T = detail::ValueOf<X>;
  static_assert(std::is_floating_point_v<T>,
                "gpunet::histc: the tensor has integers, convert it: cast<float>(x)");
  require(bins >= 1, "gpunet::histc: ", bins, " bins (want 1 or more)");
  require(min <= max, "gpunet::histc: min is ", min, " and max ", max, " (want min below max)");
  const auto held = detail::stored(std::forward<X>(x));
  const auto view = detail::view_of(held);
  auto& device = view.device();
  if (min == max && view.numel() > 0) {
    min = static_cast<double>(amin(view).item());
    max = static_cast<double>(amax(view).item());
  }
  if (min == max) {
    min -= 1;
    max += 1;
  }
  require(std::isfinite(min) && std::isfinite(max), "gpunet::histc: the range from ", min, " to ",
          max, " (want finite numbers), give min and max");
  const T low = static_cast<T>(min), high = static_cast<T>(max);
  const Tensor inside = masked_select(view, (view >= low) & (view <= high));
  Tensor bin = cast<index_t>((inside - low) * static_cast<T>(bins) / (high - low));
  bin = minimum(bin, bins - 1);
  return Tensor(cast<T>(detail::counts(bin.view(), bins, device)));
}

// Returns the number of occurrences of each number from 0 on among integers, as torch.bincount.
template <detail::TensorLike X>
auto bincount(X&& x, index_t min_length = 0) {
  require(min_length >= 0, "gpunet::bincount: a length of ", min_length, " (want 0 or more)");
  const Tensor numbers = cast<index_t>(std::forward<X>(x));
  auto& device = numbers.device();
  index_t count = min_length;
  if (numbers.numel() > 0) {
    const index_t low = amin(numbers).item();
    require(low >= 0, "gpunet::bincount: an element is ", low, " (want 0 or more), shift them");
    const index_t high = amax(numbers).item();
    require(high < most_elements, "gpunet::bincount: an element is ", high,
            " (want fewer than 2^48, no memory holds more counts), use unique(x)");
    count = std::max(count, high + 1);
  }
  return detail::counts(numbers.view(), count, device);
}

}  // namespace gpunet

#if GPUNET_NVCC && !GPUNET_COMPILED
#include <gpunet/tensor/sort.cuh>
#endif
#if !GPUNET_COMPILED
#include <gpunet/tensor/sort.ipp>
#endif
