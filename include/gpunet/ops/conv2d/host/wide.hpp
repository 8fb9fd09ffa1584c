// Convolution of floats on Host between many channels: by Winograd's algorithm where that pays,
// else directly, in bands of rows that stay in the caches.
#pragma once

#include <algorithm>
#include <concepts>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/ops/conv2d/host/any_rows.hpp>
#include <gpunet/ops/conv2d/host/columns.hpp>
#include <gpunet/ops/conv2d/host/correlation_axis.hpp>
#include <gpunet/ops/conv2d/host/direct.hpp>
#include <gpunet/ops/conv2d/host/winograd.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

// Parts of a sum of products: their beginnings in its two arrays.
struct WideSegments {
  static constexpr index_t most = 128;

  index_t count = 0;
  index_t a[most], b[most];

  void add(index_t in_a, index_t in_b) {
    a[count] = in_a;
    b[count++] = in_b;
  }
};

// The layout of the part of x that is in work: [row][column][channel][16], or
// [row][channel][column][16].
enum class WideOrder { channels_last, columns_last };

// The images of one group of samples that a convolution reads, and distances in the band that is
// processed.
struct WideImage {
  index_t channels, height, width;
  WideOrder order;

  // Not powers of two.
  index_t column_step() const {
    return order == WideOrder::channels_last ? detail::tile_rows(channels) * 16 + 16 : 16;
  }
  index_t channel_step(index_t columns) const {
    return order == WideOrder::channels_last ? 16 : columns * 16 + 16;
  }
  index_t row_step(index_t columns) const {
    return order == WideOrder::channels_last ? columns * column_step()
                                             : detail::tile_rows(channels) * channel_step(columns);
  }
};

// Some rows of y, and the part of x that they need.
struct WideBand {
  index_t out_row, out_column, out_rows, out_columns;  // the first of y, and their number
  index_t first_row, first_column, rows, columns;      // of x; may lie over the border
  WideSegments taps;                                   // in the filters and in the band

  index_t positions() const { return out_rows * out_columns; }
};

// A convolution, or an input gradient, whose number of phases is the product of the strides.
struct WideCorrelation {
  static constexpr index_t most_taps = WideSegments::most;

  WideImage image;
  index_t out_channels;
  CorrelationAxis down, across;
  index_t band_positions = 128;  // of y, or those of one row
  Clamp<float> clamp{Bounds{}};  // y = clamp(sum)

  index_t rows() const { return detail::tile_rows(out_channels); }
  index_t area() const { return down.axis.kernel * across.axis.kernel; }
  index_t out_pixels() const { return down.targets() * across.targets(); }
  index_t filter_elements() const { return area() * rows() * image.channels; }
  index_t phases() const { return down.write_step() * across.write_step(); }
  index_t band_rows() const { return std::max(index_t{1}, band_positions / across.targets(0)); }
  index_t bands_per_phase() const { return ceil_div(down.targets(0), band_rows()); }
  index_t bands() const { return phases() * bands_per_phase(); }
  index_t band_elements() const {
    return extent(down, band_rows()) * image.row_step(extent(across, across.targets(0)));
  }

  // Returns the elements of x that `count` places of y read, at most.
  static index_t extent(const CorrelationAxis& along, index_t count) {
    return (count - 1) * along.read_step() + along.axis.reach();
  }

