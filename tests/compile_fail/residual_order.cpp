// expect: gpunet::nn::Residual: something stands behind the Projection or AfterSum (want layers, then a Projection, then an AfterSum), put it before them
// A layer behind the projection.
// `AfterSum<ReLU>` takes the sum.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<4, 8, 8>,
                       nn::Residual<nn::Conv2d<6, 1>, nn::Projection<nn::Conv2d<6, 1>>, nn::ReLU>>,
        Host>
      net(host);
}
