// Convolution of floats of any form on Host, for groups of few channels, large kernels and short
// rows: in vectors over neighboring columns and samples, a band of rows at a time.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/isa_paths.hpp>
#include <gpunet/ops/conv2d/host/correlation_axis.hpp>
#include <gpunet/ops/conv2d/host/workers.hpp>
#include <gpunet/ops/conv2d/plain.hpp>

namespace gpunet {

// The rows of vector kernels: x at the offsets of the taps, y (or dy) one row of `width` floats
// after another. Distances in floats; a step of 16 floats along a row is x_column in x and y_column
// in y: 16 unless columns of 16 samples lie apart.
struct AnyRows {
  static constexpr index_t most_taps = 1024;

  const float* x;
  index_t channels, x_channel, x_row, x_column;
  index_t taps;
  const index_t* offsets;  // of the taps
  index_t rows, width, y_channel, y_row, y_column;
  Clamp<float> clamp{Bounds{}};  // y = clamp(sum)
};

namespace detail {

// Returns the height of the next tile of channels.
constexpr index_t any_tile(index_t channels) {
  return channels >= 6 && channels != 8 ? 6 : channels >= 4 ? 4 : channels >= 2 ? 2 : 1;
}

}  // namespace detail

}  // namespace gpunet

#define GPUNET_KERNELS <gpunet/ops/conv2d/host/any_rows.inl>
#include <gpunet/device/host/each_isa_path.inl>

namespace gpunet::detail {

// Copies every `step`-th of `columns` pixels.
template <index_t inner>
void copy_columns(const float* from, index_t columns, index_t step, float* to) {
  for (index_t i = 0; i < columns; ++i)
    std::copy_n(from + i * step * inner, inner, to + i * inner);
}
inline void copy_columns(const float* from, index_t columns, index_t step, index_t inner,
                         float* to) {
  if (columns <= 0) return;
  if (step == 1)
    std::copy_n(from, columns * inner, to);
  else if (inner == 16)
    copy_columns<16>(from, columns, step, to);
  else if (inner == 4)
    copy_columns<4>(from, columns, step, to);
  else
    copy_columns<1>(from, columns, step, to);
}

// A correlation of images of a group of channels: a convolution, or an input gradient.
struct AnyCorrelation {
  static constexpr index_t least_width = 4;  // floats of the narrowest vectors

  CorrelationAxis rows, columns;
  index_t channels, out_channels;  // of a group
  index_t inner;

  // Returns whether columns are sorted by their remainder modulo the step, so that a tap reads
  // neighbors. Columns of 16 samples need not be.
  bool sorted() const { return columns.read_step() > 1 && inner < 16; }
  // Returns the columns of a phase that are computed: enough to fill the narrowest vector.
  index_t computed(index_t phase) const {
    return std::max(columns.targets(phase), ceil_div(least_width, inner));
  }
  // Returns whether sums of a phase go to scratch first.
  bool is_scattered(index_t phase) const {
    return (columns.write_step() > 1 && inner < 16) || computed(phase) != columns.targets(phase);
  }

  // Return the sizes of the part of x that `count` rows of a phase need.
  index_t band_rows(const CorrelationAxis::Taps& taps, index_t count) const {
    return (count - 1) * rows.read_step() + taps.largest - taps.least + 1;
  }
  index_t band_columns(const CorrelationAxis::Taps& taps, index_t phase) const {
    const index_t all = (computed(phase) - 1) * columns.read_step() + taps.largest - taps.least + 1;
    return sorted() ? round_up(all, columns.read_step()) : all;
  }

