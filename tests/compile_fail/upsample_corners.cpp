// expect: gpunet::nn::Upsample: AlignCorners<true> is for Bilinear, use Upsample<factor, Bilinear, AlignCorners<true>>
// Aligned corners of repeated pixels.
// PyTorch refuses `nn.Upsample(scale_factor=2, align_corners=True)` too.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::Upsample<2, nn::Nearest, nn::AlignCorners<true>>>,
        Host>
      net(host);
}
