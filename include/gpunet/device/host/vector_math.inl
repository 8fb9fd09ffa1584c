// exp, log, tanh and others of one vector path, or of single floats (scalar_math.hpp), to 2 units
// in the last place (expm1, log1p and erf to 3) over all floats, NaN, infinities and subnormal
// numbers included; see vector_math.hpp. The polynomials, except for erf, are from the Cephes
// library (S. Moshier), minimax ones for the intervals given here.

namespace gpunet::GPUNET_PATH {

GPUNET_TARGET [[gnu::always_inline]] inline Vector as_floats(Mask bits) {
  Vector v;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}

GPUNET_TARGET [[gnu::always_inline]] inline Mask as_bits(Vector v) {
  Mask bits;
  __builtin_memcpy(&bits, &v, sizeof v);
  return bits;
}

// A function, since nvcc breaks down over the sum of a constant vector and a constant.
GPUNET_TARGET [[gnu::always_inline]] inline Vector splat(float value) {
  return Vector{} + value;
}

// 2^n for -127 < n < 128.
GPUNET_TARGET [[gnu::always_inline]] inline Vector power_of_two(Mask n) {
  return as_floats((n + 127) << 23);
}

// e^x = 2^n e^r with n the integer nearest to x / ln 2, and e^r a polynomial for |r| < 0.35.
GPUNET_TARGET [[gnu::always_inline]] inline Vector exp(Vector x) {
  const Vector highest = splat(89.0f), lowest = splat(-104.0f);  // beyond them infinity and 0
  x = select(as_mask(x > highest), highest, x);
  x = select(as_mask(x < lowest), lowest, x);
  const Vector shift = splat(0x1.8p23f);  // has no bits after the point: adding it rounds
  const Vector shifted = x * 1.44269504088896341f + shift;
  const Vector whole = shifted - shift;
  const Mask n = as_bits(shifted) - as_bits(shift);
  // ln 2 in two parts, the first of few bits.
  const Vector r = x - whole * 0.693359375f - whole * -2.12194440e-4f;
  Vector p = r * 1.9875691500e-4f + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  const Mask half = n >> 1;  // in two steps, as 2^n may be too large or too small for a float
  return p * power_of_two(half) * power_of_two(n - half);
}

// log x = e ln 2 + log m with x = 2^e m, and log m = r - r^2/2 + r^3 p(r) for
// sqrt(1/2) < m < sqrt(2), r = m - 1.
GPUNET_TARGET [[gnu::always_inline]] inline Vector log(Vector x) {
  const Vector infinity = splat(std::numeric_limits<float>::infinity());
  const Vector no_number = splat(std::numeric_limits<float>::quiet_NaN());
  const Mask subnormal = as_mask(x < std::numeric_limits<float>::min());
  const Mask bits = as_bits(select(subnormal, x * 0x1p23f, x));
  const Vector m = as_floats((bits & 0x007fffff) | 0x3f000000);  // from 1/2 to 1
  const Mask low = as_mask(m < 0.707106781186547524f);
  const Vector r = m - 1.0f + keep(m, low);
  const Vector e = to_floats(((bits >> 23) & 0xff) - 126 + low - (subnormal & 23));
  Vector p = r * 7.0376836292e-2f - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  const Vector square = r * r;
  const Vector log_m_less_r = p * (r * square) + e * -2.12194440e-4f - 0.5f * square;
  const Vector y = r + log_m_less_r + e * 0.693359375f;
  const Vector special = select(as_mask(x == 0.0f), -infinity, no_number);
  return select(as_mask(x > 0.0f), select(as_mask(x < infinity), y, x), special);
}

// tanh x = x + x^3 p(x^2) for |x| < 0.625, else 1 - 2 / (e^2|x| + 1) with the sign of x.
GPUNET_TARGET [[gnu::always_inline]] inline Vector tanh(Vector x) {
  const Mask sign = as_bits(x) & std::numeric_limits<std::int32_t>::min();
  const Vector size = as_floats(as_bits(x) ^ sign);
  const Vector of_large = 1.0f - 2.0f / (exp(2.0f * size) + 1.0f);
  const Vector square = size * size;
  Vector p = square * -5.70498872745e-3f + 2.06390887954e-2f;
  p = p * square - 5.37397155531e-2f;
  p = p * square + 1.33314422036e-1f;
  p = p * square - 3.33332819422e-1f;
  const Vector of_small = size + size * (square * p);
  return as_floats(as_bits(select(as_mask(size < 0.625f), of_small, of_large)) | sign);
}

// log(1 + x): the error of 1 + x is made good by the factor x / ((1 + x) - 1), as by W. Kahan
// (HP-15C Advanced Functions Handbook, 1982).
GPUNET_TARGET [[gnu::always_inline]] inline Vector log1p(Vector x) {
  const Vector infinity = splat(std::numeric_limits<float>::infinity());
  const Vector sum = 1.0f + x, rounded = sum - 1.0f;
  return select(as_mask((rounded == 0.0f) | (x == infinity)), x, log(sum) * (x / rounded));
}

// exp(x) - 1 = tanh(x / 2) (exp(x) + 1); the difference itself where it cancels no digits.
GPUNET_TARGET [[gnu::always_inline]] inline Vector expm1(Vector x) {
  const Vector power = exp(x);
  const Mask cancels = as_mask((x > -1.0f) & (x < 1.0f));
  return select(cancels, tanh(0.5f * x) * (power + 1.0f), power - 1.0f);
}

// erf x = x p(x^2) for |x| < 1, else 1 - e^q(|x|) with the sign of x; polynomials fitted to the
// smallest relative error, 2e-9.
GPUNET_TARGET [[gnu::always_inline]] inline Vector erf(Vector x) {
  const Mask sign = as_bits(x) & std::numeric_limits<std::int32_t>::min();
  const Vector size = as_floats(as_bits(x) ^ sign), square = size * size;
  Vector p = square * 7.85386097e-5f - 8.01019351e-4f;
  p = p * square + 5.18832767e-3f;
  p = p * square - 2.68538119e-2f;
  p = p * square + 1.12835851e-1f;
  p = p * square - 3.76126258e-1f;
  p = p * square + 1.12837917f;
  const Vector of_small = size * p;
  // From there on the result is 1.
  const Vector a = select(as_mask(size > 4.0f), splat(4.0f), size);
  Vector q = a * 1.86379256e-4f - 2.94765891e-3f;
  q = q * a + 2.18380664e-2f;
  q = q * a - 1.03106759e-1f;
  q = q * a - 6.38144827e-1f;
  q = q * a - 1.12708919f;
  q = q * a - 3.41522298e-4f;
  return as_floats(as_bits(select(as_mask(size < 1.0f), of_small, 1.0f - exp(q))) | sign);
}

}  // namespace gpunet::GPUNET_PATH
