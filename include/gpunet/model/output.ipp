// Bodies of output.hpp.
#pragma once

#include <gpunet/model/output.hpp>
#include <gpunet/ops/classes.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

template <class D, class T>
Tensor<T, D> Output<D, T>::tensor() const {
  Tensor<T, D> copy(device(), sizes());
  each_slice([&](const Slice& slice, index_t first, const T* y) {
    deinterleave(device(), slice, features(), y, copy.data() + first * features());
  });
  return copy;
}

template <class D, class T>
Tensor<label_t, D> Output<D, T>::argmax(int dim) const {
  return gpunet::argmax(tensor(), dim);
}

template <class D, class T>
Tensor<T, D> Output<D, T>::softmax(int dim) const {
  return gpunet::softmax(tensor(), dim);
}

GPUNET_COMPILE_TEMPLATES(GPUNET_OUTPUT)

}  // namespace gpunet
