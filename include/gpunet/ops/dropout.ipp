// Bodies of dropout.hpp.
#pragma once

#include <gpunet/device/host/for_each.hpp>
#include <gpunet/ops/drop_elements.hpp>
#include <gpunet/ops/dropout.hpp>

namespace gpunet {

namespace detail {

// Stores the factors of channels. One index = one channel of a sample.
template <class T>
struct DrawFactors {
  DropoutFactor<T> factor;
  T* factors;
  GPUNET_FN void operator()(index_t i, float random) const { factors[i] = factor(random); }
};

// to = factor from, with a factor for each channel of a sample. One index = one feature of a group
// of samples.
template <class T>
struct ScaleChannels {
  index_t elements, inner;
  const T *factors, *from;
  T* to;
  GPUNET_FN void operator()(index_t i) const {
    const T* of_channel = factors + i / elements * inner;
    for (index_t n = 0; n < inner; ++n)
      to[i * inner + n] = of_channel[n] * from[i * inner + n];
  }
};

}  // namespace detail

template <class D, class T>
void DropoutOp::forward(D& device, const ForwardPass<T>& pass) const {
  apply(device, pass, pass.scratch, pass.x, pass.y);
}

template <class D, class T>
void DropoutOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (pass.dx) apply(device, pass, pass.scratch, static_cast<const T*>(pass.dy), pass.dx);
}

template <class D, class T>
void DropoutOp::apply(D& device, const OpPass& pass, T* scratch, const T* from, T* to) const {
  if (pass.mode == nn::Mode::eval) {
    device.copy(to, from, static_cast<std::size_t>(pass.out_elements()) * sizeof(T));
    return;
  }
  const detail::DropoutFactor<T> factor(p);
  if (elements == 1) {
    for_each_random(device, pass, detail::DropElements<T>{factor, from, to});
    return;
  }
  OpPass channels = pass;
  channels.random = static_cast<const OpRandom&>(pass.random).with_features(draws);
  for_each_random(device, channels, detail::DrawFactors<T>{factor, scratch});
  const index_t inner = pass.slice.inner;
  for_each(device, pass.slice.outer * pass.out_features,
           detail::ScaleChannels<T>{elements, inner, scratch, from, to});
}

}  // namespace gpunet
