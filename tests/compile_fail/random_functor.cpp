// expect: gpunet::for_each_random: the functor does not take an index and a number, or is not const, write GPUNET_FN void operator()(index_t i, float random) const
// A functor of random numbers that takes no number.
// `for_each_random` calls `f(i, u)` with a number `u` from [0, 1).
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Clear {
  float* y;
  GPUNET_FN void operator()(index_t i) const { y[i] = 0; }
};

void run(Host& device, const OpPass& pass, float* y) {
  for_each_random(device, pass, Clear{y});
}
