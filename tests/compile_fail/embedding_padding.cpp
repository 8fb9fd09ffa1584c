// expect: gpunet::nn::Embedding: PaddingIdx is not the index of an embedding (0 is the first)
// A padding index behind the last embedding.
// The padding is one of the embeddings: ten of them have the indices 0 to 9.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<20>, nn::Embedding<10, 4, nn::PaddingIdx<10>>>, Host> net(host);
}
