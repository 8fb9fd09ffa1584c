// Convolution of floats on Host for single samples between many channels, as a matrix product: the
// columns of one factor are the windows of the image (im2col; Chellapilla, Puri and Simard, "High
// Performance Convolutional Neural Networks for Document Processing", 2006).
#pragma once

#include <algorithm>

#include <gpunet/device/host/gemm/blocks.hpp>
#include <gpunet/ops/conv2d/host/direct.hpp>

namespace gpunet::detail {

// The windows of an image, side by side: [group of 16 positions][tap][16].
struct WindowColumns {
  // positions: the columns that GemmOperand stores together.
  static constexpr index_t group = 16;
  // Floats that stay in the caches until they are multiplied.
  static constexpr index_t most = index_t{1} << 19;

  Conv2dGeometry g;

  // Returns whether the image is the matrix: of a 1x1 convolution.
  bool is_image() const { return g.rows.is_pointwise() && g.columns.is_pointwise(); }
  index_t height() const { return g.rows.padded(); }
  index_t width() const { return g.columns.padded(); }
  bool is_padded() const { return height() * width() != g.in_pixels(); }
  // Returns the floats of the padded image; 0 without padding.
  index_t image() const { return is_padded() ? g.in_channels * height() * width() : 0; }
  // Returns the positions whose windows are in memory at a time.
  index_t band() const {
    return std::min(std::max(most / g.taps() / 32 * 32, index_t{96}),
                    round_up(g.out_pixels(), group));
  }
  index_t elements() const {
    return is_image() ? 0 : round_up(image(), 16) + round_up(band(), group) * g.taps();
  }

  // The beginnings of the windows of up to 16 positions, in a channel of the padded image.
  struct Places {
    index_t at[group];
    index_t count;
    bool adjacent;
  };
  Places places(index_t first) const {
    Places places{};
    places.count = std::min(group, g.out_pixels() - first);
    index_t row = first / g.columns.outputs, column = first % g.columns.outputs;
    for (index_t i = 0; i < group; ++i) {
      places.at[i] = i < places.count ? row * g.rows.stride * width() + column * g.columns.stride
                                      : places.at[i - 1];
      if (++column == g.columns.outputs) ++row, column = 0;
    }
    // A full group of 16 growing places is adjacent if the last is 15 after the first. A partial
    // group repeats its last place.
    places.adjacent = places.count == group && places.at[group - 1] - places.at[0] == group - 1;
    return places;
  }

  // Calls f(image, tap) for the taps of a channel; image points to the float under that tap of the
  // first window.
  template <class T, class F>
  void each_tap(T* image, index_t channel, F f) const {
    T* from = image + channel * height() * width();
    index_t tap = channel * g.area();
    for (index_t row = 0; row < g.rows.kernel; ++row)
      for (index_t column = 0; column < g.columns.kernel; ++column, ++tap)
        f(from + row * g.rows.dilation * width() + column * g.columns.dilation, tap);
  }

  // Writes the windows of 16 positions from `first` on as columns [tap][16]; past the last
  // position, its window again.
  void gather(const float* image, index_t first, float* columns) const {
    const Places places = this->places(first);
    for (index_t channel = 0; channel < g.in_channels; ++channel)
      each_tap(image, channel, [&](const float* from, index_t tap) {
        float* to = columns + tap * group;
        if (places.adjacent)
          std::copy_n(from + places.at[0], group, to);
        else
          for (index_t i = 0; i < group; ++i)
            to[i] = from[places.at[i]];
      });
  }
  // Adds columns [tap][16] to their windows in a channel of the image (col2im).
  void scatter(const float* columns, index_t first, index_t channel, float* image) const {
    const Places places = this->places(first);
    each_tap(image, channel, [&](float* to, index_t tap) {
      const float* from = columns + tap * group;
      if (places.adjacent)
        for (index_t i = 0; i < group; ++i)
          to[places.at[0] + i] += from[i];
      else
        for (index_t i = 0; i < places.count; ++i)
          to[places.at[i]] += from[i];
    });
  }

