// expect: gpunet::nn::MaxPool2d: an option is none of KernelWidth<...>, Stride<...>, Padding<...> and CeilMode<...>
// An option that a pooling does not have.
// Maxima are divided by nothing; `nn::CountIncludePad<false>` is an option of `nn::AvgPool2d` and `nn::AvgPool1d`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::MaxPool2d<3, nn::CountIncludePad<false>>>, Host> net(
      host);
}
