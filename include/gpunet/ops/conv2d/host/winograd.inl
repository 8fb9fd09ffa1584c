// Winograd's convolution F(4x4, 3x3) or F(4x4, 5x5) of floats, one vector path; see device/host/each_path.inl and
// conv2d_winograd.host.hpp. A vector holds samples: every transform is plain arithmetic on vectors, and the products
// of a block of tiles are small matrix products, one for each of the `points`.

namespace gpunet::GPUNET_PATH {

// The side of a transformed tile.
template <index_t Kernel>
inline constexpr int winograd_side = static_cast<int>(Kernel + 3);

// ---- Forward, and the input gradient, which is the same with turned filters.

// u [points][rows][columns] of the filters of output channels first <= out < last; w as WinogradFilters says.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_filters(const WinogradFilters& f, index_t first, index_t last, float* u) {
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

// v [points][channel][tile][16] = B^T d B of the tiles of a block, for channels first <= channel < last of x. What lies
// over the border is zero.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_inputs(const Winograd& g, const WinogradBlock& block, const float* x,
                                          index_t first, index_t last, float* v, index_t plane) {
  constexpr int side = winograd_side<Kernel>;
  const float zeros[side * 16] = {};
  for (index_t channel = first; channel < last; ++channel)
    for (index_t t = 0; t < block.count; ++t) {
      const WinogradTile& tile = block.tiles[t];
      const index_t top = tile.row - g.padding, left = tile.column - g.padding, begin = std::max(index_t{0}, left);
      const float* image = x + ((tile.group * g.in_channels + channel) * g.height * g.width + begin) * 16;
      for (index_t n = 0; n < 16; n += lanes) {
        const float* rows[side];
#pragma GCC unroll 8
        for (int i = 0; i < side; ++i)
          rows[i] = (top + i >= 0 && top + i < g.height ? image + (top + i) * g.width * 16 : zeros) + n;
        Half<WinogradInput<Kernel>> half;
        index_t at = 0;
#pragma GCC unroll 1
        for (int j = 0; j < side; ++j) {
          Vector column[side] = {};
          if (left + j >= 0 && left + j < g.width) {
#pragma GCC unroll 8
            for (int i = 0; i < side; ++i)
              column[i] = load(rows[i] + at);
            at += 16;
          }
          transform_column<WinogradInput<Kernel>>(column, half, j);
        }
        float* to = v + ((channel - first) * WinogradBlock::size + t) * 16 + n;
        transform_rows<WinogradInput<Kernel>>(half, to, side * plane, plane);
      }
    }
}

// y = A^T m A + bias of one tile, as much of it as lies inside.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_output_tile(const float* m, index_t plane, float bias, float* y, index_t row,
                                               index_t rows, index_t columns) {
  float inside[16 * 16];
  const bool whole = rows >= 4 && columns >= 4;
  for (index_t n = 0; n < 16; n += lanes)
    transform<WinogradOutput<Kernel>>(m + n, winograd_side<Kernel> * plane, plane, (whole ? y : inside) + n,
                                      whole ? row : 64, 16, bias);
  if (whole) return;
  for (index_t i = 0; i < std::min(rows, index_t{4}); ++i)
    for (index_t j = 0; j < std::min(columns, index_t{4}) * 16; j += lanes)
      store(y + i * row + j, load(inside + i * 64 + j));
}

// Fetches what a tile of outputs will be written over.
GPUNET_TARGET [[gnu::always_inline]] inline void prefetch_tile(const float* y, index_t row, index_t rows) {
  for (index_t i = 0; i < std::min(rows, index_t{4}); ++i)
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
      __builtin_prefetch(y + i * row + j * 16, 1);
}

// y of the tiles of a block, all output channels: the whole way. bias may be null.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_forward(const Winograd& g, const WinogradBlock& block, const float* x,
                                           const WinogradFilters& filters, const float* u, const float* bias,
                                           float* y, float* scratch) {
  constexpr index_t points = winograd_side<Kernel> * winograd_side<Kernel>;
  float* v = scratch;
  const index_t v_plane = Winograd::plane(g.in_channels), m_plane = Winograd::plane(Winograd::channel_block);
  float* m = v + points * v_plane;
  winograd_inputs<Kernel>(g, block, x, 0, g.in_channels, v, v_plane);
  for (index_t first = 0; first < g.out_channels; first += Winograd::channel_block) {
    const index_t channels = std::min(Winograd::channel_block, g.out_channels - first);
    for (index_t k = 0; k < points; ++k)
      multiply(detail::tile_rows(channels), block.count * 16, g.in_channels,
               u + k * filters.plane() + first * filters.row(), filters.row(), v + k * v_plane, Winograd::columns,
               m + k * m_plane, Winograd::columns, Accumulate::no);
    for (index_t channel = 0; channel < channels; ++channel)
      for (index_t t = 0; t < block.count; ++t) {
        const WinogradTile& tile = block.tiles[t];
        const index_t image = (tile.group * g.out_channels + first + channel) * g.out_height,
                      row = g.out_width * 16;
        const index_t rows = g.out_height - tile.row, columns = g.out_width - tile.column;
        float* to = y + (image + tile.row) * row + tile.column * 16;
        if (channel + 1 < channels) prefetch_tile(to + g.out_height * row, row, rows);
        winograd_output_tile<Kernel>(m + (channel * WinogradBlock::size + t) * 16, m_plane,
                                     bias ? bias[first + channel] : 0.0f, to, row, rows, columns);
      }
  }
}

