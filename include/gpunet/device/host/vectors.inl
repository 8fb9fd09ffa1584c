// The vector of one path and its few functions; included by isa_paths.hpp through
// each_isa_path.inl.

namespace gpunet::GPUNET_PATH {

inline constexpr index_t lanes = GPUNET_LANES;
typedef float Vector __attribute__((vector_size(GPUNET_LANES * 4)));
typedef std::int32_t Mask __attribute__((vector_size(GPUNET_LANES * 4)));

// The number of rows of sums of a tile in registers. On x86-64 only processors older than AVX2, and
// rows shorter than its vector, take the baseline: there short code, which compiles faster, matters
// more than speed.
inline constexpr int tile_rows = GPUNET_LANES == 16 ? 4 : GPUNET_LANES == 4 && GPUNET_X86 ? 1 : 2;

GPUNET_TARGET [[gnu::always_inline]] inline Vector load(const float* p) {
  Vector v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}

GPUNET_TARGET [[gnu::always_inline]] inline void store(float* p, Vector v) {
  __builtin_memcpy(p, &v, sizeof v);
}

// Makes the compiler keep a loaded vector in a register, where it would rather load it again for
// every use.
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

// min(max(v, low), high); NaN stays NaN. <= and not <: where subnormal numbers count as 0, a
// negative one is not less than 0 and would be returned unchanged.
GPUNET_TARGET [[gnu::always_inline]] inline Vector clamp(Vector v, float low, float high) {
  const Vector least = Vector{} + low, most = Vector{} + high;
  return v <= least ? least : v >= most ? most : v;
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
  const Vector4 four = __builtin_shufflevector(eight, eight, 0, 1, 2, 3) +
                       __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  return (four[0] + four[2]) + (four[1] + four[3]);
#endif
}

typedef double WideVector __attribute__((vector_size(GPUNET_LANES * 8)));

// Sums of each lane: runs of up to sum_run vectors in float, and the sum of these runs in double.
class LaneSums {
 public:
  GPUNET_TARGET [[gnu::always_inline]] void add(Vector value) { add(value, 1); }
  // Adds the sum of `terms` vectors.
  GPUNET_TARGET [[gnu::always_inline]] void add(Vector value, int terms) {
    run_ += value;
    terms_ += terms;
    if (terms_ >= sum_run) end_run();
  }
  // Adds n vectors that are `stride` floats apart.
  GPUNET_TARGET [[gnu::always_inline]] void add(const float* x, index_t n, index_t stride) {
    while (n > 0) {
      const int some = static_cast<int>(std::min(n, index_t{2 * sum_run}));
      Vector even{}, odd{};
      for (int i = 0; i + 2 <= some; i += 2, x += 2 * stride) {
        even += load(x);
        odd += load(x + stride);
      }
      even += odd;
      if (some % 2 != 0) even += load(x);
      add(even, (some + 1) / 2);
      n -= some;
    }
  }

  // Writes the sums of the lanes.
  GPUNET_TARGET [[gnu::always_inline]] void write(double (&to)[GPUNET_LANES]) const {
    const WideVector sums = total_ + __builtin_convertvector(run_, WideVector);
    __builtin_memcpy(to, &sums, sizeof sums);
  }
  // Returns the sums of the lanes.
  GPUNET_TARGET [[gnu::always_inline]] Vector each() const {
    return is_long_
               ? __builtin_convertvector(total_ + __builtin_convertvector(run_, WideVector), Vector)
               : run_;
  }
  // Returns the sum over all lanes.
  GPUNET_TARGET [[gnu::always_inline]] double wide_all() const {
    double of_lanes[GPUNET_LANES], sum = 0;
    write(of_lanes);
    for (const double of_lane : of_lanes)
      sum += of_lane;
    return sum;
  }
  GPUNET_TARGET [[gnu::always_inline]] float all() const {
    return is_long_ ? static_cast<float>(wide_all()) : sum(run_);
  }

 private:
  GPUNET_TARGET [[gnu::always_inline]] void end_run() {
    total_ += __builtin_convertvector(run_, WideVector);
    run_ = Vector{};
    terms_ = 0;
    is_long_ = true;
  }

  Vector run_{};
  WideVector total_{};
  int terms_ = 0;
  bool is_long_ = false;
};

// Returns the sum of n numbers.
GPUNET_TARGET inline double sum_of(const float* x, index_t n) {
  constexpr index_t block = 4 * lanes;
  double total = 0;
  float all = 0;
  for (index_t left = n; left > 0;) {
    const index_t some = std::min(left, block * sum_run);
    Vector sums[4] = {};
    index_t i = 0;
    for (; i + block <= some; i += block)
#pragma GCC unroll 4
      for (int v = 0; v < 4; ++v)
        sums[v] += load(x + i + v * lanes);
    for (; i + lanes <= some; i += lanes)
      sums[0] += load(x + i);
    all = sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; i < some; ++i)
      all += x[i];
    total += static_cast<double>(all);
    x += some;
    left -= some;
  }
  return total;
}

}  // namespace gpunet::GPUNET_PATH
