// expect: gpunet::Model: the second argument is not a device
// A model on something that is no device.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Tpu {};

int main() {
  Tpu tpu;
  Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Tpu> net(tpu);
}
