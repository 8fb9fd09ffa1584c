// expect: gpunet::nn::Conv2d: PaddingSame with a stride or with Padding (the output is as large as the input), use one of them
// PaddingSame with a stride.
// As in PyTorch. `nn::Padding<1>` with a kernel of 3 and a stride of 2 halves the image.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::Conv2d<8, 3, nn::PaddingSame, nn::Stride<2>>>, Host>
      net(host);
}
