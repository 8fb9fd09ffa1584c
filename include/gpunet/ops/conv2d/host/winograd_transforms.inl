// The transforms of Winograd's convolution F(4x4, 3x3) and F(4x4, 5x5) and the products between them, one vector path; see
// device/host/each_path.inl and conv2d_winograd_kernels.inl. Matrices of B, G and A: Lavin and Gray, "Fast algorithms
// for convolutional neural networks", 2015.

namespace gpunet::GPUNET_PATH {

// ---- The transforms of F(4x4, Kernel x Kernel): `apply` is that of one row or column. The points are 0, 1, -1, 2, -2,
// for 5 x 5 filters also 1/2 and -1/2, and infinity.

// B^T: inputs.
template <index_t Kernel>
struct WinogradInput;

template <>
struct WinogradInput<3> {
  static constexpr int from = 6, to = 6;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* d, Vector* v) {
    const Vector even = d[4] - 4 * d[2], odd = d[3] - 4 * d[1], outer = d[4] - d[2], inner = 2 * (d[3] - d[1]);
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
    const Vector near = d[2] + d[6] - 4.25f * d[4], near_odd = d[1] + d[5] - 4.25f * d[3];
    const Vector far = d[6] + 0.25f * d[2] - 1.25f * d[4], far_odd = 2 * (d[5] + 0.25f * d[1] - 1.25f * d[3]);
    const Vector half = d[6] + 4 * d[2] - 5 * d[4], half_odd = 0.5f * (d[5] + 4 * d[1] - 5 * d[3]);
    v[0] = d[0] - d[6] + 5.25f * (d[4] - d[2]);
    v[1] = near + near_odd;
    v[2] = near - near_odd;
    v[3] = far + far_odd;
    v[4] = far - far_odd;
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
    const Vector near = (g[0] + g[2]) * (-1.0f / 6), near_odd = g[1] * (1.0f / 6);
    const Vector far = g[0] * (1.0f / 24) + g[2] * (1.0f / 6), far_odd = g[1] * (1.0f / 12);
    u[0] = g[0] * 0.25f;
    u[1] = near - near_odd;
    u[2] = near + near_odd;
    u[3] = far + far_odd;
    u[4] = far - far_odd;
    u[5] = g[2];
  }
};

template <>
struct WinogradFilter<5> {
  static constexpr int from = 5, to = 8;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* g, Vector* u) {
    const Vector near = (g[0] + g[2] + g[4]) * (-2.0f / 9), near_odd = (g[1] + g[3]) * (-2.0f / 9);
    const Vector far = (g[0] + 4 * g[2] + 16 * g[4]) * (1.0f / 90), far_odd = (g[1] + 4 * g[3]) * (1.0f / 45);
    const Vector half = (16 * g[0] + 4 * g[2] + g[4]) * (2.0f / 45), half_odd = (4 * g[1] + g[3]) * (4.0f / 45);
    u[0] = g[0];
    u[1] = near + near_odd;
    u[2] = near - near_odd;
    u[3] = far + far_odd;
    u[4] = far - far_odd;
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
    const Vector near = m[1] + m[2], near_odd = m[1] - m[2], far = m[3] + m[4], far_odd = m[3] - m[4];
    y[0] = m[0] + near + far;
    y[1] = near_odd + 2 * far_odd;
    y[2] = near + 4 * far;
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
    const Vector near = d[0] + d[2], near_odd = d[1] + d[3], far = d[0] + 4 * d[2], far_odd = 2 * d[1] + 8 * d[3];
    m[0] = d[0];
    m[1] = near + near_odd;
    m[2] = near - near_odd;
    m[3] = far + far_odd;
    m[4] = far - far_odd;
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
    const Vector near = (u[1] + u[2]) * (-1.0f / 6), near_odd = (u[2] - u[1]) * (1.0f / 6);
    const Vector far = u[3] + u[4], far_odd = u[3] - u[4];
    g[0] = u[0] * 0.25f + near + far * (1.0f / 24);
    g[1] = near_odd + far_odd * (1.0f / 12);
    g[2] = near + far * (1.0f / 6) + u[5];
  }
};

