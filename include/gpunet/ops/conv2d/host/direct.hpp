// Convolution of floats on Host: direct, in vectors over neighboring columns and samples. Images
// are seen as rows [column][inner] that any filter tap can read.
#pragma once

#include <algorithm>
#include <limits>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/conv2d/plain.hpp>
#include <gpunet/ops/interleave.hpp>

namespace gpunet::detail {

// Returns whether threads share the convolution of a slice by its groups of samples. A small one is
// not worth waking a thread.
inline bool is_shared(const Slice& slice, const Conv2dGeometry& g) {
  constexpr index_t enough = 1 << 22;  // products
  return slice.outer > 1 && slice.samples() * g.out_features() * g.taps() >= enough;
}

// Returns the number of threads that share the output rows of a group: of a single group, where
// other threads would have no work.
inline index_t row_shares(const Host& device, const Slice& slice, const Conv2dGeometry& g) {
  constexpr index_t enough = 1 << 19;  // products of a thread
  if (slice.outer > 1) return 1;
  return std::clamp(slice.inner * g.out_features() * g.taps() / enough, index_t{1},
                    index_t{device.threads()});
}

// Returns the number of workers that share it, each with scratch of its own.
inline index_t conv2d_workers(const Host& device, const Slice& slice, const Conv2dGeometry& g) {
  return is_shared(slice, g) ? device.threads() : 1;
}

}  // namespace gpunet::detail

namespace gpunet {

// The filter rows first, first + step, ... that meet an image on the way to one output row, and
// where the first of them does; the others meet the rows below.
struct TapRows {
  index_t first, step, count, x_row;
  index_t first_column, columns;  // of the filter, that meet the image too
};

// Rows of an output gradient, `first` being the number of the first: [channel][row][width],
// `channel` apart.
struct GradientRows {
  const float* dy;
  index_t channel, first, rows, width;
};

// A correlation in rows. Output row r and filter row ky meet at image row
// (r * stride - padding + ky) / spread, if there is one.
struct Correlation {
  static constexpr index_t most_kernel = 11;

  const float* x;
  index_t channels, x_channel, x_row, height;  // distances of channels and rows of x
  // Offsets of the taps: of one filter row, of the next, ...
  index_t kernel, taps[most_kernel * most_kernel];
  index_t stride, padding, spread;
  index_t data_begin, data_end;       // outside, a row of x is zero
  const float* w;                     // packed: [tile of channels][in][ky][kx][tile]
  const float* bias;                  // [out_channels rounded up to tiles]
  float least;                        // y = max(sum, least)
  index_t out_channels, tile, width;  // width: columns x inner, of an output row
  float* y;                           // the first row asked for
  index_t y_channel;

  TapRows tap_rows(index_t row) const {
    const index_t top = row * stride - padding;
    index_t first = std::max(index_t{0}, -top);
    while ((top + first) % spread != 0)
      ++first;
    const index_t x_row_number = (top + first) / spread;
    const index_t count =
        std::min(ceil_div(kernel - std::min(first, kernel), spread), height - x_row_number);
    return {first, spread, std::max(index_t{0}, count), x_row_number, 0, kernel};
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
    const index_t above = ceil_div(std::max(index_t{0}, padding - ky), stride);
    // The first number r * stride that is below the image.
    const index_t reach = height + padding - ky;
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

  bool needed() const { return g.stride > 1 || g.padding > 0; }
  index_t phase() const { return ceil_div(g.width + 2 * g.padding, g.stride) * inner; }
  index_t row() const { return g.stride * phase(); }
  index_t elements() const { return needed() ? g.in_channels * g.height * row() : 0; }
  index_t tap(index_t kx) const { return kx % g.stride * phase() + kx / g.stride * inner; }
  // Returns where the data of a row begin and end.
  index_t data_begin() const { return g.stride == 1 ? g.padding * inner : 0; }
  index_t data_end() const { return g.stride == 1 ? (g.padding + g.width) * inner : row(); }

  void fill(const float* x, float* to) const {
    for (index_t i = 0; i < g.in_channels * g.height; ++i, x += g.width * inner, to += row())
      fill_row(x, to);
  }

 private:
  void fill_row(const float* x, float* to) const {
    if (g.stride == 1) return place_row(x, g.width, g.padding, g.width + 2 * g.padding, inner, to);
    std::fill_n(to, row(), 0.0f);
    for (index_t i = 0; i < g.width; ++i)
      std::copy_n(x + i * inner, inner, to + tap(i + g.padding));
  }
};

// dy with zeros left and right and, for a stride over 1, between the columns, so that dx is a
// correlation of stride 1 with the flipped filter.
struct SpreadRows {
  Conv2dGeometry g;
  index_t inner;
  index_t rows;  // of dy; the rows below are zero