  // Returns the number of rows of a phase that are computed at a time.
  index_t rows_at_once(index_t floats) const {
    const CorrelationAxis::Taps row_taps = rows.taps(0), column_taps = columns.taps(0);
    const index_t row = channels * band_columns(column_taps, 0) * inner;
    const index_t fit =
        (floats / row - row_taps.largest + row_taps.least - 1) / rows.read_step() + 1;
    return std::clamp(fit, index_t{1}, std::max(index_t{1}, rows.targets(0)));
  }
  // Returns the most floats of a band, for all phases.
  index_t band_elements(index_t count) const {
    index_t most_rows = 0, most_columns = 0;
    for (index_t phase = 0; phase < rows.write_step(); ++phase)
      most_rows = std::max(most_rows, band_rows(rows.taps(phase), count));
    for (index_t phase = 0; phase < columns.write_step(); ++phase)
      most_columns = std::max(most_columns, band_columns(columns.taps(phase), phase));
    return round_up(channels * most_rows * most_columns * inner, 16);
  }
};

// A band of rows of one phase of a correlation.
struct AnyBand {
  const AnyCorrelation& c;
  index_t row_phase, column_phase, first, count;  // the first row of the phase, and their number
  CorrelationAxis::Taps row_taps, column_taps;
  index_t offsets[AnyRows::most_taps];

  AnyBand(const AnyCorrelation& correlation, index_t rows_phase, index_t columns_phase,
          index_t first_row, index_t rows)
      : c(correlation),
        row_phase(rows_phase),
        column_phase(columns_phase),
        first(first_row),
        count(rows),
        row_taps(c.rows.taps(row_phase)),
        column_taps(c.columns.taps(column_phase)) {}

  // Returns the part of x [channels, rows, columns] that the band needs: x itself, or a copy with
  // zeros around it.
  AnyRows over(const float* x, float* copy) {
    const index_t height = c.rows.sources(), width = c.columns.sources(), inner = c.inner;
    const index_t top = first * c.rows.read_step() + row_taps.least, left = column_taps.least;
    const index_t rows = c.band_rows(row_taps, count),
                  columns = c.band_columns(column_taps, column_phase);
    const bool needs_copy =
        c.sorted() || top < 0 || top + rows > height || left < 0 || left + columns > width;
    const index_t row_step = (needs_copy ? columns : width) * inner,
                  phases = c.sorted() ? c.columns.read_step() : 1;
    AnyRows part{};
    part.channels = c.channels;
    part.x_channel = (needs_copy ? rows : height) * row_step;
    part.x_row = c.rows.read_step() * row_step;
    part.x_column = c.sorted() || inner < 16 ? 16 : 16 * c.columns.read_step();
    part.taps = row_taps.count * column_taps.count;
    part.offsets = offsets;
    part.rows = count;
    part.width = c.computed(column_phase) * inner;
    index_t* to = offsets;
    for (index_t ky = 0; ky < c.rows.axis.kernel; ++ky)
      for (index_t kx = 0; kx < c.columns.axis.kernel; ++kx) {
        if (!c.rows.sees(row_phase, ky) || !c.columns.sees(column_phase, kx)) continue;
        const index_t column = c.columns.offset(column_phase, kx) - left;
        *to++ = (c.rows.offset(row_phase, ky) - row_taps.least) * row_step +
                (column % phases * (columns / phases) + column / phases) * inner;
      }
    part.x = needs_copy ? copy : x + (top * width + left) * inner;
    if (!needs_copy || part.taps == 0) return part;
    for (index_t channel = 0; channel < c.channels; ++channel)
      for (index_t row = top; row < top + rows; ++row, copy += row_step) {
        if (row < 0 || row >= height)
          std::fill_n(copy, row_step, 0.0f);
        else
          for (index_t phase = 0; phase < phases; ++phase)
            place(x + (channel * height + row) * width * inner, left + phase, phases,
                  columns / phases, copy + phase * (columns / phases) * inner);
      }
    return part;
  }

