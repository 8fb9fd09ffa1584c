// Convolutions as matrix products on Cuda: the operands, without a column matrix, and the places of
// the sums.
#pragma once

#include <algorithm>
#include <cstdint>

#include <gpunet/device/cuda/divisor.cuh>
#include <gpunet/device/cuda/gemm/scalar_tile.cuh>
#include <gpunet/ops/conv2d/geometry.hpp>

namespace gpunet::detail {

// The order in which kernels take the outputs of a convolution: (sample, row, column); or, where
// windows of 2 x 2 are pooled, (sample, row and column of the window, corner), so that a thread
// that has four neighbors has a window.
struct OutputOrder {
  Divisor per_image, per_row;  // cells: outputs, or windows
  int pooled;

  OutputOrder(index_t rows, index_t columns, bool pools)
      : per_image(std::max(rows * columns, index_t{1})),
        per_row(std::max(columns, index_t{1})),
        pooled(pools) {}

  struct Place {
    index_t sample;
    int cell, row, column, corner;
  };
  __device__ Place place(index_t n) const {
    const index_t cells = pooled ? n / 4 : n, sample = per_image.quotient(cells);
    const index_t cell = cells - sample * per_image.divisor, row = per_row.quotient(cell);
    Place at{sample, static_cast<int>(cell), static_cast<int>(row),
             static_cast<int>(cell - row * per_row.divisor), 0};
    if (pooled) {
      at.corner = static_cast<int>(n % 4);
      at.row = at.row * 2 + at.corner / 2;
      at.column = at.column * 2 + at.corner % 2;
    }
    return at;
  }
};

// One weight of a filter: the distance of its pixel from the first one, its row and its column.
struct Tap {
  int offset;
  short row, column;
};

// Splits the number of a weight into channel, row and column, these in pixels from the first one.
struct TapOrder {
  Divisor per_channel, per_row;
  int row_dilation, column_dilation;
  explicit TapOrder(const Conv2dGeometry& g)
      : per_channel(g.area()),
        per_row(g.columns.kernel),
        row_dilation(static_cast<int>(g.rows.dilation)),
        column_dilation(static_cast<int>(g.columns.dilation)) {}

  // Returns weight k in an image whose channels are `plane` elements apart, rows `width`, columns
  // `step`.
  __device__ Tap tap(index_t k, int plane, int width, int step) const {
    const index_t channel = per_channel.quotient(k), rest = k - channel * per_channel.divisor;
    const index_t line = per_row.quotient(rest);
    const int row = static_cast<int>(line) * row_dilation,
              column = static_cast<int>(rest - line * per_row.divisor) * column_dilation;
    return {static_cast<int>(channel) * plane + row * width + column * step,
            static_cast<short>(row), static_cast<short>(column)};
  }
};

// The pixel of x that a weight meets for an output; 0 outside the image.
template <class T>
struct Patches {
  const T* x;
  OutputOrder outputs;
  TapOrder taps;
  index_t in_features;
  int height, width, row_stride, column_stride, row_padding, column_padding;

  // Images have `channels` channels, of which the convolution reads the first from `images` on.
  Patches(const Conv2dGeometry& g, const OutputOrder& order, const T* images, index_t channels)
      : x(images),
        outputs(order),
        taps(g),
        in_features(channels * g.in_pixels()),
        height(static_cast<int>(g.rows.size)),
        width(static_cast<int>(g.columns.size)),
        row_stride(static_cast<int>(g.rows.stride)),
        column_stride(static_cast<int>(g.columns.stride)),
        row_padding(static_cast<int>(g.rows.padding)),
        column_padding(static_cast<int>(g.columns.padding)) {}

