// What a loss is.
//
// A loss is a small value without device or memory. For every real sample n of a slice it writes losses[n], and the
// gradient `scale` d losses[n] / d x to dx; for padding it writes dx = 0:
//
//   target_type                        of a target; there is one for each sample: a View<const target_type, D> [batch]
//   check_shape(shape)                 refuses, by static_assert, networks whose output has a wrong shape
//   check(device, targets, features)   throws Error for targets that make no sense, where it can see them
//   evaluate(device, pass)
//   criterion(output, targets)         as in PyTorch; provided by the base LossFunction
#pragma once

#include <gpunet/ops/slice.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet::nn {

// What a loss gets: the network's output for a slice and what it should have been.
template <class T, class Target>
struct LossPass {
  Slice slice;
  index_t features;  // of one sample's output
  const T* x;
  const Target* targets;  // [count]
  T scale;
  T* losses;  // [count]
  T* dx;
};

// Gives a loss its call operator: criterion(net(inputs), labels) is the mean over the batch, and can run
// backward().
template <class Loss>
struct LossFunction {
  template <class Output, class Target>
  auto operator()(const Output& output, const Target& targets) const {
    static_assert(
        requires { output.features(); },
        "gpunet::nn: a loss takes what a model returns, write criterion(net(inputs), targets)");
    return output.apply(static_cast<const Loss&>(*this), targets);
  }
};

}  // namespace gpunet::nn
