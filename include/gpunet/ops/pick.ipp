// Bodies of pick.hpp.
#pragma once

#include <limits>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/traits.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/pick.hpp>

namespace gpunet {

namespace detail {

// The index of a class in a number; -1 if it is none.
template <class T>
GPUNET_FN index_t class_in(T number, index_t classes) {
  if (!(number >= T{0} && number < static_cast<T>(classes))) return -1;
  const auto index = static_cast<index_t>(number);
  return static_cast<T>(index) == number ? index : -1;
}

// One index = one element of y; column p of outer o has the element (o * classes + k) * columns + p
// for class k.
template <class T>
struct PickForward {
  index_t classes, columns;
  const T *x, *indices;
  T* y;
  T no_class = std::numeric_limits<T>::quiet_NaN();  // kernels cannot call this
  GPUNET_FN void operator()(index_t i) const {
    const index_t k = class_in(indices[i], classes);
    y[i] = k < 0 ? no_class : x[(i / columns * classes + k) * columns + i % columns];
  }
};

// dx = dy at the index of its column, else 0. One index = one element of x.
template <class T>
struct PickBackward {
  index_t classes, columns;
  const T *indices, *dy;
  T* dx;
  GPUNET_FN void operator()(index_t i) const {
    const index_t row = i / columns, at = row / classes * columns + i % columns;
    dx[i] = class_in(indices[at], classes) == row % classes ? dy[at] : T{};
  }
};

}  // namespace detail

template <class D, class T>
void PickOp::forward(D& device, const ForwardPass<T>& pass) const {
  const T* indices = pass.inputs[1];
  if constexpr (DeviceTraits<D>::has_host_memory)
    for (index_t i = 0; i < pass.out_elements(); ++i)
      if (detail::class_in(indices[i], classes) < 0)
        require(false, "gpunet::nn::gather, nll_loss, cross_entropy: index ",
                static_cast<double>(indices[i]), " (want a whole number from 0 to ", classes - 1,
                "), check the labels of the batch");
  for_each(device, pass.out_elements(),
           detail::PickForward<T>{classes, width * pass.slice.inner, pass.x, indices, pass.y});
}

template <class D, class T>
void PickOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (pass.dx)
    for_each(device, pass.in_elements(),
             detail::PickBackward<T>{classes, width * pass.slice.inner, pass.inputs[1], pass.dy,
                                     pass.dx});
  if (T* of_indices = pass.input_gradients[1]) fill(device, pass.out_elements(), T{}, of_indices);
}

}  // namespace gpunet
