// Bodies of sources.hpp.
#pragma once

#include <cmath>
#include <numbers>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/copy_rows.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/ops/sources.hpp>

namespace gpunet {

namespace detail {

// y = w of its feature, for all samples. One index = one feature of a group of samples.
template <class T>
struct RepeatFeatures {
  index_t features, inner;
  const T* w;
  T* y;
  GPUNET_FN void operator()(index_t i) const {
    const T value = w[i % features];
    for (index_t n = 0; n < inner; ++n)
      y[i * inner + n] = value;
  }
};
template <class D, class T>
void repeat_features(D& device, const ForwardPass<T>& pass, const T* w) {
  const index_t features = pass.out_features;
  for_each(device, pass.slice.outer * features,
           RepeatFeatures<T>{features, pass.slice.inner, w, pass.y});
}

// dw = the sum of dy over all samples. One sum = one feature.
template <class T>
struct SumOverSamples {
  index_t features, inner;
  const T* dy;
  T* dw;
  Accumulate accumulate;
  GPUNET_FN T operator()(index_t k, index_t n) const {
    return dy[(n / inner * features + k) * inner + n % inner];
  }
  GPUNET_FN void store(index_t k, T sum) const { store_gradient(dw[k], sum, accumulate); }
};

// Normal numbers of uniform ones: Box and Muller, "A Note on the Generation of Random Normal
// Deviates", 1958. One index = one element.
template <class T>
struct DrawNormal {
  OpRandom random;
  T* y;
  GPUNET_FN void operator()(index_t i) const {
    const T u = T{1} - static_cast<T>(random.uniform(i)), v = static_cast<T>(random.uniform(i, 1));
    y[i] = std::sqrt(T{-2} * std::log(u)) * std::cos(T{2} * std::numbers::pi_v<T> * v);
  }
};

// y [rows, all] = dy [rows, columns] from column `first` on, else 0. One index = one element of y.
template <class T>
struct WidenRows {
  index_t first, columns, all;
  const T* dy;
  T* dx;
  GPUNET_FN void operator()(index_t i) const {
    const index_t row = i / all, column = i % all - first;
    dx[i] = column >= 0 && column < columns ? dy[row * columns + column] : T{};
  }
};

}  // namespace detail

template <class D, class T>
void ParameterOp::forward(D& device, const ForwardPass<T>& pass) const {
  detail::repeat_features(device, pass, pass.parameters[0]);
}

template <class D, class T>
void ParameterOp::backward(D& device, const BackwardPass<T>& pass) const {
  sum_each(device, pass.out_features, pass.slice.samples(),
           detail::SumOverSamples<T>{pass.out_features, pass.slice.inner, pass.dy,
                                     pass.gradients[0], pass.accumulate});
  if (pass.dx) fill(device, pass.in_elements(), T{}, pass.dx);
}

template <class D, class T>
void ConstantOp::forward(D& device, const ForwardPass<T>& pass) const {
  detail::repeat_features(device, pass, pass.constants + first);
}

template <class D, class T>
void RandnOp::forward(D& device, const ForwardPass<T>& pass) const {
  for_each(device, pass.out_elements(), detail::DrawNormal<T>{pass.random, pass.y});
}

template <class D, class T>
void DetachOp::forward(D& device, const ForwardPass<T>& pass) const {
  device.copy(pass.y, pass.x, static_cast<std::size_t>(pass.out_elements()) * sizeof(T));
}

template <class D, class T>
void NarrowOp::forward(D& device, const ForwardPass<T>& pass) const {
  const index_t inner = pass.slice.inner;
  detail::copy_rows(device, pass.slice.outer * rows,
                    detail::CopyRows<T>{columns * inner, all * inner, columns * inner,
                                        pass.x + first * inner, pass.y});
}

template <class D, class T>
void NarrowOp::backward(D& device, const BackwardPass<T>& pass) const {
  const index_t inner = pass.slice.inner;
  if (pass.dx)
    for_each(device, pass.in_elements(),
             detail::WidenRows<T>{first * inner, columns * inner, all * inner, pass.dy, pass.dx});
}

}  // namespace gpunet
