// expect: gpunet::nn::ConvTranspose2d: OutputPadding is not smaller than the stride or the dilation (elements that no window reaches), use a smaller one
// An OutputPadding as large as the stride.
// `nn::ConvTranspose2d<8, 3, nn::Stride<2>, nn::Padding<1>, nn::OutputPadding<1>>` doubles height and width.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::ConvTranspose2d<8, 3, nn::OutputPadding<1>>>, Host>
      net(host);
}
