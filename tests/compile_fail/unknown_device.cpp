// expect: gpunet::Model: the second argument is not a device, use Host, or Cuda in a program that links gpunet::cuda or that nvcc compiles
// A model on a type that is not a device.
// `template <Device D> void run(D& device)` with `Model<Net, D>` is one source for both; `with_device` chooses.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Tpu {};

int main() {
  Tpu tpu;
  Model<nn::Sequential<nn::Input<10>, nn::Linear<2>>, Tpu> net(tpu);
}
