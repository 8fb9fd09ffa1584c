// Max pooling of floats, one vector path; see device/host/each_isa_path.inl and windows.hpp.

namespace gpunet::GPUNET_PATH {

typedef PoolChoice Choices __attribute__((vector_size(GPUNET_LANES * sizeof(PoolChoice))));

// The largest of some vectors, the first of equals, the last NaN above all, and which it is.
struct Largest {
  Vector best;
  Mask where;

  GPUNET_TARGET [[gnu::always_inline]] void add(Vector value, index_t place) {
    const Mask larger = (value > best) | (value != value);
    best = larger ? value : best;
    where = larger ? Mask{} + static_cast<std::int32_t>(place) : where;
  }
  GPUNET_TARGET [[gnu::always_inline]] void write(float* y, PoolChoice* choice) const {
    store(y, best);
    const Choices chosen = __builtin_convertvector(where, Choices);
    __builtin_memcpy(choice, &chosen, sizeof chosen);
  }
};

// Writes the largest of four.
GPUNET_TARGET [[gnu::always_inline]] inline void write_largest(const Vector (&candidates)[4],
                                                               float* y, PoolChoice* choice) {
  Largest largest{candidates[0], Mask{}};
#pragma GCC unroll 3
  for (int k = 1; k < 4; ++k)
    largest.add(candidates[k], k);
  largest.write(y, choice);
}

// Windows of 2 x 2 that do not overlap: one row of y of one channel from the two rows of x over it.
// Vectors run over the samples of a slice; `inner` is a multiple of the path's lanes.
GPUNET_TARGET inline void max_pool_row(index_t columns, index_t inner, const float* above,
                                       const float* below, float* y, PoolChoice* choice) {
  for (index_t column = 0; column < columns; ++column, above += inner, below += inner)
    for (index_t j = 0; j < inner;
         j += lanes, above += lanes, below += lanes, y += lanes, choice += lanes)
      write_largest({load(above), load(above + inner), load(below), load(below + inner)}, y,
                    choice);
}

// Every other element of two vectors in a row.
#if GPUNET_LANES == 16
#define GPUNET_EVERY_OTHER(first) GPUNET_EVERY_OTHER_OF(first, first + 16)
#define GPUNET_EVERY_OTHER_OF(a, b)                                                             \
  a, a + 2, a + 4, a + 6, a + 8, a + 10, a + 12, a + 14, b, b + 2, b + 4, b + 6, b + 8, b + 10, \
      b + 12, b + 14
#elif GPUNET_LANES == 8
#define GPUNET_EVERY_OTHER(first) GPUNET_EVERY_OTHER_OF(first, first + 8)
#define GPUNET_EVERY_OTHER_OF(a, b) a, a + 2, a + 4, a + 6, b, b + 2, b + 4, b + 6
#else
#define GPUNET_EVERY_OTHER(first) GPUNET_EVERY_OTHER_OF(first, first + 4)
#define GPUNET_EVERY_OTHER_OF(a, b) a, a + 2, b, b + 2
#endif

// The same for slices of one sample, whose neighbors in a row are columns; at least one vector of
// them.
GPUNET_TARGET inline void max_pool_row_of_one(index_t columns, const float* above,
                                              const float* below, float* y, PoolChoice* choice) {
  for (index_t first = 0; first < columns; first += lanes) {
    const index_t i = std::min(first, columns - lanes);
    const Vector a = load(above + 2 * i), b = load(above + 2 * i + lanes);
    const Vector c = load(below + 2 * i), d = load(below + 2 * i + lanes);
    write_largest({__builtin_shufflevector(a, b, GPUNET_EVERY_OTHER(0)),
                   __builtin_shufflevector(a, b, GPUNET_EVERY_OTHER(1)),
                   __builtin_shufflevector(c, d, GPUNET_EVERY_OTHER(0)),
                   __builtin_shufflevector(c, d, GPUNET_EVERY_OTHER(1))},
                  y + i, choice + i);
  }
}

// Elements in a row, every other one, and every `stride`-th. Nothing behind the last one is read.
struct LoadRow {
  GPUNET_TARGET [[gnu::always_inline]] Vector operator()(const float* p) const { return load(p); }
};
struct LoadEveryOther {
  GPUNET_TARGET [[gnu::always_inline]] Vector operator()(const float* p) const {
    return __builtin_shufflevector(load(p), load(p + lanes - 1),
                                   GPUNET_EVERY_OTHER_OF(0, GPUNET_LANES + 1));
  }
};
struct LoadStrided {
  index_t stride;
  GPUNET_TARGET [[gnu::always_inline]] Vector operator()(const float* p) const {
    Vector v;
    for (int k = 0; k < GPUNET_LANES; ++k)
      v[k] = p[k * stride];
    return v;
  }
};

// Writes the largest of the vectors load(p) for each element p of a window, which begins at `from`.
template <class Load>
GPUNET_TARGET [[gnu::always_inline]] inline void write_largest(const Pool2dGeometry& g,
                                                               const ClippedWindow& window,
                                                               index_t inner, const float* from,
                                                               const Load& load, float* y,
                                                               PoolChoice* choice) {
  index_t place = window.first_place;
  Largest largest{load(from), Mask{} + static_cast<std::int32_t>(place)};
  for (index_t ky = 0; ky < window.rows; ++ky, from += g.width * inner, place += g.kernel_width)
    for (index_t kx = 0; kx < window.columns; ++kx)
      largest.add(load(from + kx * inner), place + kx);
  largest.write(y, choice);
}

// One row of y of one channel, [out_width][inner], in vectors over samples. `inner` is a multiple
// of the path's lanes.
GPUNET_TARGET inline void max_pool_windows(const Pool2dGeometry& g, index_t inner, index_t row,
                                           const float* image, float* y, PoolChoice* choice) {
  for (index_t column = 0; column < g.out_width; ++column) {
    const ClippedWindow window = clipped_window(g, row, column);
    const float* from = image + (window.top * g.width + window.left) * inner;
    for (index_t j = 0; j < inner; j += lanes, from += lanes, y += lanes, choice += lanes)
      write_largest(g, window, inner, from, LoadRow{}, y, choice);
  }
}

// The same for slices of one sample, in vectors over the columns from `begin` to `end`, whose
// windows have all their columns; at least one vector of them.
GPUNET_TARGET inline void max_pool_windows_of_one(const Pool2dGeometry& g, index_t row,
                                                  index_t begin, index_t end, const float* image,
                                                  float* y, PoolChoice* choice) {
  for (index_t first = begin; first < end; first += lanes) {
    const index_t column = std::min(first, end - lanes);
    const ClippedWindow window = clipped_window(g, row, column);
    const float* from = image + window.top * g.width + window.left;
    if (g.stride_width == 1)
      write_largest(g, window, 1, from, LoadRow{}, y + column, choice + column);
    else if (g.stride_width == 2)
      write_largest(g, window, 1, from, LoadEveryOther{}, y + column, choice + column);
    else
      write_largest(g, window, 1, from, LoadStrided{g.stride_width}, y + column, choice + column);
  }
}
#undef GPUNET_EVERY_OTHER
#undef GPUNET_EVERY_OTHER_OF

// The same for one window, in vectors over its columns, one of them at least.
GPUNET_TARGET inline void max_pool_wide_window(const Pool2dGeometry& g, const ClippedWindow& window,
                                               const float* from, float* y, PoolChoice* choice) {
  // Lane k has the places place + k. The last vector may overlap the one before, which changes no
  // maximum.
  index_t place = window.first_place;
  Largest largest{load(from), Mask{} + static_cast<std::int32_t>(place)};
  for (index_t ky = 0; ky < window.rows; ++ky, from += g.width, place += g.kernel_width)
    for (index_t kx = 0; kx < window.columns; kx += lanes) {
      const index_t at = std::min(kx, window.columns - lanes);
      largest.add(load(from + at), place + at);
    }
  int best = 0;
  for (int k = 1; k < GPUNET_LANES; ++k) {
    const float a = largest.best[best], b = largest.best[k];
    const bool is_first = largest.where[k] + k < largest.where[best] + best;
    const bool is_larger = b != b ? a == a || !is_first : b > a || (b == a && is_first);
    if (is_larger) best = k;
  }
  *y = largest.best[best];
  *choice = static_cast<PoolChoice>(largest.where[best] + best);
}

// The backward pass: one row of dy writes the two rows of dx under it.
GPUNET_TARGET inline void max_pool_row_gradient(index_t columns, index_t inner, const float* dy,
                                                const PoolChoice* choice, float* above,
                                                float* below) {
  for (index_t column = 0; column < columns; ++column, above += inner, below += inner)
    for (index_t j = 0; j < inner;
         j += lanes, above += lanes, below += lanes, dy += lanes, choice += lanes) {
      const Vector d = load(dy);
      Choices chosen;
      __builtin_memcpy(&chosen, choice, sizeof chosen);
      const Mask where = __builtin_convertvector(chosen, Mask);
      store(above, keep(d, where == 0));
      store(above + inner, keep(d, where == 1));
      store(below, keep(d, where == 2));
      store(below + inner, keep(d, where == 3));
    }
}

}  // namespace gpunet::GPUNET_PATH
