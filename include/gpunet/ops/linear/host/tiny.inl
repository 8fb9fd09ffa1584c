// Affine maps of few features, one vector path; see device/host/each_isa_path.inl. A vector holds
// one feature of `lanes` samples: x [groups][In][16], y [groups][Out][16].

namespace gpunet::GPUNET_PATH {

inline constexpr index_t tiny_tile =
    GPUNET_LANES == 16 ? 16 : 10;  // sums that registers hold beside their operands

// Results First to First + Count of one vector of samples: y_r = b_r + sum_i w(r, i) x_i, not below
// `lowest`. Weight (r, i) is at r * WeightRow + i * WeightStep.
template <index_t Terms, index_t Results, index_t WeightRow, index_t WeightStep, index_t First = 0>
GPUNET_TARGET [[gnu::always_inline]] inline void products_tiny(const float* x, const float* w,
                                                               OptionalArray<const float> b,
                                                               float lowest, float* y) {
  constexpr index_t count = First + tiny_tile < Results ? tiny_tile : Results - First;
  Vector sums[count];
#pragma GCC unroll 16
  for (index_t r = 0; r < count; ++r)
    sums[r] = Vector{} + b[First + r];
#pragma GCC unroll 128
  for (index_t i = 0; i < Terms; ++i) {
    const Vector value = load(x + i * 16);
#pragma GCC unroll 16
    for (index_t r = 0; r < count; ++r)
      sums[r] += w[(First + r) * WeightRow + i * WeightStep] * value;
  }
#pragma GCC unroll 16
  for (index_t r = 0; r < count; ++r)
    store(y + (First + r) * 16, sums[r] < lowest ? Vector{} + lowest : sums[r]);
  if constexpr (First + count < Results)
    products_tiny<Terms, Results, WeightRow, WeightStep, First + count>(x, w, b, lowest, y);
}

template <index_t In, index_t Out>
GPUNET_TARGET void forward_tiny(Dim<In>, Dim<Out>, index_t groups, const float* x, const float* w,
                                OptionalArray<const float> b, float lowest, float* y) {
  for (index_t group = 0; group < groups; ++group, x += In * 16, y += Out * 16)
    for (index_t j = 0; j < 16; j += lanes)
      products_tiny<In, Out, In, 1>(x + j, w, b, lowest, y + j);
}

template <index_t In, index_t Out>
GPUNET_TARGET void input_gradient_tiny(Dim<In>, Dim<Out>, index_t groups, const float* dy,
                                       const float* w, float* dx) {
  constexpr float lowest = -std::numeric_limits<float>::infinity();
  for (index_t group = 0; group < groups; ++group, dy += Out * 16, dx += In * 16)
    for (index_t j = 0; j < 16; j += lanes)
      products_tiny<Out, In, 1, In>(dy + j, w, nullptr, lowest, dx + j);
}

// The sums of the lanes of four vectors.
GPUNET_TARGET [[gnu::always_inline]] inline Vector4 sum4(Vector a, Vector b, Vector c, Vector d) {
#if GPUNET_LANES == 16
  const Vector ab =
      __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
      __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const Vector cd =
      __builtin_shufflevector(c, d, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29) +
      __builtin_shufflevector(c, d, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
  const Vector all =
      __builtin_shufflevector(ab, cd, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29) +
      __builtin_shufflevector(ab, cd, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  const Vector8 half = __builtin_shufflevector(all, all, 0, 1, 2, 3, 4, 5, 6, 7) +
                       __builtin_shufflevector(all, all, 8, 9, 10, 11, 12, 13, 14, 15);
  return __builtin_shufflevector(half, half, 0, 1, 2, 3) +
         __builtin_shufflevector(half, half, 4, 5, 6, 7);
#elif GPUNET_LANES == 8
  const Vector ab = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13) +
                    __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  const Vector cd = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13) +
                    __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
  const Vector all = __builtin_shufflevector(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13) +
                     __builtin_shufflevector(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15);
  return __builtin_shufflevector(all, all, 0, 1, 2, 3) +
         __builtin_shufflevector(all, all, 4, 5, 6, 7);
#else
  const Vector ab =
      __builtin_shufflevector(a, b, 0, 4, 1, 5) + __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Vector cd =
      __builtin_shufflevector(c, d, 0, 4, 1, 5) + __builtin_shufflevector(c, d, 2, 6, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
#endif
}

// Stores the sums of the lanes of Count vectors, or adds them to the stored ones.
template <index_t Count>
GPUNET_TARGET [[gnu::always_inline]] inline void store_sums(const Vector (&sums)[Count],
                                                            float* gradient,
                                                            Accumulate accumulate) {
#pragma GCC unroll 8
  for (index_t k = 0; k < Count; k += 4) {
    const index_t last = Count - 1;
    Vector4 now = sum4(sums[k], sums[k + 1 < last ? k + 1 : last],
                       sums[k + 2 < last ? k + 2 : last], sums[k + 3 < last ? k + 3 : last]);
    const std::size_t bytes =
        static_cast<std::size_t>(Count - k < 4 ? Count - k : 4) * sizeof(float);
    if (accumulate == Accumulate::yes) {
      Vector4 before{};
      __builtin_memcpy(&before, gradient + k, bytes);
      now += before;
    }
    __builtin_memcpy(gradient + k, &now, bytes);
  }
}

// dW [OT][IT] and db [OT]. The lanes of all samples are summed in registers, and added up at the
// end. Groups of x and dy are x_group and dy_group apart.
template <index_t IT, index_t OT>
GPUNET_TARGET inline void gradient_tile_tiny(index_t groups, index_t x_group, index_t dy_group,
                                             const float* x, const float* dy, float* dw,
                                             OptionalArray<float> db, Accumulate accumulate) {
  Vector sums[OT * IT] = {}, biases[OT] = {};
  for (index_t group = 0; group < groups; ++group, x += x_group, dy += dy_group)
    for (index_t j = 0; j < 16; j += lanes) {
      Vector d[OT];
#pragma GCC unroll 4
      for (index_t o = 0; o < OT; ++o) {
        d[o] = load(dy + o * 16 + j);
        biases[o] += d[o];
      }
#pragma GCC unroll 16
      for (index_t i = 0; i < IT; ++i) {
        const Vector value = load(x + i * 16 + j);
#pragma GCC unroll 4
        for (index_t o = 0; o < OT; ++o)
          sums[o * IT + i] += d[o] * value;
      }
    }
  store_sums(sums, dw, accumulate);
  if (db) store_sums(biases, db.data(), accumulate);
}

// OT rows of dW [Out][In]: whole, or if they are too long for the registers, one in pieces.
template <index_t In, index_t OT>
GPUNET_TARGET [[gnu::always_inline]] inline void gradient_rows_tiny(
    index_t groups, index_t dy_group, const float* x, const float* dy, float* dw,
    OptionalArray<float> db, Accumulate accumulate) {
  constexpr index_t piece = In < tiny_tile ? In : tiny_tile;
  for (index_t i = 0; i + piece <= In; i += piece)
    gradient_tile_tiny<piece, OT>(groups, In * 16, dy_group, x + i * 16, dy, dw + i,
                                  i == 0 ? db : OptionalArray<float>(), accumulate);
  if constexpr (constexpr index_t rest = In % piece; rest > 0)
    gradient_tile_tiny<rest, OT>(groups, In * 16, dy_group, x + (In - rest) * 16, dy,
                                 dw + In - rest, nullptr, accumulate);
}

template <index_t In, index_t Out>
GPUNET_TARGET void gradients_tiny(Dim<In>, Dim<Out>, index_t groups, const float* x,
                                  const float* dy, float* dw, OptionalArray<float> db,
                                  Accumulate accumulate) {
  constexpr index_t fitting = std::clamp<index_t>(tiny_tile / In, 1, 4),
                    tile = std::min(fitting, Out);
  index_t o = 0;
  for (; o + tile <= Out; o += tile)
    gradient_rows_tiny<In, tile>(groups, Out * 16, x, dy + o * 16, dw + o * In, db + o, accumulate);
  if constexpr (constexpr index_t rest = Out % tile; rest > 0)
    gradient_rows_tiny<In, rest>(groups, Out * 16, x, dy + o * 16, dw + o * In, db + o, accumulate);
}

}  // namespace gpunet::GPUNET_PATH
