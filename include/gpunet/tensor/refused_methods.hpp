// PyTorch's methods of tensors that are functions here: each is a compile error of one sentence.
#pragma once

#include <concepts>

#include <gpunet/core/refused.hpp>

namespace gpunet::detail {

#define GPUNET_NO_METHOD(name, instead)                                                    \
  GPUNET_REFUSED_METHOD(name, "gpunet::Tensor: " #name                                     \
                              " is no method (functions of tensors are free functions of " \
                              "gpunet/tensors.hpp), write " instead)
#define GPUNET_NO_METHODS(name) GPUNET_NO_METHOD(name, #name "(x, ...)")

// The base of tensors, strided views and expressions.
struct RefusedMethods {
  // clang-format off
#define GPUNET_REFUSED_NAMES(f) \
  f(abs) f(all) f(allclose) f(amax) f(amin) f(any) f(argmax) f(argmin) f(argsort) f(atan2) \
  f(bincount) f(bmm) f(ceil) f(chunk) f(clamp) f(copy_) f(cos) f(count_nonzero) f(cumsum) \
  f(diagonal) f(diff) f(dot) f(equal) f(erf) f(exp) f(expand) f(expm1) f(fill_) f(flatten) \
  f(flip) f(floor) f(floor_divide) f(gather) f(histc) f(index_select) f(isclose) f(isfinite) \
  f(isinf) f(isnan) f(log) f(log10) f(log1p) f(log2) f(log_softmax) f(logical_and) \
  f(logical_not) f(logical_or) f(logsumexp) f(masked_fill) f(masked_select) f(matmul) f(max) \
  f(maximum) f(mean) f(median) f(min) f(minimum) f(narrow) f(norm) f(outer) f(permute) f(pow) \
  f(prod) f(reciprocal) f(relu) f(remainder) f(repeat) f(reshape) f(roll) f(round) f(rsqrt) \
  f(scatter) f(scatter_add) f(sigmoid) f(sign) f(sin) f(slice) f(softmax) f(sort) f(split) \
  f(sqrt) f(square) f(squeeze) f(sum) f(t) f(tan) f(tanh) f(topk) f(transpose) f(tril) f(triu) \
  f(trunc) f(unique) f(unsqueeze) f(var) f(where)
  GPUNET_REFUSED_NAMES(GPUNET_NO_METHODS)
#undef GPUNET_REFUSED_NAMES
  GPUNET_NO_METHOD(add_, "x += y")
  GPUNET_NO_METHOD(detach, "x.clone() (tensors have no gradients)")
  GPUNET_NO_METHOD(backward,
                   "criterion(net(x), y).backward() (tensors have no gradients, models do)")
  GPUNET_NO_METHOD(grad, "net.gradients() (tensors have no gradients, models do)")
  GPUNET_NO_METHOD(requires_grad,
                   "net.parameters(pattern).requires_grad(true) (tensors have no gradients, models "
                   "do)")
  GPUNET_NO_METHOD(requires_grad_,
                   "net.parameters(pattern).requires_grad(true) (tensors have no gradients, models "
                   "do)")
  GPUNET_NO_METHOD(cpu, "x.to(host)")
  GPUNET_NO_METHOD(cuda, "x.to(device), device a Cuda")
  GPUNET_NO_METHOD(dim, "x.sizes().rank()")
  GPUNET_NO_METHOD(div, "x / y")
  GPUNET_NO_METHOD(div_, "x /= y")
  GPUNET_NO_METHOD(dtype, "decltype(x)::value_type")
  GPUNET_NO_METHOD(eq, "x == y")
  GPUNET_NO_METHOD(ge, "x >= y")
  GPUNET_NO_METHOD(gt, "x > y")
  GPUNET_NO_METHOD(le, "x <= y")
  GPUNET_NO_METHOD(lt, "x < y")
  GPUNET_NO_METHOD(mm, "matmul(x, y)")
  GPUNET_NO_METHOD(mul, "x * y")
  GPUNET_NO_METHOD(mul_, "x *= y")
  GPUNET_NO_METHOD(ne, "x != y")
  GPUNET_NO_METHOD(neg, "-x")
  GPUNET_NO_METHOD(numpy, "x.to_vector()")
  GPUNET_NO_METHOD(shape, "x.sizes()")
  GPUNET_NO_METHOD(std, "stddev(x, ...)")
  GPUNET_NO_METHOD(sub, "x - y")
  GPUNET_NO_METHOD(sub_, "x -= y")
  GPUNET_NO_METHOD(tolist, "x.to_vector()")
  GPUNET_NO_METHOD(type, "cast<double>(x)")
  GPUNET_NO_METHOD(zero_, "fill_(x, 0)")
  // clang-format on

  // As a condition: if (x > 0).
  template <class Condition>
  requires std::same_as<Condition, bool>
  explicit operator Condition() const {
    static_assert(
        never<Condition>,
        "gpunet::Tensor: a tensor as a condition (it has many elements), write any(x > 0).item(), "
        "all(x > 0).item(), or x.item() of one element");
    return false;
  }
};

#undef GPUNET_NO_METHODS
#undef GPUNET_NO_METHOD

}  // namespace gpunet::detail
