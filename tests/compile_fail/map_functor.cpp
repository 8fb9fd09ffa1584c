// expect: gpunet::map: the functor does not take a number of each array, or is not const, write GPUNET_FN T operator()(T x) const for one array, operator()(T a, T b) const for two
// A functor of map that is not const.
// Threads share the functor, so its call must not change it.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Square {
  GPUNET_FN float operator()(float x) { return x * x; }
};

void run(Host& device, const float* x, float* y) {
  map(device, 10, Square{}, x, y);
}
