// Direct convolution of floats, one vector path; see device/host/each_isa_path.inl and direct.hpp.
// A row of an image is [column][inner], so a filter tap is an offset into it and vectors run over
// columns and samples alike.

namespace gpunet::GPUNET_PATH {

// Sums in registers: channels x vectors at a time, by the registers of the path.
template <int CT>
inline constexpr index_t most_vectors = GPUNET_LANES == 16 ? 24 / CT : tile_rows;
inline constexpr int wide_gradient = tile_rows,
                     narrow_gradient = GPUNET_LANES == 16 ? 3 : tile_rows;

// CT channels x NV vectors of one output row. The last vector begins at `last`: it may overlap the
// one before.
template <int CT, int NV>
GPUNET_TARGET inline void correlate_tile(const Correlation& c, const TapRows& rows, const float* x,
                                         const float* w, const float* bias, float* y, index_t last,
                                         int valid) {
  index_t at[NV];
#pragma GCC unroll 8
  for (int v = 0; v < NV; ++v)
    at[v] = v + 1 < NV ? v * lanes : last;
  Vector sums[CT][NV];
#pragma GCC unroll 8
  for (int t = 0; t < CT; ++t)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      sums[t][v] = Vector{} + bias[t];

  // Taps that follow each other: of all rows, or of one if some columns are left out.
  const bool all = c.spread == 1 && rows.columns == c.kernel_columns;
  const index_t runs = all ? 1 : rows.count,
                taps = all ? rows.count * c.kernel_columns : rows.columns;
  const index_t* offset = c.taps + rows.first_column;
  for (index_t channel = 0; channel < c.channels; ++channel)
    for (index_t run = 0; run < runs; ++run) {
      const float* row = x + channel * c.x_channel + run * rows.x_step * c.x_row;
      const float* filter =
          w + ((channel * c.kernel_rows + rows.first + run * rows.step) * c.kernel_columns +
               rows.first_column) *
                  CT;
#pragma GCC unroll 1
      for (index_t k = 0; k < taps; ++k, filter += CT) {
        const float* tap = row + offset[k];
        Vector in[NV];
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v)
          in[v] = load(tap + at[v]);
#pragma GCC unroll 8
        for (int t = 0; t < CT; ++t)
#pragma GCC unroll 8
          for (int v = 0; v < NV; ++v)
            sums[t][v] += filter[t] * in[v];
      }
    }

#pragma GCC unroll 8
  for (int t = 0; t < CT; ++t) {
    if (t >= valid) break;
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      store(y + t * c.y_channel + at[v], clamp(sums[t][v], c.clamp.low, c.clamp.high));
  }
}

// The same for a run-time number of vectors.
template <int CT, int NV>
GPUNET_TARGET inline void correlate_vectors(index_t vectors, const Correlation& c,
                                            const TapRows& rows, const float* x, const float* w,
                                            const float* bias, float* y, index_t last, int valid) {
  if constexpr (NV > 1)
    if (vectors < NV)
      return correlate_vectors<CT, NV - 1>(vectors, c, rows, x, w, bias, y, last, valid);
  correlate_tile<CT, NV>(c, rows, x, w, bias, y, last, valid);
}

// CT channels of a part of one output row, in tiles of equal length as far as that goes.
template <int CT>
GPUNET_TARGET inline void correlate_part(const Correlation& c, const TapRows& rows, const float* x,
                                         const float* w, const float* bias, float* y, int valid,
                                         index_t begin, index_t vectors) {
  constexpr index_t most = most_vectors<CT>;
  for (index_t tiles = ceil_div(vectors, most); tiles > 0; --tiles) {
    const index_t some = ceil_div(vectors, tiles), end = std::min(c.width, begin + some * lanes);
    correlate_vectors<CT, most>(some, c, c.within(rows, std::min(begin, end - lanes), end),
                                x + begin, w, bias, y + begin, end - lanes - begin, valid);
    begin += some * lanes;
    vectors -= some;
  }
}

// CT channels of one output row.
template <int CT>
GPUNET_TARGET inline void correlate_row(const Correlation& c, const TapRows& rows, const float* x,
                                        const float* w, const float* bias, float* y, int valid) {
  const index_t vectors = ceil_div(c.width, lanes),
                edge = std::min(c.edge_vectors(lanes), most_vectors<CT>);
  const index_t ends[] = {edge, vectors - edge, vectors};
  index_t begin = 0;
  for (const index_t end : ends) {
    correlate_part<CT>(c, rows, x, w, bias, y, valid, begin * lanes, end - begin);
    begin = end;
  }
}