 private:
  // Writes `columns` pixels, every `step`-th from column `left` of a row on, zeros outside.
  void place(const float* row, index_t left, index_t step, index_t columns, float* to) const {
    const index_t width = c.columns.sources(), inner = c.inner;
    const index_t begin = std::min(columns, ceil_div(std::max(index_t{0}, -left), step));
    const index_t end =
        std::clamp(ceil_div(std::max(index_t{0}, width - left), step), begin, columns);
    std::fill_n(to, begin * inner, 0.0f);
    if (end > begin)
      copy_columns(row + (left + begin * step) * inner, end - begin, step, inner,
                   to + begin * inner);
    std::fill_n(to + end * inner, (columns - end) * inner, 0.0f);
  }
};

// The layout of filters: distances between the channels of sums, between the channels of sources of
// a group, and between groups.
struct AnyFilters {
  const float* w;
  index_t out, in, group;
};

// Packs the filters of a group, [phase][tile][in][tap][channel of the tile].
inline void pack_any_filters(const AnyCorrelation& c, const AnyFilters& filters, index_t group,
                             float* packed) {
  const float* w = filters.w + group * filters.group;
  const index_t width = c.columns.axis.kernel;
  for (index_t row_phase = 0; row_phase < c.rows.write_step(); ++row_phase)
    for (index_t column_phase = 0; column_phase < c.columns.write_step(); ++column_phase)
      for (index_t out = 0; out < c.out_channels;) {
        const index_t tile = any_tile(c.out_channels - out);
        for (index_t in = 0; in < c.channels; ++in)
          for (index_t ky = 0; ky < c.rows.axis.kernel; ++ky)
            for (index_t kx = 0; kx < width; ++kx) {
              if (!c.rows.sees(row_phase, ky) || !c.columns.sees(column_phase, kx)) continue;
              for (index_t t = 0; t < tile; ++t)
                *packed++ = w[(out + t) * filters.out + in * filters.in + ky * width + kx];
            }
        out += tile;
      }
}

// The schedule of a convolution or an input gradient.
struct AnySchedule {
  static constexpr index_t band_floats = 1 << 14;  // of x, unless one row needs more

  AnyCorrelation c;
  index_t groups, rows_at_once, bands;  // bands: of each phase

  AnySchedule(const Conv2dGeometry& g, index_t inner, bool gradient)
      : c{{g.rows, gradient},
          {g.columns, gradient},
          gradient ? g.outs() : g.ins(),
          gradient ? g.ins() : g.outs(),
          inner},
        groups(g.groups),
        rows_at_once(c.rows_at_once(band_floats)),
        bands(ceil_div(c.rows.targets(0), rows_at_once)) {}

  index_t filters() const {
    return c.rows.axis.kernel * c.columns.axis.kernel * c.channels * c.out_channels;
  }
  index_t phases() const { return c.rows.write_step() * c.columns.write_step(); }
  // Returns the scratch of a worker: a band of x, and sums that are scattered.
  index_t part() const {
    const bool scatters = c.is_scattered(0) || c.is_scattered(c.columns.write_step() - 1);
    return c.band_elements(rows_at_once) +
           (scatters ? round_up(c.out_channels * rows_at_once * c.computed(0) * c.inner, 16) : 0);
  }
  index_t scratch(index_t workers) const {
    return round_up(groups * filters(), 16) + workers * part();
  }

  // Computes one band of one phase, for one group of channels of one group of samples.
  void run(index_t phase, index_t band, const float* filters, OptionalArray<const float> bias,
           const Clamp<float>& clamp, const float* x, float* y, float* memory) const {
    const index_t row_phase = phase / c.columns.write_step(),
                  column_phase = phase % c.columns.write_step();
    const index_t first = band * rows_at_once,
                  count = std::min(rows_at_once, c.rows.targets(row_phase) - first);
    if (count <= 0 || c.columns.targets(column_phase) <= 0) return;
    AnyBand part(c, row_phase, column_phase, first, count);
    AnyRows rows = part.over(x, memory);
    const float* w = filters + (part.row_taps.before * c.columns.axis.kernel +
                                part.row_taps.count * part.column_taps.before) *
                                   c.channels * c.out_channels;
    const index_t width = c.columns.targets() * c.inner, row_step = c.rows.write_step() * width;
    float* to = y + (row_phase + first * c.rows.write_step()) * width + column_phase * c.inner;
    const index_t plane = c.rows.targets() * width;
    const bool scattered = c.is_scattered(column_phase);
    float* sums = memory + c.band_elements(rows_at_once);
    rows.y_channel = scattered ? count * rows.width : plane;
    rows.y_row = scattered ? rows.width : row_step;
    rows.y_column = scattered || c.inner < 16 ? 16 : 16 * c.columns.write_step();
    rows.clamp = clamp;
    GPUNET_CALL_PATH(rows.width, any_correlate, rows, c.out_channels, w, bias,
                     scattered ? sums : to);
    for (index_t row = 0; scattered && row < c.out_channels * count; ++row)
      scatter(sums + row * rows.width, c.columns.targets(column_phase),
              to + row / count * plane + row % count * row_step);
  }

