// Direct convolution of floats, one vector path; see device/host/each_path.inl and conv2d.host.hpp.
// A row of an image is [column][inner], so a filter tap is an offset into it and vectors run over columns and
// samples alike.

namespace gpunet::GPUNET_PATH {

// Sums in registers: channels x vectors at a time, as many as the path has registers for.
inline constexpr int most_vectors = GPUNET_LANES == 16 ? 4 : 2;
inline constexpr int wide_gradient = GPUNET_LANES == 16 ? 4 : 2, narrow_gradient = GPUNET_LANES == 16 ? 3 : 2;

// CT channels x NV vectors of one output row. `last` is where the last vector begins: it may overlap the one
// before.
template <int CT, int NV>
GPUNET_TARGET [[gnu::always_inline]] inline void correlate_tile(const Correlation& c, const float* x,
                                                                const float* w, const float* bias, float* y,
                                                                index_t last, int valid) {
  index_t at[NV];
  for (int v = 0; v < NV; ++v)
    at[v] = v + 1 < NV ? v * lanes : last;
  Vector sums[CT][NV];
#pragma GCC unroll 8
  for (int t = 0; t < CT; ++t)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      sums[t][v] = Vector{} + bias[t];

  for (index_t channel = 0; channel < c.channels; ++channel)
    for (index_t ky = 0; ky < c.kernel; ++ky) {
      const float* row = x + channel * c.x_channel + ky * c.x_row;
#pragma GCC unroll 1
      for (index_t kx = 0; kx < c.kernel; ++kx, w += CT) {
        const float* tap = row + c.taps[kx];
        Vector in[NV];
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v)
          in[v] = load(tap + at[v]);
#pragma GCC unroll 8
        for (int t = 0; t < CT; ++t)
#pragma GCC unroll 8
          for (int v = 0; v < NV; ++v)
            sums[t][v] += w[t] * in[v];
      }
    }
  for (int v = 0; v < NV; ++v) {
#pragma GCC unroll 8
    for (int t = 0; t < CT; ++t)
      if (t < valid) store(y + t * c.y_channel + at[v], sums[t][v]);
  }
}

// CT channels of one output row.
template <int CT>
GPUNET_TARGET inline void correlate_row(const Correlation& c, const float* x, const float* w, const float* bias,
                                        float* y, int valid) {
  constexpr index_t step = most_vectors * lanes;
  for (index_t done = 0; done < c.width; done += step, x += step, y += step) {
    const index_t rest = std::min(step, c.width - done);
    const index_t last = rest - lanes;  // negative where the last vector reaches back
    if constexpr (most_vectors == 4) {
      if (rest > 3 * lanes) {
        correlate_tile<CT, 4>(c, x, w, bias, y, last, valid);
        continue;
      }
      if (rest > 2 * lanes) {
        correlate_tile<CT, 3>(c, x, w, bias, y, last, valid);
        continue;
      }
    }
    if (rest > lanes)
      correlate_tile<CT, 2>(c, x, w, bias, y, last, valid);
    else
      correlate_tile<CT, 1>(c, x, w, bias, y, last, valid);
  }
}

// y = x * w + bias for all rows and channels; w and bias are packed in tiles of c.tile channels.
GPUNET_TARGET inline void correlate(const Correlation& c) {
  for (index_t row = 0; row < c.rows; ++row)
    for (index_t first = 0; first < c.out_channels; first += c.tile) {
      const float* x = c.x + row * c.x_step;
      const float* w = c.w + first * c.channels * c.kernel * c.kernel;
      float* y = c.y + first * c.y_channel + row * c.y_row;
      const int valid = static_cast<int>(c.out_channels - first);
      if (c.tile == 6)
        correlate_row<6>(c, x, w, c.bias + first, y, valid);
      else
        correlate_row<4>(c, x, w, c.bias + first, y, valid);
    }
}

