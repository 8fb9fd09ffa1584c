// expect: gpunet::nn::TransformerEncoderLayer: the input has to have rank 2 [length, embed], give Input two sizes, or put an Embedding before it
// A transformer of images.
// A sequence is [length, embed]: a `Flatten` of the pixels and a `Permute` make one of an image.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<3, 8, 8>, nn::TransformerEncoderLayer<2, 16>>, Host> net(host);
}
