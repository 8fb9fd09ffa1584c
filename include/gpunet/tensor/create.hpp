// Tensors whose elements follow a rule, and tensors of others. Names and results are PyTorch's.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

#include <gpunet/tensor/functions.hpp>
#include <gpunet/tensor/rand.hpp>
#include <gpunet/tensor/shapes.hpp>

namespace gpunet {

GPUNET_REFUSED_SIZES(empty)
GPUNET_REFUSED_SIZES(zeros)
GPUNET_REFUSED_SIZES(ones)
#undef GPUNET_REFUSED_SIZES

// Returns a tensor whose elements have any values.
template <class T = float, class D>
Tensor<T, D> empty(D& device, const Sizes& sizes) {
  return {device, sizes};
}
// Return a tensor of one number, of zeros, of ones.
template <class T = float, class D>
Tensor<T, D> full(D& device, const Sizes& sizes, std::type_identity_t<T> value) {
  Tensor<T, D> out(device, sizes);
  detail::number<T, D>(value).eval_to(detail::view_of(out), "full");
  return out;
}
template <class T = float, class D>
Tensor<T, D> zeros(D& device, const Sizes& sizes) {
  return full<T>(device, sizes, T{});
}
template <class T = float, class D>
Tensor<T, D> ones(D& device, const Sizes& sizes) {
  return full<T>(device, sizes, T{1});
}
// The same with the shape, type and device of another tensor.
template <detail::TensorLike X>
auto full_like(const X& x, detail::ValueOf<X> value) {
  return full<detail::ValueOf<X>>(x.device(), x.sizes(), value);
}
template <detail::TensorLike X>
auto zeros_like(const X& x) {
  return full_like(x, detail::ValueOf<X>{});
}
template <detail::TensorLike X>
auto ones_like(const X& x) {
  return full_like(x, detail::ValueOf<X>{1});
}
// Return random numbers, see rand and randn.
template <detail::TensorLike X>
auto rand_like(const X& x, Generator& generator = default_generator()) {
  return rand<detail::ValueOf<X>>(x.device(), x.sizes(), generator);
}
template <detail::TensorLike X>
auto randn_like(const X& x, Generator& generator = default_generator()) {
  return randn<detail::ValueOf<X>>(x.device(), x.sizes(), generator);
}

// Writes a number, or the elements of y, which broadcast, to all elements of a tensor or a view.
template <detail::TensorLike X>
void fill_(X&& x, detail::ValueOf<X> value) {
  detail::number<detail::ValueOf<X>, detail::DeviceOf<X>>(value).eval_to(detail::view_of(x),
                                                                         "fill_");
}
template <detail::TensorLike X, detail::TensorLike Y>
void copy_(X&& x, Y&& y) {
  detail::expression(std::forward<Y>(y)).eval_to(detail::view_of(x), "copy_");
}

// Views memory on `device` that is owned elsewhere, without a copy: [sizes], dense or with these
// distances between neighbors. The memory has to outlive the view.
template <class T, class D>
StridedView<T, D> from_blob(D& device, T* data, const Sizes& sizes) {
  require(data != nullptr || sizes.numel() == 0,
          "gpunet::from_blob: a null pointer for a shape of ", to_string(sizes),
          ", give the address of the first element");
  return {device, data, sizes, detail::dense_strides(sizes)};
}
template <class T, class D>
StridedView<T, D> from_blob(D& device, T* data, const Sizes& sizes,
                            std::initializer_list<index_t> strides) {
  require(static_cast<int>(strides.size()) == sizes.rank(), "gpunet::from_blob: ", strides.size(),
          " strides for a shape of ", sizes.rank(), " dimensions (want one for each)");
  detail::Strides all = from_blob(device, data, sizes).strides();
  std::copy(strides.begin(), strides.end(), all.begin());
  return {device, data, sizes, all};
}

// Returns a tensor with copies of values of the host, [values].
template <class T, class D>
Tensor<std::remove_const_t<T>, D> tensor(D& device, std::span<T> values) {
  Tensor<std::remove_const_t<T>, D> out(device, {static_cast<index_t>(values.size())});
  device.upload(out.data(), values.data(), values.size_bytes());
  return out;
}
template <class T, class D>
Tensor<T, D> tensor(D& device, const std::vector<T>& values) {
  return Tensor<T, D>(device, {static_cast<index_t>(values.size())}, values);
}
// The same of values in braces: tensor(host, {1.5f, 2.5f}); tensor<float>(host, {1, 2}) of another
// type.
template <class T, class D>
Tensor<T, D> tensor(D& device, std::initializer_list<T> values) {
  return Tensor<T, D>(device, {static_cast<index_t>(values.size())}, values);
}

namespace detail {

// The element type of arange: T, or that of the numbers.
template <class T, class... Numbers>
using ArangeType = std::conditional_t<
    !std::is_void_v<T>, T,
    std::conditional_t<(std::is_floating_point_v<Numbers> || ...), float, index_t>>;

// out[i] = start + i step, of whole numbers. One index = one element.
template <class T>
struct CountUp {
  T start, step;
  T* out;
  GPUNET_FN void operator()(index_t i) const { out[i] = start + static_cast<T>(i) * step; }
};

}  // namespace detail

// Returns start, start + step, ... below stop: arange(host, 10) has index_t,
// arange(host, 0, 1, 0.1) floats, arange<double>(host, 3) doubles. Throws Error for a step that
// leads away from stop.
template <class T = void, class D, detail::Number Start, detail::Number Stop,
          detail::Number Step = int>
auto arange(D& device, Start start, Stop stop, Step step = 1) {
  using V = detail::ArangeType<T, Start, Stop, Step>;
  static_assert(
      std::is_floating_point_v<V> ||
          (std::is_integral_v<Start> && std::is_integral_v<Stop> && std::is_integral_v<Step>),
      "gpunet::arange: a number with a fraction for a tensor of integers (it would be cut off), "
      "give integers, or leave out the type");
  if constexpr (std::is_integral_v<V>)
    require(std::in_range<V>(start) && std::in_range<V>(stop) && std::in_range<V>(step),
            "gpunet::arange: numbers from ", start, " to ", stop, " for elements from ",
            std::numeric_limits<V>::min(), " to ", std::numeric_limits<V>::max(),
            ", take a wider type");
  // A rounded step would change the count.
  using Number = std::conditional_t<std::is_floating_point_v<V>, double, V>;
  const auto first = static_cast<Number>(start), end = static_cast<Number>(stop),
             by = static_cast<Number>(step);
  require(by != 0 && (by > 0 ? first <= end : first >= end), "gpunet::arange: steps of ", by,
          " from ", first, " do not lead to ", end, ", give another sign");
  const double count =
      std::ceil((static_cast<double>(end) - static_cast<double>(first)) / static_cast<double>(by));
  require(count < static_cast<double>(most_elements), "gpunet::arange: ", count,
          " elements (want fewer than 2^48, no memory holds more), give a larger step");
  // first: it refuses sizes that no memory holds.
  Tensor<V, D> out(device, {static_cast<index_t>(count)});
  if constexpr (std::is_same_v<V, std::int32_t> || std::is_same_v<V, index_t>) {
    for_each(device, out.numel(), detail::CountUp<V>{first, by, out.data()});
  } else {
    std::vector<V> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<V>(first + static_cast<Number>(i) * by);
    device.upload(out.data(), values.data(), values.size() * sizeof(V));
  }
  return out;
}
template <class T = void, class D, detail::Number Stop>
auto arange(D& device, Stop stop) {
  return arange<T>(device, 0, stop);
}

// Returns `count` numbers at equal distances, from start to stop.
template <class T = float, class D>
Tensor<T, D> linspace(D& device, std::type_identity_t<T> start, std::type_identity_t<T> stop,
                      index_t count) {
  static_assert(std::is_floating_point_v<T>,
                "gpunet::linspace: the type has to be float or double");
  require(0 <= count && count < most_elements, "gpunet::linspace: ", count,
          " numbers (want 0 to 2^48)");
  Tensor<T, D> out(device, {count});  // first: it refuses sizes that no memory holds
  std::vector<T> values(static_cast<std::size_t>(count));
  const T step = count > 1 ? (stop - start) / static_cast<T>(count - 1) : T{};
  for (index_t i = 0; i < count; ++i)  // from both ends, as PyTorch does
    values[static_cast<std::size_t>(i)] = i < count / 2 || count == 1
                                              ? start + step * static_cast<T>(i)
                                              : stop - step * static_cast<T>(count - 1 - i);
  device.upload(out.data(), values.data(), values.size() * sizeof(T));
  return out;
}

// Returns the identity matrix of n rows.
template <class T = float, class D>
Tensor<T, D> eye(D& device, index_t n) {
  Tensor<T, D> out = zeros<T>(device, {n, n});
  diagonal(out) = T{1};
  return out;
}

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::detail::CountUp<std::int32_t>);
GPUNET_EXTERN_LOOP(gpunet::detail::CountUp<gpunet::index_t>);
