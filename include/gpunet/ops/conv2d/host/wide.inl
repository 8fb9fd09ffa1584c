// Direct convolution of floats between many channels, one vector path; see
// device/host/each_isa_path.inl and wide.hpp. Samples fill the vectors, and the sums of several
// channels and positions stay in registers.

namespace gpunet::GPUNET_PATH {

// RT rows x NV vectors: sums += a b over the segments, each of `depth` products. a [RT][depth],
// rows `a_row` apart; b [depth][NV vectors], rows `b_row` apart, each vector at its pointer.
template <int RT, int NV>
GPUNET_TARGET [[gnu::always_inline]] inline void add_segments(const WideSegments& segments,
                                                              index_t depth, const float* a,
                                                              index_t a_row, const float* const* b,
                                                              index_t b_row,
                                                              Vector (&sums)[RT][NV]) {
  for (index_t s = 0; s < segments.count; ++s) {
    const float* left = a + segments.a[s];
    const float* right[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      right[v] = b[v] + segments.b[s];
    index_t at = 0;
#pragma GCC unroll 1
    for (index_t k = 0; k < depth; ++k, at += b_row) {
      Vector in[NV];
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v)
        in[v] = load(right[v] + at);
#pragma GCC unroll 8
      for (int r = 0; r < RT; ++r)
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v)
          sums[r][v] += left[r * a_row + k] * in[v];
    }
  }
}

inline constexpr int wide_vectors = GPUNET_LANES == 16 ? 4 : 2;

// ---- Forward, and the input gradient.

// x of a band in the order of the image, zero over the border.
GPUNET_TARGET inline void wide_pack(const WideImage& image, const WideBand& band, const float* x,
                                    float* packed) {
  const index_t channel_step = image.channel_step(band.columns);
  for (index_t i = 0; i < band.rows; ++i, packed += image.row_step(band.columns))
    for (index_t channel = 0; channel < image.channels; ++channel) {
      const index_t row = band.first_row + i;
      const float* from =
          x +
          (channel * image.height + (row >= 0 && row < image.height ? row : 0)) * image.width * 16;
      float* to = packed + channel * channel_step;
      for (index_t j = 0; j < band.columns; ++j, to += image.column_step()) {
        const index_t column = band.first_column + j;
        const bool inside = row >= 0 && row < image.height && column >= 0 && column < image.width;
        for (index_t n = 0; n < 16; n += lanes)
          store(to + n, inside ? load(from + column * 16 + n) : Vector{});
      }
    }
}

// RT output channels from `channel` on, at NV vectors from number `first` on of the positions of a
// band.
template <int RT>
GPUNET_TARGET inline void wide_correlate_rows(const WideCorrelation& c, const WideBand& band,
                                              index_t channel, const float* packed, const float* w,
                                              OptionalArray<const float> bias, float* y) {
  constexpr int NV = wide_vectors;
  const index_t vectors = band.positions() * 16 / lanes;
  for (index_t first = 0; first < vectors; first += NV) {
    const float* b[NV];
    float* to[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      const index_t at = std::min(first + v, vectors - 1) * lanes, position = at / 16;
      const index_t row = position / band.out_columns, column = position % band.out_columns;
      b[v] = packed + row * c.down.read_step() * c.image.row_step(band.columns) +
             column * c.across.read_step() * c.image.column_step() + at % 16;
      to[v] = y +
              ((band.out_row + row * c.down.write_step()) * c.across.targets() + band.out_column +
               column * c.across.write_step()) *
                  16 +
              at % 16;
    }
    Vector sums[RT][NV] = {};
    add_segments<RT, NV>(band.taps, c.image.channels, w + channel * c.image.channels,
                         c.image.channels, b, 16, sums);
#pragma GCC unroll 8
    for (int r = 0; r < RT; ++r)
      if (channel + r < c.out_channels)
#pragma GCC unroll 8
        for (int v = 0; v < NV; ++v)
          store(to[v] + (channel + r) * c.out_pixels() * 16,
                clamp(sums[r][v] + bias[channel + r], c.clamp.low, c.clamp.high));
  }
}

// y of a band of rows of one group of samples, all output channels.
GPUNET_TARGET inline void wide_correlate(const WideCorrelation& c, const WideBand& band,
                                         const float* x, const float* w,
                                         OptionalArray<const float> bias, float* y, float* packed) {
  wide_pack(c.image, band, x, packed);
  for (index_t channel = 0; channel < c.rows();) {
    const index_t tile = detail::tile_height(c.rows() - channel);
    if (tile == 6)
      wide_correlate_rows<6>(c, band, channel, packed, w, bias, y);
    else
      wide_correlate_rows<4>(c, band, channel, packed, w, bias, y);
    channel += tile;
  }
}

// ---- The weight gradient.

// dw of RT input channels at one tap and the output channels of a task from `out` on, in
// blocks of NV vectors; returns the next channel.
template <int RT, int NV>
GPUNET_TARGET inline index_t wide_gradient_columns(const WideSegments& runs, index_t depth,
                                                   index_t x_row, index_t outs, index_t out,
                                                   const float* x, const float* dy, float* dw) {
  for (; out + NV * lanes <= outs; out += NV * lanes) {
    const float* b[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      b[v] = dy + out + v * lanes;
    Vector sums[RT][NV] = {};
    add_segments<RT, NV>(runs, depth, x, x_row, b, outs, sums);
#pragma GCC unroll 8
    for (int r = 0; r < RT; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v) {
        float* to = dw + r * outs + out + v * lanes;
        store(to, load(to) + sums[r][v]);
      }
  }
  return out;
}

template <int RT>
GPUNET_TARGET inline void wide_gradient_rows(const WideSegments& runs, index_t depth, index_t x_row,
                                             index_t outs, const float* x, const float* dy,
                                             float* dw) {
  [[maybe_unused]] const index_t out =
      wide_gradient_columns<RT, wide_vectors>(runs, depth, x_row, outs, 0, x, dy, dw);
  if constexpr (wide_vectors > 2)
    wide_gradient_columns<RT, 2>(runs, depth, x_row, outs, out, x, dy, dw);
}

// dw [tap][in][out] += the products of a band; dy [position][sample][out].
GPUNET_TARGET inline void wide_add_gradient(const WideSegments& runs, index_t depth,
                                            const WideSegments& taps, index_t rows, index_t x_row,
                                            index_t outs, const float* x, const float* dy,
                                            float* dw) {
  for (index_t tap = 0; tap < taps.count; ++tap)
    for (index_t in = 0; in < rows;) {
      const index_t tile = detail::tile_height(rows - in);
      const float* from = x + taps.b[tap] + in * x_row;
      float* to = dw + (tap * rows + in) * outs;
      if (tile == 6)
        wide_gradient_rows<6>(runs, depth, x_row, outs, from, dy, to);
      else
        wide_gradient_rows<4>(runs, depth, x_row, outs, from, dy, to);
      in += tile;
    }
}

}  // namespace gpunet::GPUNET_PATH