// Rows first <= row < end of y = x * w + bias for all channels; w and bias are packed in tiles of
// c.tile channels.
GPUNET_TARGET inline void correlate(const Correlation& c, index_t first_row, index_t end_row) {
  for (index_t row = first_row; row < end_row; ++row) {
    const TapRows rows = c.tap_rows(row);
    const float* x = c.x + rows.x_row * c.x_row;
    for (index_t first = 0; first < c.out_channels; first += c.tile) {
      const float* w = c.w + first * c.channels * c.area();
      float* y = c.y + first * c.y_channel + (row - first_row) * c.width;
      const int valid = static_cast<int>(c.out_channels - first);
      if (c.tile == 6)
        correlate_row<6>(c, rows, x, w, c.bias + first, y, valid);
      else
        correlate_row<4>(c, rows, x, w, c.bias + first, y, valid);
    }
  }
}

// Weight gradients of CT output channels at KT neighboring taps: sums over all rows stay in
// registers.
template <int CT, int KT>
GPUNET_TARGET inline void weight_gradient_tile(const GradientRows& g, const float* x,
                                               index_t x_step, const float* dy, const index_t* taps,
                                               float* dw, index_t dw_channel, int valid,
                                               Accumulate accumulate) {
  Vector sums[CT][KT] = {};
  const index_t tail = g.width % lanes;
  const Mask fresh = last_lanes(tail);
  const float* d[CT];
#pragma GCC unroll 8
  for (int t = 0; t < CT; ++t)
    d[t] = dy + (t < valid ? t : 0) * g.channel;
  for (index_t row = 0; row < g.rows; ++row, x += x_step) {
    const index_t begin = row * g.width;
    index_t i = 0;
#pragma GCC unroll 1
    for (; i + lanes <= g.width; i += lanes) {
      Vector in[KT];
#pragma GCC unroll 8
      for (int k = 0; k < KT; ++k) {
        in[k] = load(x + taps[k] + i);
        hold(in[k]);
      }
#pragma GCC unroll 8
      for (int t = 0; t < CT; ++t) {
        const Vector value = load(d[t] + begin + i);
#pragma GCC unroll 8
        for (int k = 0; k < KT; ++k)
          sums[t][k] += value * in[k];
      }
    }
    if (tail == 0) continue;
    i = g.width - lanes;  // the last vector reaches back; counted lanes are masked
#pragma GCC unroll 8
    for (int t = 0; t < CT; ++t) {
      const Vector value = keep(load(d[t] + begin + i), fresh);
#pragma GCC unroll 8
      for (int k = 0; k < KT; ++k)
        sums[t][k] += value * load(x + taps[k] + i);
    }
  }
#pragma GCC unroll 8
  for (int t = 0; t < CT; ++t)
#pragma GCC unroll 8
    for (int k = 0; k < KT; ++k)
      if (t < valid) store_gradient(dw[t * dw_channel + k], sum(sums[t][k]), accumulate);
}

// The same for all taps of one filter row.
template <int CT>
GPUNET_TARGET inline void weight_gradient_row(const GradientRows& g, const Correlation& c,
                                              const float* x, const float* dy, float* dw, int valid,
                                              Accumulate accumulate) {
  const index_t dw_channel = c.channels * c.area(), x_step = c.stride * c.x_row;
  index_t k = 0;
  for (; k + 5 <= c.kernel_columns; k += 5)
    weight_gradient_tile<CT, 5>(g, x, x_step, dy, c.taps + k, dw + k, dw_channel, valid,
                                accumulate);
  for (; k + 3 <= c.kernel_columns; k += 3)
    weight_gradient_tile<CT, 3>(g, x, x_step, dy, c.taps + k, dw + k, dw_channel, valid,
                                accumulate);
  for (; k < c.kernel_columns; ++k)
    weight_gradient_tile<CT, 1>(g, x, x_step, dy, c.taps + k, dw + k, dw_channel, valid,
                                accumulate);
}

// Adds the sum of n numbers.
GPUNET_TARGET inline void add_sum(index_t n, const float* x, double& total) {
  total += sum_of(x, n);
}

// dw [out, in, kernel rows, kernel columns] = sum over the rows of dy x.
GPUNET_TARGET inline void weight_gradient(const Correlation& c, const GradientRows& all, float* dw,
                                          Accumulate accumulate) {
  const bool wide =
      round_up(c.out_channels, wide_gradient) <= round_up(c.out_channels, narrow_gradient);
  const index_t tile = wide ? wide_gradient : narrow_gradient;
  const auto add_row =
      wide ? weight_gradient_row<wide_gradient> : weight_gradient_row<narrow_gradient>;
  for (index_t first = 0; first < c.out_channels; first += tile) {
    const int valid = static_cast<int>(c.out_channels - first);
    for (index_t channel = 0; channel < c.channels; ++channel)
      for (index_t ky = 0; ky < c.kernel_rows; ++ky) {
        const GradientRows g = c.rows_under(all, ky);
        const float* x = c.x + channel * c.x_channel +
                         (g.first * c.stride - c.padding + ky * c.dilation) * c.x_row;
        const float* dy = g.dy + first * g.channel;
        float* target =
            dw + ((first * c.channels + channel) * c.kernel_rows + ky) * c.kernel_columns;
        add_row(g, c, x, dy, target, valid, accumulate);
      }
  }
}

}  // namespace gpunet::GPUNET_PATH