template <>
struct WinogradFilterGradient<5> {
  static constexpr int from = 8, to = 5;
  GPUNET_TARGET [[gnu::always_inline]] static inline void apply(const Vector* u, Vector* g) {
    const Vector near = (u[1] + u[2]) * (-2.0f / 9), near_odd = (u[1] - u[2]) * (-2.0f / 9);
    const Vector far = (u[3] + u[4]) * (1.0f / 90), far_odd = (u[3] - u[4]) * (1.0f / 45);
    const Vector half = (u[5] + u[6]) * (2.0f / 45), half_odd = (u[5] - u[6]) * (4.0f / 45);
    g[0] = u[0] + near + far + 16 * half;
    g[1] = near_odd + far_odd + 4 * half_odd;
    g[2] = near + 4 * (far + half);
    g[3] = near_odd + 4 * far_odd + half_odd;
    g[4] = near + 16 * far + half + u[7];
  }
};

// A transform that has seen all columns, but no row yet.
template <class Transform>
using Half = Vector[Transform::to][Transform::from];

// The first half of a transform: column j.
template <class Transform>
GPUNET_TARGET [[gnu::always_inline]] inline void transform_column(const Vector* column, Half<Transform>& half,
                                                                  int j) {
  Vector changed[Transform::to];
  Transform::apply(column, changed);
#pragma GCC unroll 8
  for (int i = 0; i < Transform::to; ++i)
    half[i][j] = changed[i];
}

// The second half: rows, plus `bias`; compilers know that -0 adds nothing. The elements at y are `row` and `column`
// apart.
template <class Transform>
GPUNET_TARGET [[gnu::always_inline]] inline void transform_rows(const Half<Transform>& half, float* y, index_t row,
                                                                index_t column, float bias = -0.0f) {
#pragma GCC unroll 1
  for (int i = 0; i < Transform::to; ++i, y += row) {
    Vector changed[Transform::to];
    Transform::apply(half[i], changed);
#pragma GCC unroll 8
    for (int j = 0; j < Transform::to; ++j)
      store(y + j * column, changed[j] + bias);
  }
}

// A transform of columns and then of rows of vectors. The elements at x and y are `row` and `column` apart.
template <class Transform>
GPUNET_TARGET inline void transform(const float* x, index_t x_row, index_t x_column, float* y, index_t y_row,
                                    index_t y_column, float bias = -0.0f) {
  Half<Transform> half;
#pragma GCC unroll 1
  for (int j = 0; j < Transform::from; ++j, x += x_column) {
    Vector column[Transform::from];
#pragma GCC unroll 8
    for (int i = 0; i < Transform::from; ++i)
      column[i] = load(x + i * x_row);
    transform_column<Transform>(column, half, j);
  }
  transform_rows<Transform>(half, y, y_row, y_column, bias);
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
  for (; j + 2 * lanes <= columns; j += 2 * lanes)
    multiply_tile<RT, 2>(depth, a, a_row, b + j, b_row, c + j, c_row, accumulate);
  if constexpr (lanes == 16)
    if (j < columns) multiply_tile<RT, 1>(depth, a, a_row, b + j, b_row, c + j, c_row, accumulate);
}

// c [rows][columns] = or += a [rows][depth] b [depth][columns]; rows even and at least 4, columns in steps of 16.
GPUNET_TARGET [[gnu::noinline]] inline void multiply(index_t rows, index_t columns, index_t depth, const float* a,
                                                     index_t a_row, const float* b, index_t b_row, float* c,
                                                     index_t c_row, Accumulate accumulate) {
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

}  // namespace gpunet::GPUNET_PATH
