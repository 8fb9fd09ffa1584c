// The vector of one path and its few functions; included by isa_paths.hpp through each_isa_path.inl.

namespace gpunet::GPUNET_PATH {

inline constexpr index_t lanes = GPUNET_LANES;
typedef float Vector __attribute__((vector_size(GPUNET_LANES * 4)));
typedef std::int32_t Mask __attribute__((vector_size(GPUNET_LANES * 4)));

// How many rows of sums a tile in registers has. On x86-64 only processors older than AVX2, and rows shorter than its vector,
// take the baseline: there short code, which compiles faster, matters more than speed.
inline constexpr int tile_rows = GPUNET_LANES == 16 ? 4 : GPUNET_LANES == 4 && GPUNET_X86 ? 1 : 2;

GPUNET_TARGET [[gnu::always_inline]] inline Vector load(const float* p) {
  Vector v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

GPUNET_TARGET [[gnu::always_inline]] inline void store(float* p, Vector v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// Makes the compiler keep a loaded vector in a register, where it would rather load it again for every use.
GPUNET_TARGET [[gnu::always_inline]] inline void hold([[maybe_unused]] Vector& v) {
#if GPUNET_X86
  asm("" : "+v"(v));
#endif
}

// All ones in the last n lanes.
GPUNET_TARGET [[gnu::always_inline]] inline Mask last_lanes(index_t n) {
  Mask lane;
  for (int i = 0; i < GPUNET_LANES; ++i)
    lane[i] = i;
  return lane >= static_cast<std::int32_t>(lanes - n);
}

// v where the mask is set, 0 elsewhere.
GPUNET_TARGET [[gnu::always_inline]] inline Vector keep(Vector v, Mask mask) {
  Mask bits;
  __builtin_memcpy(&bits, &v, sizeof v);
  bits &= mask;
  __builtin_memcpy(&v, &bits, sizeof v);
  return v;
}

// The result of a comparison of vectors.
GPUNET_TARGET [[gnu::always_inline]] inline Mask as_mask(Mask is_true) {
  return is_true;
}

// a where the mask is set, else b.
GPUNET_TARGET [[gnu::always_inline]] inline Vector select(Mask mask, Vector a, Vector b) {
  return mask ? a : b;
}

// The values of integers.
GPUNET_TARGET [[gnu::always_inline]] inline Vector to_floats(Mask integers) {
  return __builtin_convertvector(integers, Vector);
}

// Sum of the lanes, in pairs of halves.
GPUNET_TARGET [[gnu::always_inline]] inline float sum(Vector v) {
#if GPUNET_LANES == 4
  return (v[0] + v[2]) + (v[1] + v[3]);
#else
#if GPUNET_LANES == 16
  const Vector8 eight = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                        __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
#else
  const Vector8 eight = v;
#endif
  const Vector4 four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) + __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
#endif
}

}  // namespace gpunet::GPUNET_PATH
