// Winograd's convolution F(4x4, 3x3) or F(4x4, 5x5) of floats, one vector path; see
// device/host/each_isa_path.inl and winograd.hpp. A vector holds samples, or tiles of single
// samples: every transform is plain arithmetic on vectors, and the products of a block of tiles are
// small matrix products, one for each of the `points`. Matrices of B, G and A: Lavin and Gray,
// "Fast algorithms for convolutional neural networks", 2015.

namespace gpunet::GPUNET_PATH {

// ---- The transforms of F(4x4, Kernel x Kernel): `apply` is that of one row or column. The points
// are 0, 1, -1, 2, -2, for 5 x 5 filters also 1/2 and -1/2, and infinity.

// B^T: inputs.
template <index_t Kernel>
struct WinogradInput;

template <>
struct WinogradInput<3> {
  static constexpr int from = 6, to = 6;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* d, Vector* v) {
    const Vector even = d[4] - 4 * d[2], odd = d[3] - 4 * d[1], outer = d[4] - d[2],
                 inner = 2 * (d[3] - d[1]);
    v[0] = 4 * d[0] - 5 * d[2] + d[4];
    v[1] = even + odd;
    v[2] = even - odd;
    v[3] = outer + inner;
    v[4] = outer - inner;
    v[5] = 4 * d[1] - 5 * d[3] + d[5];
  }
};

template <>
struct WinogradInput<5> {
  static constexpr int from = 8, to = 8;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* d, Vector* v) {
    const Vector near_even = d[2] + d[6] - 4.25f * d[4], near_odd = d[1] + d[5] - 4.25f * d[3];
    const Vector far_even = d[6] + 0.25f * d[2] - 1.25f * d[4],
                 far_odd = 2 * (d[5] + 0.25f * d[1] - 1.25f * d[3]);
    const Vector half = d[6] + 4 * d[2] - 5 * d[4], half_odd = 0.5f * (d[5] + 4 * d[1] - 5 * d[3]);
    v[0] = d[0] - d[6] + 5.25f * (d[4] - d[2]);
    v[1] = near_even + near_odd;
    v[2] = near_even - near_odd;
    v[3] = far_even + far_odd;
    v[4] = far_even - far_odd;
    v[5] = half + half_odd;
    v[6] = half - half_odd;
    v[7] = d[7] - d[1] + 5.25f * (d[3] - d[5]);
  }
};

// G: weights.
template <index_t Kernel>
struct WinogradFilter;

template <>
struct WinogradFilter<3> {
  static constexpr int from = 3, to = 6;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* g, Vector* u) {
    const Vector near_even = (g[0] + g[2]) * (-1.0f / 6), near_odd = g[1] * (1.0f / 6);
    const Vector far_even = g[0] * (1.0f / 24) + g[2] * (1.0f / 6), far_odd = g[1] * (1.0f / 12);
    u[0] = g[0] * 0.25f;
    u[1] = near_even - near_odd;
    u[2] = near_even + near_odd;
    u[3] = far_even + far_odd;
    u[4] = far_even - far_odd;
    u[5] = g[2];
  }
};

template <>
struct WinogradFilter<5> {
  static constexpr int from = 5, to = 8;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* g, Vector* u) {
    const Vector near_even = (g[0] + g[2] + g[4]) * (-2.0f / 9),
                 near_odd = (g[1] + g[3]) * (-2.0f / 9);
    const Vector far_even = (g[0] + 4 * g[2] + 16 * g[4]) * (1.0f / 90),
                 far_odd = (g[1] + 4 * g[3]) * (1.0f / 45);
    const Vector half = (16 * g[0] + 4 * g[2] + g[4]) * (2.0f / 45),
                 half_odd = (4 * g[1] + g[3]) * (4.0f / 45);
    u[0] = g[0];
    u[1] = near_even + near_odd;
    u[2] = near_even - near_odd;
    u[3] = far_even + far_odd;
    u[4] = far_even - far_odd;
    u[5] = half + half_odd;
    u[6] = half - half_odd;
    u[7] = g[4];
  }
};

