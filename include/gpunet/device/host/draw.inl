// Random numbers from random words, one vector path; see each_isa_path.inl and draw.hpp. Results
// are bitwise identical on every path: products and sums that PyTorch fuses, on processors with the
// instruction, are fused explicitly.

namespace gpunet::GPUNET_PATH {

// Vectors of 8 at most: normal numbers are made of 8 pairs.
inline constexpr int pairs = GPUNET_LANES == 4 ? 4 : 8;
typedef float PairVector __attribute__((vector_size(GPUNET_LANES == 4 ? 16 : 32)));
typedef std::int32_t PairMask __attribute__((vector_size(GPUNET_LANES == 4 ? 16 : 32)));

// x y + z, rounded once.
GPUNET_TARGET [[gnu::always_inline]] inline PairVector fused(PairVector x, PairVector y,
                                                             PairVector z) {
  for (int k = 0; k < pairs; ++k)
    x[k] = __builtin_fmaf(x[k], y[k], z[k]);
  return x;
}
GPUNET_TARGET [[gnu::always_inline]] inline PairVector fused(PairVector x, PairVector y, float z) {
  return fused(x, y, PairVector{} + z);
}

GPUNET_TARGET inline void make_uniform(const std::uint32_t* words, index_t n, float* values,
                                       float low, float high) {
  constexpr std::int32_t bits = 0xffffff;
  index_t i = 0;
  for (; i + pairs <= n; i += pairs) {
    PairMask some;
    __builtin_memcpy(&some, words + i, sizeof some);
    const PairVector unit = __builtin_convertvector(some & bits, PairVector) * 0x1p-24f;  // exact
    const PairVector value = fused(unit, PairVector{} + (high - low), low);
    __builtin_memcpy(values + i, &value, sizeof value);
  }
  for (; i < n; ++i)
    values[i] = __builtin_fmaf(static_cast<float>(words[i] & std::uint32_t{bits}) * 0x1p-24f,
                               high - low, low);
}

GPUNET_TARGET inline void make_uniform(const std::uint32_t* words, index_t n, double* values,
                                       double low, double high) {
  constexpr std::uint64_t bits = (std::uint64_t{1} << 53) - 1;
  for (index_t i = 0; i < n; ++i) {
    const std::uint64_t word = std::uint64_t{words[2 * i]} << 32 | words[2 * i + 1];
    values[i] = __builtin_fma(static_cast<double>(word & bits) * 0x1p-53, high - low, low);
  }
}

// Logarithm, sine and cosine in single precision as PyTorch computes them for normal numbers on
// processors with AVX2. Coefficients and range reduction are from the Cephes library (S. Moshier,
// logf.c and sinf.c); the last bit depends on the order of the operations and on which are fused.

// Returns log(x) for 2^-24 <= x <= 1: x = m 2^e with sqrt(1/2) <= m < sqrt(2), and a polynomial in
// m - 1.
GPUNET_TARGET [[gnu::always_inline]] inline PairVector log_of_uniform(PairVector x) {
  PairMask bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  PairVector e = __builtin_convertvector((bits >> 23) - 126, PairVector);
  bits = (bits & 0x007fffff) | 0x3f000000;
  PairVector m;  // 1/2 <= m < 1
  __builtin_memcpy(&m, &bits, sizeof m);
  const PairMask is_small = m < 0.707106781186547524f;
  e = is_small ? e - 1 : e;
  m = is_small ? (m - 1) + m : m - 1;
  const PairVector z = m * m;
  PairVector y = PairVector{} + 7.0376836292e-2f;
#pragma GCC unroll 8
  for (const float c : {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                        -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f})
    y = fused(y, m, c);
  y = fused(y * m, z, e * -2.12194440e-4f);
  y = fused(z, PairVector{} - 0.5f, y);
  return fused(e, PairVector{} + 0.693359375f, m + y);
}

// Computes both for angles from 0 to 2 pi, reduced to -pi/4 ... pi/4 by subtracting a multiple of
// pi/4 that is split into three parts.
GPUNET_TARGET [[gnu::always_inline]] inline void sine_and_cosine(PairVector angle, PairVector& sine,
                                                                 PairVector& cosine) {
  const PairMask octant = (__builtin_convertvector(angle * 1.27323954473516f, PairMask) + 1) & ~1;
  const PairVector n = __builtin_convertvector(octant, PairVector);
  PairVector x = fused(n, PairVector{} - 0.78515625f, angle);
  x = fused(n, PairVector{} - 2.4187564849853515625e-4f, x);
  x = fused(n, PairVector{} - 3.77489497744594108e-8f, x);
  const PairVector z = x * x;
  PairVector c = fused(PairVector{} + 2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = fused(c, z, 4.166664568298827e-2f);
  c = fused(c * z, z, -(z * 0.5f)) + 1;
  PairVector s = fused(PairVector{} - 1.9515295891e-4f, z, 8.3321608736e-3f);
  s = fused(s, z, -1.6666654611e-1f);
  s = fused(s * z, x, x);
  const PairMask is_swapped = (octant & 2) != 0;
  sine = is_swapped ? c : s;
  cosine = is_swapped ? s : c;
  sine = (octant & 4) != 0 ? -sine : sine;
  cosine = ((octant + 2) & 4) != 0 ? -cosine : cosine;
}

// Values lie in blocks of 16: the first numbers of 8 pairs, and the second ones.
GPUNET_TARGET inline void make_normal(index_t n, float* values, float mean, float std) {
  for (float* const end = values + n; values < end; values += 16)
    for (float* at = values; at < values + 8; at += pairs) {
      PairVector first, second, sine, cosine;
      __builtin_memcpy(&first, at, sizeof first);
      __builtin_memcpy(&second, at + 8, sizeof second);
      PairVector radius = -2.0f * log_of_uniform(1 - first);
      for (int k = 0; k < pairs; ++k)
        radius[k] = std::sqrt(radius[k]);
      sine_and_cosine(static_cast<float>(2 * std::numbers::pi) * second, sine, cosine);
      first = fused(radius * cosine, PairVector{} + std, mean);
      second = fused(radius * sine, PairVector{} + std, mean);
      __builtin_memcpy(at, &first, sizeof first);
      __builtin_memcpy(at + 8, &second, sizeof second);
    }
}

}  // namespace gpunet::GPUNET_PATH
