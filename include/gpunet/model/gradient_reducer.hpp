// What makes the gradients of several processes one, in the backward pass of a network.
#pragma once

#include <gpunet/graph/run_slice.hpp>

namespace gpunet {

// As a NodeProbe, it sees each node after the last part of its gradients is in the arena, where a pass has one run of slices.
template <class D, class T>
class GradientReducer : public NodeProbe<T> {
 public:
  // Before a forward pass in training mode.
  virtual void begin_pass() = 0;
  // After a backward pass: reduces what it has not begun with, and waits for all.
  virtual void reduce(T* gradients) = 0;

 protected:
  ~GradientReducer() = default;
};

}  // namespace gpunet
