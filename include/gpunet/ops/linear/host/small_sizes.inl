// The affine map of floats, one vector path; see device/host/each_isa_path.inl and ../linear.ipp.

namespace gpunet::GPUNET_PATH {

// ---- Groups of 16 samples: the matrix product does the rest.

// db_o = the sum over all samples of dy [outer][out][inner], for o < some. inner is 4 or 16.
GPUNET_TARGET inline void bias_gradients(index_t outer, index_t out, index_t inner, index_t some,
                                         const float* dy, float* db, Accumulate accumulate) {
  for (index_t o = 0; o < some; ++o) {
    LaneSums total;
    for (index_t group = 0; group < outer; ++group)
#pragma GCC unroll 4
      for (index_t j = 0; j < inner; j += lanes)
        total.add(load(dy + (group * out + o) * inner + j));
    store_gradient(db[o], total.all(), accumulate);
  }
}

// db_o = the sum over the rows of dy [rows][out], for o < some.
GPUNET_TARGET inline void bias_gradients_of_rows(index_t rows, index_t out, index_t some,
                                                 const float* dy, float* db,
                                                 Accumulate accumulate) {
  index_t o = 0;
  for (; o + lanes <= some; o += lanes) {
    LaneSums total;
    total.add(dy + o, rows, out);
    const Vector sums = total.each();
    store(db + o, accumulate == Accumulate::yes ? load(db + o) + sums : sums);
  }
  for (; o < some; ++o) {
    LongSum<float> total;
    for (index_t row = 0; row < rows; ++row)
      total += dy[row * out + o];
    store_gradient(db[o], total.value(), accumulate);
  }
}

// ---- One group of 16 samples and a small layer: one vector holds one feature of `lanes` samples.
// x [in][16], y [out][16], both in tiles of 8 features, of which the last may compute some again.

// 8 outputs of one group of samples: y_o = b_o + sum_i W_oi x_i.
GPUNET_TARGET inline void forward_tile(index_t in, const float* x, const float* w,
                                       OptionalArray<const float> b, float* y, bool relu) {
  Vector sums[8];
#pragma GCC unroll 8
  for (int o = 0; o < 8; ++o)
    sums[o] = Vector{} + b[o];
  for (index_t i = 0; i < in; ++i) {
    const Vector value = load(x + i * 16);
#pragma GCC unroll 8
    for (int o = 0; o < 8; ++o)
      sums[o] += w[o * in + i] * value;
  }
#pragma GCC unroll 8
  for (int o = 0; o < 8; ++o)
    store(y + o * 16, relu ? keep(sums[o], ~(sums[o] < 0)) : sums[o]);
}

GPUNET_TARGET inline void forward_group(index_t in, index_t out, const float* x, const float* w,
                                        OptionalArray<const float> b, float* y, bool relu) {
  for (index_t j = 0; j < 16; j += lanes)
    for (index_t next = 0; next < out; next += 8) {
      const index_t o = std::min(next, out - 8);
      forward_tile(in, x + j, w + o * in, b + o, y + o * 16 + j, relu);
    }
}

// 8 inputs of one group of samples: dx_i = sum_o W_oi dy_o.
GPUNET_TARGET inline void input_gradient_tile(index_t in, index_t out, const float* dy,
                                              const float* w, float* dx) {
  Vector sums[8] = {};
  for (index_t o = 0; o < out; ++o) {
    const Vector d = load(dy + o * 16);
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i)
      sums[i] += w[o * in + i] * d;
  }
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i)
    store(dx + i * 16, sums[i]);
}

GPUNET_TARGET inline void input_gradient_group(index_t in, index_t out, const float* dy,
                                               const float* w, float* dx) {
  for (index_t j = 0; j < 16; j += lanes)
    for (index_t next = 0; next < in; next += 8) {
      const index_t i = std::min(next, in - 8);
      input_gradient_tile(in, out, dy + j, w + i, dx + i * 16 + j);
    }
}