// A^T: products to four outputs.
template <index_t Kernel>
struct WinogradOutput {
  static constexpr int from = Kernel + 3, to = 4;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* m, Vector* y) {
    const Vector near_even = m[1] + m[2], near_odd = m[1] - m[2], far_even = m[3] + m[4],
                 far_odd = m[3] - m[4];
    y[0] = m[0] + near_even + far_even;
    y[1] = near_odd + 2 * far_odd;
    y[2] = near_even + 4 * far_even;
    y[3] = near_odd + 8 * far_odd + m[from - 1];
    if constexpr (Kernel == 5) {
      const Vector half = m[5] + m[6], half_odd = m[5] - m[6];
      y[0] += half;
      y[1] += 0.5f * half_odd;
      y[2] += 0.25f * half;
      y[3] += 0.125f * half_odd;
    }
  }
};

// A: four output gradients.
template <index_t Kernel>
struct WinogradOutputGradient {
  static constexpr int from = 4, to = Kernel + 3;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* d, Vector* m) {
    const Vector near_even = d[0] + d[2], near_odd = d[1] + d[3], far_even = d[0] + 4 * d[2],
                 far_odd = 2 * d[1] + 8 * d[3];
    m[0] = d[0];
    m[1] = near_even + near_odd;
    m[2] = near_even - near_odd;
    m[3] = far_even + far_odd;
    m[4] = far_even - far_odd;
    m[to - 1] = d[3];
    if constexpr (Kernel == 5) {
      const Vector half = d[0] + 0.25f * d[2], half_odd = 0.5f * d[1] + 0.125f * d[3];
      m[5] = half + half_odd;
      m[6] = half - half_odd;
    }
  }
};

// G^T: filter gradients.
template <index_t Kernel>
struct WinogradFilterGradient;

template <>
struct WinogradFilterGradient<3> {
  static constexpr int from = 6, to = 3;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* u, Vector* g) {
    const Vector near_even = (u[1] + u[2]) * (-1.0f / 6), near_odd = (u[2] - u[1]) * (1.0f / 6);
    const Vector far_even = u[3] + u[4], far_odd = u[3] - u[4];
    g[0] = u[0] * 0.25f + near_even + far_even * (1.0f / 24);
    g[1] = near_odd + far_odd * (1.0f / 12);
    g[2] = near_even + far_even * (1.0f / 6) + u[5];
  }
};

template <>
struct WinogradFilterGradient<5> {
  static constexpr int from = 8, to = 5;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* u, Vector* g) {
    const Vector near_even = (u[1] + u[2]) * (-2.0f / 9), near_odd = (u[1] - u[2]) * (-2.0f / 9);
    const Vector far_even = (u[3] + u[4]) * (1.0f / 90), far_odd = (u[3] - u[4]) * (1.0f / 45);
    const Vector half = (u[5] + u[6]) * (2.0f / 45), half_odd = (u[5] - u[6]) * (4.0f / 45);
    g[0] = u[0] + near_even + far_even + 16 * half;
    g[1] = near_odd + far_odd + 4 * half_odd;
    g[2] = near_even + 4 * (far_even + half);
    g[3] = near_odd + 4 * far_odd + half_odd;
    g[4] = near_even + 16 * far_even + half + u[7];
  }
};

// A transform that has seen all columns, but no row yet.
template <class Transform>
using Half = Vector[Transform::to][Transform::from];

// The first half of a transform: column j.
template <class Transform>
GPUNET_TARGET [[gnu::always_inline]] inline void transform_column(const Vector* column,
                                                                  Half<Transform>& half, int j) {
  Vector changed[Transform::to];
  Transform::apply(column, changed);
#pragma GCC unroll 8
  for (int i = 0; i < Transform::to; ++i)
    half[i][j] = changed[i];
}

