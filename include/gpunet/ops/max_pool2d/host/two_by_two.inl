// Pooling over windows of 2 x 2 floats that do not overlap, one vector path; see device/host/each_isa_path.inl and
// two_by_two.hpp. Vectors run over the samples of a slice; `inner` is a multiple of the path's lanes.

namespace gpunet::GPUNET_PATH {

typedef PoolChoice Choices __attribute__((vector_size(GPUNET_LANES * sizeof(PoolChoice))));

// The largest of four, the first of equals, NaN above all; and which it is.
GPUNET_TARGET [[gnu::always_inline]] inline void store_largest(const Vector (&candidates)[4], float* y,
                                                               PoolChoice* choice) {
  Vector best = candidates[0];
  Mask where = {};
#pragma GCC unroll 4
  for (int k = 1; k < 4; ++k) {
    const Mask larger = (candidates[k] > best) | (candidates[k] != candidates[k]);
    best = larger ? candidates[k] : best;
    where = larger ? Mask{} + k : where;
  }
  store(y, best);
  const Choices chosen = __builtin_convertvector(where, Choices);
  __builtin_memcpy(choice, &chosen, sizeof chosen);
}

// One row of y of one channel from the two rows of x over it.
GPUNET_TARGET inline void max_pool_row(index_t columns, index_t inner, const float* above, const float* below,
                                       float* y, PoolChoice* choice) {
  for (index_t column = 0; column < columns; ++column, above += inner, below += inner)
    for (index_t j = 0; j < inner; j += lanes, above += lanes, below += lanes, y += lanes, choice += lanes)
      store_largest({load(above), load(above + inner), load(below), load(below + inner)}, y, choice);
}

// Every other element of two vectors in a row.
#if GPUNET_LANES == 16
#define GPUNET_EVERY_OTHER(first)                                                                                \
  first, first + 2, first + 4, first + 6, first + 8, first + 10, first + 12, first + 14, first + 16, first + 18, \
      first + 20, first + 22, first + 24, first + 26, first + 28, first + 30
#elif GPUNET_LANES == 8
#define GPUNET_EVERY_OTHER(first) \
  first, first + 2, first + 4, first + 6, first + 8, first + 10, first + 12, first + 14
#else
#define GPUNET_EVERY_OTHER(first) first, first + 2, first + 4, first + 6
#endif

// The same for slices of one sample, whose neighbors in a row are columns; at least one vector of them.
GPUNET_TARGET inline void max_pool_row_of_one(index_t columns, const float* above, const float* below, float* y,
                                              PoolChoice* choice) {
  for (index_t first = 0; first < columns; first += lanes) {
    const index_t i = std::min(first, columns - lanes);
    const Vector a = load(above + 2 * i), b = load(above + 2 * i + lanes);
    const Vector c = load(below + 2 * i), d = load(below + 2 * i + lanes);
    store_largest(
        {__builtin_shufflevector(a, b, GPUNET_EVERY_OTHER(0)), __builtin_shufflevector(a, b, GPUNET_EVERY_OTHER(1)),
         __builtin_shufflevector(c, d, GPUNET_EVERY_OTHER(0)),
         __builtin_shufflevector(c, d, GPUNET_EVERY_OTHER(1))},
        y + i, choice + i);
  }
}
#undef GPUNET_EVERY_OTHER

// The backward pass: one row of dy writes the two rows of dx under it.
GPUNET_TARGET inline void max_pool_row_gradient(index_t columns, index_t inner, const float* dy,
                                                const PoolChoice* choice, float* above, float* below) {
  for (index_t column = 0; column < columns; ++column, above += inner, below += inner)
    for (index_t j = 0; j < inner; j += lanes, above += lanes, below += lanes, dy += lanes, choice += lanes) {
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
