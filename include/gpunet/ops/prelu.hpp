// The rectifier with learned slopes as a node of a graph.
#pragma once

#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = x where x > 0, else w x. With one slope w it is that of all elements; else each channel of
// `plane` elements has its own.
struct PReLUOp {
  index_t slopes, plane;

  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat("num_parameters=", slopes);
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/prelu.ipp>
#endif
