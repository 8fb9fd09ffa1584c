// expect: gpunet::nn::Conv2d: the padding is larger than its mode allows (less than the image for PaddingReflect, at most the image for PaddingCircular), use less padding or a larger image
// A convolution whose padding reflects more rows than there are.
// `nn::PaddingReplicate` repeats the outermost elements any number of times.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  using Conv = nn::Conv2d<4, 3, nn::Padding<2>, nn::PaddingReflect>;
  Model<nn::Sequential<nn::Input<3, 2, 8>, Conv>, Host> net(host);
}
