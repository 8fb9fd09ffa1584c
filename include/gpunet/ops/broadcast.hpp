// How two shapes are broadcast.
#pragma once

#include <array>
#include <cstddef>

#include <gpunet/core/shape.hpp>

namespace gpunet {

// A dimension of y, or several neighboring ones, and whether a and b have it; where they do not,
// their only element is repeated.
struct BroadcastAxis {
  index_t extent;
  bool in_a, in_b;
};

// How samples of two shapes make one: aligned at the last dimension, where an extent of 1 is
// repeated, as in PyTorch.
struct Broadcast {
  std::array<BroadcastAxis, Sizes::max_rank - 1> axes{};
  int rank = 0;

  // Requires shapes that fit.
  Broadcast(const Sizes& a, const Sizes& b);

  // Returns whether an operand is as large as y: nothing of it is repeated.
  bool is_whole(bool BroadcastAxis::*in) const {
    for (int i = 0; i < rank; ++i)
      if (!(axes[static_cast<std::size_t>(i)].*in)) return false;
    return true;
  }
};

}  // namespace gpunet
