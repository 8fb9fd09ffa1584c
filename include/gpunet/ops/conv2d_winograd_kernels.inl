// Winograd's convolution F(4x4, 3x3) of floats, one vector path; see device/host/each_path.inl and
// conv2d_winograd.host.hpp. A vector holds samples: every transform is plain arithmetic on vectors, and the products
// of a block of tiles are 36 small matrix products.

namespace gpunet::GPUNET_PATH {

// ---- Forward, and the input gradient, which is the same with turned filters.

// u [36][rows][columns] of the filters of output channels first <= out < last; w as WinogradFilters says.
GPUNET_TARGET inline void winograd_filters(const WinogradFilters& f, index_t first, index_t last, float* u) {
  for (index_t in = 0; in < f.in_channels; in += lanes)
    for (index_t out = first; out < last; ++out) {
      float weights[9][lanes] = {};
      const index_t count = std::min(lanes, f.in_channels - in);
      for (index_t i = 0; i < count; ++i) {
        const float* w = f.w + out * f.out_step + (in + i) * f.in_step;
        for (index_t tap = 0; tap < 9; ++tap)
          weights[tap][i] = w[f.turned ? 8 - tap : tap];
      }
      transform<WinogradFilter>(weights[0], 3 * lanes, lanes, u + out * f.row() + in, 6 * f.plane(), f.plane());
    }
}

// v [36][channel][tile][16] = B^T d B of the tiles of a block, for channels first <= channel < last of x. What lies
// over the border is zero.
GPUNET_TARGET inline void winograd_inputs(const Winograd& g, const WinogradBlock& block, const float* x,
                                          index_t first, index_t last, float* v, index_t plane) {
  const float zeros[6 * 16] = {};
  for (index_t channel = first; channel < last; ++channel)
    for (index_t t = 0; t < block.count; ++t) {
      const WinogradTile& tile = block.tiles[t];
      const index_t top = tile.row - g.padding, left = tile.column - g.padding, begin = std::max(index_t{0}, left);
      const float* image = x + ((tile.group * g.in_channels + channel) * g.height * g.width + begin) * 16;
      for (index_t n = 0; n < 16; n += lanes) {
        const float* rows[6];
#pragma GCC unroll 6
        for (int i = 0; i < 6; ++i)
          rows[i] = (top + i >= 0 && top + i < g.height ? image + (top + i) * g.width * 16 : zeros) + n;
        Half<WinogradInput> half;
        index_t at = 0;
#pragma GCC unroll 1
        for (int j = 0; j < 6; ++j) {
          Vector column[6] = {};
          if (left + j >= 0 && left + j < g.width) {
#pragma GCC unroll 6
            for (int i = 0; i < 6; ++i)
              column[i] = load(rows[i] + at);
            at += 16;
          }
          transform_column<WinogradInput>(column, half, j);
        }
        float* to = v + ((channel - first) * WinogradBlock::size + t) * 16 + n;
        transform_rows<WinogradInput>(half, to, 6 * plane, plane, 0.0f);
      }
    }
}

// y = A^T m A + bias of one tile, as much of it as lies inside.
GPUNET_TARGET inline void winograd_output_tile(const float* m, index_t plane, float bias, float* y, index_t row,
                                               index_t rows, index_t columns) {
  float inside[16 * 16];
  const bool whole = rows >= 4 && columns >= 4;
  for (index_t n = 0; n < 16; n += lanes)
    transform<WinogradOutput>(m + n, 6 * plane, plane, (whole ? y : inside) + n, whole ? row : 64, 16, bias);
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
      multiply(detail::tile_rows(channels), detail::tile_columns(block.count * 16), g.in_channels,
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
        winograd_output_tile(m + (channel * WinogradBlock::size + t) * 16, m_plane,
                             bias ? bias[first + channel] : 0.0f, to, row, rows, columns);
      }
  }
}

// ---- The weight gradient.

// m [36][column][channel] = A dy A^T of 16 channels of one tile, transposed so that vectors run over channels; adds
// the tile's dy to sums [16]. The columns are the tile's samples, `row` apart.
GPUNET_TARGET inline void winograd_output_gradient_tile(const float* dy, float* m, index_t plane, index_t row,
                                                        float* sums) {
  for (index_t channel = 0; channel < 16; channel += lanes) {
    Vector total[4] = {};
    for (index_t i = 0; i < 16 * 16; i += 4)
#pragma GCC unroll 4
      for (int part = 0; part < 4; ++part)
        total[part] += load(dy + (i + part) * 16 + channel);
    store(sums + channel, load(sums + channel) + ((total[0] + total[1]) + (total[2] + total[3])));
    for (index_t n = 0; n < 16; ++n)
      transform<WinogradOutputGradient>(dy + n * 16 + channel, 4 * 256, 256, m + n * row + channel, 6 * plane,
                                        plane);
  }
}

// m [36][tile, sample][channel] of the tiles of a block, for channels first <= channel < last of dy.
GPUNET_TARGET inline void winograd_output_gradients(const Winograd& g, const WinogradBlock& block, const float* dy,
                                                    index_t first, index_t last, float* m, index_t plane,
                                                    index_t row, float* sums) {
  float turned[16][16][16];  // [4 x 4][sample][channel]
  for (index_t channel = first; channel < last; channel += 16, m += 16, sums += 16)
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
      winograd_output_gradient_tile(turned[0][0], m + t * 16 * row, plane, row, sums);
    }
}

// dw and db from du [36][in][out] of the channels of a task.
GPUNET_TARGET inline void winograd_store_gradients(const Winograd& g, const WinogradTask& task, const float* du,
                                                   const float* sums, float* dw, float* db, Accumulate accumulate) {
  const index_t row = task.columns(), plane = task.gradient_plane();
  for (index_t in = task.first_in; in < task.last_in; ++in)
    for (index_t out = task.first_out; out < task.last_out; out += lanes) {
      float taps[9][lanes];
      transform<WinogradFilterGradient>(du + (in - task.first_in) * row + out - task.first_out, 6 * plane, plane,
                                        taps[0], 3 * lanes, lanes);
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
  const index_t ins = task.ins(), outs = task.columns();
  const index_t v_plane = Winograd::plane(ins), m_plane = task.output_plane();
  float *v = scratch, *m = v + 36 * v_plane, *du = m + 36 * m_plane, *sums = du + 36 * task.gradient_plane();
  std::fill_n(sums, outs, 0.0f);
  std::fill_n(m, 36 * m_plane, 0.0f);  // of channels that are not there, too
  for (index_t i = 0; i < g.blocks(); ++i) {
    const WinogradBlock block = g.block(i);
    winograd_inputs(g, block, x, task.first_in, task.last_in, v, v_plane);
    winograd_output_gradients(g, block, dy, task.first_out, task.last_out, m, m_plane, outs, sums);
    for (index_t k = 0; k < 36; ++k)
      multiply(detail::tile_rows(ins), outs, block.count * 16, v + k * v_plane, Winograd::columns, m + k * m_plane,
               outs, du + k * task.gradient_plane(), outs, i > 0 ? Accumulate::yes : Accumulate::no);
  }
  winograd_store_gradients(g, task, du, sums, dw, db, accumulate);
}

}  // namespace gpunet::GPUNET_PATH