  // The first pixel of an output's patch, perhaps outside the image.
  struct Corner {
    index_t offset;
    int row, column;
  };
  __device__ Corner corner(index_t n) const {
    const OutputOrder::Place at = outputs.place(n);
    const int row = at.row * row_stride - row_padding,
              column = at.column * column_stride - column_padding;
    return {at.sample * in_features + row * width + column, row, column};
  }
  __device__ Tap tap(index_t k) const { return taps.tap(k, height * width, width, 1); }
  __device__ T at(const Corner& corner, const Tap& tap) const {
    const bool inside =
        static_cast<unsigned>(corner.row + tap.row) < static_cast<unsigned>(height) &&
        static_cast<unsigned>(corner.column + tap.column) < static_cast<unsigned>(width);
    return inside ? x[corner.offset + tap.offset] : T{};
  }
};

// Forward, [taps, outputs].
template <class T>
struct PatchColumns : Patches<T> {
  static constexpr bool along_k = false;
  __device__ auto outer(index_t output) const { return this->corner(output); }
  __device__ auto inner(index_t k) const { return this->tap(k); }
  __device__ T load(const typename Patches<T>::Corner& corner, const Tap& tap) const {
    return this->at(corner, tap);
  }
};

// For the gradient of the weights, [outputs, taps].
template <class T>
struct PatchRows : Patches<T> {
  static constexpr bool along_k = true;

  __device__ Tap outer(index_t k) const { return this->tap(k); }
  __device__ auto inner(index_t output) const { return this->corner(output); }
  __device__ T load(const Tap& tap, const typename Patches<T>::Corner& corner) const {
    return this->at(corner, tap);
  }
};

// The weights, [out channels, taps]. AlongRows in int, which takes fewer registers: a convolution
// needs them.
template <class T>
struct Filters {
  static constexpr bool along_k = true;
  const T* w;
  int taps;
  __device__ int outer(index_t channel) const { return static_cast<int>(channel) * taps; }
  __device__ int inner(index_t k) const { return static_cast<int>(k); }
  __device__ T load(int row, int k) const { return w[row + k]; }
};

// The weights as the gradient of the input meets them, [in channels, (out channel, row, column)].
template <class T>
struct TurnedFilters {
  static constexpr bool along_k = true;
  const T* w;
  int taps;
  Divisor per_channel;
  __device__ int outer(index_t channel) const {
    return static_cast<int>(channel * per_channel.divisor);
  }
  __device__ int inner(index_t k) const {
    const index_t out = per_channel.quotient(k);
    return static_cast<int>(out * taps + k - out * per_channel.divisor);
  }
  __device__ T load(int row, int k) const { return w[row + k]; }
};

// The gradient of a convolution's outputs, through the pooling behind it, which is not stored.
template <class T>
struct OutputGradient {
  const T* dy;               // of the op behind it
  const PoolChoice* choice;  // null without a pooling

  __device__ T at(index_t cell, int corner) const {
    return choice && choice[cell] != corner ? T{} : dy[cell];
  }
};

// For the gradient of the weights, [out channels, outputs].
template <class T>
struct OutputGradientRows {
  static constexpr bool along_k = true;
  OutputGradient<T> gradient;
  OutputOrder outputs;
  index_t channels;  // of an image

  struct Output {
    index_t offset;
    int corner;
  };
  __device__ int outer(index_t channel) const {
    return static_cast<int>(channel * outputs.per_image.divisor);
  }
  __device__ Output inner(index_t n) const {
    const OutputOrder::Place at = outputs.place(n);
    return {at.sample * channels * outputs.per_image.divisor + at.cell, at.corner};
  }
  __device__ T load(int channel, const Output& output) const {
    return gradient.at(output.offset + channel, output.corner);
  }
};

// For the gradient of the input, [(out channel, row, column), pixels]: the output that a pixel
// reached through a weight.
template <class T>
struct OutputGradientColumns {
  static constexpr bool along_k = false;
  OutputGradient<T> gradient;
  OutputOrder outputs;
  TapOrder taps;
  OutputOrder pixels;
  Divisor row_stride, column_stride;
  index_t channels;   // of an image
  int rows, columns;  // of the outputs that have a gradient
  int row_padding, column_padding;

