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
  GPUNET_NO_METHODS(abs)
  GPUNET_NO_METHODS(all)
  GPUNET_NO_METHODS(allclose)
  GPUNET_NO_METHODS(amax)
  GPUNET_NO_METHODS(amin)
  GPUNET_NO_METHODS(any)
  GPUNET_NO_METHODS(argmax)
  GPUNET_NO_METHODS(argmin)
  GPUNET_NO_METHODS(argsort)
  GPUNET_NO_METHODS(atan2)
  GPUNET_NO_METHODS(bincount)
  GPUNET_NO_METHODS(bmm)
  GPUNET_NO_METHODS(ceil)
  GPUNET_NO_METHODS(chunk)
  GPUNET_NO_METHODS(clamp)
  GPUNET_NO_METHODS(copy_)
  GPUNET_NO_METHODS(cos)
  GPUNET_NO_METHODS(count_nonzero)
  GPUNET_NO_METHODS(cumsum)
  GPUNET_NO_METHODS(diagonal)
  GPUNET_NO_METHODS(diff)
  GPUNET_NO_METHODS(dot)
  GPUNET_NO_METHODS(equal)
  GPUNET_NO_METHODS(erf)
  GPUNET_NO_METHODS(exp)
  GPUNET_NO_METHODS(expand)
  GPUNET_NO_METHODS(expm1)
  GPUNET_NO_METHODS(fill_)
  GPUNET_NO_METHODS(flatten)
  GPUNET_NO_METHODS(flip)
  GPUNET_NO_METHODS(floor)
  GPUNET_NO_METHODS(floor_divide)
  GPUNET_NO_METHODS(gather)
  GPUNET_NO_METHODS(histc)
  GPUNET_NO_METHODS(index_select)
  GPUNET_NO_METHODS(isclose)
  GPUNET_NO_METHODS(isfinite)
  GPUNET_NO_METHODS(isinf)
  GPUNET_NO_METHODS(isnan)
  GPUNET_NO_METHODS(log)
  GPUNET_NO_METHODS(log10)
  GPUNET_NO_METHODS(log1p)
  GPUNET_NO_METHODS(log2)
  GPUNET_NO_METHODS(log_softmax)
  GPUNET_NO_METHODS(logical_and)
  GPUNET_NO_METHODS(logical_not)
  GPUNET_NO_METHODS(logical_or)
  GPUNET_NO_METHODS(logsumexp)
  GPUNET_NO_METHODS(masked_fill)
  GPUNET_NO_METHODS(masked_select)
  GPUNET_NO_METHODS(matmul)
  GPUNET_NO_METHODS(max)
  GPUNET_NO_METHODS(maximum)
  GPUNET_NO_METHODS(mean)
  GPUNET_NO_METHODS(median)
  GPUNET_NO_METHODS(min)
  GPUNET_NO_METHODS(minimum)
  GPUNET_NO_METHODS(narrow)
  GPUNET_NO_METHODS(norm)
  GPUNET_NO_METHODS(outer)
  GPUNET_NO_METHODS(permute)
  GPUNET_NO_METHODS(pow)
  GPUNET_NO_METHODS(prod)
  GPUNET_NO_METHODS(reciprocal)
  GPUNET_NO_METHODS(relu)
  GPUNET_NO_METHODS(remainder)
  GPUNET_NO_METHODS(repeat)
  GPUNET_NO_METHODS(reshape)
  GPUNET_NO_METHODS(roll)
  GPUNET_NO_METHODS(round)
  GPUNET_NO_METHODS(rsqrt)
  GPUNET_NO_METHODS(scatter)
  GPUNET_NO_METHODS(scatter_add)
  GPUNET_NO_METHODS(sigmoid)
  GPUNET_NO_METHODS(sign)
  GPUNET_NO_METHODS(sin)
  GPUNET_NO_METHODS(slice)
  GPUNET_NO_METHODS(softmax)
  GPUNET_NO_METHODS(sort)
  GPUNET_NO_METHODS(split)
  GPUNET_NO_METHODS(sqrt)
  GPUNET_NO_METHODS(square)
  GPUNET_NO_METHODS(squeeze)
  GPUNET_NO_METHODS(sum)
  GPUNET_NO_METHODS(t)
  GPUNET_NO_METHODS(tan)
  GPUNET_NO_METHODS(tanh)
  GPUNET_NO_METHODS(topk)
  GPUNET_NO_METHODS(transpose)
  GPUNET_NO_METHODS(tril)
  GPUNET_NO_METHODS(triu)
  GPUNET_NO_METHODS(trunc)
  GPUNET_NO_METHODS(unique)
  GPUNET_NO_METHODS(unsqueeze)
  GPUNET_NO_METHODS(var)
  GPUNET_NO_METHODS(where)
  GPUNET_NO_METHOD(add_, "x += y")
  GPUNET_NO_METHOD(detach,
                   "x.clone() (tensors have no "
                   "gradients)")
  GPUNET_NO_METHOD(backward,
                   "criterion(net(x), "
                   "y).backward() "
                   "(tensors have no "
                   "gradients, models "
                   "do)")
  GPUNET_NO_METHOD(grad,
                   "n"
                   "e"
                   "t"
                   "."
                   "g"
                   "r"
                   "a"
                   "d"
                   "i"
                   "e"
                   "n"
                   "t"
                   "s"
                   "("
                   ")"
                   " "
                   "("
                   "t"
                   "e"
                   "n"
                   "s"
                   "o"
                   "r"
                   "s"
                   " "
                   "h"
                   "a"
                   "v"
                   "e"
                   " "
                   "n"
                   "o"
                   " "
                   "g"
                   "r"
                   "a"
                   "d"
                   "i"
                   "e"
                   "n"
                   "t"
                   "s"
                   ","
                   " "
                   "m"
                   "o"
                   "d"
                   "e"
                   "l"
                   "s"
                   " "
                   "d"
                   "o"
                   ")")
  GPUNET_NO_METHOD(requires_grad,
                   "net.parameters("
                   "pattern)."
                   "requires_grad("
                   "true) (tensors "
                   "have no "
                   "gradients, "
                   "models do)")
  GPUNET_NO_METHOD(requires_grad_,
                   "net.parameters("
                   "pattern)."
                   "requires_grad("
                   "true) (tensors "
                   "have no "
                   "gradients, "
                   "models do)")
  GPUNET_NO_METHOD(cpu, "x.to(host)")
  GPUNET_NO_METHOD(cuda,
                   "x.to(device),"
                   " device a "
                   "Cuda")
  GPUNET_NO_METHOD(dim,
                   "x."
                   "si"
                   "ze"
                   "s("
                   ")."
                   "ra"
                   "nk"
                   "("
                   ")")
  GPUNET_NO_METHOD(div, "x / y")
  GPUNET_NO_METHOD(div_, "x /= y")
  GPUNET_NO_METHOD(dtype, "decltype(x)::value_type")
  GPUNET_NO_METHOD(eq, "x == y")
  GPUNET_NO_METHOD(ge, "x >= y")
  GPUNET_NO_METHOD(gt,
                   "x > "
                   "y")
  GPUNET_NO_METHOD(le, "x <= y")
  GPUNET_NO_METHOD(lt, "x < y")
  GPUNET_NO_METHOD(mm,
                   "ma"
                   "tm"
                   "ul"
                   "(x"
                   ", "
                   "y"
                   ")")
  GPUNET_NO_METHOD(mul, "x * y")
  GPUNET_NO_METHOD(mul_, "x *= y")
  GPUNET_NO_METHOD(ne,
                   "x"
                   " "
                   "!"
                   "="
                   " "
                   "y")
  GPUNET_NO_METHOD(neg,
                   "-"
                   "x")
  GPUNET_NO_METHOD(numpy,
                   "x."
                   "to"
                   "_v"
                   "ec"
                   "to"
                   "r("
                   ")")
  GPUNET_NO_METHOD(shape,
                   "x.sizes("
                   ")")
  GPUNET_NO_METHOD(std,
                   "stddev(x, "
                   "...)")
  GPUNET_NO_METHOD(sub, "x - y")
  GPUNET_NO_METHOD(sub_,
                   "x "
                   "-= "
                   "y")
  GPUNET_NO_METHOD(tolist,
                   "x."
                   "to_"
                   "vect"
                   "or("
                   ")")
  GPUNET_NO_METHOD(type,
                   "cast"
                   "<dou"
                   "ble>"
                   "(x)")
  GPUNET_NO_METHOD(zero_, "fill_(x, 0)")

  // As a condition: if (x > 0).
  template <class Condition>
  requires std::same_as<Condition, bool>
  explicit operator Condition() const {
    static_assert(never<Condition>,
                  "gpunet::Tensor: a tensor as a condition (it has many elements), write any(x > 0).item(), "
                  "all(x > 0).item(), or x.item() of one element");
    return false;
  }
};

#undef GPUNET_NO_METHODS
#undef GPUNET_NO_METHOD

}  // namespace gpunet::detail
