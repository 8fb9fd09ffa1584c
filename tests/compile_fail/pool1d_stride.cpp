// expect: gpunet::nn::AvgPool1d: an option is none of Stride<...>, Padding<...>, CeilMode<...> and CountIncludePad<...>
// A stride of two numbers for a pooling of one dimension.
// Rows have one stride: `nn::Stride<2>`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8>, nn::AvgPool1d<3, nn::Stride<1, 2>>>, Host> net(host);
}