// ---- Few samples N: vectors run over inputs. Rows x [N][in] in PyTorch's order; in >= lanes.

// Adds the products of one vector of inputs to the sums of OT outputs and N samples.
template <int N, int OT>
GPUNET_TARGET [[gnu::always_inline]] inline void add_products(index_t in, const float* rows,
                                                              const float* w, Mask mask,
                                                              Vector (&sums)[OT][N]) {
  Vector value[N];
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n)
    value[n] = keep(load(rows + n * in), mask);
#pragma GCC unroll 8
  for (int o = 0; o < OT; ++o) {
    const Vector weight = load(w + o * in);
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n)
      sums[o][n] += weight * value[n];
  }
}

// OT outputs of N samples: dot products, the last vector reaching back with the counted lanes
// masked.
template <int N, int OT>
GPUNET_TARGET inline void forward_rows_tile(index_t in, const float* rows, const float* w,
                                            OptionalArray<const float> b, float* y, bool relu) {
  Vector sums[OT][N] = {};
  index_t i = 0;
  for (; i + lanes <= in; i += lanes)
    add_products<N, OT>(in, rows + i, w + i, Mask{} - 1, sums);
  if (i < in) add_products<N, OT>(in, rows + in - lanes, w + in - lanes, last_lanes(in - i), sums);
#pragma GCC unroll 8
  for (int o = 0; o < OT; ++o)
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n)
      y[o * N + n] = Activate{relu ? Activation::relu : Activation::none}(b[o] + sum(sums[o][n]));
}

template <int N>
GPUNET_TARGET inline void forward_rows(index_t in, index_t out, const float* rows, const float* w,
                                       OptionalArray<const float> b, float* y, bool relu) {
  index_t o = 0;
  if constexpr (N == 1)  // fewer independent sums would wait for the latency of each addition
    for (; o + 8 <= out; o += 8)
      forward_rows_tile<N, 8>(in, rows, w + o * in, b + o, y + o * N, relu);
  for (; o + tile_rows <= out; o += tile_rows)
    forward_rows_tile<N, tile_rows>(in, rows, w + o * in, b + o, y + o * N, relu);
  for (; o < out; ++o)
    forward_rows_tile<N, 1>(in, rows, w + o * in, b + o, y + o * N, relu);
}

// dx rows [N][in] = dy W for V vectors of inputs.
template <int N, int V>
GPUNET_TARGET [[gnu::always_inline]] inline void input_gradient_vectors(index_t in, index_t out,
                                                                        const float* dy,
                                                                        const float* w,
                                                                        float* rows) {
  Vector sums[N][V] = {};
#pragma GCC unroll 1
  for (index_t o = 0; o < out; ++o, w += in, dy += N)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      const Vector weight = load(w + v * lanes);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n)
        sums[n][v] += dy[n] * weight;
    }
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n)
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v)
      store(rows + n * in + v * lanes, sums[n][v]);
}

// The last vectors may compute some inputs again.
template <int N>
GPUNET_TARGET inline void input_gradient_rows(index_t in, index_t out, const float* dy,
                                              const float* w, float* rows) {
  constexpr int vectors = 8 / N;
  constexpr index_t wide = vectors * lanes, step = lanes;
  for (index_t next = 0; in >= wide && next < in; next += wide) {
    const index_t i = std::min(next, in - wide);
    input_gradient_vectors<N, vectors>(in, out, dy, w + i, rows + i);
  }
  for (index_t next = 0; in < wide && next < in; next += step) {
    const index_t i = std::min(next, in - step);
    input_gradient_vectors<N, 1>(in, out, dy, w + i, rows + i);
  }
}

