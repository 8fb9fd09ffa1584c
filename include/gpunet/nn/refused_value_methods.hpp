// PyTorch's methods of tensors that are functions of values here: each is a compile error of one
// sentence.
#pragma once

#include <gpunet/core/refused.hpp>

namespace gpunet::nn::detail {

#define GPUNET_NO_METHOD(name, instead)                                                   \
  GPUNET_REFUSED_METHOD(name, "gpunet::nn::Value: " #name                                 \
                              " is no method (functions of values are free functions of " \
                              "gpunet/functional.hpp), write " instead)
#define GPUNET_NO_METHODS(name) GPUNET_NO_METHOD(name, #name "(x, ...)")
#define GPUNET_NO_PRODUCT                                                                    \
  "linear(x, out_features) for a product with weights, scaled_dot_product_attention(query, " \
  "key, value) for those of attention"

// The base of values.
struct RefusedValueMethods {
  // clang-format off
#define GPUNET_REFUSED_NAMES(f) \
  f(abs) f(clamp) f(cos) f(detach) f(exp) f(flatten) f(gather) f(log) f(log_softmax) \
  f(masked_fill) f(mean) f(narrow) f(permute) f(pow) f(relu) f(reshape) f(sigmoid) f(sin) \
  f(softmax) f(sqrt) f(square) f(sum) f(tanh) f(transpose)
  GPUNET_REFUSED_NAMES(GPUNET_NO_METHODS)
#undef GPUNET_REFUSED_NAMES
  GPUNET_NO_METHOD(matmul, GPUNET_NO_PRODUCT)
  GPUNET_NO_METHOD(mm, GPUNET_NO_PRODUCT)
  GPUNET_NO_METHOD(bmm, GPUNET_NO_PRODUCT)
  GPUNET_NO_METHOD(view, "reshape(x, {3, 4}), sizes of one sample")
  GPUNET_NO_METHOD(squeeze, "reshape(x, {3, 4}), sizes of one sample")
  GPUNET_NO_METHOD(unsqueeze, "reshape(x, {3, 4}), sizes of one sample")
  GPUNET_NO_METHOD(shape, "x.sizes() of one sample, or x.size(1)")
  GPUNET_NO_METHOD(contiguous, "x itself")
  // clang-format on
};

#undef GPUNET_NO_PRODUCT
#undef GPUNET_NO_METHODS
#undef GPUNET_NO_METHOD

}  // namespace gpunet::nn::detail
