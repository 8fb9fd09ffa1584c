// Functions of two numbers, element by element and with broadcasting, as nodes of a graph.
#pragma once

#include <gpunet/functions/pairs.hpp>
#include <gpunet/ops/broadcast.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

namespace detail {

// See binary_kernels.hpp.
template <class F, class D, class T>
void binary_forward(D& device, const Broadcast& shape, const F& f, const ForwardPass<T>& pass);
template <class F, class D, class T>
void binary_backward(D& device, const Broadcast& shape, const F& f, const BackwardPass<T>& pass);

}  // namespace detail

// y = f(a, b), see functions/pairs.hpp. AddOp is the sum without broadcasting.
template <class F>
struct BinaryOp {
  Broadcast shape;
  [[no_unique_address]] F f = {};

  OpTraits traits(const Sizes&, const Sizes&) const { return {.stored_as = StoredAs::promoted}; }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const {
    detail::binary_forward(device, shape, f, pass);
  }
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const {
    detail::binary_backward(device, shape, f, pass);
  }
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/binary.ipp>
#endif
