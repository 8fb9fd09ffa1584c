// Tensors whose elements follow a rule, and tensors of others. Names and results are PyTorch's.
#pragma once

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <span>
#include <vector>

#include <gpunet/tensor/functions.hpp>
#include <gpunet/tensor/shapes.hpp>

namespace gpunet {

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

// Views memory on `device` that is owned elsewhere, without a copy: [sizes], dense or with these distances between neighbors. The
// memory has to outlive the view.
template <class T, class D>
StridedView<T, D> from_blob(D& device, T* data, const Sizes& sizes) {
  return {device, data, sizes, detail::dense_strides(sizes)};
}
template <class T, class D>
StridedView<T, D> from_blob(D& device, T* data, const Sizes& sizes, std::initializer_list<index_t> strides) {
  require(static_cast<int>(strides.size()) == sizes.rank(), "gpunet::from_blob: ", strides.size(),
          " strides for a shape of ", sizes.rank(), " dimensions (want one for each)");
  detail::Strides all{};
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
// The same of values in braces: tensor(host, {1.5f, 2.5f}); tensor<float>(host, {1, 2}) of another type.
template <class T, class D>
Tensor<T, D> tensor(D& device, std::initializer_list<T> values) {
  return Tensor<T, D>(device, {static_cast<index_t>(values.size())}, values);
}

namespace detail {

// What arange computes in: in float, a rounded step would lead to another number of elements.
template <class T>
using ArangeNumber = std::conditional_t<std::is_floating_point_v<T>, double, T>;

// out[i] = start + i step, of whole numbers. One index = one element.
template <class T>
struct CountUp {
  T start, step;
  T* out;
  GPUNET_FN void operator()(index_t i) const { out[i] = start + static_cast<T>(i) * step; }
};

}  // namespace detail

// Returns start, start + step, ... below stop: arange(host, 10) has index_t, arange<float>(host, 0, 1, 0.1) floats. Throws Error
// for a step that leads away from stop.
template <class T = index_t, class D>
Tensor<T, D> arange(D& device, detail::ArangeNumber<T> start, detail::ArangeNumber<T> stop,
                    detail::ArangeNumber<T> step = 1) {
  require(step != 0 && (step > 0 ? start <= stop : start >= stop), "gpunet::arange: steps of ", step, " from ",
          start, " do not lead to ", stop, ", give another sign");
  const double count =
      std::ceil((static_cast<double>(stop) - static_cast<double>(start)) / static_cast<double>(step));
  require(count < static_cast<double>(most_elements), "gpunet::arange: ", count,
          " elements (want fewer than 2^48, no memory holds more), give a larger step");
  Tensor<T, D> out(device, {static_cast<index_t>(count)});  // first: it refuses what no memory holds
  if constexpr (std::is_same_v<T, std::int32_t> || std::is_same_v<T, index_t>) {
    for_each(device, out.numel(), detail::CountUp<T>{start, step, out.data()});
  } else {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<T>(start + static_cast<detail::ArangeNumber<T>>(i) * step);
    device.upload(out.data(), values.data(), values.size() * sizeof(T));
  }
  return out;
}
template <class T = index_t, class D>
Tensor<T, D> arange(D& device, detail::ArangeNumber<T> stop) {
  return arange<T>(device, 0, stop);
}

// Returns `count` numbers at equal distances, from start to stop.
template <class T = float, class D>
Tensor<T, D> linspace(D& device, std::type_identity_t<T> start, std::type_identity_t<T> stop, index_t count) {
  static_assert(std::is_floating_point_v<T>, "gpunet::linspace: the type has to be float or double");
  require(0 <= count && count < most_elements, "gpunet::linspace: ", count, " numbers (want 0 to 2^48)");
  Tensor<T, D> out(device, {count});  // first: it refuses what no memory holds
  std::vector<T> values(static_cast<std::size_t>(count));
  const T step = count > 1 ? (stop - start) / static_cast<T>(count - 1) : T{};
  for (index_t i = 0; i < count; ++i)  // from both ends, as PyTorch does
    values[static_cast<std::size_t>(i)] = i < count / 2 || count == 1 ? start + step * static_cast<T>(i)
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