 private:
  // Writes the columns of a phase of a row.
  void scatter(const float* from, index_t columns, float* to) const {
    const index_t step = c.columns.write_step() * c.inner;
    if (c.inner == 1)
      for (index_t i = 0; i < columns; ++i)
        to[i * step] = from[i];
    else
      for (index_t i = 0; i < columns; ++i)
        std::copy_n(from + i * c.inner, c.inner, to + i * step);
  }
};

// Returns whether the vector kernels of this file can run a convolution; else the plain version
// does.
inline bool has_any_rows(const Conv2dGeometry& g) {
  return g.area() <= AnyRows::most_taps;
}

// The weight gradient of some output channels of a group.
class AnyGradientTask {
 public:
  AnyGradientTask(const Conv2dGeometry& g, index_t inner)
      : c_{{g.rows, false}, {g.columns, false}, 1, g.outs(), inner},
        ins_(g.ins()),
        rows_at_once_(std::clamp(dy_floats / (c_.computed(0) * inner), index_t{1}, g.rows.outputs)),
        ins_at_once_(std::clamp(AnySchedule::band_floats / c_.band_elements(rows_at_once_),
                                index_t{1}, ins_)) {
    c_.channels = ins_at_once_;
  }

  // Returns the scratch of a worker: a band of x, and dy where its rows are shorter than a vector.
  index_t part() const {
    return c_.band_elements(rows_at_once_) +
           (is_padded() ? round_up(c_.out_channels * rows_at_once_ * c_.computed(0) * c_.inner, 16)
                        : 0);
  }

  // Adds one group of samples to dw of `outs` channels, or stores it.
  void run(index_t outs, const float* x, const float* dy, float* dw, Accumulate accumulate,
           float* memory) const {
    const index_t width = c_.columns.targets() * c_.inner, plane = c_.rows.targets() * width;
    const index_t area = c_.rows.axis.kernel * c_.columns.axis.kernel;
    const index_t image = c_.rows.sources() * c_.columns.sources() * c_.inner;
    for (index_t first = 0; first < c_.rows.targets();
         first += rows_at_once_, accumulate = Accumulate::yes) {
      const index_t count = std::min(rows_at_once_, c_.rows.targets() - first);
      const float* gradient = dy + first * width;
      const index_t padded_width = c_.computed(0) * c_.inner;
      if (is_padded()) {
        float* padded = memory + c_.band_elements(rows_at_once_);
        std::fill_n(padded, outs * count * padded_width, 0.0f);
        for (index_t row = 0; row < outs * count; ++row)
          std::copy_n(gradient + row / count * plane + row % count * width, width,
                      padded + row * padded_width);
        gradient = padded;
      }
      for (index_t in = 0; in < ins_; in += ins_at_once_) {
        AnyCorrelation some = c_;
        some.channels = std::min(ins_at_once_, ins_ - in);
        AnyBand part(some, 0, 0, first, count);
        AnyRows rows = part.over(x + in * image, memory);
        rows.y_channel = is_padded() ? count * padded_width : plane;
        rows.y_row = padded_width;
        GPUNET_CALL_PATH(rows.width, any_gradient, rows, outs, gradient, dw + in * area,
                         ins_ * area, accumulate);
      }
    }
  }

 private:
  static constexpr index_t dy_floats = 1024;  // of a channel: they stay in the L1 cache

  bool is_padded() const { return c_.computed(0) != c_.columns.targets(); }

