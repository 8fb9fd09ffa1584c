// expect: gpunet::nn::Conv1d: two modes of padding, give one of PaddingReflect, PaddingReplicate and PaddingCircular
// A convolution with two modes of padding.
// `nn::ReflectionPad1d` before a convolution with `nn::PaddingCircular` has both.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  using Conv = nn::Conv1d<4, 3, nn::Padding<1>, nn::PaddingReflect, nn::PaddingCircular>;
  Model<nn::Sequential<nn::Input<3, 8>, Conv>, Host> net(host);
}
