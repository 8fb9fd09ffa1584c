// Elements moved to other places, as a node of a graph.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <gpunet/core/padding.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/ops/op.hpp>

namespace gpunet {

// One dimension of y, and the dimension of x that is read along it.
struct GatherAxis {
  index_t inputs, outputs;           // their extents
  std::int32_t padding = 0;          // elements of y before x; negative: of x before y
  std::int8_t place = 0;             // the number of the dimension of x, 0 is the outermost
  PadMode mode = PadMode::constant;  // the elements of y around x

  // Returns whether all of y is the only element of x.
  bool repeats() const { return mode == PadMode::replicate && inputs == 1; }
};

// y = elements of x, or a constant. x is seen as [inputs...] in the order of `place`, y as
// [outputs...]; which element it is depends, along each dimension, on the position in that
// dimension alone. dx = the sum of dy over the copies of an element.
struct GatherOp {
  // Paddings are printed as "(1, 1)", "padding=(1, 1), value=0.5" or "(1, 1), mode=reflect".
  enum class Kind : std::uint8_t {
    permute,
    pixel_shuffle,
    upsample,
    pad,
    pad_with_value,
    pad_with_mode
  };

  Kind kind;
  std::uint8_t rank;  // the number of axes
  std::array<GatherAxis, Sizes::max_rank - 1> axes{};
  double fill = 0;  // the constant

  // Returns the op that pads an array of sizes `in`, for which can_pad() holds.
  static GatherOp padding(Kind kind, PadMode mode, const Sizes& in,
                          std::span<const index_t> paddings, double fill = 0);

  // Returns the op that moves [c factor^2, h, w] to [c, h factor, w factor].
  static GatherOp pixel_shuffle(const Sizes& in, index_t factor);
  // Returns the op that repeats numbers along all dimensions but the first, such as [c, h, w] to
  // [c, h factor, w factor].
  static GatherOp upsample(const Sizes& in, index_t factor);

  // Returns the sizes of y.
  Sizes output() const;

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
  // Returns whether padding copies elements along some dimension.
  bool copies() const;
};

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/gather.ipp>
#endif