  AnyCorrelation c_;
  index_t ins_, rows_at_once_, ins_at_once_;
};

// The arrays of a correlation.
struct AnyArrays {
  const float *x, *w;
  OptionalArray<const float> b;  // of the channels of y
  Clamp<float> clamp;            // of y
  float *y, *scratch;
};

// Computes a convolution of a slice, or an input gradient.
inline void any_correlate_slice(Host& device, const Slice& slice, const Conv2dGeometry& g,
                                bool gradient, const AnyArrays& a) {
  const AnySchedule schedule(g, slice.inner, gradient);
  const AnyFilters filters{a.w, gradient ? g.area() : g.taps(), gradient ? g.taps() : g.area(),
                           g.outs() * g.taps()};
  const bool shared = is_shared(slice, g);
  device.run_if(shared, g.groups, [&](index_t group, int) {
    pack_any_filters(schedule.c, filters, group, a.scratch + group * schedule.filters());
  });
  const AnyCorrelation& c = schedule.c;
  const index_t per_group = schedule.phases() * schedule.bands;
  const index_t in = c.rows.sources() * c.columns.sources() * c.channels * slice.inner;
  const index_t out = c.rows.targets() * c.columns.targets() * c.out_channels * slice.inner;
  float* parts = a.scratch + round_up(g.groups * schedule.filters(), 16);
  device.run_if(shared, slice.outer * g.groups * per_group, [&](index_t i, int worker) {
    const index_t part = i / per_group, group = part % g.groups, rest = i % per_group;
    schedule.run(rest % schedule.phases(), rest / schedule.phases(),
                 a.scratch + group * schedule.filters(), a.b + group * c.out_channels, a.clamp,
                 a.x + part * in, a.y + part * out, parts + worker * schedule.part());
  });
}

// Returns the floats of scratch that the functions below need.
inline index_t any_rows_scratch(const Host& device, const Slice& slice, const Conv2dGeometry& g) {
  if (!has_any_rows(g)) return 0;
  const index_t workers = conv2d_workers(device, slice, g);
  return std::max({AnySchedule(g, slice.inner, false).scratch(workers),
                   AnySchedule(g, slice.inner, true).scratch(workers),
                   workers * AnyGradientTask(g, slice.inner).part()});
}

inline void forward_by_any_rows(Host& device, const Conv2dForwardArgs<float>& a) {
  if (!has_any_rows(a.block.g)) return conv2d_forward<Host, float, Conv2dGeometry>(device, a);
  any_correlate_slice(device, a.slice, a.block.g, false,
                      {a.x, a.w, a.b, a.block.clamp<float>(), a.y, a.scratch});
}

inline void backward_input_by_any_rows(Host& device, const Conv2dBackwardArgs<float>& a) {
  if (!has_any_rows(a.block.g))
    return conv2d_backward_input<Host, float, Conv2dGeometry>(device, a);
  any_correlate_slice(device, a.slice, a.block.g, true,
                      {a.dy, a.w, a.b, Clamp<float>(Bounds{}), a.dx, a.scratch});
}

inline void backward_weight_by_any_rows(Host& device, const Conv2dBackwardArgs<float>& a) {
  const Conv2dGeometry& g = a.block.g;
  if (!has_any_rows(g)) return conv2d_backward_weight<Host, float, Conv2dGeometry>(device, a);
  const AnyGradientTask task(g, a.slice.inner);
  const index_t workers = conv2d_workers(device, a.slice, g);
  // Groups are divided if there are fewer of them than threads.
  const index_t outs = std::min(g.outs(), round_up(ceil_div(g.out_channels, workers), 4));
  const index_t parts = ceil_div(g.outs(), outs);
  device.run_if(workers > 1, g.groups * parts, [&](index_t i, int worker) {
    const index_t first = i % parts * outs;
    for (index_t outer = 0; outer < a.slice.outer; ++outer) {
      const Conv2dBackwardArgs<float> one = a.of_group(outer, i / parts);
      task.run(std::min(outs, g.outs() - first), one.x,
               one.dy + first * g.out_pixels() * a.slice.inner, one.dw + first * g.taps(),
               one.accumulate, a.scratch + worker * task.part());
    }
  });
}

}  // namespace gpunet::detail
