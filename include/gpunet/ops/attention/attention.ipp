// Bodies of attention.hpp.
#pragma once

#include <cstddef>

#include <gpunet/ops/attention/attention.hpp>
#include <gpunet/ops/attention/host/heads.hpp>
#include <gpunet/ops/map.hpp>

#if GPUNET_NVCC
#include <gpunet/ops/attention/cuda/tiles.cuh>
#endif

namespace gpunet {

template <class T, class Pass>
AttentionPass<T> AttentionOp::arguments(const Pass& pass) const {
  const auto input = [&pass](int i) {
    return pass.inputs[static_cast<std::size_t>(i)];
  };
  AttentionPass<T> all{g,
                       pass.slice,
                       input(g.q.input),
                       input(g.k.input),
                       input(g.v.input),
                       mask < 0 ? nullptr : input(mask),
                       {}};
  if (dropout > 0 && pass.mode == nn::Mode::train) {
    const index_t features = g.heads * g.queries * AttentionDropout<T>::padded(g.keys);
    all.dropout = {static_cast<const OpRandom&>(pass.random).with_features(features),
                   static_cast<float>(dropout),
                   dropout < 1 ? static_cast<T>(1 / (1 - dropout)) : T{}};
  }
  return all;
}

template <class D, class T>
index_t AttentionOp::scratch(const D& device, const Slice& slice, T) const {
  return attention_scratch<T>(device, g, slice);
}

template <class D, class T>
void AttentionOp::forward(D& device, const ForwardPass<T>& pass) const {
  attention_forward(device, AttentionForward<T>{arguments<T>(pass), pass.y,
                                                reinterpret_cast<T*>(pass.cache), pass.scratch});
}

template <class D, class T>
void AttentionOp::backward(D& device, const BackwardPass<T>& pass) const {
  const auto gradient = [&pass](int i) {
    return pass.input_gradients[static_cast<std::size_t>(i)];
  };
  attention_backward(device, AttentionBackward<T>{arguments<T>(pass), pass.y,
                                                  reinterpret_cast<const T*>(pass.cache), pass.dy,
                                                  gradient(g.q.input), gradient(g.k.input),
                                                  gradient(g.v.input), pass.scratch});
  if (mask >= 0 && gradient(mask)) fill(device, pass.slice.samples() * g.keys, T{}, gradient(mask));
}

}  // namespace gpunet
