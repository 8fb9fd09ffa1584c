// Winograd's convolution F(4x4, 3x3) of floats, one vector path; see device/host/each_path.inl and
// conv2d_winograd.host.hpp. A vector holds samples: every transform is plain arithmetic on vectors, and the products
// of a block of tiles are 36 small matrix products. Matrices of B, G and A: Lavin and Gray, "Fast algorithms for
// convolutional neural networks", 2015.

namespace gpunet::GPUNET_PATH {

// ---- The transforms of one row or column; elements are `from` and `to` apart.

// B^T: six inputs.
template <int from, int to>
GPUNET_TARGET [[gnu::always_inline]] inline void winograd_input(const Vector* d, Vector* v) {
  const Vector a = d[0], b = d[from], c = d[2 * from], e = d[3 * from], f = d[4 * from], h = d[5 * from];
  const Vector even = f - 4 * c, odd = e - 4 * b, outer = f - c, inner = 2 * (e - b);
  v[0] = 4 * a - 5 * c + f;
  v[to] = even + odd;
  v[2 * to] = even - odd;
  v[3 * to] = outer + inner;
  v[4 * to] = outer - inner;
  v[5 * to] = 4 * b - 5 * e + h;
}

// G: three weights.
template <int from, int to>
GPUNET_TARGET [[gnu::always_inline]] inline void winograd_filter(const Vector* g, Vector* u) {
  const Vector a = g[0], b = g[from], c = g[2 * from];
  const Vector near = (a + c) * (-1.0f / 6), near_b = b * (1.0f / 6);
  const Vector far = a * (1.0f / 24) + c * (1.0f / 6), far_b = b * (1.0f / 12);
  u[0] = a * 0.25f;
  u[to] = near - near_b;
  u[2 * to] = near + near_b;
  u[3 * to] = far + far_b;
  u[4 * to] = far - far_b;
  u[5 * to] = c;
}

// A^T: six products to four outputs.
template <int from, int to>
GPUNET_TARGET [[gnu::always_inline]] inline void winograd_output(const Vector* m, Vector* y) {
  const Vector sum_near = m[from] + m[2 * from], near = m[from] - m[2 * from];
  const Vector sum_far = m[3 * from] + m[4 * from], far = m[3 * from] - m[4 * from];
  y[0] = m[0] + sum_near + sum_far;
  y[to] = near + 2 * far;
  y[2 * to] = sum_near + 4 * sum_far;
  y[3 * to] = near + 8 * far + m[5 * from];
}

// A: four output gradients.
template <int from, int to>
GPUNET_TARGET [[gnu::always_inline]] inline void winograd_output_gradient(const Vector* d, Vector* m) {
  const Vector a = d[0], b = d[from], c = d[2 * from], e = d[3 * from];
  const Vector near = a + c, near_odd = b + e, far = a + 4 * c, far_odd = 2 * b + 8 * e;
  m[0] = a;
  m[to] = near + near_odd;
  m[2 * to] = near - near_odd;
  m[3 * to] = far + far_odd;
  m[4 * to] = far - far_odd;
  m[5 * to] = e;
}

// G^T: six filter gradients to three.
template <int from, int to>
GPUNET_TARGET [[gnu::always_inline]] inline void winograd_filter_gradient(const Vector* u, Vector* g) {
  const Vector sum_near = (u[from] + u[2 * from]) * (-1.0f / 6), near = (u[2 * from] - u[from]) * (1.0f / 6);
  const Vector sum_far = u[3 * from] + u[4 * from], far = u[3 * from] - u[4 * from];
  g[0] = u[0] * 0.25f + sum_near + sum_far * (1.0f / 24);
  g[to] = near + far * (1.0f / 12);
  g[2 * to] = sum_near + sum_far * (1.0f / 6) + u[5 * from];
}

// ---- Products.

// RT rows x NV vectors: c = a b, or c += a b; a [RT][depth], b [depth][NV vectors].
template <int RT, int NV>
GPUNET_TARGET [[gnu::always_inline]] inline void multiply_tile(index_t depth, const float* a, index_t a_row,
                                                               const float* b, index_t b_row, float* c,
                                                               index_t c_row, Accumulate accumulate) {
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
GPUNET_TARGET inline void multiply_rows(index_t columns, index_t depth, const float* a, index_t a_row,
                                        const float* b, index_t b_row, float* c, index_t c_row,
                                        Accumulate accumulate) {
  index_t j = 0;
  if constexpr (lanes == 16)
    for (; j + 4 * lanes <= columns; j += 4 * lanes)
      multiply_tile<RT, 4>(depth, a, a_row, b + j, b_row, c + j, c_row, accumulate);
  for (; j < columns; j += 2 * lanes)
    multiply_tile<RT, 2>(depth, a, a_row, b + j, b_row, c + j, c_row, accumulate);
}

// c [rows][columns] = or += a [rows][depth] b [depth][columns]; rows even and at least 4, columns in steps of 32.
GPUNET_TARGET inline void multiply(index_t rows, index_t columns, index_t depth, const float* a, index_t a_row,
                                   const float* b, index_t b_row, float* c, index_t c_row, Accumulate accumulate) {
  for (index_t rest = rows; rest > 0;) {
    const index_t tile = rest == 4 || rest == 8 ? 4 : 6;
    if (tile == 6)
      multiply_rows<6>(columns, depth, a, a_row, b, b_row, c, c_row, accumulate);
    else
      multiply_rows<4>(columns, depth, a, a_row, b, b_row, c, c_row, accumulate);
    rest -= tile;
    a += tile * a_row;
    c += tile * c_row;
  }
}

// ---- Forward, and the input gradient, which is the same with turned filters.

// u [36][rows][columns] of the filters of output channels first <= out < last; w as WinogradFilters says.
GPUNET_TARGET inline void winograd_filters(const WinogradFilters& f, index_t first, index_t last, float* u) {
  for (index_t out = first; out < last; ++out)
    for (index_t in = 0; in < f.in_channels; in += lanes) {
      float weights[9][lanes] = {};
      const index_t count = std::min(lanes, f.in_channels - in);
      for (index_t i = 0; i < count; ++i) {
        const float* w = f.w + out * f.out_step + (in + i) * f.in_step;
        for (index_t tap = 0; tap < 9; ++tap)
          weights[tap][i] = w[f.turned ? 8 - tap : tap];
      }
      Vector g[9], half[18], whole[36];
#pragma GCC unroll 9
      for (int tap = 0; tap < 9; ++tap)
        g[tap] = load(weights[tap]);
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j)
        winograd_filter<3, 3>(g + j, half + j);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i)
        winograd_filter<1, 1>(half + 3 * i, whole + 6 * i);
#pragma GCC unroll 36
      for (int k = 0; k < 36; ++k)
        store(u + k * f.plane() + out * f.row() + in, whole[k]);
    }
}

