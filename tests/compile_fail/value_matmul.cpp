// expect: gpunet::nn::matmul: no matrix products of values, write linear(x, out_features) for one with weights, scaled_dot_product_attention(query, key, value) for those of attention
// lines: 20
// A matrix product in a function of values.
// `linear` makes the weights, which are the network's parameters: `Value hidden = linear(x, 8, {.bias = false})`.
#include <gpunet/functional.hpp>
#include <gpunet/tensors.hpp>
using namespace gpunet;

nn::Value projected(nn::Value x, const Tensor<float, Host>& weights) {
  return matmul(x, weights);
}
