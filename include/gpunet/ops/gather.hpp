// Elements moved to other places, as a node of a graph.
#pragma once

#include <array>
#include <cstdint>

#include <gpunet/core/shape.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// One dimension of y, and the dimension of x that is read along it.
struct GatherAxis {
  index_t inputs, outputs;   // their extents
  std::int32_t padding = 0;  // zeros before the elements of x
  std::int8_t place = 0;     // the number of the dimension of x, 0 is the outermost
  bool repeats = false;      // y repeats the only element of x
};

// y = elements of x or 0. x is seen as [inputs...] in the order of `place`, y as [outputs...];
// which element it is depends, along each dimension, on the position in that dimension alone.
// dx = the sum of dy over the copies of an element.
struct GatherOp {
  enum class Kind : std::uint8_t { permute, zero_pad2d, pixel_shuffle, upsample };

  Kind kind;
  std::uint8_t rank;  // the number of axes
  std::array<GatherAxis, Sizes::max_rank - 1> axes{};

  OpTraits traits(const Sizes&, const Sizes&) const {
    return {.is_view = is_copy(), .stored_as = StoredAs::promoted};
  }
  std::string extra_repr(const Sizes& in, const Sizes& out) const;

  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const;
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const;

 private:
  // Returns whether y is x.
  bool is_copy() const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/gather.ipp>
#endif