// v [k * plane] = B^T d B of the 6 x 6 inputs at d, whose rows are `row` apart.
GPUNET_TARGET inline void winograd_input_tile(const float* d, index_t row, float* v, index_t plane) {
  for (index_t n = 0; n < 16; n += lanes) {
    Vector half[36];
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      Vector column[6];
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i)
        column[i] = load(d + i * row + j * 16 + n);
      winograd_input<1, 6>(column, half + j);
    }
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) {
      Vector whole[6];
      winograd_input<1, 1>(half + 6 * i, whole);
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j)
        store(v + (6 * i + j) * plane + n, whole[j]);
    }
  }
}

// v [36][channel][position][16] of the tiles of a block, for channels first <= channel < last of x.
GPUNET_TARGET inline void winograd_inputs(const Winograd& g, const WinogradBlock& block, const float* x,
                                          index_t first, index_t last, float* v, index_t plane) {
  float frames[Winograd::block][36 * 16] = {};  // of tiles that reach over the border; zero outside
  for (index_t channel = first; channel < last; ++channel, v += Winograd::columns)
    for (index_t t = 0; t < block.count; ++t) {
      const WinogradTile tile = g.tile(block.first + t);
      const index_t top = tile.row - g.padding, left = tile.column - g.padding;
      const float* image = x + (tile.group * g.in_channels + channel) * g.height * g.width * 16;
      const index_t row = g.width * 16;
      if (top >= 0 && left >= 0 && top + 6 <= g.height && left + 6 <= g.width) {
        winograd_input_tile(image + (top * g.width + left) * 16, row, v + t * 16, plane);
        continue;
      }
      const index_t begin = std::max(index_t{0}, left), end = std::min(g.width, left + 6);
      for (index_t y = std::max(index_t{0}, top); y < std::min(g.height, top + 6); ++y)
        for (index_t i = begin * 16; i < end * 16; i += lanes)
          store(frames[t] + ((y - top) * 6 - left) * 16 + i, load(image + y * row + i));
      winograd_input_tile(frames[t], 6 * 16, v + t * 16, plane);
    }
}

