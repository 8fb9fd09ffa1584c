// Convolution of floats on Host by Winograd's F(4x4, 3x3), for 3 x 3 filters of stride 1 between many channels: 36
// multiplications for 16 outputs instead of 144.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/paths.hpp>
#include <gpunet/ops/conv2d.hpp>
#include <gpunet/ops/conv2d_channels.host.hpp>
#include <gpunet/ops/conv2d_workers.host.hpp>

namespace gpunet {

// Where a tile of 4 x 4 outputs lies.
struct WinogradTile {
  index_t group, row, column;
};

// Tiles that are worked on together: what they need stays in the caches.
struct WinogradBlock {
  static constexpr index_t size = 4;

  index_t count;
  WinogradTile tiles[size];
};

// One convolution in tiles, which count through the groups of 16 samples of a slice and then row by row.
struct Winograd : Conv2dGeometry {
  static constexpr index_t columns = WinogradBlock::size * 16;  // of the matrices of a block: (tile, sample)
  static constexpr index_t channel_block = 24;  // output channels whose products wait for their transform

  index_t groups;

  index_t tiles_across() const { return ceil_div(out_width, 4); }
  index_t tiles_down() const { return ceil_div(out_height, 4); }
  index_t positions() const { return groups * tiles_down() * tiles_across(); }
  index_t blocks() const { return ceil_div(positions(), WinogradBlock::size); }
  WinogradBlock block(index_t i) const {
    WinogradBlock block{};
    for (index_t at = i * WinogradBlock::size; block.count < WinogradBlock::size && at < positions(); ++at) {
      const index_t row = at / tiles_across();
      block.tiles[block.count++] = {row / tiles_down(), row % tiles_down() * 4, at % tiles_across() * 4};
    }
    return block;
  }

  // What matrices are rounded up to, and the distance of the 36 planes of a block: not a power of two.
  static constexpr index_t plane(index_t channels) { return detail::tile_rows(channels) * columns + 16; }
  index_t forward_scratch() const { return 36 * (plane(in_channels) + plane(channel_block)); }
};

// Where the filters of a convolution come from, and how their transforms lie: [36][out][in].
struct WinogradFilters {
  const float* w;  // [out][in][9], `out_step` and `in_step` apart
  index_t out_channels, in_channels, out_step, in_step;
  bool turned;  // read from the last tap to the first

  index_t row() const { return round_up(in_channels, 16); }
  index_t plane() const {
    return detail::tile_rows(out_channels + 2) * row() + 16;
  }  // the last block is rounded up
};

// The matrices of a part of the weight gradient: of outputs [tile, sample][out] and of gradients [in][out].
struct WinogradTask : ChannelTask {
  index_t columns() const { return detail::tile_columns(outs()); }
  index_t output_plane() const { return Winograd::columns * columns() + 16; }
  index_t gradient_plane() const { return detail::tile_rows(ins()) * columns() + 16; }
  index_t scratch() const { return 36 * (Winograd::plane(ins()) + output_plane() + gradient_plane()) + columns(); }
};

}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/ops/conv2d_winograd_transforms.inl>
#include <gpunet/device/host/each_path.inl>
#define GPUNET_KERNELS <gpunet/ops/conv2d_winograd_kernels.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet::detail {

// The convolution whose forward pass is the input gradient of g.
inline Conv2dGeometry turned(const Conv2dGeometry& g) {
  return {g.out_channels, g.out_height, g.out_width, g.in_channels,           g.height,
          g.width,        g.kernel,     g.stride,    g.kernel - 1 - g.padding};
}

// Whether Winograd's way is possible, wanted and faster. The two costs are products per filter, as measured: the
// transform of a filter costs about 150, products one at a time a third more than their number.
inline bool winograd_pays(const Host& device, const Slice& slice, const WideConv2dGeometry& g) {
  const Winograd tiles{g, slice.outer};
  const index_t cost = 150 + 54 * tiles.positions(), direct = 12 * slice.outer * g.out_pixels();
  return device.precision() == Precision::fast && slice.inner == 16 && g.kernel == 3 && g.stride == 1 &&
         g.padding <= 2 && g.in_channels >= g.many && g.out_channels >= g.many && cost < direct;
}

inline void winograd_correlate(Host& device, const Winograd& g, index_t workers, const float* x,
                               const WinogradFilters& filters, const float* bias, float* y, float* scratch) {
  float *u = scratch, *parts = scratch + 36 * filters.plane();
  constexpr index_t some = 8;
  device.run(ceil_div(g.out_channels, some), [&](index_t i, int) {
    GPUNET_CALL_PATH(16, winograd_filters, filters, i * some, std::min(g.out_channels, (i + 1) * some), u);
  });
  const index_t part = round_up(g.forward_scratch(), 16);
  const auto run_block = [&](index_t i, int worker) {
    GPUNET_CALL_PATH(16, winograd_forward, g, g.block(i), x, filters, u, bias, y, parts + worker * part);
  };
  device.run_if(workers > 1, g.blocks(), run_block);
}

inline index_t winograd_scratch(const Host& device, const Slice& slice, const Conv2dGeometry& g) {
  const index_t workers = conv2d_workers(device, slice, g);
  const auto forward = [&](const Conv2dGeometry& geometry) {
    const WinogradFilters filters{nullptr, geometry.out_channels, geometry.in_channels, 0, 0, false};
    return 36 * filters.plane() + workers * round_up(Winograd{geometry, slice.outer}.forward_scratch(), 16);
  };
  return std::max(
      {forward(g), forward(turned(g)),
       workers * round_up(WinogradTask{ChannelTasks(g.in_channels, g.out_channels, workers)[0]}.scratch(), 16)});
}

inline void winograd_forward(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* x,
                             const float* w, const float* b, float* y, float* scratch) {
  winograd_correlate(device, {g, slice.outer}, conv2d_workers(device, slice, g), x,
                     {w, g.out_channels, g.in_channels, 9 * g.in_channels, 9, false}, b, y, scratch);
}

inline void winograd_backward_input(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* dy,
                                    const float* w, float* dx, float* scratch) {
  winograd_correlate(device, {turned(g), slice.outer}, conv2d_workers(device, slice, g), dy,
                     {w, g.in_channels, g.out_channels, 9, 9 * g.in_channels, true}, nullptr, dx, scratch);
}

inline void winograd_backward_parameters(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* x,
                                         const float* dy, float* dw, float* db, Accumulate accumulate,
                                         float* scratch) {
  const index_t workers = conv2d_workers(device, slice, g);
  const ChannelTasks tasks(g.in_channels, g.out_channels, workers);
  const index_t part = round_up(WinogradTask{tasks[0]}.scratch(), 16);
  const auto run_task = [&](index_t i, int worker) {
    GPUNET_CALL_PATH(16, winograd_gradients, Winograd{g, slice.outer}, WinogradTask{tasks[i]}, x, dy, dw, db,
                     accumulate, scratch + worker * part);
  };
  device.run_if(workers > 1, tasks.count(), run_task);
}

}  // namespace gpunet::detail
