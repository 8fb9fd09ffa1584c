// The base of a loss that does something beside CrossEntropyLoss: Self has evaluate(device, pass),
// which calls inner.evaluate.
#pragma once

#include <gpunet/nn/cross_entropy_loss.hpp>

template <class Self>
struct CrossEntropyWith : gpunet::nn::LossFunction<Self> {
  using target_type = gpunet::label_t;
  gpunet::nn::CrossEntropyLoss inner;

  template <class In>
  static constexpr void check_shape(In in) {
    gpunet::nn::CrossEntropyLoss::check_shape(in);
  }
  template <class D>
  void check(D& device, gpunet::View<const gpunet::label_t, D> labels,
             gpunet::index_t classes) const {
    inner.check(device, labels, classes);
  }
};