  index_t columns() const { return g.width + g.kernel - 1; }
  index_t row() const { return columns() * inner; }
  index_t elements() const { return g.out_channels * rows * row(); }
  index_t tap(index_t kx) const { return kx * inner; }
  // Zero columns on the left; may be negative.
  index_t frame() const { return g.kernel - 1 - g.padding; }
  // Returns where the data of a row begin and end.
  index_t data_begin() const { return std::max(index_t{0}, frame()) * inner; }
  index_t data_end() const {
    return std::max(index_t{0}, frame() + (g.out_width - 1) * g.stride + 1) * inner;
  }

  // Puts in the rows of a block.
  void fill(const GradientRows& block, float* to) const {
    for (index_t channel = 0; channel < g.out_channels; ++channel)
      for (index_t i = 0; i < block.rows; ++i)
        fill_row(block.dy + channel * block.channel + i * block.width,
                 to + (channel * rows + block.first + i) * row());
  }

 private:
  void fill_row(const float* dy, float* to) const {
    if (g.stride == 1) return place_row(dy, g.out_width, frame(), columns(), inner, to);
    std::fill_n(to, row(), 0.0f);
    for (index_t i = 0; i < g.out_width; ++i)
      if (const index_t column = i * g.stride + frame(); column >= 0 && column < columns())
        std::copy_n(dy + i * inner, inner, to + column * inner);
  }
};

// Returns the number of channels in a tile: the one with the least padding, the larger one if
// equal.
inline index_t correlation_tile(index_t channels) {
  return round_up(channels, 6) <= round_up(channels, 4) ? 6 : 4;
}

inline index_t packed_elements(index_t out_channels, index_t in_channels, index_t kernel) {
  return round_up(out_channels, correlation_tile(out_channels)) *
         (in_channels * kernel * kernel + 1);
}

// The layout of filters: `out`, `in` and `tap` are distances, the first tap is at `first`.
struct FilterOrder {
  index_t out, in, tap, first;
};

// Packs w in tiles, [out / tile][in][ky][kx][tile], missing channels zero, and the bias behind it.
inline void pack_filters(Correlation& c, const float* w, const FilterOrder& order,
                         OptionalArray<const float> bias, float* packed) {
  const index_t area = c.kernel * c.kernel, channels = round_up(c.out_channels, c.tile);
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

// Returns whether the vector kernels can run rows of `columns`; else the plain version does.
inline bool has_vector_rows(const Conv2dGeometry& g, index_t columns, index_t inner) {
  return columns * inner >= 4 && g.kernel <= Correlation::most_kernel;
}

// A correlation of stride 1 over images [channel][row][columns] that lie as `rows` says, PaddedRows
// or SpreadRows, except for its filters and for where its result goes.
template <class Rows>
Correlation over_rows(const Rows& rows, const float* x, index_t channels, index_t height,
                      index_t out_channels, index_t width) {
  Correlation c{};
  c.x = x;
  c.channels = channels;
  c.x_row = rows.row();
  c.x_channel = height * c.x_row;
  c.height = height;
  c.kernel = rows.g.kernel;
  for (index_t k = 0; k < c.kernel * c.kernel; ++k)
    c.taps[k] = k / c.kernel * c.x_row + rows.tap(k % c.kernel);
  c.stride = 1;
  c.spread = 1;
  c.data_begin = rows.data_begin();
  c.data_end = rows.data_end();
  c.least = -std::numeric_limits<float>::infinity();
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
  Correlation c = over_rows(padded, padded.needed() ? image : x, g.in_channels, g.height,
                            g.out_channels, g.out_width);
  c.stride = g.stride;
  c.padding = g.padding;
  return c;
}

// The forward pass of one group of samples, except for where its rows go.
inline Correlation forward_correlation(const Conv2dGeometry& g, index_t inner, const float* x,
                                       const float* w, OptionalArray<const float> b,
                                       float* scratch) {
  Correlation c =
      over_input(g, inner, x, scratch + packed_elements(g.out_channels, g.in_channels, g.kernel));
  pack_filters(c, w, {g.taps(), g.kernel * g.kernel, 1, 0}, b, scratch);
  return c;
}

// dx of one group of samples from the rows that SpreadRows made of dy.
inline void correlate_gradient(const SpreadRows& spread, const float* rows, const float* w,
                               float* dx, float* packed) {
  const Conv2dGeometry& g = spread.g;
  Correlation c = over_rows(spread, rows, g.out_channels, spread.rows, g.in_channels, g.width);
  c.padding = spread.frame();
  c.spread = g.stride;
  c.y = dx;
  c.y_channel = g.height * c.width;
  const index_t area = g.kernel * g.kernel;
  pack_filters(c, w, {area, g.taps(), -1, area - 1}, nullptr, packed);
  GPUNET_CALL_PATH(c.width, correlate, c, 0, g.height);
}

// Returns the even number of rows of dy that stay in the L1 cache while their products with x are
// summed.
inline index_t gradient_block(const Conv2dGeometry& g, index_t inner) {
  constexpr index_t floats = 8192;
  return std::max(index_t{2}, floats / (4 * g.out_width * inner) / 2 * 2);
}

// Returns the elements of scratch that one worker needs.
inline index_t direct_scratch(const Slice& slice, const Conv2dGeometry& g) {
  const index_t filters =
      std::max(detail::packed_elements(g.out_channels, g.in_channels, g.kernel),
               detail::packed_elements(g.in_channels, g.out_channels, g.kernel));
  return round_up(filters + std::max(PaddedRows{g, slice.inner}.elements(),
                                     SpreadRows{g, slice.inner, g.out_height}.elements()),
                  16);
}

// dw and db of all groups, for some output channels, which are the first of dy, dw and db here.
// Groups of dy have `dy_group` elements.
inline void gradients_of_channels(const Conv2dBackwardArgs<float>& a, index_t dy_group) {
  const Conv2dGeometry& g = a.block.g;
  const index_t inner = a.slice.inner, block = gradient_block(g, inner),
                width = g.out_width * inner;
  Accumulate accumulate = a.accumulate;
  for (index_t outer = 0; outer < a.slice.outer; ++outer) {
    const Correlation c = over_input(g, inner, a.x + outer * g.in_features() * inner, a.scratch);
    for (index_t row = 0; row < g.out_height; row += block, accumulate = Accumulate::yes) {
      const GradientRows rows{a.dy + outer * dy_group + row * width, g.out_height * width, row,
                              std::min(block, g.out_height - row), width};
      GPUNET_CALL_PATH(width, parameter_gradients, c, rows, a.dw, a.db, accumulate);
    }
  }
}

}  // namespace detail

inline index_t conv2d_scratch(const Host& device, const Slice& slice, const Conv2dGeometry& g,
                              float) {
  return detail::conv2d_workers(device, slice, g) * detail::direct_scratch(slice, g);
}

inline void conv2d_forward(Host& device, const Conv2dForwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const index_t inner = a.slice.inner;
  if (!detail::has_vector_rows(g, g.out_width, inner))
    return conv2d_forward<Host, float>(device, a);
  const index_t part = detail::direct_scratch(a.slice, g);
  device.run_if(detail::is_shared(a.slice, g), a.slice.outer, [&](index_t outer, index_t worker) {
    Correlation c = detail::forward_correlation(g, inner, a.x + outer * g.in_features() * inner,
                                                a.w, a.b, a.scratch + worker * part);
    c.y = a.y + outer * g.out_features() * inner;
    c.y_channel = g.out_height * c.width;
    const index_t rows = ceil_div(g.out_height, detail::row_shares(device, a.slice, g));
    device.run(ceil_div(g.out_height, rows), [&, y = c.y](index_t i, int) {
      Correlation some = c;
      some.y = y + i * rows * c.width;
      GPUNET_CALL_PATH(c.width, correlate, some, i * rows, std::min(g.out_height, (i + 1) * rows));
    });
  });
}

inline void conv2d_backward_input(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const index_t inner = a.slice.inner;
  if (!detail::has_vector_rows(g, g.width, inner))
    return conv2d_backward_input<Host, float>(device, a);
  const detail::SpreadRows spread{g, inner, g.out_height};
  const index_t width = g.out_width * inner, part = detail::direct_scratch(a.slice, g);
  device.run_if(detail::is_shared(a.slice, g), a.slice.outer, [&](index_t outer, index_t worker) {
    float* packed = a.scratch + worker * part;
    float* rows = packed + detail::packed_elements(g.in_channels, g.out_channels, g.kernel);
    const float* dy = a.dy + outer * g.out_channels * g.out_height * width;
    spread.fill({dy, g.out_height * width, 0, g.out_height, width}, rows);
    detail::correlate_gradient(spread, rows, a.w, a.dx + outer * g.in_features() * inner, packed);
  });
}

inline void conv2d_backward_parameters(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  if (!detail::has_vector_rows(g, g.out_width, a.slice.inner))
    return conv2d_backward_parameters<Host, float>(device, a);
  const index_t workers = detail::conv2d_workers(device, a.slice, g),
                part = detail::direct_scratch(a.slice, g);
  const index_t channels = round_up(ceil_div(g.out_channels, workers), 4);
  device.run_if(workers > 1, ceil_div(g.out_channels, channels), [&](index_t i, index_t worker) {
    const index_t first = i * channels;
    Conv2dBackwardArgs<float> some = a;
    some.block.g.out_channels = std::min(channels, g.out_channels - first);
    some.dy = a.dy + first * g.out_pixels() * a.slice.inner;
    some.dw = a.dw + first * g.taps();
    some.db = a.db + first;
    some.scratch = a.scratch + worker * part;
    detail::gradients_of_channels(some, g.out_features() * a.slice.inner);
  });
}

}  // namespace gpunet
