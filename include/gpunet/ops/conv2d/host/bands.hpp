// How the direct kernels of Host for many channels see a convolution: in bands of rows that stay in the caches.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/ops/conv2d/host/channels.hpp>

namespace gpunet {

// Parts of a sum of products: where each begins in its two arrays.
struct WideSegments {
  static constexpr index_t most = 128;

  index_t count = 0;
  index_t a[most], b[most];

  void add(index_t in_a, index_t in_b) {
    a[count] = in_a;
    b[count++] = in_b;
  }
};

// How the part of x that is worked on lies: [row][column][channel][16], or [row][channel][column][16].
enum class WideOrder { channels_last, columns_last };

// The images of one group of samples that a convolution reads, and distances in the part of them that is worked on.
struct WideImage {
  index_t channels, height, width;
  WideOrder order;

  // Not powers of two.
  index_t column_step() const {
    return order == WideOrder::channels_last ? detail::tile_rows(channels) * 16 + 16 : 16;
  }
  index_t channel_step(index_t columns) const { return order == WideOrder::channels_last ? 16 : columns * 16 + 16; }
  index_t row_step(index_t columns) const {
    return order == WideOrder::channels_last ? columns * column_step()
                                             : detail::tile_rows(channels) * channel_step(columns);
  }
};

// Some rows of y, and the part of x that they need.
struct WideBand {
  index_t out_row, out_column, out_rows, out_columns;  // the first of y, and how many
  index_t first_row, first_column, rows, columns;      // of x; may lie over the border
  WideSegments taps;                                   // in the filters and in the band

  index_t positions() const { return out_rows * out_columns; }
};

// A convolution, or an input gradient, which falls into step^2 phases: rows and columns of y that are `write_step`
// apart see the same taps.
struct WideCorrelation {
  static constexpr index_t most_kernel = 11, band_positions = 128;

  WideImage image;
  index_t out_channels, out_height, out_width;
  index_t kernel, padding, read_step, write_step;
  bool gradient;

  index_t rows() const { return detail::tile_rows(out_channels); }
  index_t filter_elements() const { return kernel * kernel * rows() * image.channels; }
  index_t phases() const { return write_step * write_step; }
  index_t band_rows() const { return std::max(index_t{1}, band_positions / ceil_div(out_width, write_step)); }
  index_t bands_per_phase() const { return ceil_div(ceil_div(out_height, write_step), band_rows()); }
  index_t bands() const { return phases() * bands_per_phase(); }
  index_t extent(index_t count) const { return (count - 1) * read_step + kernel; }
  index_t band_elements() const {
    return extent(band_rows()) * image.row_step(extent(ceil_div(out_width, write_step)));
  }

  // How far from the first row (or column) of its band's y, `phase`, filter row `tap` reads; whether it has a part.
  bool sees(index_t phase, index_t tap) const { return !gradient || (phase + padding - tap) % write_step == 0; }
  index_t offset(index_t phase, index_t tap) const {
    return gradient ? (phase + padding - tap) / write_step : tap - padding;
  }
  // The least offset there can be.
  index_t least(index_t phase) const {
    index_t least = kernel;
    for (index_t tap = 0; tap < kernel; ++tap)
      if (sees(phase, tap)) least = std::min(least, offset(phase, tap));
    return least;
  }

  WideBand band(index_t i) const {
    const index_t phase = i / bands_per_phase(), row_phase = phase / write_step, column_phase = phase % write_step;
    const index_t first = i % bands_per_phase() * band_rows();
    WideBand band{};
    band.out_row = row_phase + first * write_step;
    band.out_column = column_phase;
    band.out_rows = std::clamp(ceil_div(out_height - row_phase, write_step) - first, index_t{0}, band_rows());
    band.out_columns = std::max(index_t{0}, ceil_div(out_width - column_phase, write_step));
    const index_t least_row = least(row_phase), least_column = least(column_phase);
    band.first_row = first * read_step + least_row;
    band.first_column = least_column;
    band.rows = extent(band.out_rows);
    band.columns = extent(band.out_columns);
    for (index_t row = 0; row < kernel; ++row)
      for (index_t column = 0; column < kernel; ++column)
        if (sees(row_phase, row) && sees(column_phase, column))
          band.taps.add((row * kernel + column) * rows() * image.channels,
                        (offset(row_phase, row) - least_row) * image.row_step(band.columns) +
                            (offset(column_phase, column) - least_column) * image.column_step());
    return band;
  }
};

}  // namespace gpunet
