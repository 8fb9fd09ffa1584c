// What the convolutions between many channels on Host have in common.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

// A part of a weight gradient: all sums between some input and some output channels.
struct ChannelTask {
  index_t first_in, last_in, first_out, last_out;

  index_t ins() const { return last_in - first_in; }
  index_t outs() const { return last_out - first_out; }
};

namespace detail {

// Channels as rows of the register tiles, which have 6 or 4.
constexpr index_t tile_rows(index_t channels) {
  return std::max(index_t{4}, round_up(channels, 2));
}

// The height of the next tile of such rows, when there are `rest` left.
constexpr index_t tile_height(index_t rest) {
  return rest == 4 || rest == 8 ? 4 : 6;
}

// Channels as columns of the register tiles.
constexpr index_t tile_columns(index_t channels) {
  return round_up(channels, 32);
}

// The weight gradient in tasks, enough for all workers. Each sum is one task's, so that tasks do not change it.
struct ChannelTasks {
  index_t ins, outs;  // channels
  index_t in_block = 64, out_block = 64;

  ChannelTasks(index_t in_channels, index_t out_channels, index_t workers) : ins(in_channels), outs(out_channels) {
    while (count() < workers && out_block > 32)
      out_block -= 32;
    while (count() < workers && in_block > 16)
      in_block -= 16;
  }
  index_t count() const { return ceil_div(ins, in_block) * ceil_div(outs, out_block); }
  ChannelTask operator[](index_t i) const {
    const index_t across = ceil_div(outs, out_block), in = i / across * in_block, out = i % across * out_block;
    return {in, std::min(ins, in + in_block), out, std::min(outs, out + out_block)};
  }
};

// x [channel][16 samples], channels `size` apart, to y [16 samples][channel], samples `row` apart.
inline void transpose_channels(index_t channels, index_t size, const float* x, float* y, index_t row) {
  index_t c = 0;
  for (; c + 4 <= channels; c += 4)
    for (index_t n = 0; n < 16; n += 4)
      transpose_block(x + c * size + n, size, y + n * row + c, row);
  for (; c < channels; ++c)
    for (index_t n = 0; n < 16; ++n)
      y[n * row + c] = x[c * size + n];
}

}  // namespace detail

}  // namespace gpunet