// ---- The weight gradient.

// m [points][tile, sample][channel] = A dy A^T of the tiles of a block, for channels first <= channel < last of dy,
// transposed so that vectors run over channels. Tiles and samples are `row` apart.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_output_gradients(const Winograd& g, const WinogradBlock& block, const float* dy,
                                                    index_t first, index_t last, float* m, index_t plane,
                                                    index_t row) {
  float turned[16][16][16];  // [4 x 4][sample][channel]
  for (index_t channel = first; channel < last; channel += 16, m += 16)
    for (index_t t = 0; t < block.count; ++t) {
      const WinogradTile& tile = block.tiles[t];
      const index_t rows = std::min(index_t{4}, g.out_height - tile.row);
      const index_t columns = std::min(index_t{4}, g.out_width - tile.column);
      if (rows < 4 || columns < 4) std::fill_n(turned[0][0], 16 * 256, 0.0f);
      const index_t size = g.out_height * g.out_width * 16;
      const float* image = dy + (tile.group * g.out_channels + channel) * size;
      for (index_t i = 0; i < rows; ++i)
        for (index_t j = 0; j < columns; ++j)
          detail::transpose_channels(std::min(index_t{16}, last - channel), size,
                                     image + ((tile.row + i) * g.out_width + tile.column + j) * 16,
                                     turned[4 * i + j][0], 16);
      for (index_t n = 0; n < 16; ++n)
        for (index_t c = 0; c < 16; c += lanes)
          transform<WinogradOutputGradient<Kernel>>(turned[0][n] + c, 4 * 256, 256, m + (t * 16 + n) * row + c,
                                                    winograd_side<Kernel> * plane, plane);
    }
}

// sums [outs] += the bias gradient of `count` tiles and samples: at the points 1 and 1, m is the sum of a tile.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_add_bias(const float* m, index_t plane, index_t count, index_t outs,
                                            float* sums) {
  m += (winograd_side<Kernel> + 1) * plane;
  for (index_t out = 0; out < outs; out += lanes) {
    Vector sum = load(sums + out);
    for (index_t i = 0; i < count; ++i)
      sum += load(m + i * outs + out);
    store(sums + out, sum);
  }
}

// dw and db from du [points][in][out] of the channels of a task.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_store_gradients(const Winograd& g, const WinogradTask& task, const float* du,
                                                   const float* sums, float* dw, float* db, Accumulate accumulate) {
  const index_t row = task.columns(), plane = task.gradient_plane();
  for (index_t in = task.first_in; in < task.last_in; ++in)
    for (index_t out = task.first_out; out < task.last_out; out += lanes) {
      float taps[Kernel * Kernel][lanes];
      transform<WinogradFilterGradient<Kernel>>(du + (in - task.first_in) * row + out - task.first_out,
                                                winograd_side<Kernel> * plane, plane, taps[0], Kernel * lanes,
                                                lanes);
      for (index_t o = 0; o < std::min(lanes, task.last_out - out); ++o)
        for (index_t tap = 0; tap < Kernel * Kernel; ++tap)
          store_gradient(dw[((out + o) * g.in_channels + in) * (Kernel * Kernel) + tap], taps[tap][o], accumulate);
    }
  if (task.first_in == 0)
    for (index_t out = task.first_out; out < task.last_out; ++out)
      store_gradient(db[out], sums[out - task.first_out], accumulate);
}

// dw between the input and output channels of a task, from all tiles in their order; db with the first inputs.
template <index_t Kernel>
GPUNET_TARGET inline void winograd_gradients(const Winograd& g, const WinogradTask& task, const float* x,
                                             const float* dy, float* dw, float* db, Accumulate accumulate,
                                             float* scratch) {
  const index_t ins = task.ins(), outs = task.columns();
  const index_t v_plane = Winograd::plane(ins), m_plane = task.output_plane();
  constexpr index_t points = winograd_side<Kernel> * winograd_side<Kernel>;
  float *v = scratch, *m = v + points * v_plane, *du = m + points * m_plane;
  float* sums = du + points * task.gradient_plane();
  std::fill_n(sums, outs, 0.0f);
  for (index_t i = 0; i < g.blocks(); ++i) {
    const WinogradBlock block = g.block(i);
    winograd_inputs<Kernel>(g, block, x, task.first_in, task.last_in, v, v_plane);
    winograd_output_gradients<Kernel>(g, block, dy, task.first_out, task.last_out, m, m_plane, outs);
    winograd_add_bias<Kernel>(m, m_plane, block.count * 16, outs, sums);
    for (index_t k = 0; k < points; ++k)
      multiply(detail::tile_rows(ins), outs, block.count * 16, v + k * v_plane, Winograd::columns, m + k * m_plane,
               outs, du + k * task.gradient_plane(), outs, i > 0 ? Accumulate::yes : Accumulate::no);
  }
  winograd_store_gradients<Kernel>(g, task, du, sums, dw, db, accumulate);
}

}  // namespace gpunet::GPUNET_PATH
