// The sum of values as a node of a graph, with a fused ReLU.
#pragma once

#include <gpunet/ops/map.hpp>
#include <gpunet/ops/op.hpp>
#include <gpunet/ops/relu.hpp>

namespace gpunet {

// a + b
struct Add {
  template <class T>
  GPUNET_FN T operator()(T a, T b) const {
    return a + b;
  }
};

// activation(a + b)
struct AddAndActivate {
  Activate activate;

  template <class T>
  GPUNET_FN T operator()(T a, T b) const {
    return activate(a + b);
  }
};

// y = activation(the sum of the inputs), two or more of the same shape, from the first to the last.
// Layers make it without activation, which fusing adds.
struct AddOp {
  Activation activation = Activation::none;

  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.ends_in_relu = activation == Activation::relu, .stored_as = StoredAs::promoted};
  }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

GPUNET_EXTERN_LOOP(gpunet::MapTwo<gpunet::Add, float>);
GPUNET_EXTERN_LOOP(gpunet::MapTwo<gpunet::Add, double>);

#if !GPUNET_COMPILED
#include <gpunet/ops/add.ipp>
#endif
