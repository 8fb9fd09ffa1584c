// Convolution of floats on Host: direct, in vectors over neighboring columns and samples. Images
// are seen as rows [column][inner] that any filter tap can read.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/conv2d/host/may_be_wide.hpp>
#include <gpunet/ops/conv2d/host/workers.hpp>
#include <gpunet/ops/conv2d/plain.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet {

// The filter rows first, first + step, ... that contribute to one output row: they meet the rows
// x_row, x_row + x_step, ... of the image.
struct TapRows {
  index_t first, step, count, x_row, x_step;
  index_t first_column, columns;  // of the filter, that meet the image too
};

// Rows of an output gradient, `first` being the number of the first: [channel][row][width],
// `channel` apart.
struct GradientRows {
  const float* dy;
  index_t channel, first, rows, width;
};

// A correlation in rows. Output row r and filter row ky meet at image row
// (r * stride - padding + ky * dilation) / spread, if there is one.
struct Correlation {
  static constexpr index_t most_taps = detail::most_direct_taps;

  const float* x;
  index_t channels, x_channel, x_row, height;  // distances of channels and rows of x
  index_t kernel_rows, kernel_columns;
  index_t taps[most_taps];                    // offsets: of one filter row, of the next, ...
  index_t stride, padding, dilation, spread;  // of rows
  index_t data_begin, data_end;               // outside, a row of x is zero
  const float* w;                             // packed: [tile of channels][in][ky][kx][tile]
  const float* bias;                          // [out_channels rounded up to tiles]
  Clamp<float> clamp{Bounds{}};               // y = clamp(sum)
  index_t out_channels, tile, width;          // width: columns x inner, of an output row
  float* y;                                   // the first row that is computed
  index_t y_channel;

  index_t area() const { return kernel_rows * kernel_columns; }

  TapRows tap_rows(index_t row) const {
    const index_t top = row * stride - padding, common = std::gcd(dilation, spread);
    const index_t step = spread / common, x_step = dilation / common;
    index_t first = ceil_div(std::max(index_t{0}, -top), dilation);
    if (top % common != 0) first = kernel_rows;  // none
    while (first < kernel_rows && (top + first * dilation) % spread != 0)
      ++first;
    const index_t x_row_number = (top + first * dilation) / spread;
    const index_t count = std::min(ceil_div(kernel_rows - std::min(first, kernel_rows), step),
                                   ceil_div(std::max(index_t{0}, height - x_row_number), x_step));
    return {first, step, count, x_row_number, x_step, 0, kernel_columns};
  }

  // The same for the outputs begin <= i < end of the row: without the filter columns that meet
  // zeros only.
  TapRows within(TapRows rows, index_t begin, index_t end) const {
    while (rows.columns > 0 && taps[rows.first_column] + end <= data_begin)
      ++rows.first_column, --rows.columns;
    while (rows.columns > 0 && taps[rows.first_column + rows.columns - 1] + begin >= data_end)
      --rows.columns;
    return rows;
  }

  // Returns the vectors of the first and of the last tile of a row so that `within` pays; 0 where
  // it does not.
  index_t edge_vectors(index_t lanes) const {
    const index_t frame = data_begin / lanes;
    return frame > 2 && width >= 4 * frame * lanes / 2 ? frame - 1 : 0;
  }

  // Returns the rows of a gradient, among `all`, whose filter row ky is on the image (spread = 1).
  GradientRows rows_under(const GradientRows& all, index_t ky) const {
    const index_t above = ceil_div(std::max(index_t{0}, padding - ky * dilation), stride);
    // The first number r * stride that is below the image.
    const index_t reach = height + padding - ky * dilation;
    const index_t begin = std::max(all.first, above);
    const index_t end =
        std::min(all.first + all.rows, ceil_div(std::max(index_t{0}, reach), stride));
    return {all.dy + (begin - all.first) * all.width, all.channel, begin,
            std::max(index_t{0}, end - begin), all.width};
  }
};

