// Convolution of floats on Host: direct, in vectors over neighbouring columns and samples.
#pragma once

#include <algorithm>
#include <cstring>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/paths.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/conv2d.hpp>

namespace gpunet {

// A correlation of stride 1 within a row. x is an image whose rows are ready to be read at any tap: padded, and for
// a stride over 1 sorted by phase, so that the columns x, x + stride, ... of a tap are neighbours.
struct Correlation {
  static constexpr index_t most_taps = 32;

  const float* x;
  index_t channels, x_channel, x_row,
      x_step;                               // distances of channels and rows of x; of x rows of neighbouring y rows
  index_t kernel, taps[most_taps];          // offset of each filter column
  const float* w;                           // packed: [tile of channels][in][ky][kx][tile]
  const float* bias;                        // [out_channels rounded up to tiles]
  index_t out_channels, tile, rows, width;  // width: columns x inner
  float* y;
  index_t y_channel, y_row;
};

}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/ops/conv2d_kernels.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

namespace detail {

// Whether the vector kernels can run rows of `columns`; else the plain version does.
inline bool has_vector_rows(const Conv2dGeometry& g, index_t columns, index_t inner) {
  return columns * inner >= 4 && g.kernel <= Correlation::most_taps;
}

// Channels that share a tile: what wastes least, the larger one if equal.
inline index_t correlation_tile(index_t channels) {
  return round_up(channels, 6) <= round_up(channels, 4) ? 6 : 4;
}

// x with its padding, each row sorted by column modulo stride: row [phase][column / stride][inner].
struct PaddedImage {
  Conv2dGeometry g;
  index_t inner;

  bool needed() const { return g.stride > 1 || g.padding > 0; }
  index_t height() const { return g.height + 2 * g.padding; }
  index_t phase() const { return ceil_div(g.width + 2 * g.padding, g.stride) * inner; }
  index_t row() const { return g.stride * phase(); }
  index_t elements() const { return needed() ? g.in_channels * height() * row() : 0; }

  void fill(const float* x, float* target) const {
    std::memset(target, 0, static_cast<std::size_t>(elements()) * sizeof(float));
    for (index_t channel = 0; channel < g.in_channels; ++channel)
      for (index_t y = 0; y < g.height; ++y) {
        const float* from = x + (channel * g.height + y) * g.width * inner;
        float* to = target + (channel * height() + y + g.padding) * row();
        if (g.stride == 1) {
          std::copy_n(from, g.width * inner, to + g.padding * inner);
          continue;
        }
        for (index_t i = 0; i < g.width; ++i) {
          const index_t column = i + g.padding;
          std::copy_n(from + i * inner, inner, to + column % g.stride * phase() + column / g.stride * inner);
        }
      }
  }
};

// dy spread out by the stride inside a frame of zeros, so that dx is a correlation of stride 1 with the turned
// filter.
struct SpreadGradient {
  Conv2dGeometry g;
  index_t inner;

  index_t height() const { return g.height + g.kernel - 1; }
  index_t row() const { return (g.width + g.kernel - 1) * inner; }
  index_t elements() const { return g.out_channels * height() * row(); }

  void fill(const float* dy, float* target) const {
    std::memset(target, 0, static_cast<std::size_t>(elements()) * sizeof(float));
    const index_t frame = g.kernel - 1 - g.padding;
    for (index_t channel = 0; channel < g.out_channels; ++channel)
      for (index_t oy = 0; oy < g.out_height; ++oy) {
        const index_t y = oy * g.stride + frame;
        if (y < 0 || y >= height()) continue;
        const float* from = dy + (channel * g.out_height + oy) * g.out_width * inner;
        float* to = target + (channel * height() + y) * row();
        for (index_t ox = 0; ox < g.out_width; ++ox) {
          const index_t column = ox * g.stride + frame;
          if (column >= 0 && column * inner < row()) std::copy_n(from + ox * inner, inner, to + column * inner);
        }
      }
  }
};

// What forward and the weight gradient have in common: x ready to be read, one output row after another.
inline Correlation over_input(const Conv2dGeometry& g, index_t inner, const float* x, float* image) {
  const PaddedImage padded{g, inner};
  if (padded.needed()) padded.fill(x, image);
  Correlation c{};
  c.x = padded.needed() ? image : x;
  c.channels = g.in_channels;
  c.x_row = padded.row();
  c.x_channel = padded.height() * c.x_row;
  c.x_step = g.stride * c.x_row;
  c.kernel = g.kernel;
  for (index_t k = 0; k < g.kernel; ++k)
    c.taps[k] = k % g.stride * padded.phase() + k / g.stride * inner;
  c.out_channels = g.out_channels;
  c.tile = correlation_tile(g.out_channels);
  c.rows = g.out_height;
  c.width = g.out_width * inner;
  c.y_row = c.width;
  c.y_channel = g.out_height * c.y_row;
  return c;
}

// w packed in tiles, [out / tile][in][ky][kx][tile], missing channels zero; the bias behind it.
// at(out, in, tap) says which weight goes where.
template <class At>
const float* pack_filters(Correlation& c, At at, const float* bias, float* packed) {
  const index_t area = c.kernel * c.kernel, channels = round_up(c.out_channels, c.tile);
  float* to = packed;
  for (index_t first = 0; first < channels; first += c.tile)
    for (index_t in = 0; in < c.channels; ++in)
      for (index_t tap = 0; tap < area; ++tap)
        for (index_t t = 0; t < c.tile; ++t)
          *to++ = first + t < c.out_channels ? at(first + t, in, tap) : 0.0f;
  c.w = packed;
  c.bias = to;
  for (index_t out = 0; out < channels; ++out)
    *to++ = bias && out < c.out_channels ? bias[out] : 0.0f;
  return to;
}

inline index_t packed_elements(index_t out_channels, index_t in_channels, index_t kernel) {
  return round_up(out_channels, correlation_tile(out_channels)) * (in_channels * kernel * kernel + 1);
}

}  // namespace detail

