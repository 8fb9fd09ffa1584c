// expect: gpunet::nn::Residual: the layers and the Projection make different shapes (they are added), let both have the same channels, strides and paddings
// A projection that makes another shape than the layers.
// `Projection<Conv2d<6, 1, Stride<2>>>` has the channels and the stride of the layers.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<4, 8, 8>,
                       nn::Residual<nn::Conv2d<6, 3, nn::Stride<2>, nn::Padding<1>>,
                                    nn::Projection<nn::Conv2d<6, 1>>>>,
        Host>
      net(host);
}