// y = A^T m A + bias of one tile, as much of it as lies inside.
GPUNET_TARGET inline void winograd_output_tile(const float* m, index_t plane, float bias, float* y, index_t row,
                                               index_t rows, index_t columns) {
  for (index_t n = 0; n < 16; n += lanes) {
    Vector half[24], whole[16];
#pragma GCC unroll 6
    for (int j = 0; j < 6; ++j) {
      Vector column[6];
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i)
        column[i] = load(m + (6 * i + j) * plane + n);
      winograd_output<1, 6>(column, half + j);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
      winograd_output<1, 1>(half + 6 * i, whole + 4 * i);
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j)
        if (i < rows && j < columns) store(y + i * row + j * 16 + n, whole[4 * i + j] + bias);
  }
}

// y of the tiles of a block, all output channels: the whole way. bias may be null.
GPUNET_TARGET inline void winograd_forward(const Winograd& g, const WinogradBlock& block, const float* x,
                                           const WinogradFilters& filters, const float* u, const float* bias,
                                           float* y, float* scratch) {
  float* v = scratch;
  const index_t v_plane = Winograd::plane(g.in_channels), m_plane = Winograd::plane(Winograd::channel_block);
  float* m = v + 36 * v_plane;
  winograd_inputs(g, block, x, 0, g.in_channels, v, v_plane);
  for (index_t first = 0; first < g.out_channels; first += Winograd::channel_block) {
    const index_t channels = std::min(Winograd::channel_block, g.out_channels - first);
    for (index_t k = 0; k < 36; ++k)
      multiply(Winograd::rows(channels), Winograd::columns, g.in_channels,
               u + k * filters.plane() + first * filters.row(), filters.row(), v + k * v_plane, Winograd::columns,
               m + k * m_plane, Winograd::columns, Accumulate::no);
    for (index_t channel = 0; channel < channels; ++channel)
      for (index_t t = 0; t < block.count; ++t) {
        const WinogradTile tile = g.tile(block.first + t);
        const index_t image = (tile.group * g.out_channels + first + channel) * g.out_height;
        winograd_output_tile(m + (channel * Winograd::block + t) * 16, m_plane, bias ? bias[first + channel] : 0.0f,
                             y + ((image + tile.row) * g.out_width + tile.column) * 16, g.out_width * 16,
                             g.out_height - tile.row, g.out_width - tile.column);
      }
  }
}

// ---- The weight gradient.

// m [36][column][channel] = A dy A^T of 16 channels of one tile, transposed so that vectors run over channels; adds
// the tile's dy to sums [16]. The columns are the tile's samples, `row` apart.
GPUNET_TARGET inline void winograd_output_gradient_tile(const float* dy, float* m, index_t plane, index_t row,
                                                        float* sums) {
  for (index_t n = 0; n < 16; ++n)
    for (index_t channel = 0; channel < 16; channel += lanes) {
      Vector half[24];
      Vector total{};
#pragma GCC unroll 4
      for (int j = 0; j < 4; ++j) {
        Vector column[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
          column[i] = load(dy + (4 * i + j) * 256 + n * 16 + channel);
        total += (column[0] + column[1]) + (column[2] + column[3]);
        winograd_output_gradient<1, 4>(column, half + j);
      }
      store(sums + channel, load(sums + channel) + total);
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) {
        Vector whole[6];
        winograd_output_gradient<1, 1>(half + 4 * i, whole);
#pragma GCC unroll 6
        for (int j = 0; j < 6; ++j)
          store(m + (6 * i + j) * plane + n * row + channel, whole[j]);
      }
    }
}

