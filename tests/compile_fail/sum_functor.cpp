// expect: gpunet::sum_each: the functor lacks operator()(i, r) or store(i, sum), write both, each const: GPUNET_FN T operator()(index_t i, index_t r) const, GPUNET_FN void store(index_t i, T sum) const
// A sum without store.
// `sum_each` passes sum `i` to `store`, as `f.store(i, sum)`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Row {
  const float* x;
  float* y;
  GPUNET_FN float operator()(index_t i, index_t r) const { return x[10 * i + r]; }
};

void run(Host& device, const float* x, float* y) {
  sum_each(device, 3, 10, Row{x, y});
}