inline index_t conv2d_scratch(const Host&, const Slice& slice, const Conv2dGeometry& g, float) {
  const index_t filters = std::max(detail::packed_elements(g.out_channels, g.in_channels, g.kernel),
                                   detail::packed_elements(g.in_channels, g.out_channels, g.kernel));
  const index_t images =
      std::max(detail::PaddedImage{g, slice.inner}.elements(), detail::SpreadGradient{g, slice.inner}.elements());
  return filters + images;
}

inline void conv2d_forward(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* x,
                           const float* w, const float* b, float* y, float* scratch) {
  if (!detail::has_vector_rows(g, g.out_width, slice.inner))
    return conv2d_forward<Host, float>(device, slice, g, x, w, b, y, scratch);
  float* image = scratch + detail::packed_elements(g.out_channels, g.in_channels, g.kernel);
  for (index_t outer = 0; outer < slice.outer; ++outer) {
    Correlation c = detail::over_input(g, slice.inner, x + outer * g.in_features() * slice.inner, image);
    const index_t area = g.kernel * g.kernel;
    detail::pack_filters(
        c, [&](index_t out, index_t in, index_t tap) { return w[(out * g.in_channels + in) * area + tap]; }, b,
        scratch);
    c.y = y + outer * g.out_features() * slice.inner;
    GPUNET_CALL_PATH(c.width, correlate, c);
  }
}

inline void conv2d_backward_input(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* dy,
                                  const float* w, float* dx, float* scratch) {
  if (!detail::has_vector_rows(g, g.width, slice.inner))
    return conv2d_backward_input<Host, float>(device, slice, g, dy, w, dx, scratch);
  const detail::SpreadGradient spread{g, slice.inner};
  float* image = scratch + detail::packed_elements(g.in_channels, g.out_channels, g.kernel);
  for (index_t outer = 0; outer < slice.outer; ++outer) {
    spread.fill(dy + outer * g.out_features() * slice.inner, image);
    Correlation c{};
    c.x = image;
    c.channels = g.out_channels;
    c.x_row = c.x_step = spread.row();
    c.x_channel = spread.height() * c.x_row;
    c.kernel = g.kernel;
    for (index_t k = 0; k < g.kernel; ++k)
      c.taps[k] = k * slice.inner;
    c.out_channels = g.in_channels;
    c.tile = detail::correlation_tile(g.in_channels);
    c.rows = g.height;
    c.width = c.y_row = g.width * slice.inner;
    c.y_channel = g.height * c.y_row;
    const index_t area = g.kernel * g.kernel;
    detail::pack_filters(
        c,
        [&](index_t in, index_t out, index_t tap) { return w[(out * g.in_channels + in) * area + area - 1 - tap]; },
        nullptr, scratch);
    c.y = dx + outer * g.in_features() * slice.inner;
    GPUNET_CALL_PATH(c.width, correlate, c);
  }
}

inline void conv2d_backward_parameters(Host& device, const Slice& slice, const Conv2dGeometry& g, const float* x,
                                       const float* dy, float* dw, float* db, Accumulate accumulate,
                                       float* scratch) {
  if (!detail::has_vector_rows(g, g.out_width, slice.inner))
    return conv2d_backward_parameters<Host, float>(device, slice, g, x, dy, dw, db, accumulate, scratch);
  for (index_t outer = 0; outer < slice.outer; ++outer) {
    Correlation c = detail::over_input(g, slice.inner, x + outer * g.in_features() * slice.inner, scratch);
    c.y = const_cast<float*>(dy) + outer * g.out_features() * slice.inner;  // only read
    GPUNET_CALL_PATH(c.width, parameter_gradients, c, dw, db, outer > 0 ? Accumulate::yes : accumulate);
  }
}

}  // namespace gpunet
