// Convolution of floats on Host by Winograd's F(4x4, 3x3) and F(4x4, 5x5), for filters of 3 x 3 or
// 5 x 5 and stride 1 between several channels: 36 multiplications for 16 outputs instead of 144, or
// 64 instead of 400.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/device/host/transpose.hpp>
#include <gpunet/ops/conv2d/host/direct.hpp>
#include <gpunet/ops/conv2d/host/may_be_wide.hpp>
#include <gpunet/ops/conv2d/plain.hpp>

namespace gpunet {

// A part of a weight gradient: all sums between some input and some output channels.
struct ChannelTask {
  index_t first_in, last_in, first_out, last_out;

  index_t ins() const { return last_in - first_in; }
  index_t outs() const { return last_out - first_out; }
};

namespace detail {

// Returns channels rounded up to rows of the register tiles, which have 6 or 4.
constexpr index_t tile_rows(index_t channels) {
  return std::max(index_t{4}, round_up(channels, 2));
}

// Returns the height of the next tile of such rows when `rest` are left.
constexpr index_t tile_height(index_t rest) {
  return rest == 4 || rest == 8 ? 4 : 6;
}

// Returns channels rounded up to columns of the register tiles.
constexpr index_t tile_columns(index_t channels) {
  return round_up(channels, 32);
}

// The weight gradient in tasks, enough for all workers. Each sum is one task's, so that tasks do
// not change it.
struct ChannelTasks {
  index_t ins, outs;  // channels
  index_t in_block = 64, out_block = 64;

  ChannelTasks(index_t in_channels, index_t out_channels, index_t workers)
      : ins(in_channels), outs(out_channels) {
    while (count() < workers && out_block > 32)
      out_block -= 32;
    while (count() < workers && in_block > 16)
      in_block -= 16;
  }
  index_t count() const { return ceil_div(ins, in_block) * ceil_div(outs, out_block); }
  ChannelTask operator[](index_t i) const {
    const index_t across = ceil_div(outs, out_block), in = i / across * in_block,
                  out = i % across * out_block;
    return {in, std::min(ins, in + in_block), out, std::min(outs, out + out_block)};
  }
};

// Transposes x [channel][16 samples], channels `size` apart, to y [16 samples][channel], samples
// `row` apart.
inline void transpose_channels(index_t channels, index_t size, const float* x, float* y,
                               index_t row) {
  index_t c = 0;
  for (; c + 4 <= channels; c += 4)
    for (index_t n = 0; n < 16; n += 4)
      transpose_block(x + c * size + n, size, y + n * row + c, row);
  for (; c < channels; ++c)
    for (index_t n = 0; n < 16; ++n)
      y[n * row + c] = x[c * size + n];
}

}  // namespace detail

// The place of a tile of 4 x 4 outputs, and its rows and columns inside the image.
struct WinogradTile {
  index_t group, row, column, rows, columns;
};

// Tiles that are computed together, so that their data stay in the caches. A vector is over the 16
// samples of a tile, or over 16 tiles of single samples.
struct WinogradBlock {
  static constexpr index_t vectors = 4;  // of 16 floats

  index_t count;  // of vectors
  WinogradTile tiles[vectors * 16];
};

// One convolution in tiles, which count through the groups of samples of a slice and then row by
// row. The outputs of a tile are as far apart as the taps of a filter: with a dilation, tiles of
// neighboring outputs lie in each other's gaps.
struct Winograd : Conv2dGeometry {
  // Of the matrices of a block: (vector, sample or tile).
  static constexpr index_t matrix_columns = WinogradBlock::vectors * 16;
  // Output channels whose products wait for their transform.
  static constexpr index_t channel_block = 24;

  index_t sample_groups, inner;  // inner: 16, or 1