  // Returns the image that windows are taken from: x, or with padding a copy.
  const float* padded(Host& device, const float* x, float* copy) const {
    if (!is_padded()) return x;
    device.run(g.in_channels, [&](index_t channel, int) {
      float* to = copy + channel * height() * width();
      std::fill_n(to, height() * width(), 0.0f);
      for (index_t row = 0; row < g.rows.size; ++row)
        std::copy_n(x + (channel * g.rows.size + row) * g.columns.size, g.columns.size,
                    to + (row + g.rows.padding) * width() + g.columns.padding);
    });
    return copy;
  }
  // Copies the image without its padding.
  void crop(Host& device, const float* from, float* x) const {
    device.run(g.in_channels, [&](index_t channel, int) {
      for (index_t row = 0; row < g.rows.size; ++row)
        std::copy_n(
            from + (channel * height() + row + g.rows.padding) * width() + g.columns.padding,
            g.columns.size, x + (channel * g.rows.size + row) * g.columns.size);
    });
  }
};

// Returns whether the kernels of this file are used. direct.hpp does not fill its vectors where
// rows are short or have a stride, reads the image many times between many channels, and runs a
// single group of samples on one thread. The limits are measured on one thread; they do not depend
// on the number of threads, so that results are bitwise identical for any.
inline bool columns_pay(const Slice& slice, const WideConv2dGeometry& g) {
  return slice.inner == 1 && g.out_channels >= 16 && g.taps() >= 16 &&
         (g.area() == 1 || g.columns.stride > 1 || g.columns.outputs < 8 ||
          (g.columns.outputs < 12 && g.out_channels >= 32) ||
          g.in_channels * g.out_channels >= 128 * g.columns.outputs);
}

// Calls f(first position, count, columns of their windows) for all positions of one sample x, band
// by band.
template <class F>
void each_band(Host& device, const WindowColumns& windows, const float* x, float* scratch, F f) {
  const Conv2dGeometry& g = windows.g;
  if (windows.is_image()) return f(index_t{0}, g.out_pixels(), GemmOperand{x, g.out_pixels()});
  const float* image = windows.padded(device, x, scratch);
  float* columns = scratch + round_up(windows.image(), 16);
  const index_t group = WindowColumns::group, group_elements = group * g.taps();
  for (index_t first = 0; first < g.out_pixels(); first += windows.band()) {
    const index_t count = std::min(windows.band(), g.out_pixels() - first);
    device.run(ceil_div(count, group), [&](index_t i, int) {
      windows.gather(image, first + i * group, columns + i * group_elements);
    });
    f(first, count, GemmOperand{columns, group, group_elements});
  }
}

inline void forward_by_columns(Host& device, const Conv2dForwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const Clamp<float> clamp = a.block.clamp<float>();
  for (index_t sample = 0; sample < a.slice.outer; ++sample)
    each_band(device, {g}, a.x + sample * g.in_features(), a.scratch,
              [&](index_t first, index_t count, const GemmOperand& columns) {
                float* y = a.y + sample * g.out_features() + first;
                multiply(device, {g.out_channels,
                                  count,
                                  g.taps(),
                                  Transpose::no,
                                  Transpose::no,
                                  {a.w, g.taps()},
                                  columns,
                                  {y, g.out_pixels()},
                                  0,
                                  a.b.data(),
                                  {clamp.low, clamp.high}});
              });
}

inline void backward_weight_by_columns(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  Accumulate accumulate = a.accumulate;
  for (index_t sample = 0; sample < a.slice.outer; ++sample) {
    const float* dy = a.dy + sample * g.out_features();
    each_band(device, {g}, a.x + sample * g.in_features(), a.scratch,
              [&](index_t first, index_t count, const GemmOperand& columns) {
                multiply(device, {g.out_channels,
                                  g.taps(),
                                  count,
                                  Transpose::no,
                                  Transpose::yes,
                                  {dy + first, g.out_pixels()},
                                  columns,
                                  {a.dw, g.taps()},
                                  accumulate == Accumulate::yes ? 1.0f : 0.0f});
                accumulate = Accumulate::yes;
              });
  }
}

inline void backward_input_by_columns(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  const WindowColumns windows{g};
  const index_t pixels = g.out_pixels(), group = WindowColumns::group,
                group_elements = group * g.taps();
  const index_t plane = windows.height() * windows.width();
  for (index_t sample = 0; sample < a.slice.outer; ++sample) {
    const float* dy = a.dy + sample * g.out_features();
    float* dx = a.dx + sample * g.in_features();
    const auto product = [&](index_t first, index_t count, const GroupedMatrix<float>& columns) {
      multiply(device, {g.taps(),
                        count,
                        g.out_channels,
                        Transpose::yes,
                        Transpose::no,
                        {a.w, g.taps()},
                        {dy + first, pixels},
                        columns});
    };
    if (windows.is_image()) {
      product(0, pixels, {dx, pixels});
      if (a.b)
        device.run(g.in_channels, [&](index_t channel, int) {
          for (index_t i = 0; i < pixels; ++i)
            dx[channel * pixels + i] += a.b[channel];
        });
      continue;
    }
    float* image = windows.is_padded() ? a.scratch : dx;
    float* columns = a.scratch + round_up(windows.image(), 16);
    device.run(g.in_channels, [&](index_t channel, int) {
      std::fill_n(image + channel * plane, plane, a.b[channel]);
    });
    for (index_t first = 0; first < pixels; first += windows.band()) {
      const index_t count = std::min(windows.band(), pixels - first);
      product(first, count, {columns, group, group_elements});
      device.run(g.in_channels, [&](index_t channel, int) {
        for (index_t i = 0; i < ceil_div(count, group); ++i)
          windows.scatter(columns + i * group_elements, first + i * group, channel, image);
      });
    }
    if (windows.is_padded()) windows.crop(device, image, dx);
  }
}

}  // namespace gpunet::detail
