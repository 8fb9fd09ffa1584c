// expect: gpunet::nn: the input of a recurrent layer has to have rank 2 [steps, features], give Input two sizes, or put an Embedding before it
// A recurrent layer that takes indices.
// Steps are vectors: `nn::Embedding<vocabulary, size>` makes them from indices.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<20>, nn::LSTM<64>>, Host> net(host);
}