// The last step of a transform: none, or a bias and a clamp.
struct AsTransformed {
  GPUNET_TARGET [[gnu::always_inline]] Vector operator()(Vector v) const { return v; }
};
struct WithBias {
  float bias;
  Clamp<float> bounds;
  GPUNET_TARGET [[gnu::always_inline]] Vector operator()(Vector v) const {
    return clamp(v + bias, bounds.low, bounds.high);
  }
};

// The second half: rows, and the last step. The elements at y are `row` and `column` apart.
template <class Transform, class Last = AsTransformed>
GPUNET_TARGET [[gnu::always_inline]] inline void transform_rows(const Half<Transform>& half,
                                                                float* y, index_t row,
                                                                index_t column,
                                                                const Last& last = {}) {
#pragma GCC unroll 1
  for (int i = 0; i < Transform::to; ++i, y += row) {
    Vector changed[Transform::to];
    Transform::apply(half[i], changed);
#pragma GCC unroll 8
    for (int j = 0; j < Transform::to; ++j)
      store(y + j * column, last(changed[j]));
  }
}

// A transform of columns and then of rows of vectors. The elements at x and y are `row` and
// `column` apart.
template <class Transform, class Last = AsTransformed>
GPUNET_TARGET inline void transform(const float* x, index_t x_row, index_t x_column, float* y,
                                    index_t y_row, index_t y_column, const Last& last = {}) {
  Half<Transform> half;
#pragma GCC unroll 1
  for (int j = 0; j < Transform::from; ++j, x += x_column) {
    Vector column[Transform::from];
#pragma GCC unroll 8
    for (int i = 0; i < Transform::from; ++i)
      column[i] = load(x + i * x_row);
    transform_column<Transform>(column, half, j);
  }
  transform_rows<Transform>(half, y, y_row, y_column, last);
}

// ---- Products.

// RT rows x NV vectors: c = a b, or c += a b; a [RT][depth], b [depth][NV vectors].
template <int RT, int NV>
GPUNET_TARGET [[gnu::always_inline]] inline void multiply_tile(index_t depth, const float* a,
                                                               index_t a_row, const float* b,
                                                               index_t b_row, float* c,
                                                               index_t c_row,
                                                               Accumulate accumulate) {
  Vector sums[RT][NV] = {};
#pragma GCC unroll 1
  for (index_t k = 0; k < depth; ++k, b += b_row) {
    Vector in[NV];
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v)
      in[v] = load(b + v * lanes);
#pragma GCC unroll 8
    for (int r = 0; r < RT; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < NV; ++v)
        sums[r][v] += a[r * a_row + k] * in[v];
  }
#pragma GCC unroll 8
  for (int r = 0; r < RT; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < NV; ++v) {
      float* to = c + r * c_row + v * lanes;
      store(to, accumulate == Accumulate::yes ? load(to) + sums[r][v] : sums[r][v]);
    }
}

template <int RT>
GPUNET_TARGET inline void multiply_rows(index_t columns, index_t depth, const float* a,
                                        index_t a_row, const float* b, index_t b_row, float* c,
                                        index_t c_row, Accumulate accumulate) {
  index_t j = 0;
  if constexpr (lanes == 16)
    for (; j + 4 * lanes <= columns; j += 4 * lanes)
      multiply_tile<RT, 4>(depth, a, a_row, b + j, b_row, c + j, c_row, accumulate);
  for (; j + 2 * lanes <= columns; j += 2 * lanes)
    multiply_tile<RT, 2>(depth, a, a_row, b + j, b_row, c + j, c_row, accumulate);
  if constexpr (lanes == 16)
    if (j < columns) multiply_tile<RT, 1>(depth, a, a_row, b + j, b_row, c + j, c_row, accumulate);
}

