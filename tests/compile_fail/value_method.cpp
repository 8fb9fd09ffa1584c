// expect: gpunet::nn::Value: matmul is no method (functions of values are free functions of gpunet/functional.hpp), write linear(x, out_features) for a product with weights, scaled_dot_product_attention(query, key, value) for those of attention
// lines: 45
// A function of values as a method.
// `x.relu()` in PyTorch is `relu(x)`.
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
using namespace gpunet;

void run(Host& host) {
  Network net(host, [](nn::Value x) { return x.matmul(x); }, {4});
}
