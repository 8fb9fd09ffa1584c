// expect: gpunet::for_each: the functor does not take an index, or is not const, write GPUNET_FN void operator()(index_t i) const
// A functor that is not const.
// Threads share the functor, so its call must not change it.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Increment {
  float* y;
  GPUNET_FN void operator()(index_t i) { y[i] += 1; }
};

void run(Host& device, float* y) {
  for_each(device, 10, Increment{y});
}
