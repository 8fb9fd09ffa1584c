// An activation that is chosen at run time.
#pragma once

#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/activations.hpp>
#include <gpunet/nn/identity.hpp>
#include <gpunet/nn/relu.hpp>

namespace gpunet::nn {

// ReLU, Tanh, Sigmoid or Identity by its name in PyTorch's calculate_gain: AnyActivation("relu"), "tanh", "sigmoid" or
// "linear". It is lowered to that layer.
class AnyActivation {
 public:
  // Throws Error for any other name.
  explicit AnyActivation(std::string_view name) : kind_(kind_of(name)) {}

  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return in; }

  // Appends the layer of that name, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    switch (kind_) {
      case Kind::relu:
        return nn::lower(builder, ReLU{}, x, in);
      case Kind::tanh:
        return nn::lower(builder, Tanh{}, x, in);
      case Kind::sigmoid:
        return nn::lower(builder, Sigmoid{}, x, in);
      case Kind::linear:
        break;
    }
    return nn::lower(builder, Identity{}, x, in);
  }

 private:
  enum class Kind { linear, relu, tanh, sigmoid };

  static Kind kind_of(std::string_view name) {
    constexpr std::string_view names[] = {"linear", "relu", "tanh", "sigmoid"};
    for (int i = 0; i < 4; ++i)
      if (name == names[i]) return static_cast<Kind>(i);
    throw_error(Error(
        concat("gpunet::nn::AnyActivation: '", name,
               "' is no activation (want relu, tanh, sigmoid or linear), write a layer of your own for another")));
  }

  Kind kind_;
};

}  // namespace gpunet::nn
