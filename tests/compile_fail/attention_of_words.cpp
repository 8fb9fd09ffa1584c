// expect: gpunet::nn::MultiheadAttention: the input has to have rank 2 [length, embed], give Input two sizes, or put an Embedding before it
// Attention of indices.
// Places are vectors: `nn::Embedding<vocabulary, size>` makes them from indices.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<20>, nn::MultiheadAttention<4>>, Host> net(host);
}
