// Functions that an op applies to its result before it stores it.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet {

// What an op does to its result: nothing, or max(y, 0), element by element.
enum class Activation { none, relu };

// A functor, so that a whole array can be mapped too. A NaN stays one, as in PyTorch.
struct Activate {
  Activation activation;

  template <class T>
  GPUNET_FN T operator()(T y) const {
    return activation == Activation::relu && y < T{} ? T{} : y;
  }
};

}  // namespace gpunet