// c [rows][columns] = or += a [rows][depth] b [depth][columns]; rows even and at least 4, columns
// in steps of 16.
GPUNET_TARGET [[gnu::noinline]] inline void multiply(index_t rows, index_t columns, index_t depth,
                                                     const float* a, index_t a_row, const float* b,
                                                     index_t b_row, float* c, index_t c_row,
                                                     Accumulate accumulate) {
  for (index_t rest = rows; rest > 0;) {
    const index_t tile = detail::tile_height(rest);
    if (tile == 6)
      multiply_rows<6>(columns, depth, a, a_row, b, b_row, c, c_row, accumulate);
    else
      multiply_rows<4>(columns, depth, a, a_row, b, b_row, c, c_row, accumulate);
    rest -= tile;
    a += tile * a_row;
    c += tile * c_row;
  }
}

// The side of a transformed tile.
template <index_t Kernel>
inline constexpr int winograd_side = static_cast<int>(Kernel + 3);

// ---- Forward, and the input gradient, which is the same with flipped filters.

// u [points][rows][columns] of the filters of output channels first <= out < last; w as
// WinogradFilters says.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_filters(const WinogradFilters& f, index_t first, index_t last,
                                           float* u) {
  for (index_t in = 0; in < f.in_channels; in += lanes)
    for (index_t out = first; out < last; ++out) {
      float weights[Kernel * Kernel][lanes] = {};
      const index_t count = std::min(lanes, f.in_channels - in);
      for (index_t i = 0; i < count; ++i) {
        const float* w = f.w + out * f.out_step + (in + i) * f.in_step;
        for (index_t tap = 0; tap < Kernel * Kernel; ++tap)
          weights[tap][i] = w[f.turned ? Kernel * Kernel - 1 - tap : tap];
      }
      transform<WinogradFilter<Kernel>>(weights[0], Kernel * lanes, lanes, u + out * f.row() + in,
                                        winograd_side<Kernel> * f.plane(), f.plane());
    }
}

// v = B^T d B of the 16 samples of a tile, of which image is the channel. Elements over the border
// are zero.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_input_of_samples(const Winograd& g, const WinogradTile& tile,
                                                    const float* image, float* v, index_t plane) {
  constexpr int side = winograd_side<Kernel>;
  const index_t row_step = g.rows.dilation, column_step = g.columns.dilation;
  const float zeros[16] = {};
  const index_t top = tile.row - g.rows.padding, left = tile.column - g.columns.padding,
                begin = left + ceil_div(std::max(index_t{0}, -left), column_step) * column_step;
  for (index_t n = 0; n < 16; n += lanes) {
    const float* rows[side];
    index_t steps[side];
#pragma GCC unroll 8
    for (int i = 0; i < side; ++i) {
      const index_t row = top + i * row_step;
      const bool inside = row >= 0 && row < g.rows.size;
      rows[i] = (inside ? image + (row * g.columns.size + begin) * 16 : zeros) + n;
      steps[i] = inside ? column_step * 16 : 0;
    }
    Half<WinogradInput<Kernel>> half;
    index_t at = left;
#pragma GCC unroll 1
    for (int j = 0; j < side; ++j, at += column_step) {
      Vector column[side] = {};
      if (at >= 0 && at < g.columns.size) {
#pragma GCC unroll 8
        for (int i = 0; i < side; ++i) {
          column[i] = load(rows[i]);
          rows[i] += steps[i];
        }
      }
      transform_column<WinogradInput<Kernel>>(column, half, j);
    }
    transform_rows<WinogradInput<Kernel>>(half, v + n, side * plane, plane);
  }
}

