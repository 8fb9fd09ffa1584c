// Bodies of position_embedding.hpp.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/position_embedding.hpp>

namespace gpunet {

namespace detail {

// One index = one feature of a group of samples.
template <class T>
struct PositionEmbeddingForward {
  index_t features, inner;
  const T *x, *w;
  T* y;
  GPUNET_FN void operator()(index_t i) const {
    const T of_place = w[i % features];
    for (index_t n = 0; n < inner; ++n)
      y[i * inner + n] = x[i * inner + n] + of_place;
  }
};

// One sum for each feature.
template <class T>
struct PositionEmbeddingGradient {
  Slice slice;
  index_t features;
  const T* dy;
  T* dw;
  Accumulate accumulate;
  GPUNET_FN T operator()(index_t i, index_t n) const { return dy[slice.offset(n, i, features)]; }
  GPUNET_FN void store(index_t i, T sum) const { store_gradient(dw[i], sum, accumulate); }
};

}  // namespace detail

template <class D, class T>
void PositionEmbeddingOp::forward(D& device, const ForwardPass<T>& pass) const {
  for_each(device, pass.slice.outer * pass.in_features,
           detail::PositionEmbeddingForward<T>{pass.in_features, pass.slice.inner, pass.x,
                                               pass.parameters[0], pass.y});
}

template <class D, class T>
void PositionEmbeddingOp::backward(D& device, const BackwardPass<T>& pass) const {
  sum_each(device, pass.in_features, pass.slice.samples(),
           detail::PositionEmbeddingGradient<T>{pass.slice, pass.in_features, pass.dy,
                                                pass.gradients[0], pass.accumulate});
  if (pass.dx)
    device.copy(pass.dx, pass.dy, static_cast<std::size_t>(pass.in_elements()) * sizeof(T));
}

}  // namespace gpunet