  constexpr index_t tiles_across() const { return detail::winograd_tiles(columns); }
  constexpr index_t tiles_down() const { return detail::winograd_tiles(rows); }
  constexpr index_t positions() const { return sample_groups * tiles_down() * tiles_across(); }
  index_t tiles_of_vector() const { return 16 / inner; }
  index_t blocks() const {
    return ceil_div(positions(), WinogradBlock::vectors * tiles_of_vector());
  }
  // Returns block i; tiles past the last one have no outputs.
  WinogradBlock block(index_t i) const {
    WinogradBlock block{};
    const index_t tiles = WinogradBlock::vectors * tiles_of_vector(), first = i * tiles,
                  some = std::min(tiles, positions() - first);
    block.count = ceil_div(some, tiles_of_vector());
    for (index_t t = 0; t < some; ++t) {
      const index_t across = (first + t) % tiles_across(), down = (first + t) / tiles_across();
      WinogradTile& tile = block.tiles[t];
      tile.group = down / tiles_down();
      tile.row = first_of(rows, down % tiles_down());
      tile.column = first_of(columns, across);
      tile.rows = inside(rows, tile.row);
      tile.columns = inside(columns, tile.column);
    }
    return block;
  }
  // Return the distances of the outputs of a tile in y.
  index_t row_step() const { return rows.dilation * columns.outputs * inner; }
  index_t column_step() const { return columns.dilation * inner; }
  // Returns the first output of a tile in a channel of y.
  index_t place(const WinogradTile& tile, index_t channel) const {
    return (((tile.group * out_channels + channel) * rows.outputs + tile.row) * columns.outputs +
            tile.column) *
           inner;
  }

  // Returns the number of points at which a tile is transformed: the planes of each matrix.
  constexpr index_t points() const { return (rows.kernel + 3) * (rows.kernel + 3); }
  // Returns the distance of the planes of a block: not a power of two.
  static constexpr index_t plane(index_t channels) {
    return detail::tile_rows(channels) * matrix_columns + 16;
  }
  index_t forward_scratch() const { return points() * (plane(in_channels) + plane(channel_block)); }

 private:
  // Returns the first output of a tile along an axis.
  static index_t first_of(const ConvAxis& axis, index_t tile) {
    return tile / axis.dilation * 4 * axis.dilation + tile % axis.dilation;
  }
  // Returns the outputs of a tile, from `first` on, that the axis has.
  static index_t inside(const ConvAxis& axis, index_t first) {
    return std::min(ceil_div(std::max(index_t{0}, axis.outputs - first), axis.dilation),
                    index_t{4});
  }
};

// The filters of a convolution, and the layout of their transforms: [points][out][in].
struct WinogradFilters {
  const float* w;  // [out][in][taps], `out_step` and `in_step` apart
  index_t out_channels, in_channels, out_step, in_step;
  bool turned;  // read from the last tap to the first

