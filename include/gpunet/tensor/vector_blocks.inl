// Loops over blocks of one vector path that compilers do not vectorize.

namespace gpunet::GPUNET_PATH {

// Sets `is_beyond` if the size of a number is above `bound`, or one is not a number.
GPUNET_TARGET inline void find_beyond(index_t n, const float* x, float bound, bool& is_beyond) {
  // The bits beside the sign, ordered as the sizes are.
  constexpr std::int32_t size = std::numeric_limits<std::int32_t>::max();
  const std::int32_t highest = std::bit_cast<std::int32_t>(bound);
  Mask differences{};  // negative: beyond
  index_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Mask bits;
    __builtin_memcpy(&bits, x + i, sizeof bits);
    differences |= highest - (bits & size);
  }
  std::int32_t any = 0;
  for (int k = 0; k < GPUNET_LANES; ++k)
    any |= differences[k];
  for (; i < n; ++i)
    any |= highest - (std::bit_cast<std::int32_t>(x[i]) & size);
  is_beyond = any < 0;
}

// Square roots, rounded to nearest. Compilers do not vectorize sqrt where it may set errno, so it
// is called by its instruction.
GPUNET_TARGET inline void square_roots(index_t n, const float* x, float* y) {
  index_t i = 0;
#if GPUNET_X86 && !defined(__clang__) && !GPUNET_NVCC
  typedef float Floats __attribute__((vector_size(GPUNET_LANES * 4)));
  for (; i + GPUNET_LANES <= n; i += GPUNET_LANES) {
    Floats v;
    __builtin_memcpy(&v, x + i, sizeof v);
#if GPUNET_LANES == 16
    // 4: rounds as the processor is set to.
    v = __builtin_ia32_sqrtps512_mask(v, v, static_cast<short>(-1), 4);
#elif GPUNET_LANES == 8
    v = __builtin_ia32_sqrtps256(v);
#else
    v = __builtin_ia32_sqrtps(v);
#endif
    __builtin_memcpy(y + i, &v, sizeof v);
  }
#endif
  for (; i < n; ++i)
    y[i] = std::sqrt(x[i]);
}

GPUNET_TARGET inline void square_roots(index_t n, const double* x, double* y) {
  index_t i = 0;
#if GPUNET_X86 && !defined(__clang__) && !GPUNET_NVCC
  constexpr index_t in_vector = GPUNET_LANES / 2;
  typedef double Doubles __attribute__((vector_size(GPUNET_LANES * 4)));
  for (; i + in_vector <= n; i += in_vector) {
    Doubles v;
    __builtin_memcpy(&v, x + i, sizeof v);
#if GPUNET_LANES == 16
    v = __builtin_ia32_sqrtpd512_mask(v, v, static_cast<char>(-1), 4);
#elif GPUNET_LANES == 8
    v = __builtin_ia32_sqrtpd256(v);
#else
    v = __builtin_ia32_sqrtpd(v);
#endif
    __builtin_memcpy(y + i, &v, sizeof v);
  }
#endif
  for (; i < n; ++i)
    y[i] = std::sqrt(x[i]);
}

}  // namespace gpunet::GPUNET_PATH
