// Convolution of floats on Host by Winograd's F(4x4, 3x3), for 3 x 3 filters of stride 1 between many channels: 36
// multiplications for 16 outputs instead of 144.
#pragma once

#include <algorithm>
#include <concepts>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/paths.hpp>
#include <gpunet/ops/conv2d.host.hpp>
#include <gpunet/ops/interleave.host.hpp>

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
  static constexpr index_t rows(index_t channels) { return std::max(index_t{4}, round_up(channels, 2)); }
  static constexpr index_t columns_of(index_t channels) { return round_up(channels, 32); }
  static constexpr index_t plane(index_t channels) { return rows(channels) * columns + 16; }
  index_t forward_scratch() const { return 36 * (plane(in_channels) + plane(channel_block)); }
};

// Where the filters of a convolution come from, and how their transforms lie: [36][out][in].
struct WinogradFilters {
  const float* w;  // [out][in][9], `out_step` and `in_step` apart
  index_t out_channels, in_channels, out_step, in_step;
  bool turned;  // read from the last tap to the first

  index_t row() const { return round_up(in_channels, 16); }
  index_t plane() const { return Winograd::rows(out_channels + 2) * row() + 16; }  // the last block is rounded up
};

// A part of the weight gradient: all sums between some input and some output channels.
struct WinogradTask {
  index_t first_in, last_in, first_out, last_out;

  index_t outs() const { return Winograd::columns_of(last_out - first_out); }
  index_t output_plane() const { return Winograd::columns * outs() + 16; }
  index_t gradient_plane() const { return Winograd::rows(last_in - first_in) * outs() + 16; }
  index_t scratch() const {
    return 36 * (Winograd::plane(last_in - first_in) + output_plane() + gradient_plane()) + outs();
  }
};

}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/ops/conv2d_winograd_kernels.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet::detail {

// The convolution whose forward pass is the input gradient of g.
inline Conv2dGeometry turned(const Conv2dGeometry& g) {
  return {g.out_channels, g.out_height, g.out_width, g.in_channels,           g.height,
          g.width,        g.kernel,     g.stride,    g.kernel - 1 - g.padding};
}

// Whether Winograd's way is possible, wanted and faster (measured).
inline bool winograd_pays(const Host& device, const Slice& slice, const WideConv2dGeometry& g) {
  return device.precision() == Precision::fast && slice.inner == 16 && g.kernel == 3 && g.stride == 1 &&
         g.padding <= 2 && g.in_channels >= g.many && g.out_channels >= g.many;
}

constexpr bool winograd_pays(const Host&, const Slice&, const Conv2dGeometry&) {
  return false;
}

// How many workers have scratch of their own. A single group is the work of one thread: others have its neighbours.
inline index_t winograd_workers(const Host& device, const Slice& slice) {
  return slice.outer > 1 ? device.threads() : 1;
}

// The weight gradient in tasks, enough for all workers. Each sum is one task's, so that tasks do not change it.
struct WinogradTasks {
  index_t ins, outs;  // channels
  index_t in_block = 64, out_block = 64;

  WinogradTasks(const Conv2dGeometry& g, index_t workers) : ins(g.in_channels), outs(g.out_channels) {
    while (count() < workers && out_block > 32)
      out_block -= 32;
    while (count() < workers && in_block > 16)
      in_block -= 16;
  }
  index_t count() const { return ceil_div(ins, in_block) * ceil_div(outs, out_block); }
  WinogradTask operator[](index_t i) const {
    const index_t across = ceil_div(outs, out_block), in = i / across * in_block, out = i % across * out_block;
    return {in, std::min(ins, in + in_block), out, std::min(outs, out + out_block)};
  }
  index_t scratch() const { return (*this)[0].scratch(); }
};

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
  if (workers > 1) return device.run(g.blocks(), run_block);
  for (index_t i = 0; i < g.blocks(); ++i)
    run_block(i, 0);
}

inline index_t winograd_scratch(const Host& device, const Slice& slice, const Conv2dGeometry& g) {
  const index_t workers = winograd_workers(device, slice);
  const auto forward = [&](const Conv2dGeometry& geometry) {
    const WinogradFilters filters{nullptr, geometry.out_channels, geometry.in_channels, 0, 0, false};
    return 36 * filters.plane() + workers * round_up(Winograd{geometry, slice.outer}.forward_scratch(), 16);
  };
  return std::max({forward(g), forward(turned(g)), workers * round_up(WinogradTasks(g, workers).scratch(), 16)});
}

inline void winograd_forward(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* x,
                             const float* w, const float* b, float* y, float* scratch) {
  winograd_correlate(device, {g, slice.outer}, winograd_workers(device, slice), x,
                     {w, g.out_channels, g.in_channels, 9 * g.in_channels, 9, false}, b, y, scratch);
}

inline void winograd_backward_input(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* dy,
                                    const float* w, float* dx, float* scratch) {
  winograd_correlate(device, {turned(g), slice.outer}, winograd_workers(device, slice), dy,
                     {w, g.in_channels, g.out_channels, 9, 9 * g.in_channels, true}, nullptr, dx, scratch);
}

inline void winograd_backward_parameters(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* x,
                                         const float* dy, float* dw, float* db, Accumulate accumulate,
                                         float* scratch) {
  const index_t workers = winograd_workers(device, slice);
  const WinogradTasks tasks(g, workers);
  const index_t part = round_up(tasks.scratch(), 16);
  const auto run_task = [&](index_t i, int worker) {
    GPUNET_CALL_PATH(16, winograd_gradients, Winograd{g, slice.outer}, tasks[i], x, dy, dw, db, accumulate,
                     scratch + worker * part);
  };
  if (workers > 1) return device.run(tasks.count(), run_task);
  for (index_t i = 0; i < tasks.count(); ++i)
    run_task(i, 0);
}

}  // namespace gpunet::detail

namespace gpunet {

template <std::same_as<float> T>
index_t conv2d_scratch(const Host& device, const Slice& slice, const WideConv2dGeometry& g, T type) {
  const index_t direct = conv2d_scratch(device, slice, g.general(), type);
  return detail::winograd_pays(device, slice, g) ? std::max(direct, detail::winograd_scratch(device, slice, g))
                                                 : direct;
}

inline void conv2d_forward(Host& device, const Slice& slice, const WideConv2dGeometry& g, const float* x,
                           const float* w, const float* b, float* y, float* scratch) {
  if (detail::winograd_pays(device, slice, g))
    detail::winograd_forward(device, slice, g, x, w, b, y, scratch);
  else
    conv2d_forward(device, slice, g.general(), x, w, b, y, scratch);
}

inline void conv2d_backward_input(Host& device, const Slice& slice, const WideConv2dGeometry& g, const float* dy,
                                  const float* w, float* dx, float* scratch) {
  if (detail::winograd_pays(device, slice, g))
    detail::winograd_backward_input(device, slice, g, dy, w, dx, scratch);
  else
    conv2d_backward_input(device, slice, g.general(), dy, w, dx, scratch);
}

inline void conv2d_backward_parameters(Host& device, const Slice& slice, const WideConv2dGeometry& g,
                                       const float* x, const float* dy, float* dw, float* db, Accumulate accumulate,
                                       float* scratch) {
  if (detail::winograd_pays(device, slice, g))
    detail::winograd_backward_parameters(device, slice, g, x, dy, dw, db, accumulate, scratch);
  else
    conv2d_backward_parameters(device, slice, g.general(), x, dy, dw, db, accumulate, scratch);
}

}  // namespace gpunet
