// Convolution of floats of any form, one vector path; see device/host/each_isa_path.inl and
// any_rows.hpp. A row of an image is [column][inner], so a tap is an
// offset into it and vectors run over columns and samples alike.

namespace gpunet::GPUNET_PATH {

// The vectors of sums of CT channels in registers, and the taps of the weight gradient of CT
// channels.
template <int CT>
inline constexpr int any_vectors = GPUNET_LANES == 16                ? (CT == 6   ? 4
                                                                        : CT == 4 ? 6
                                                                        : CT == 2 ? 8
                                                                                  : 12)
                                   : GPUNET_LANES == 4 && GPUNET_X86 ? 1
                                                                     : (CT == 6   ? 2
                                                                        : CT == 4 ? 3
                                                                        : CT == 2 ? 4
                                                                                  : 8);
template <int CT>
inline constexpr int any_taps = GPUNET_LANES == 16                ? (CT == 4   ? 5
                                                                     : CT == 2 ? 9
                                                                               : 9)
                                : GPUNET_LANES == 4 && GPUNET_X86 ? 1
                                                                  : (CT == 4   ? 3
                                                                     : CT == 2 ? 5
                                                                               : 9);

// CT channels of the vectors first <= v < vectors of a band; w [in][tap][CT].
template <int CT>
GPUNET_TARGET inline void any_correlate_channels(const AnyRows& c, index_t first, index_t vectors,
                                                 const float* w, OptionalArray<const float> bias,
                                                 float* y) {
  constexpr int NV = any_vectors<CT>;
  const index_t per_row = ceil_div(c.width, lanes), end = c.width - lanes;
  index_t row = first / per_row, of_row = first % per_row;
  for (; first < vectors; first += NV) {
    const float* from[NV];
    float* to[NV];
#pragma GCC unroll 12
    for (int v = 0; v < NV; ++v) {
      const index_t at = of_row * lanes < end ? of_row * lanes : end;
      from[v] = c.x + row * c.x_row + (at >> 4) * c.x_column + (at & 15);
      to[v] = y + row * c.y_row + (at >> 4) * c.y_column + (at & 15);
      if (first + v + 1 < vectors && ++of_row == per_row) ++row, of_row = 0;
    }
    Vector sums[CT][NV];
#pragma GCC unroll 12
    for (int t = 0; t < CT; ++t)
#pragma GCC unroll 12
      for (int v = 0; v < NV; ++v)
        sums[t][v] = Vector{} + bias[t];
    const float* weight = w;
    for (index_t in = 0; in < c.channels; ++in) {
      const index_t channel = in * c.x_channel;
#pragma GCC unroll 1
      for (index_t tap = 0; tap < c.taps; ++tap, weight += CT) {
        const index_t offset = channel + c.offsets[tap];
        Vector value[NV];
#pragma GCC unroll 12
        for (int v = 0; v < NV; ++v)
          value[v] = load(from[v] + offset);
#pragma GCC unroll 12
        for (int t = 0; t < CT; ++t)
#pragma GCC unroll 12
          for (int v = 0; v < NV; ++v)
            sums[t][v] += weight[t] * value[v];
      }
    }
#pragma GCC unroll 12
    for (int t = 0; t < CT; ++t)
#pragma GCC unroll 12
      for (int v = 0; v < NV; ++v)
        store(to[v] + t * c.y_channel, clamp(sums[t][v], c.clamp.low, c.clamp.high));
  }
}

// All rows of a band, a block of vectors at a time whose x stays in the caches; w [tile of
// channels][in][tap][tile].
GPUNET_TARGET inline void any_correlate(const AnyRows& c, index_t out_channels, const float* w,
                                        OptionalArray<const float> bias, float* y) {
  constexpr index_t products = 8192, least = 12;  // of a channel of a block; vectors
  const index_t taps = c.channels * c.taps, vectors = c.rows * ceil_div(c.width, lanes);
  const index_t block = least * (1 + products / (least * (taps + 1)));
  for (index_t first = 0; first < vectors; first += block) {
    const index_t end = first + block < vectors ? first + block : vectors;
    for (index_t out = 0; out < out_channels;) {
      const index_t tile = detail::any_tile(out_channels - out);
      const auto run = tile == 6   ? any_correlate_channels<6>
                       : tile == 4 ? any_correlate_channels<4>
                       : tile == 2 ? any_correlate_channels<2>
                                   : any_correlate_channels<1>;
      run(c, first, end, w + out * taps, bias + out, y + out * c.y_channel);
      out += tile;
    }
  }
}

// dw of CT output channels at QT taps from number `first` on of a band, numbered [in][tap].
template <int CT, int QT>
GPUNET_TARGET inline void any_gradient_tile(const AnyRows& c, index_t first, const float* dy,
                                            float* dw, index_t dw_channel, Accumulate accumulate) {
  const float* from[QT];
#pragma GCC unroll 12
  for (int q = 0; q < QT; ++q)
    from[q] = c.x + (first + q) / c.taps * c.x_channel + c.offsets[(first + q) % c.taps];
  Vector sums[CT][QT] = {};
  const index_t tail = c.width % lanes;
  const Mask fresh = last_lanes(tail);
  for (index_t row = 0; row < c.rows; ++row) {
    index_t i = 0;
#pragma GCC unroll 1
    for (; i + lanes <= c.width; i += lanes) {
      const index_t at = row * c.x_row + (i >> 4) * c.x_column + (i & 15);
      // The fewer factors stay in registers.
      if constexpr (CT < QT) {
        Vector value[CT];
#pragma GCC unroll 12
        for (int t = 0; t < CT; ++t)
          value[t] = load(dy + t * c.y_channel + row * c.y_row + i);
#pragma GCC unroll 12
        for (int q = 0; q < QT; ++q) {
          const Vector in = load(from[q] + at);
#pragma GCC unroll 12
          for (int t = 0; t < CT; ++t)
            sums[t][q] += value[t] * in;
        }
      } else {
        Vector in[QT];
#pragma GCC unroll 12
        for (int q = 0; q < QT; ++q) {
          in[q] = load(from[q] + at);
          hold(in[q]);
        }
#pragma GCC unroll 12
        for (int t = 0; t < CT; ++t) {
          const Vector value = load(dy + t * c.y_channel + row * c.y_row + i);
#pragma GCC unroll 12
          for (int q = 0; q < QT; ++q)
            sums[t][q] += value * in[q];
        }
      }
    }
    if (tail == 0) continue;
    i = c.width - lanes;  // the last vector reaches back; counted lanes are masked
    const index_t at = row * c.x_row + (i >> 4) * c.x_column + (i & 15);
#pragma GCC unroll 12
    for (int t = 0; t < CT; ++t) {
      const Vector value = keep(load(dy + t * c.y_channel + row * c.y_row + i), fresh);
#pragma GCC unroll 12
      for (int q = 0; q < QT; ++q)
        sums[t][q] += value * load(from[q] + at);
    }
  }
#pragma GCC unroll 12
  for (int t = 0; t < CT; ++t)
#pragma GCC unroll 12
    for (int q = 0; q < QT; ++q)
      store_gradient(dw[t * dw_channel + first + q], sum(sums[t][q]), accumulate);
}

// The same at all taps.
template <int CT>
GPUNET_TARGET inline void any_gradient_channels(const AnyRows& c, const float* dy, float* dw,
                                                index_t dw_channel, Accumulate accumulate) {
  constexpr int QT = any_taps<CT>;
  const index_t taps = c.channels * c.taps;
  index_t q = 0;
  for (; q + QT <= taps; q += QT)
    any_gradient_tile<CT, QT>(c, q, dy, dw, dw_channel, accumulate);
  if constexpr (QT > 3)
    for (; q + 3 <= taps; q += 3)
      any_gradient_tile<CT, 3>(c, q, dy, dw, dw_channel, accumulate);
  if constexpr (QT > 1)
    for (; q < taps; ++q)
      any_gradient_tile<CT, 1>(c, q, dy, dw, dw_channel, accumulate);
}

// dw of `outs` output channels at all taps of a band.
GPUNET_TARGET inline void any_gradient(const AnyRows& c, index_t outs, const float* dy, float* dw,
                                       index_t dw_channel, Accumulate accumulate) {
  index_t out = 0;
  for (; out + 4 <= outs; out += 4)
    any_gradient_channels<4>(c, dy + out * c.y_channel, dw + out * dw_channel, dw_channel,
                             accumulate);
  for (; out + 2 <= outs; out += 2)
    any_gradient_channels<2>(c, dy + out * c.y_channel, dw + out * dw_channel, dw_channel,
                             accumulate);
  if (out < outs)
    any_gradient_channels<1>(c, dy + out * c.y_channel, dw + out * dw_channel, dw_channel,
                             accumulate);
}

}  // namespace gpunet::GPUNET_PATH
