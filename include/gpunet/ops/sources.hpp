// Nodes that make values of their own: parameters, constants, random numbers, parts of another
// value, and values without a gradient.
#pragma once

#include <gpunet/ops/op.hpp>

namespace gpunet {

// y = parameter 0, the same for all samples. The input, of which nothing is read, only gives the
// node a place.
struct ParameterOp {
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

// y = the network's constants from `first` on, the same for all samples. The input only gives the
// node a place.
struct ConstantOp {
  index_t first;

  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.stops_gradient = true, .stored_as = StoredAs::constant};
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  void backward(auto&, const auto&) const {}
};

// y = random numbers of a normal distribution of mean 0 and standard deviation 1, other ones in
// each training pass.
struct RandnOp {
  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.uses_random = true, .stops_gradient = true};
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  void backward(auto&, const auto&) const {}
};

// y = x, without a gradient for x.
struct DetachOp {
  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.stops_gradient = true, .stored_as = StoredAs::promoted};
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  void backward(auto&, const auto&) const {}
};

// y [rows, columns] = x [rows, all columns], of each row the columns from `first` on.
struct NarrowOp {
  index_t rows, first, columns, all;

  OpTraits traits(const Sizes&, const Sizes&) const { return {.stored_as = StoredAs::promoted}; }
  index_t multiply_adds(const Sizes&, const Sizes&) const { return 0; }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/sources.ipp>
#endif