// dW_o += sum_n dy_on x_n for OT outputs and 4 samples: the factors dy stay in registers.
template <int OT>
GPUNET_TARGET inline void four_weight_gradients(index_t in, const float* rows, const float* dy,
                                                float* dw, Accumulate accumulate) {
  Vector factors[OT][4];
#pragma GCC unroll 4
  for (int o = 0; o < OT; ++o)
#pragma GCC unroll 4
    for (int n = 0; n < 4; ++n)
      factors[o][n] = Vector{} + dy[o * 4 + n];
#pragma GCC unroll 1
  for (index_t next = 0; next < in; next += lanes) {
    const index_t i = std::min(next, in - lanes);
    const Mask mask = last_lanes(lanes - (next - i));
    Vector sums[OT] = {};
#pragma GCC unroll 4
    for (int n = 0; n < 4; ++n) {
      const Vector value = load(rows + n * in + i);
#pragma GCC unroll 4
      for (int o = 0; o < OT; ++o)
        sums[o] += factors[o][n] * value;
    }
#pragma GCC unroll 4
    for (int o = 0; o < OT; ++o)
      store(dw + o * in + i,
            accumulate == Accumulate::yes ? load(dw + o * in + i) + keep(sums[o], mask) : sums[o]);
  }
}

GPUNET_TARGET inline void four_gradients(index_t in, index_t out, const float* rows,
                                         const float* dy, float* dw, OptionalArray<float> db,
                                         Accumulate accumulate) {
  index_t o = 0;
  for (; o + tile_rows <= out; o += tile_rows)
    four_weight_gradients<tile_rows>(in, rows, dy + o * 4, dw + o * in, accumulate);
  for (; o < out; ++o)
    four_weight_gradients<1>(in, rows, dy + o * 4, dw + o * in, accumulate);
  for (o = 0; o < out; ++o)
    db.store_gradient(o, dy[o * 4] + dy[o * 4 + 1] + dy[o * 4 + 2] + dy[o * 4 + 3], accumulate);
}

// ---- Any number of samples: dW_o += sum_n dy_on x_n, db_o += sum_n dy_on; x as rows
// [samples][in], dy [out][samples].

// Adds the products of one vector of inputs for OT outputs.
template <int OT>
GPUNET_TARGET [[gnu::always_inline]] inline void weight_gradient_vector(index_t in, index_t samples,
                                                                        const float* rows,
                                                                        const float* dy, float* dw,
                                                                        Mask mask,
                                                                        Accumulate accumulate) {
  Vector sums[OT] = {};
  for (index_t n = 0; n < samples; ++n) {
    const Vector value = load(rows + n * in);
#pragma GCC unroll 8
    for (int o = 0; o < OT; ++o)
      sums[o] += dy[o * samples + n] * value;
  }
#pragma GCC unroll 8
  for (int o = 0; o < OT; ++o)
    store(dw + o * in,
          accumulate == Accumulate::yes ? load(dw + o * in) + keep(sums[o], mask) : sums[o]);
}

template <int OT>
GPUNET_TARGET inline void linear_gradient_tile(index_t in, index_t samples, const float* rows,
                                               const float* dy, float* dw, OptionalArray<float> db,
                                               Accumulate accumulate) {
  for (index_t next = 0; next < in; next += lanes) {
    const index_t i = std::min(next, in - lanes);
    weight_gradient_vector<OT>(in, samples, rows + i, dy, dw + i, last_lanes(lanes - (next - i)),
                               accumulate);
  }
  for (int o = 0; o < OT; ++o) {
    float total = 0;
    for (index_t n = 0; n < samples; ++n)
      total += dy[o * samples + n];
    db.store_gradient(o, total, accumulate);
  }
}

GPUNET_TARGET inline void linear_gradients(index_t in, index_t out, index_t samples,
                                           const float* rows, const float* dy, float* dw,
                                           OptionalArray<float> db, Accumulate accumulate) {
  index_t o = 0;
  for (; o + 8 <= out; o += 8)
    linear_gradient_tile<8>(in, samples, rows, dy + o * samples, dw + o * in, db + o, accumulate);
  for (; o < out; ++o)
    linear_gradient_tile<1>(in, samples, rows, dy + o * samples, dw + o * in, db + o, accumulate);
}

}  // namespace gpunet::GPUNET_PATH
