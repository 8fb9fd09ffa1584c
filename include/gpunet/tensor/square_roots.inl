// Square roots of one vector path, rounded to nearest. Compilers do not vectorize sqrt where it may set errno, so it is called by
// its instruction.

namespace gpunet::GPUNET_PATH {

GPUNET_TARGET inline void square_roots(index_t n, const float* x, float* y) {
  index_t i = 0;
#if GPUNET_X86 && !defined(__clang__) && !GPUNET_NVCC
  typedef float Floats __attribute__((vector_size(GPUNET_LANES * 4)));
  for (; i + GPUNET_LANES <= n; i += GPUNET_LANES) {
    Floats v;
    __builtin_memcpy(&v, x + i, sizeof v);
#if GPUNET_LANES == 16
    v = __builtin_ia32_sqrtps512_mask(v, v, static_cast<short>(-1), 4);  // 4: rounds as the processor is set to
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