  WideBand band(index_t i) const {
    const index_t phase = i / bands_per_phase(), row_phase = phase / across.write_step(),
                  column_phase = phase % across.write_step();
    const index_t first = i % bands_per_phase() * band_rows();
    WideBand band{};
    band.out_row = row_phase + first * down.write_step();
    band.out_column = column_phase;
    band.out_rows = std::clamp(down.targets(row_phase) - first, index_t{0}, band_rows());
    band.out_columns = across.targets(column_phase);
    const index_t least_row = down.taps(row_phase).least,
                  least_column = across.taps(column_phase).least;
    band.first_row = first * down.read_step() + least_row;
    band.first_column = least_column;
    band.rows = extent(down, band.out_rows);
    band.columns = extent(across, band.out_columns);
    for (index_t row = 0; row < down.axis.kernel; ++row)
      for (index_t column = 0; column < across.axis.kernel; ++column)
        if (down.sees(row_phase, row) && across.sees(column_phase, column))
          band.taps.add(
              (row * across.axis.kernel + column) * rows() * image.channels,
              (down.offset(row_phase, row) - least_row) * image.row_step(band.columns) +
                  (across.offset(column_phase, column) - least_column) * image.column_step());
    return band;
  }
};

}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/ops/conv2d/host/wide.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet::detail {

// The algorithms of convolutions on Host.
//   rows      direct.hpp
//   any_rows  any_rows.hpp, which can run any convolution
//   wide      this file
//   winograd  winograd.hpp
//   columns   columns.hpp
//   groups    groups of channels one after another, each as a convolution of its own
enum class ConvAlgorithm { rows, any_rows, wide, winograd, columns, groups };

// Calls f(arguments) for each group of channels of each group of samples.
template <class Args, class F>
void for_each_group(const Args& a, F f) {
  for (index_t outer = 0; outer < a.slice.outer; ++outer)
    for (index_t group = 0; group < a.block.g.groups; ++group) {
      Args one = a.of_group(outer, group);
      one.slice = a.slice.one_group();
      f(one);
    }
}

// Returns the fastest algorithm, by limits that were measured on one thread. With few channels the
// rows of direct.hpp are faster than wide (16 between 16: by a quarter); groups of few channels,
// as of a depthwise convolution, run all at once in any_rows.hpp.
inline ConvAlgorithm algorithm_of(const Host& device, const Slice& slice,
                                  const WideConv2dGeometry& g) {
  constexpr index_t channels = 32;
  if (g.groups > 1) {
    const ConvAlgorithm of_one =
        algorithm_of(device, slice.one_group(), WideConv2dGeometry{g.of_group()});
    const bool pays = of_one != ConvAlgorithm::rows && of_one != ConvAlgorithm::any_rows;
    return pays ? ConvAlgorithm::groups : ConvAlgorithm::any_rows;
  }
  if (winograd_pays(device, slice, g)) return ConvAlgorithm::winograd;
  if (columns_pay(slice, g)) return ConvAlgorithm::columns;
  const bool wide = slice.inner == 16 && g.in_channels >= channels && g.out_channels >= channels &&
                    g.area() <= WideCorrelation::most_taps;
  if (wide) return ConvAlgorithm::wide;
  return has_vector_rows(g, slice.inner) ? ConvAlgorithm::rows : ConvAlgorithm::any_rows;
}
constexpr ConvAlgorithm algorithm_of(const Host&, const Slice&, const Conv2dGeometry&) {
  return ConvAlgorithm::rows;
}

inline WideCorrelation wide_forward(const Conv2dGeometry& g,
                                    WideOrder order = WideOrder::channels_last) {
  return {{g.in_channels, g.rows.size, g.columns.size, order},
          g.out_channels,
          {g.rows, false},
          {g.columns, false}};
}
inline WideCorrelation wide_backward(const Conv2dGeometry& g) {
  return {{g.out_channels, g.rows.outputs, g.columns.outputs, WideOrder::channels_last},
          g.in_channels,
          {g.rows, true},
          {g.columns, true}};
}

// The arrays of a correlation: y from x.
struct WideArrays {
  const float* x;
  const float* w;             // [out][in][tap]
  index_t out_step, in_step;  // of w
  OptionalArray<const float> bias;
  float* y;
  float* scratch;
};

// Computes a correlation of all groups of samples of a slice.
inline void wide_correlate(Host& device, WideCorrelation c, const Slice& slice, index_t workers,
                           const WideArrays& a) {
  if (slice.outer == 1 && workers > 1) c.band_positions /= 4;  // a part for each thread
  const index_t area = c.area(), ins = c.image.channels;
  float *filters = a.scratch, *parts = a.scratch + round_up(c.filter_elements(), 16);
  device.run_if(workers > 1, c.out_channels, [&](index_t out, int) {
    const float* from = a.w + out * a.out_step;
    float* to = filters + out * ins;
    if (ins >= 4 && area >= 4) return transpose(ins, area, from, a.in_step, to, c.rows() * ins);
    for (index_t in = 0; in < ins; ++in)
      for (index_t tap = 0; tap < area; ++tap)
        to[tap * c.rows() * ins + in] = from[in * a.in_step + tap];
  });
  device.run_if(workers > 1, slice.outer * c.bands(), [&](index_t i, int worker) {
    const index_t group = i / c.bands();
    const WideBand band = c.band(i % c.bands());
    GPUNET_CALL_PATH(16, wide_correlate, c, band,
                     a.x + group * ins * c.image.height * c.image.width * 16, filters, a.bias,
                     a.y + group * c.out_channels * c.out_pixels() * 16,
                     parts + worker * c.band_elements());
  });
}

// The arrays of a task of the weight gradient.
struct WideTask : ChannelTask {
  static constexpr index_t block = 8;  // positions whose dy is in the L1 cache

  Conv2dGeometry g;

  WideCorrelation correlation() const {
    Conv2dGeometry part = g;
    part.in_channels = ins();
    return wide_forward(part, WideOrder::columns_last);
  }
  index_t rows() const { return tile_rows(ins()); }
  index_t columns() const { return tile_columns(outs()); }
  index_t gradient_elements() const { return g.area() * rows() * columns(); }
  index_t scratch() const {
    return correlation().band_elements() + block * 16 * columns() + gradient_elements();
  }

  // Computes dw between the channels of the task, from all positions in their order.
  void run(const Conv2dBackwardArgs<float>& a, float* memory) const {
    const WideCorrelation c = correlation();
    float *packed = memory, *turned = packed + c.band_elements(),
          *du = turned + block * 16 * columns();
    std::fill_n(turned, block * 16 * columns() + gradient_elements(), 0.0f);
    const index_t size = g.rows.outputs * g.columns.outputs * 16;
    for (index_t i = 0; i < a.slice.outer * c.bands(); ++i) {
      const WideBand band = c.band(i % c.bands());
      const float* image =
          a.x + (i / c.bands() * g.in_channels + first_in) * g.rows.size * g.columns.size * 16;
      const float* gradient = a.dy + (i / c.bands() * g.out_channels + first_out) * size;
      GPUNET_CALL_PATH(16, wide_pack, c.image, band, image, packed);
      for (index_t row = 0; row < band.out_rows; ++row)
        for (index_t first = 0; first < band.out_columns; first += block) {
          const index_t count = std::min(block, band.out_columns - first);
          const float* from = gradient + ((band.out_row + row) * g.columns.outputs + first) * 16;
          for (index_t column = 0; column < count; ++column)
            transpose_channels(outs(), size, from + column * 16, turned + column * 16 * columns(),
                               columns());
          // Neighboring columns of x follow each other unless there is a stride.
          WideSegments runs;
          const index_t columns_of_run = g.columns.stride == 1 ? count : 1;
          for (index_t column = 0; column < count; column += columns_of_run)
            runs.add(row * g.rows.stride * c.image.row_step(band.columns) +
                         (first + column) * g.columns.stride * 16,
                     column * 16 * columns());
          GPUNET_CALL_PATH(16, wide_add_gradient, runs, columns_of_run * 16, band.taps, rows(),
                           c.image.channel_step(band.columns), columns(), packed, turned, du);
        }
    }
    for (index_t out = 0; out < outs(); ++out)
      for (index_t in = 0; in < ins(); ++in)
        for (index_t tap = 0; tap < g.area(); ++tap)
          store_gradient(a.dw[((first_out + out) * g.in_channels + first_in + in) * g.area() + tap],
                         du[(tap * rows() + in) * columns() + out], a.accumulate);
  }
};

inline index_t wide_scratch(const Host& device, const Slice& slice, const Conv2dGeometry& g) {
  const index_t workers = conv2d_workers(device, slice, g);
  const WideCorrelation forward = wide_forward(g), backward = wide_backward(g);
  const WideTask task{ChannelTasks(g.in_channels, g.out_channels, workers)[0], g};
  return std::max({round_up(forward.filter_elements(), 16) + workers * forward.band_elements(),
                   round_up(backward.filter_elements(), 16) + workers * backward.band_elements(),
                   workers * round_up(task.scratch(), 16)});
}

// Computes dw of all groups of samples.
inline void wide_backward_weight(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const index_t workers = conv2d_workers(device, a.slice, g);
  const ChannelTasks tasks(g.in_channels, g.out_channels, workers);
  const index_t part = round_up(WideTask{tasks[0], g}.scratch(), 16);
  device.run_if(workers > 1, tasks.count(), [&](index_t i, int worker) {
    WideTask{tasks[i], g}.run(a, a.scratch + worker * part);
  });
}

}  // namespace gpunet::detail

