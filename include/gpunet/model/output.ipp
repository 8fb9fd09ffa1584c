// Bodies of output.hpp.
#pragma once

#include <gpunet/model/output.hpp>
#include <gpunet/ops/classes.hpp>
#include <gpunet/ops/copy_rows.hpp>
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
Tensor<T, D> Output<D, T>::operator[](std::size_t i) const {
  const std::vector<Sizes>& parts = network_->graph().outputs;
  const std::size_t count = parts.empty() ? 1 : parts.size();
  require(i < count, "gpunet::Output: output ", i, " of a network with ", count, " (want 0 to ",
          count - 1, ")");
  Tensor<T, D> all = tensor();
  if (count == 1) return all;
  index_t first = 0;
  for (std::size_t k = 0; k < i; ++k)
    first += parts[k].numel();
  Tensor<T, D> part(device(), parts[i].with_front(batch()));
  detail::copy_rows(device(), batch(),
                    detail::CopyRows<T>{parts[i].numel(), features(), parts[i].numel(),
                                        all.data() + first, part.data()});
  return part;
}

template <class D, class T>
void Output<D, T>::require_one(const char* what) const {
  const std::size_t count = network_->graph().outputs.size();
  require(count <= 1, "gpunet::Output::", what, ": a network with ", count, " outputs, take ", what,
          "(output[0], dim)");
}

template <class D, class T>
Tensor<label_t, D> Output<D, T>::argmax(int dim) const {
  require_one("argmax");
  return gpunet::argmax(tensor(), dim);
}

template <class D, class T>
Tensor<T, D> Output<D, T>::softmax(int dim) const {
  require_one("softmax");
  return gpunet::softmax(tensor(), dim);
}

GPUNET_COMPILE_TEMPLATES(GPUNET_OUTPUT)

}  // namespace gpunet