namespace detail {

// Writes a row of `columns` from some column of a longer or shorter row on; the rest of the target
// is zero.
inline void place_row(const float* from, index_t columns, index_t at, index_t target_columns,
                      index_t inner, float* to) {
  const index_t skip = std::max(index_t{0}, -at), begin = std::max(index_t{0}, at);
  const index_t some = std::max(index_t{0}, std::min(columns - skip, target_columns - begin));
  std::fill_n(to, std::min(begin, target_columns) * inner, 0.0f);
  std::copy_n(from + skip * inner, some * inner, to + begin * inner);
  if (begin + some < target_columns)
    std::fill_n(to + (begin + some) * inner, (target_columns - begin - some) * inner, 0.0f);
}

// x with its padding left and right, each row sorted by column modulo stride:
// [phase][column / stride][inner], so that the columns x, x + stride, ... of a tap are neighbors.
struct PaddedRows {
  Conv2dGeometry g;
  index_t inner;

  const ConvAxis& axis() const { return g.columns; }
  bool needed() const { return axis().stride > 1 || axis().padded() != axis().size; }
  index_t phase() const { return ceil_div(axis().padded(), axis().stride) * inner; }
  index_t row() const { return axis().stride * phase(); }
  index_t elements() const { return needed() ? g.in_channels * g.rows.size * row() : 0; }
  // Return the offsets of an element and of tap kx of the first output in a padded row.
  index_t place(index_t at) const {
    return at % axis().stride * phase() + at / axis().stride * inner;
  }
  index_t tap(index_t kx) const { return place(kx * axis().dilation); }
  // Return the offsets of the first element of the data of a row, and of their end.
  index_t data_begin() const { return axis().stride == 1 ? axis().padding * inner : 0; }
  index_t data_end() const {
    return axis().stride == 1 ? (axis().padding + axis().size) * inner : row();
  }

  void fill(const float* x, float* to) const {
    for (index_t i = 0; i < g.in_channels * g.rows.size;
         ++i, x += g.columns.size * inner, to += row())
      fill_row(x, to);
  }

 private:
  void fill_row(const float* x, float* to) const {
    if (axis().stride == 1)
      return place_row(x, axis().size, axis().padding, axis().padded(), inner, to);
    std::fill_n(to, row(), 0.0f);
    for (index_t i = 0; i < axis().size; ++i)
      std::copy_n(x + i * inner, inner, to + place(i + axis().padding));
  }
};

// dy with zeros left and right and, for a stride over 1, between the columns, so that dx is a
// correlation of stride 1 with the flipped filter.
struct SpreadRows {
  Conv2dGeometry g;
  index_t inner;
  index_t rows;  // of dy; the rows below are zero

  const ConvAxis& axis() const { return g.columns; }
  index_t columns() const { return axis().size + axis().reach() - 1; }
  index_t row() const { return columns() * inner; }
  index_t elements() const { return g.out_channels * rows * row(); }
  index_t tap(index_t kx) const { return kx * axis().dilation * inner; }
  // Zero columns on the left; may be negative.
  index_t frame() const { return axis().reach() - 1 - axis().padding; }
  // Return the offsets of the first element of the data of a row, and of their end.
  index_t data_begin() const { return std::max(index_t{0}, frame()) * inner; }
  index_t data_end() const {
    return std::max(index_t{0}, frame() + (axis().outputs - 1) * axis().stride + 1) * inner;
  }

  // Writes the rows of a block.
  void fill(const GradientRows& block, float* to) const {
    for (index_t channel = 0; channel < g.out_channels; ++channel)
      for (index_t i = 0; i < block.rows; ++i)
        fill_row(block.dy + channel * block.channel + i * block.width,
                 to + (channel * rows + block.first + i) * row());
  }

