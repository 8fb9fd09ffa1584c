// expect: gpunet::nn::MultiheadAttention: the heads do not divide the embedding (each gets embed / heads of its features), change one
// Heads that do not divide the embedding.
// 64 features are 4 heads of 16, or 8 of 8.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

int main() {
  Host host;
  Model<nn::Sequential<nn::Input<10, 64>, nn::MultiheadAttention<6>>, Host> net(host);
}
