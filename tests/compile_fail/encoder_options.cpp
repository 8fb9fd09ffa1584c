// expect: gpunet::nn::TransformerEncoderLayer: an option is none of NormFirst, Causal, Bias<...>, DropoutRate<...>, ReLU and GELU
// A dropout that is a layer where a rate is wanted.
// The rate is an option: `nn::DropoutRate<1, 5>`.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10, 8>, nn::TransformerEncoderLayer<2, 16, nn::Dropout>>, Host>
      net(host);
}