 private:
  void fill_row(const float* dy, float* to) const {
    if (axis().stride == 1) return place_row(dy, axis().outputs, frame(), columns(), inner, to);
    std::fill_n(to, row(), 0.0f);
    for (index_t i = 0; i < axis().outputs; ++i)
      if (const index_t column = i * axis().stride + frame(); column >= 0 && column < columns())
        std::copy_n(dy + i * inner, inner, to + column * inner);
  }
};

// Returns the number of channels in a tile: the one with the least padding, the larger one if
// equal.
inline index_t correlation_tile(index_t channels) {
  return round_up(channels, 6) <= round_up(channels, 4) ? 6 : 4;
}

inline index_t packed_elements(index_t out_channels, index_t in_channels, index_t area) {
  return round_up(out_channels, correlation_tile(out_channels)) * (in_channels * area + 1);
}

// The layout of filters: `out`, `in` and `tap` are distances, the first tap is at `first`.
struct FilterOrder {
  index_t out, in, tap, first;
};

// Packs w in tiles, [out / tile][in][ky][kx][tile], missing channels zero, and the bias behind it.
inline void pack_filters(Correlation& c, const float* w, const FilterOrder& order,
                         OptionalArray<const float> bias, float* packed) {
  const index_t area = c.area(), channels = round_up(c.out_channels, c.tile);
  float* to = packed;
  for (index_t first = 0; first < channels; first += c.tile) {
    const index_t some = std::min(c.tile, c.out_channels - first);
    const float* from = w + first * order.out + order.first;
    if (const index_t taps = c.channels * area;
        some == c.tile && order.in == area && order.tap == 1 && taps >= 4) {
      transpose(c.tile, taps, from, order.out, to, c.tile);
      to += taps * c.tile;
      continue;
    }
    for (index_t in = 0; in < c.channels; ++in)
      for (index_t tap = 0; tap < area; ++tap, to += c.tile) {
        const float* weight = from + in * order.in + tap * order.tap;
        index_t t = 0;
        for (; t < some; ++t)
          to[t] = weight[t * order.out];
        for (; t < c.tile; ++t)
          to[t] = 0;
      }
  }
  c.w = packed;
  c.bias = to;
  for (index_t out = 0; out < channels; ++out)
    *to++ = out < c.out_channels ? bias[out] : 0.0f;
}

}  // namespace detail

}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/ops/conv2d/host/direct.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet {

namespace detail {

// Returns whether the vector kernels of this file can run a convolution; else the plain version
// does, or any_rows.hpp where a program has it.
inline bool has_vector_rows(const Conv2dGeometry& g, index_t inner) {
  return g.groups == 1 && std::min(g.columns.outputs, g.columns.size) * inner >= least_row &&
         g.area() <= most_direct_taps;
}

// Returns a correlation of stride 1, without filters and output, over images
// [channel][row][columns] in the layout of `rows`, PaddedRows or SpreadRows.
template <class Rows>
Correlation over_rows(const Rows& rows, const float* x, index_t channels, index_t height,
                      index_t out_channels, index_t width) {
  Correlation c{};
  c.x = x;
  c.channels = channels;
  c.x_row = rows.row();
  c.x_channel = height * c.x_row;
  c.height = height;
  c.kernel_rows = rows.g.rows.kernel;
  c.kernel_columns = rows.g.columns.kernel;
  c.stride = 1;
  c.dilation = rows.g.rows.dilation;
  c.spread = 1;
  for (index_t k = 0; k < c.area(); ++k)
    c.taps[k] = k / c.kernel_columns * c.dilation * c.x_row + rows.tap(k % c.kernel_columns);
  c.data_begin = rows.data_begin();
  c.data_end = rows.data_end();
  c.out_channels = out_channels;
  c.tile = correlation_tile(out_channels);
  c.width = width * rows.inner;
  return c;
}

// Returns the part that the forward pass and the weight gradient share: x, padded and in order.
inline Correlation over_input(const Conv2dGeometry& g, index_t inner, const float* x,
                              float* image) {
  const PaddedRows padded{g, inner};
  if (padded.needed()) padded.fill(x, image);
  Correlation c = over_rows(padded, padded.needed() ? image : x, g.in_channels, g.rows.size,
                            g.out_channels, g.columns.outputs);
  c.stride = g.rows.stride;
  c.padding = g.rows.padding;
  return c;
}

// Returns the forward pass of one group of samples, without its output.
inline Correlation forward_correlation(const Conv2dGeometry& g, index_t inner, const float* x,
                                       const float* w, OptionalArray<const float> b,
                                       float* scratch) {
  Correlation c =
      over_input(g, inner, x, scratch + packed_elements(g.out_channels, g.in_channels, g.area()));
  pack_filters(c, w, {g.taps(), g.area(), 1, 0}, b, scratch);
  return c;
}

// Computes `rows` rows of a correlation, which threads share if `shared`.
inline void correlate_rows(Host& device, bool shared, const Correlation& c, index_t rows) {
  const index_t some = shared ? ceil_div(rows, device.threads()) : rows;
  device.run_if(shared, ceil_div(rows, some), [&](index_t i, int) {
    Correlation part = c;
    part.y = c.y + i * some * c.width;
    GPUNET_CALL_PATH(c.width, correlate, part, i * some, std::min(rows, (i + 1) * some));
  });
}

// Computes dx of one group of samples from the rows that SpreadRows made of dy.
inline void correlate_gradient(Host& device, bool shared, const SpreadRows& spread,
                               const float* rows, const float* w, OptionalArray<const float> b,
                               float* dx, float* packed) {
  const Conv2dGeometry& g = spread.g;
  Correlation c =
      over_rows(spread, rows, g.out_channels, spread.rows, g.in_channels, g.columns.size);
  c.padding = g.rows.reach() - 1 - g.rows.padding;
  c.spread = g.rows.stride;
  c.y = dx;
  c.y_channel = g.rows.size * c.width;
  const index_t area = g.area();
  pack_filters(c, w, {area, g.taps(), -1, area - 1}, b, packed);
  correlate_rows(device, shared, c, g.rows.size);
}

// Returns the even number of rows of dy that stay in the L1 cache while their products with x are
// summed.
inline index_t gradient_block(const Conv2dGeometry& g, index_t inner) {
  constexpr index_t floats = 8192;
  return std::max(index_t{2}, floats / (4 * g.columns.outputs * inner) / 2 * 2);
}

// Returns the elements of scratch that one worker needs.
inline index_t direct_scratch(const Slice& slice, const Conv2dGeometry& g) {
  const index_t filters =
      std::max(detail::packed_elements(g.out_channels, g.in_channels, g.area()),
               detail::packed_elements(g.in_channels, g.out_channels, g.area()));
  return round_up(filters + std::max(PaddedRows{g, slice.inner}.elements(),
                                     SpreadRows{g, slice.inner, g.rows.outputs}.elements()),
                  16);
}

// Computes dw of all groups of samples for some output channels, which are the first of dy and dw
// here. Groups of dy have `dy_group` elements.
inline void gradients_of_channels(const Conv2dBackwardArgs<float>& a, index_t dy_group) {
  const Conv2dGeometry& g = a.block.g;
  const index_t inner = a.slice.inner, block = gradient_block(g, inner),
                width = g.columns.outputs * inner;
  Accumulate accumulate = a.accumulate;
  for (index_t outer = 0; outer < a.slice.outer; ++outer) {
    const Correlation c = over_input(g, inner, a.x + outer * g.in_features() * inner, a.scratch);
    for (index_t row = 0; row < g.rows.outputs; row += block, accumulate = Accumulate::yes) {
      const GradientRows rows{a.dy + outer * dy_group + row * width, g.rows.outputs * width, row,
                              std::min(block, g.rows.outputs - row), width};
      GPUNET_CALL_PATH(width, weight_gradient, c, rows, a.dw, accumulate);
    }
  }
}

}  // namespace detail

inline index_t conv2d_scratch(const Host& device, const Slice& slice, const Conv2dGeometry& g,
                              float) {
  return detail::has_vector_rows(g, slice.inner)
             ? detail::conv2d_workers(device, slice, g) * detail::direct_scratch(slice, g)
             : 0;
}

inline void conv2d_forward(Host& device, const Conv2dForwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const index_t inner = a.slice.inner;
  if (!detail::has_vector_rows(g, inner))
    return conv2d_forward<Host, float, Conv2dGeometry>(device, a);
  const index_t part = detail::direct_scratch(a.slice, g);
  const bool shared = detail::is_shared(a.slice, g), one = a.slice.outer == 1;
  device.run_if(shared && !one, a.slice.outer, [&](index_t outer, index_t worker) {
    Correlation c = detail::forward_correlation(g, inner, a.x + outer * g.in_features() * inner,
                                                a.w, a.b, a.scratch + worker * part);
    c.clamp = a.block.clamp<float>();
    c.y = a.y + outer * g.out_features() * inner;
    c.y_channel = g.rows.outputs * c.width;
    detail::correlate_rows(device, shared && one, c, g.rows.outputs);
  });
}

inline void conv2d_backward_input(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const index_t inner = a.slice.inner;
  if (!detail::has_vector_rows(g, inner))
    return conv2d_backward_input<Host, float, Conv2dGeometry>(device, a);
  const detail::SpreadRows spread{g, inner, g.rows.outputs};
  const index_t width = g.columns.outputs * inner, part = detail::direct_scratch(a.slice, g);
  const bool shared = detail::is_shared(a.slice, g), one = a.slice.outer == 1;
  device.run_if(shared && !one, a.slice.outer, [&](index_t outer, index_t worker) {
    float* packed = a.scratch + worker * part;
    float* rows = packed + detail::packed_elements(g.in_channels, g.out_channels, g.area());
    const float* dy = a.dy + outer * g.out_channels * g.rows.outputs * width;
    spread.fill({dy, g.rows.outputs * width, 0, g.rows.outputs, width}, rows);
    detail::correlate_gradient(device, shared && one, spread, rows, a.w, a.b,
                               a.dx + outer * g.in_features() * inner, packed);
  });
}

inline void conv2d_backward_bias(Host& device, const Slice& slice, index_t channels, index_t pixels,
                                 const float* dy, float* db, Accumulate accumulate) {
  const index_t plane = pixels * slice.inner;
  device.run_if(slice.outer * channels * plane >= 1 << 18, channels, [&](index_t channel, int) {
    double total = 0;
    for (index_t outer = 0; outer < slice.outer; ++outer)
      GPUNET_CALL_PATH(plane, add_sum, plane, dy + (outer * channels + channel) * plane, total);
    store_gradient(db[channel], static_cast<float>(total), accumulate);
  });
}

inline void conv2d_backward_weight(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  if (!detail::has_vector_rows(g, a.slice.inner))
    return conv2d_backward_weight<Host, float, Conv2dGeometry>(device, a);
  const index_t workers = detail::conv2d_workers(device, a.slice, g),
                part = detail::direct_scratch(a.slice, g);
  const index_t channels = round_up(ceil_div(g.out_channels, workers), 4);
  device.run_if(workers > 1, ceil_div(g.out_channels, channels), [&](index_t i, index_t worker) {
    const index_t first = i * channels;
    Conv2dBackwardArgs<float> some = a;
    some.block.g.out_channels = std::min(channels, g.out_channels - first);
    some.dy = a.dy + first * g.out_pixels() * a.slice.inner;
    some.dw = a.dw + first * g.taps();
    some.scratch = a.scratch + worker * part;
    detail::gradients_of_channels(some, g.out_features() * a.slice.inner);
  });
}

template <class Geometry>
void conv2d_backward_parameters(Host& device, const Conv2dBackwardArgs<float, Geometry>& a) {
  if (a.db)
    conv2d_backward_bias(device, a.slice, a.block.g.out_channels, a.block.g.out_pixels(), a.dy,
                         a.db.data(), a.accumulate);
  conv2d_backward_weight(device, a);
}

}  // namespace gpunet