// The same of 16 tiles of single samples; channel is that of the first image of x.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_input_of_tiles(const Winograd& g, const WinogradTile* tiles,
                                                  const float* channel, float* v, index_t plane) {
  constexpr int side = winograd_side<Kernel>;
  const index_t row_step = g.rows.dilation, column_step = g.columns.dilation,
                width = g.columns.size;
  float pixels[side][8][16];  // [row][column][tile]
  float rows[side][16][8] = {};
  for (int t = 0; t < 16; ++t) {
    const WinogradTile& tile = tiles[t];
    if (tile.rows == 0) continue;
    const index_t top = tile.row - g.rows.padding, left = tile.column - g.columns.padding;
    const float* image = channel + tile.group * g.in_channels * g.rows.size * width;
    const bool whole = column_step == 1 && left >= 0 && left + side <= width;
    for (int i = 0; i < side; ++i) {
      const index_t row = top + i * row_step;
      if (row < 0 || row >= g.rows.size) continue;
      const float* from = image + row * width;
      if (whole)
        __builtin_memcpy(rows[i][t], from + left, side * sizeof(float));
      else
        for (int j = 0; j < side; ++j)
          if (const index_t column = left + j * column_step; column >= 0 && column < width)
            rows[i][t][j] = from[column];
    }
  }
  for (int i = 0; i < side; ++i)
    for (int t = 0; t < 16; t += 4)
      for (int j = 0; j < 8; j += 4)
        detail::transpose_block(rows[i][t] + j, 8, pixels[i][j] + t, 16);
  for (index_t n = 0; n < 16; n += lanes)
    transform<WinogradInput<Kernel>>(pixels[0][0] + n, 8 * 16, 16, v + n, side * plane, plane);
}

// v [points][channel][vector][16] = B^T d B of the tiles of a block, for channels
// first <= channel < last of x.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_inputs(const Winograd& g, const WinogradBlock& block,
                                          const float* x, index_t first, index_t last, float* v,
                                          index_t plane) {
  const index_t size = g.rows.size * g.columns.size * g.inner;
  for (index_t channel = first; channel < last; ++channel)
    for (index_t t = 0; t < block.count; ++t) {
      float* to = v + ((channel - first) * WinogradBlock::vectors + t) * 16;
      if (g.inner == 1)
        winograd_input_of_tiles<Kernel>(g, block.tiles + t * 16, x + channel * size, to, plane);
      else
        winograd_input_of_samples<Kernel>(
            g, block.tiles[t], x + (block.tiles[t].group * g.in_channels + channel) * size, to,
            plane);
    }
}

// y = clamp(A^T m A + bias) of one tile of 16 samples, as much of it as lies inside.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_output_of_samples(const Winograd& g, const WinogradTile& tile,
                                                     const float* m, index_t plane,
                                                     const WithBias& last, float* y) {
  float inside[16 * 16];
  const bool whole = tile.rows == 4 && tile.columns == 4;
  const index_t row = g.row_step(), column = g.column_step();
  for (index_t n = 0; n < 16; n += lanes)
    transform<WinogradOutput<Kernel>>(m + n, winograd_side<Kernel> * plane, plane,
                                      (whole ? y : inside) + n, whole ? row : 64,
                                      whole ? column : 16, last);
  if (whole) return;
  for (index_t i = 0; i < tile.rows; ++i)
    for (index_t j = 0; j < tile.columns; ++j)
      for (index_t n = 0; n < 16; n += lanes)
        store(y + i * row + j * column + n, load(inside + i * 64 + j * 16 + n));
}

// The same of a channel of 16 tiles of single samples.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_output_of_tiles(const Winograd& g, const WinogradTile* tiles,
                                                   index_t channel, const float* m, index_t plane,
                                                   const WithBias& last, float* y) {
  float pixels[4][4][16], rows[4][16][4];  // [row][column][tile], [row][tile][column]
  for (index_t n = 0; n < 16; n += lanes)
    transform<WinogradOutput<Kernel>>(m + n, winograd_side<Kernel> * plane, plane, pixels[0][0] + n,
                                      64, 16, last);
  for (int i = 0; i < 4; ++i)
    for (int t = 0; t < 16; t += 4)
      detail::transpose_block(pixels[i][0] + t, 16, rows[i][t], 4);
  const index_t row = g.row_step(), column = g.column_step();
  for (int t = 0; t < 16; ++t) {
    const WinogradTile& tile = tiles[t];
    float* to = y + g.place(tile, channel);
    for (index_t i = 0; i < tile.rows; ++i, to += row)
      if (tile.columns == 4 && column == 1)
        __builtin_memcpy(to, rows[i][t], sizeof rows[i][t]);
      else
        for (index_t j = 0; j < tile.columns; ++j)
          to[j * column] = rows[i][t][j];
  }
}