// Weight gradients of CT output channels at KT neighbouring taps: sums over all rows stay in registers.
template <int CT, int KT>
GPUNET_TARGET inline void weight_gradient_tile(const Correlation& c, const float* x, const float* dy,
                                               const index_t* taps, float* dw, index_t dw_channel, int valid,
                                               Accumulate accumulate) {
  Vector sums[CT][KT] = {};
  const index_t tail = c.width % lanes;
  const Mask fresh = last_lanes(tail);
  for (index_t row = 0; row < c.rows; ++row, x += c.x_step, dy += c.y_row) {
    index_t i = 0;
#pragma GCC unroll 1
    for (; i + lanes <= c.width; i += lanes) {
      Vector in[KT];
#pragma GCC unroll 8
      for (int k = 0; k < KT; ++k)
        in[k] = load(x + taps[k] + i);
#pragma GCC unroll 8
      for (int t = 0; t < CT; ++t) {
        const Vector d = load(dy + (t < valid ? t : 0) * c.y_channel + i);
#pragma GCC unroll 8
        for (int k = 0; k < KT; ++k)
          sums[t][k] += d * in[k];
      }
    }
    if (tail == 0) continue;
    i = c.width - lanes;  // the last vector reaches back; what was counted already is masked
#pragma GCC unroll 8
    for (int t = 0; t < CT; ++t) {
      const Vector d = keep(load(dy + (t < valid ? t : 0) * c.y_channel + i), fresh);
#pragma GCC unroll 8
      for (int k = 0; k < KT; ++k)
        sums[t][k] += d * load(x + taps[k] + i);
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
GPUNET_TARGET inline void weight_gradient_row(const Correlation& c, const float* x, const float* dy, float* dw,
                                              int valid, Accumulate accumulate) {
  const index_t dw_channel = c.channels * c.kernel * c.kernel;
  index_t k = 0;
  for (; k + 5 <= c.kernel; k += 5)
    weight_gradient_tile<CT, 5>(c, x, dy, c.taps + k, dw + k, dw_channel, valid, accumulate);
  for (; k + 3 <= c.kernel; k += 3)
    weight_gradient_tile<CT, 3>(c, x, dy, c.taps + k, dw + k, dw_channel, valid, accumulate);
  for (; k < c.kernel; ++k)
    weight_gradient_tile<CT, 1>(c, x, dy, c.taps + k, dw + k, dw_channel, valid, accumulate);
}

// db [out] = sum of dy over a channel's image, whose rows follow each other.
GPUNET_TARGET inline void bias_gradient(const Correlation& c, float* db, Accumulate accumulate) {
  const index_t size = c.rows * c.width;
  for (index_t channel = 0; channel < c.out_channels; ++channel) {
    const float* dy = c.y + channel * c.y_channel;
    Vector sums[4] = {};
    index_t i = 0;
    for (; i + 4 * lanes <= size; i += 4 * lanes)
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        sums[v] += load(dy + i + v * lanes);
    for (; i + lanes <= size; i += lanes)
      sums[0] += load(dy + i);
    float total = sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; i < size; ++i)
      total += dy[i];
    store_gradient(db[channel], total, accumulate);
  }
}

// db, and dw [out, in, kernel, kernel] = sum over rows and columns of dy x; c.y is dy.
GPUNET_TARGET inline void parameter_gradients(const Correlation& c, float* dw, float* db, Accumulate accumulate) {
  bias_gradient(c, db, accumulate);
  const bool wide = round_up(c.out_channels, wide_gradient) <= round_up(c.out_channels, narrow_gradient);
  const index_t tile = wide ? wide_gradient : narrow_gradient;
  for (index_t first = 0; first < c.out_channels; first += tile)
    for (index_t channel = 0; channel < c.channels; ++channel)
      for (index_t ky = 0; ky < c.kernel; ++ky) {
        const float* x = c.x + channel * c.x_channel + ky * c.x_row;
        const float* dy = c.y + first * c.y_channel;
        float* target = dw + ((first * c.channels + channel) * c.kernel + ky) * c.kernel;
        const int valid = static_cast<int>(c.out_channels - first);
        if (wide)
          weight_gradient_row<wide_gradient>(c, x, dy, target, valid, accumulate);
        else
          weight_gradient_row<narrow_gradient>(c, x, dy, target, valid, accumulate);
      }
}

}  // namespace gpunet::GPUNET_PATH
