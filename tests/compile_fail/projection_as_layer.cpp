// expect: gpunet::nn: a Projection or AfterSum that is no argument of a Residual (it is no layer), put it at the end of a Residual
// A projection without a residual block.
// The projection is an argument of `Residual`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<4, 8, 8>, nn::Conv2d<6, 1>, nn::Projection<nn::Conv2d<6, 1>>>,
        Host>
      net(host);
}