namespace gpunet {

template <std::same_as<float> T>
index_t conv2d_scratch(const Host& device, const Slice& slice, const WideConv2dGeometry& g,
                       T type) {
  using enum detail::ConvAlgorithm;
  switch (detail::algorithm_of(device, slice, g)) {
    case rows:
      return conv2d_scratch(device, slice, g.general(), type);
    case any_rows:
      return detail::any_rows_scratch(device, slice, g);
    case wide:
      return detail::wide_scratch(device, slice, g);
    case winograd:
      return detail::winograd_scratch(device, slice, g);
    case columns:
      return detail::WindowColumns{g}.elements();
    case groups:
      return conv2d_scratch(device, slice.one_group(), WideConv2dGeometry{g.of_group()}, type);
  }
  return 0;
}

inline void conv2d_forward(Host& device, const Conv2dForwardArgs<float, WideConv2dGeometry>& a) {
  using enum detail::ConvAlgorithm;
  const WideConv2dGeometry& g = a.block.g;
  WideCorrelation correlation = detail::wide_forward(g);
  switch (detail::algorithm_of(device, a.slice, g)) {
    case rows:
      return conv2d_forward(device, a.general());
    case any_rows:
      return detail::forward_by_any_rows(device, a.general());
    case wide:
      correlation.clamp = a.block.clamp<float>();
      return detail::wide_correlate(device, correlation, a.slice,
                                    detail::conv2d_workers(device, a.slice, g),
                                    {a.x, a.w, g.taps(), g.area(), a.b, a.y, a.scratch});
    case winograd:
      return detail::winograd_forward(device, a.general());
    case columns:
      return detail::forward_by_columns(device, a.general());
    case groups:
      return detail::for_each_group(a, [&](const auto& group) { conv2d_forward(device, group); });
  }
}

inline void conv2d_backward_input(Host& device,
                                  const Conv2dBackwardArgs<float, WideConv2dGeometry>& a) {
  using enum detail::ConvAlgorithm;
  const WideConv2dGeometry& g = a.block.g;
  switch (detail::algorithm_of(device, a.slice, g)) {
    case rows:
      return conv2d_backward_input(device, a.general());
    case any_rows:
      return detail::backward_input_by_any_rows(device, a.general());
    case wide:
      return detail::wide_correlate(device, detail::wide_backward(g), a.slice,
                                    detail::conv2d_workers(device, a.slice, g),
                                    {a.dy, a.w, g.area(), g.taps(), a.b, a.dx, a.scratch});
    case winograd:
      return detail::winograd_backward_input(device, a.general());
    case columns:
      return detail::backward_input_by_columns(device, a.general());
    case groups:
      return detail::for_each_group(
          a, [&](const auto& group) { conv2d_backward_input(device, group); });
  }
}

inline void conv2d_backward_weight(Host& device,
                                   const Conv2dBackwardArgs<float, WideConv2dGeometry>& a) {
  using enum detail::ConvAlgorithm;
  switch (detail::algorithm_of(device, a.slice, a.block.g)) {
    case rows:
      return conv2d_backward_weight(device, a.general());
    case any_rows:
      return detail::backward_weight_by_any_rows(device, a.general());
    case wide:
      return detail::wide_backward_weight(device, a.general());
    case winograd:
      return detail::winograd_backward_weight(device, a.general());
    case columns:
      return detail::backward_weight_by_columns(device, a.general());
    case groups:
      return detail::for_each_group(
          a, [&](const auto& group) { conv2d_backward_weight(device, group); });
  }
}

}  // namespace gpunet