// Fetches the memory of a tile of outputs of 16 samples.
GPUNET_TARGET [[gnu::always_inline]] inline void prefetch_tile(const Winograd& g,
                                                               const WinogradTile& tile,
                                                               const float* y) {
  for (index_t i = 0; i < tile.rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      __builtin_prefetch(y + i * g.row_step() + j * g.column_step(), 1);
}

// y of the tiles of a block, all output channels: all steps.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_forward(const Winograd& g, const WinogradBlock& block,
                                           const float* x, const WinogradFilters& filters,
                                           const float* u, OptionalArray<const float> bias,
                                           const Clamp<float>& bounds, float* y, float* scratch) {
  constexpr index_t points = winograd_side<Kernel> * winograd_side<Kernel>;
  float* v = scratch;
  const index_t v_plane = Winograd::plane(g.in_channels),
                m_plane = Winograd::plane(Winograd::channel_block);
  float* m = v + points * v_plane;
  winograd_inputs<Kernel>(g, block, x, 0, g.in_channels, v, v_plane);
  for (index_t first = 0; first < g.out_channels; first += Winograd::channel_block) {
    const index_t channels = std::min(Winograd::channel_block, g.out_channels - first);
    for (index_t k = 0; k < points; ++k)
      multiply(detail::tile_rows(channels), block.count * 16, g.in_channels,
               u + k * filters.plane() + first * filters.row(), filters.row(), v + k * v_plane,
               Winograd::matrix_columns, m + k * m_plane, Winograd::matrix_columns, Accumulate::no);
    for (index_t channel = 0; channel < channels; ++channel)
      for (index_t t = 0; t < block.count; ++t) {
        const float* from = m + (channel * WinogradBlock::vectors + t) * 16;
        const WithBias last{bias[first + channel], bounds};
        if (g.inner == 1) {
          winograd_output_of_tiles<Kernel>(g, block.tiles + t * 16, first + channel, from, m_plane,
                                           last, y);
          continue;
        }
        const WinogradTile& tile = block.tiles[t];
        float* to = y + g.place(tile, first + channel);
        if (channel + 1 < channels)
          prefetch_tile(g, tile, to + g.rows.outputs * g.columns.outputs * 16);
        winograd_output_of_samples<Kernel>(g, tile, from, m_plane, last, to);
      }
  }
}

// ---- The weight gradient.

// turned [4 x 4][sample][channel] = dy of a tile of 16 samples, for 16 channels or fewer from
// `channel` on; 0 outside the image.
GPUNET_TARGET inline void winograd_turn_samples(const Winograd& g, const WinogradTile& tile,
                                                const float* dy, index_t channel, index_t channels,
                                                float (&turned)[16][16][16]) {
  if (tile.rows < 4 || tile.columns < 4) std::fill_n(turned[0][0], 16 * 256, 0.0f);
  const float* image = dy + g.place(tile, channel);
  for (index_t i = 0; i < tile.rows; ++i)
    for (index_t j = 0; j < tile.columns; ++j)
      detail::transpose_channels(channels, g.rows.outputs * g.columns.outputs * 16,
                                 image + i * g.row_step() + j * g.column_step(),
                                 turned[4 * i + j][0], 16);
}

// turned [4 x 4][tile][channel], the same of 16 tiles of single samples.
GPUNET_TARGET inline void winograd_turn_tiles(const Winograd& g, const WinogradTile* tiles,
                                              const float* dy, index_t channel, index_t channels,
                                              float (&turned)[16][16][16]) {
  const index_t size = g.rows.outputs * g.columns.outputs, column = g.column_step();
  for (int t = 0; t < 16; ++t) {
    const WinogradTile& tile = tiles[t];
    const float* image = dy + g.place(tile, channel);
    for (index_t i = 0; i < 4; ++i) {
      float rows[16][4] = {};  // [channel][column]
      for (index_t c = 0; i < tile.rows && c < channels; ++c) {
        const float* from = image + c * size + i * g.row_step();
        if (tile.columns == 4 && column == 1)
          __builtin_memcpy(rows[c], from, sizeof rows[c]);
        else
          for (index_t j = 0; j < tile.columns; ++j)
            rows[c][j] = from[j * column];
      }
      for (int c = 0; c < 16; c += 4)
        detail::transpose_block(rows[c], 4, turned[4 * i][t] + c, 256);
    }
  }
}