  index_t row() const { return round_up(in_channels, 16); }
  index_t plane() const {
    return detail::tile_rows(out_channels + 2) * row() + 16;
  }  // the last block is rounded up
};

// The matrices of a part of the weight gradient: of outputs [vector, sample or tile][out] and of
// gradients [in][out].
struct WinogradTask : ChannelTask {
  index_t columns() const { return round_up(outs(), 16); }
  index_t output_plane() const { return Winograd::matrix_columns * columns() + 16; }
  index_t gradient_plane() const { return detail::tile_rows(ins()) * columns() + 16; }
  index_t scratch(index_t points) const {
    return points * (Winograd::plane(ins()) + output_plane() + gradient_plane());
  }
};

}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/ops/conv2d/host/winograd.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet::detail {

// Returns the convolution whose forward pass is the input gradient of g.
inline Conv2dGeometry turned(const Conv2dGeometry& g) {
  const auto axis = [](const ConvAxis& of) {
    return ConvAxis{of.outputs, of.size, of.kernel, 1, of.reach() - 1 - of.padding, of.dilation};
  };
  return {g.out_channels, g.in_channels, 1, axis(g.rows), axis(g.columns)};
}

// Returns whether Winograd's algorithm is possible, allowed by the precision, and faster.
inline bool winograd_pays(const Host& device, const Slice& slice, const WideConv2dGeometry& g) {
  constexpr index_t many = WideConv2dGeometry::many;  // channels, for single samples
  if (device.precision() == Precision::exact) return false;
  if (slice.inner == 1 && (g.in_channels < many || g.out_channels < many)) return false;
  return (slice.inner == 16 || slice.inner == 1) &&
         is_faster_by_winograd(g, slice.outer, slice.inner);
}

// The arrays of a correlation: y from x.
struct WinogradArrays {
  const float* x;
  WinogradFilters filters;
  OptionalArray<const float> bias;
  Clamp<float> clamp;  // of y
  float* y;
  float* scratch;
};

// Calls f with the size of the filters as a type.
template <class F>
void with_winograd_kernel(index_t kernel, F f) {
  if (kernel == 3)
    f(Dim<3>{});
  else
    f(Dim<5>{});
}

template <index_t Kernel>
void winograd_correlate(Host& device, const Winograd& g, index_t workers, const WinogradArrays& a) {
  const WinogradFilters& filters = a.filters;
  float *u = a.scratch, *parts = a.scratch + g.points() * filters.plane();
  constexpr index_t some = 8;
  device.run(ceil_div(g.out_channels, some), [&](index_t i, int) {
    GPUNET_CALL_PATH(16, winograd_filters<Kernel>, filters, i * some,
                     std::min(g.out_channels, (i + 1) * some), u);
  });
  const index_t part = round_up(g.forward_scratch(), 16);
  const auto run_block = [&](index_t i, int worker) {
    GPUNET_CALL_PATH(16, winograd_forward<Kernel>, g, g.block(i), a.x, filters, u, a.bias, a.clamp,
                     a.y, parts + worker * part);
  };
  device.run_if(workers > 1, g.blocks(), run_block);
}

inline index_t winograd_scratch(const Host& device, const Slice& slice, const Conv2dGeometry& g) {
  const index_t workers = conv2d_workers(device, slice, g);
  const auto forward = [&](const Winograd& tiles) {
    const WinogradFilters filters{nullptr, tiles.out_channels, tiles.in_channels, 0, 0, false};
    return tiles.points() * filters.plane() + workers * round_up(tiles.forward_scratch(), 16);
  };
  const WinogradTask task{ChannelTasks(g.in_channels, g.out_channels, workers)[0]};
  return std::max(
      {forward({g, slice.outer, slice.inner}), forward({turned(g), slice.outer, slice.inner}),
       workers * round_up(task.scratch(Winograd{g, slice.outer, slice.inner}.points()), 16)});
}

inline void winograd_forward(Host& device, const Conv2dForwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const WinogradFilters filters{a.w, g.out_channels, g.in_channels, g.taps(), g.area(), false};
  with_winograd_kernel(g.rows.kernel, [&]<index_t Kernel>(Dim<Kernel>) {
    winograd_correlate<Kernel>(device, {g, a.slice.outer, a.slice.inner},
                               conv2d_workers(device, a.slice, g),
                               {a.x, filters, a.b, a.block.clamp<float>(), a.y, a.scratch});
  });
}

inline void winograd_backward_input(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const WinogradFilters filters{a.w, g.in_channels, g.out_channels, g.area(), g.taps(), true};
  with_winograd_kernel(g.rows.kernel, [&]<index_t Kernel>(Dim<Kernel>) {
    winograd_correlate<Kernel>(device, {turned(g), a.slice.outer, a.slice.inner},
                               conv2d_workers(device, a.slice, g),
                               {a.dy, filters, a.b, Clamp<float>(Bounds{}), a.dx, a.scratch});
  });
}

inline void winograd_backward_weight(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const Winograd tiles{g, a.slice.outer, a.slice.inner};
  const index_t workers = conv2d_workers(device, a.slice, g);
  const ChannelTasks tasks(g.in_channels, g.out_channels, workers);
  const index_t part = round_up(WinogradTask{tasks[0]}.scratch(tiles.points()), 16);
  with_winograd_kernel(g.rows.kernel, [&]<index_t Kernel>(Dim<Kernel>) {
    const auto run_task = [&](index_t i, int worker) {
      GPUNET_CALL_PATH(16, winograd_gradients<Kernel>, tiles, WinogradTask{tasks[i]}, a.x, a.dy,
                       a.dw, a.accumulate, a.scratch + worker * part);
    };
    device.run_if(workers > 1, tasks.count(), run_task);
  });
}

}  // namespace gpunet::detail
