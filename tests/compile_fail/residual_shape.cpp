// expect: gpunet::nn::Residual: the layers change the shape (their output is added to the input), let them keep it, or make the same change by a Projection<...> behind them
// A residual block that changes the shape.
// `Conv2d<4, 3, Padding<1>>` keeps it; `Projection<Conv2d<6, 1>>` as the last argument makes the input fit.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<4, 8, 8>, nn::Residual<nn::Conv2d<6, 3, nn::Padding<1>>>>, Host>
      net(host);
}