// m [36][position, sample][channel] of the tiles of a block, for channels first <= channel < last of dy.
GPUNET_TARGET inline void winograd_output_gradients(const Winograd& g, const WinogradBlock& block, const float* dy,
                                                    index_t first, index_t last, float* m, index_t plane,
                                                    index_t row, float* sums) {
  for (index_t channel = first; channel < last; channel += 16, m += 16, sums += 16)
    for (index_t t = 0; t < Winograd::block; ++t) {
      float turned[16][16][16] = {};  // [4 x 4][sample][channel]
      float tile_sums[16] = {};
      if (t < block.count) {
        const WinogradTile tile = g.tile(block.first + t);
        const index_t channels = std::min(index_t{16}, last - channel), size = g.out_height * g.out_width * 16;
        const float* image = dy + (tile.group * g.out_channels + channel) * size;
        for (index_t i = 0; i < std::min(index_t{4}, g.out_height - tile.row); ++i)
          for (index_t j = 0; j < std::min(index_t{4}, g.out_width - tile.column); ++j) {
            const float* from = image + ((tile.row + i) * g.out_width + tile.column + j) * 16;
            index_t c = 0;
            for (; c + 4 <= channels; c += 4)
              for (index_t n = 0; n < 16; n += 4)
                detail::transpose_block(from + c * size + n, size, &turned[4 * i + j][n][c], 16);
            for (; c < channels; ++c)
              for (index_t n = 0; n < 16; ++n)
                turned[4 * i + j][n][c] = from[c * size + n];
          }
      }
      winograd_output_gradient_tile(turned[0][0], m + t * 16 * row, plane, row, tile_sums);
      for (index_t c = 0; c < 16; c += lanes)
        store(sums + c, load(sums + c) + load(tile_sums + c));
    }
}

// dw and db from du [36][in][out] of the channels of a task.
GPUNET_TARGET inline void winograd_store_gradients(const Winograd& g, const WinogradTask& task, const float* du,
                                                   const float* sums, float* dw, float* db, Accumulate accumulate) {
  const index_t row = Winograd::columns_of(task.last_out - task.first_out), plane = task.gradient_plane();
  for (index_t in = task.first_in; in < task.last_in; ++in)
    for (index_t out = task.first_out; out < task.last_out; out += lanes) {
      Vector u[36], half[18];
      float taps[9][lanes];
#pragma GCC unroll 36
      for (int k = 0; k < 36; ++k)
        u[k] = load(du + k * plane + (in - task.first_in) * row + out - task.first_out);
#pragma GCC unroll 6
      for (int j = 0; j < 6; ++j)
        winograd_filter_gradient<6, 6>(u + j, half + j);
#pragma GCC unroll 3
      for (int i = 0; i < 3; ++i) {
        Vector whole[3];
        winograd_filter_gradient<1, 1>(half + 6 * i, whole);
#pragma GCC unroll 3
        for (int j = 0; j < 3; ++j)
          store(taps[3 * i + j], whole[j]);
      }
      for (index_t o = 0; o < std::min(lanes, task.last_out - out); ++o)
        for (index_t tap = 0; tap < 9; ++tap)
          store_gradient(dw[((out + o) * g.in_channels + in) * 9 + tap], taps[tap][o], accumulate);
    }
  if (task.first_in == 0)
    for (index_t out = task.first_out; out < task.last_out; ++out)
      store_gradient(db[out], sums[out - task.first_out], accumulate);
}

// dw between the input and output channels of a task, from all tiles in their order; db with the first inputs.
GPUNET_TARGET inline void winograd_gradients(const Winograd& g, const WinogradTask& task, const float* x,
                                             const float* dy, float* dw, float* db, Accumulate accumulate,
                                             float* scratch) {
  const index_t ins = task.last_in - task.first_in, outs = Winograd::columns_of(task.last_out - task.first_out);
  const index_t v_plane = Winograd::plane(ins), m_plane = task.output_plane();
  float *v = scratch, *m = v + 36 * v_plane, *du = m + 36 * m_plane, *sums = du + 36 * task.gradient_plane();
  std::fill_n(sums, outs, 0.0f);
  for (index_t first = 0; first < g.positions(); first += Winograd::block) {
    const WinogradBlock block = g.at(first);
    winograd_inputs(g, block, x, task.first_in, task.last_in, v, v_plane);
    winograd_output_gradients(g, block, dy, task.first_out, task.last_out, m, m_plane, outs, sums);
    for (index_t k = 0; k < 36; ++k)
      multiply(Winograd::rows(ins), outs, block.count * 16, v + k * v_plane, Winograd::columns, m + k * m_plane,
               outs, du + k * task.gradient_plane(), outs, first > 0 ? Accumulate::yes : Accumulate::no);
  }
  winograd_store_gradients(g, task, du, sums, dw, db, accumulate);
}

}  // namespace gpunet::GPUNET_PATH
