// The affine map of floats, one vector path; see device/host/each_path.inl and linear.host.hpp.

namespace gpunet::GPUNET_PATH {

// ---- Many samples: one vector holds one feature of `lanes` samples. x [in][inner], y [out][inner].

// OT outputs of one group of samples: y_o = b_o + sum_i W_oi x_i.
template <int OT>
GPUNET_TARGET inline void forward_tile(index_t in, index_t inner, const float* x, const float* w, const float* b,
                                       float* y) {
  Vector sums[OT];
#pragma GCC unroll 8
  for (int o = 0; o < OT; ++o)
    sums[o] = Vector{} + b[o];
  for (index_t i = 0; i < in; ++i) {
    const Vector value = load(x + i * inner);
#pragma GCC unroll 8
    for (int o = 0; o < OT; ++o)
      sums[o] += w[o * in + i] * value;
  }
#pragma GCC unroll 8
  for (int o = 0; o < OT; ++o)
    store(y + o * inner, sums[o]);
}

GPUNET_TARGET inline void forward_lanes(index_t in, index_t out, index_t inner, const float* x, const float* w,
                                        const float* b, float* y) {
  for (index_t j = 0; j < inner; j += lanes) {
    index_t o = 0;
    for (; o + 8 <= out; o += 8)
      forward_tile<8>(in, inner, x + j, w + o * in, b + o, y + o * inner + j);
    for (; o < out; ++o)
      forward_tile<1>(in, inner, x + j, w + o * in, b + o, y + o * inner + j);
  }
}

// IT inputs of one group of samples: dx_i = sum_o W_oi dy_o.
template <int IT>
GPUNET_TARGET inline void input_gradient_tile(index_t in, index_t out, index_t inner, const float* dy,
                                              const float* w, float* dx) {
  Vector sums[IT] = {};
  for (index_t o = 0; o < out; ++o) {
    const Vector d = load(dy + o * inner);
#pragma GCC unroll 8
    for (int i = 0; i < IT; ++i)
      sums[i] += w[o * in + i] * d;
  }
#pragma GCC unroll 8
  for (int i = 0; i < IT; ++i)
    store(dx + i * inner, sums[i]);
}

GPUNET_TARGET inline void input_gradient_lanes(index_t in, index_t out, index_t inner, const float* dy,
                                               const float* w, float* dx) {
  for (index_t j = 0; j < inner; j += lanes) {
    index_t i = 0;
    for (; i + 8 <= in; i += 8)
      input_gradient_tile<8>(in, out, inner, dy + j, w + i, dx + i * inner + j);
    for (; i < in; ++i)
      input_gradient_tile<1>(in, out, inner, dy + j, w + i, dx + i * inner + j);
  }
}

// ---- Few samples N: vectors run over inputs. Rows x [N][in] in PyTorch's order; in >= lanes.

// Adds the products of one vector of inputs to the sums of OT outputs and N samples.
template <int N, int OT>
GPUNET_TARGET [[gnu::always_inline]] inline void add_products(index_t in, const float* rows, const float* w,
                                                              Mask mask, Vector (&sums)[OT][N]) {
  Vector value[N];
#pragma GCC unroll 4
  for (int n = 0; n < N; ++n)
    value[n] = keep(load(rows + n * in), mask);
#pragma GCC unroll 4
  for (int o = 0; o < OT; ++o) {
    const Vector weight = load(w + o * in);
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n)
      sums[o][n] += weight * value[n];
  }
}

// OT outputs of N samples: dot products, the last vector reaching back with what was counted already masked.
template <int N, int OT>
GPUNET_TARGET inline void forward_rows_tile(index_t in, const float* rows, const float* w, const float* b,
                                            float* y) {
  Vector sums[OT][N] = {};
  index_t i = 0;
  for (; i + lanes <= in; i += lanes)
    add_products<N, OT>(in, rows + i, w + i, Mask{} - 1, sums);
  if (i < in) add_products<N, OT>(in, rows + in - lanes, w + in - lanes, last_lanes(in - i), sums);
#pragma GCC unroll 4
  for (int o = 0; o < OT; ++o)
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n)
      y[o * N + n] = b[o] + sum(sums[o][n]);
}

template <int N>
GPUNET_TARGET inline void forward_rows(index_t in, index_t out, const float* rows, const float* w, const float* b,
                                       float* y) {
  constexpr int tile = GPUNET_LANES == 16 ? 4 : 2;
  index_t o = 0;
  for (; o + tile <= out; o += tile)
    forward_rows_tile<N, tile>(in, rows, w + o * in, b + o, y + o * N);
  for (; o < out; ++o)
    forward_rows_tile<N, 1>(in, rows, w + o * in, b + o, y + o * N);
}

// dx rows [N][in] = dy W, one vector of inputs at a time.
template <int N>
GPUNET_TARGET inline void input_gradient_rows(index_t in, index_t out, const float* dy, const float* w,
                                              float* rows) {
  for (index_t first = 0; first < in; first += lanes) {
    const index_t i = first + lanes <= in ? first : in - lanes;
    Vector sums[N] = {};
    for (index_t o = 0; o < out; ++o) {
      const Vector weight = load(w + o * in + i);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n)
        sums[n] += dy[o * N + n] * weight;
    }
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n)
      store(rows + n * in + i, sums[n]);
  }
}

// ---- Any number of samples: dW_o += sum_n dy_on x_n, db_o += sum_n dy_on; x as rows [samples][in], dy
// [out][samples].

// Adds the products of one vector of inputs for OT outputs.
template <int OT>
GPUNET_TARGET [[gnu::always_inline]] inline void weight_gradient_vector(index_t in, index_t samples,
                                                                        const float* rows, const float* dy,
                                                                        float* dw, Mask mask,
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
    store(dw + o * in, accumulate == Accumulate::yes ? load(dw + o * in) + keep(sums[o], mask) : sums[o]);
}

template <int OT>
GPUNET_TARGET inline void linear_gradient_tile(index_t in, index_t samples, const float* rows, const float* dy,
                                               float* dw, float* db, Accumulate accumulate) {
  index_t i = 0;
  for (; i + lanes <= in; i += lanes)
    weight_gradient_vector<OT>(in, samples, rows + i, dy, dw + i, Mask{} - 1, accumulate);
  if (i < in)
    weight_gradient_vector<OT>(in, samples, rows + in - lanes, dy, dw + in - lanes, last_lanes(in - i), accumulate);
  for (int o = 0; o < OT; ++o) {
    float total = 0;
    for (index_t n = 0; n < samples; ++n)
      total += dy[o * samples + n];
    store_gradient(db[o], total, accumulate);
  }
}

GPUNET_TARGET inline void linear_gradients(index_t in, index_t out, index_t samples, const float* rows,
                                           const float* dy, float* dw, float* db, Accumulate accumulate) {
  index_t o = 0;
  for (; o + 8 <= out; o += 8)
    linear_gradient_tile<8>(in, samples, rows, dy + o * samples, dw + o * in, db + o, accumulate);
  for (; o < out; ++o)
    linear_gradient_tile<1>(in, samples, rows, dy + o * samples, dw + o * in, db + o, accumulate);
}

}  // namespace gpunet::GPUNET_PATH