  struct Pixel {
    index_t offset;  // of the sample's outputs
    int row, column;
  };
  __device__ Pixel outer(index_t n) const {
    const OutputOrder::Place at = pixels.place(n);
    return {at.sample * channels * outputs.per_image.divisor, at.row + row_padding,
            at.column + column_padding};
  }
  __device__ Tap inner(index_t k) const {
    return taps.tap(k, static_cast<int>(outputs.per_image.divisor), 0, 0);
  }
  __device__ T load(const Pixel& pixel, const Tap& tap) const {
    int row = pixel.row - tap.row, column = pixel.column - tap.column;
    if (row < 0 || column < 0) return T{};
    if (row_stride.divisor > 1 || column_stride.divisor > 1) {
      const int r = static_cast<int>(row_stride.quotient(row)),
                c = static_cast<int>(column_stride.quotient(column));
      if (r * static_cast<int>(row_stride.divisor) != row ||
          c * static_cast<int>(column_stride.divisor) != column)
        return T{};
      row = r;
      column = c;
    }
    if (row >= rows || column >= columns) return T{};
    const int half = outputs.pooled, width = static_cast<int>(outputs.per_row.divisor);
    const int cell = (row >> half) * width + (column >> half);
    return gradient.at(pixel.offset + tap.offset + cell, (row & 1) * 2 + (column & 1));
  }
};

// A matrix [channels, (sample, cell)] as the first channels of images [sample][channel][cell].
template <class T>
struct Images {
  T* data;
  index_t channels;  // of an image
  Divisor cells;     // of an image

  struct Cell {
    index_t offset;  // of the sample
    int cell;
  };
  __device__ Cell cell(index_t j) const {
    const index_t sample = cells.quotient(j);
    return {sample * channels * cells.divisor, static_cast<int>(j - sample * cells.divisor)};
  }
  // Stores `count` of four neighbors, in one store if they are adjacent. If `gates` is not null,
  // stores 0 for a gate of 0.
  __device__ void store(index_t channel, Cell first, const T* values, int count,
                        const T* gates = nullptr) const {
    const int all = static_cast<int>(cells.divisor);
    index_t to = first.offset + channel * all + first.cell;
    if (count == 4 && first.cell + 4 <= all &&
        reinterpret_cast<std::uintptr_t>(data + to) % 16 == 0) {
      Four<T> four;
#pragma unroll
      for (int q = 0; q < 4; ++q)
        four.values[q] = gated(values[q], gates, to + q);
      *reinterpret_cast<Four<T>*>(data + to) = four;
      return;
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      if (q < count) data[to] = gated(values[q], gates, to);
      ++to;
      if (++first.cell == all) {  // on to the next sample
        first.cell = 0;
        to += (channels - 1) * all;
      }
    }
  }

 private:
  __device__ static T gated(T value, const T* gates, index_t i) {
    return gates ? RectifyGradient{}(gates[i], value) : value;
  }
};

// y = pool(clamp(sum + b)).
template <class T_>
struct ConvolutionOutput {
  using T = T_;
  Images<T> y;
  OptionalArray<const T> b;
  PoolChoice* choice;  // null without pooling; else four neighboring columns are a window
  Clamp<T> clamp;

  __device__ auto column(index_t j) const { return y.cell(choice ? j / 4 : j); }
  __device__ void store(index_t channel, const typename Images<T>::Cell& cell, T* values,
                        int count) const {
    const T bias = b[channel];
#pragma unroll
    for (int q = 0; q < 4; ++q)
      values[q] = clamp(values[q] + bias);
    if (!choice) return y.store(channel, cell, values, count);
    T best = values[0];
    int where = 0;
#pragma unroll
    for (int q = 1; q < 4; ++q)
      if (values[q] > best || values[q] != values[q]) {
        best = values[q];
        where = q;
      }
    const index_t i = cell.offset + channel * y.cells.divisor + cell.cell;
    y.data[i] = best;
    choice[i] = static_cast<PoolChoice>(where);
  }
};

// dx = sum + b; 0 where x is 0, unless x is null.
template <class T_>
struct InputGradientOutput {
  using T = T_;
  Images<T> dx;
  OptionalArray<const T> b;
  const T* x;

  __device__ auto column(index_t j) const { return dx.cell(j); }
  __device__ void store(index_t channel, const typename Images<T>::Cell& cell, T* values,
                        int count) const {
    if (b)
#pragma unroll
      for (int q = 0; q < 4; ++q)
        values[q] += b[channel];
    dx.store(channel, cell, values, count, x);
  }
};

}  // namespace gpunet::detail
