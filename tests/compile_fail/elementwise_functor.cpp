// expect: gpunet::nn::Elementwise: the functor lacks value(x) or gradient(x, y, dy), write both, each const: template <class T> GPUNET_FN T value(T x) const
// An element-wise function that is not const.
// Threads share the functor. `gradient(x, y, dy)` has three arguments, also where it needs fewer.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Square {
  template <class T>
  GPUNET_FN T value(T x) {
    return x * x;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return 2 * x * dy;
  }
};

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10>, nn::Elementwise<Square>>, Host> net(host);
}