// m [points][vector, sample or tile][channel] = A dy A^T of the tiles of a block, for channels
// first <= channel < last of dy, transposed so that vectors run over channels. Samples and tiles
// are `row` apart.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_output_gradients(const Winograd& g, const WinogradBlock& block,
                                                    const float* dy, index_t first, index_t last,
                                                    float* m, index_t plane, index_t row) {
  float turned[16][16][16];
  for (index_t channel = first; channel < last; channel += 16, m += 16)
    for (index_t t = 0; t < block.count; ++t) {
      const index_t channels = std::min(index_t{16}, last - channel);
      if (g.inner == 1)
        winograd_turn_tiles(g, block.tiles + t * 16, dy, channel, channels, turned);
      else
        winograd_turn_samples(g, block.tiles[t], dy, channel, channels, turned);
      for (index_t n = 0; n < 16; ++n)
        for (index_t c = 0; c < 16; c += lanes)
          transform<WinogradOutputGradient<Kernel>>(turned[0][n] + c, 4 * 256, 256,
                                                    m + (t * 16 + n) * row + c,
                                                    winograd_side<Kernel> * plane, plane);
    }
}

// dw from du [points][in][out] of the channels of a task.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_store_gradients(const Winograd& g, const WinogradTask& task,
                                                   const float* du, float* dw,
                                                   Accumulate accumulate) {
  const index_t row = task.columns(), plane = task.gradient_plane();
  for (index_t in = task.first_in; in < task.last_in; ++in)
    for (index_t out = task.first_out; out < task.last_out; out += lanes) {
      float taps[Kernel * Kernel][lanes];
      transform<WinogradFilterGradient<Kernel>>(
          du + (in - task.first_in) * row + out - task.first_out, winograd_side<Kernel> * plane,
          plane, taps[0], Kernel * lanes, lanes);
      for (index_t o = 0; o < std::min(lanes, task.last_out - out); ++o)
        for (index_t tap = 0; tap < Kernel * Kernel; ++tap)
          store_gradient(dw[((out + o) * g.in_channels + in) * (Kernel * Kernel) + tap],
                         taps[tap][o], accumulate);
    }
}

// dw between the input and output channels of a task, from all tiles in their order.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_gradients(const Winograd& g, const WinogradTask& task,
                                             const float* x, const float* dy, float* dw,
                                             Accumulate accumulate, float* scratch) {
  const index_t ins = task.ins(), outs = task.columns();
  const index_t v_plane = Winograd::plane(ins), m_plane = task.output_plane();
  constexpr index_t points = winograd_side<Kernel> * winograd_side<Kernel>;
  float *v = scratch, *m = v + points * v_plane, *du = m + points * m_plane;
  for (index_t i = 0; i < g.blocks(); ++i) {
    const WinogradBlock block = g.block(i);
    winograd_inputs<Kernel>(g, block, x, task.first_in, task.last_in, v, v_plane);
    winograd_output_gradients<Kernel>(g, block, dy, task.first_out, task.last_out, m, m_plane,
                                      outs);
    for (index_t k = 0; k < points; ++k)
      multiply(detail::tile_rows(ins), outs, block.count * 16, v + k * v_plane,
               Winograd::matrix_columns, m + k * m_plane, outs, du + k * task.gradient_plane(),
               outs, i > 0 ? Accumulate::yes : Accumulate::no);
  }
  winograd_store_gradients<Kernel>(g, task, du, dw, accumulate);
}

}  // namespace gpunet::GPUNET_PATH
