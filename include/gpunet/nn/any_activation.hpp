// An activation that is chosen when the program runs.
#pragma once

#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/relu.hpp>
#include <gpunet/nn/sigmoid.hpp>
#include <gpunet/nn/tanh.hpp>

namespace gpunet::nn {

namespace detail {

// x; not within the layer, because nvcc takes no private type into a kernel.
struct Unchanged {
  static constexpr bool one_copy = true;
  template <class T>
  GPUNET_FN T operator()(T x) const {
    return x;
  }
};

}  // namespace detail

// ReLU, Tanh, Sigmoid, or nothing (as torch.nn.Identity), element by element, by the name that PyTorch has for it in
// calculate_gain: AnyActivation("relu"), "tanh", "sigmoid" or "linear". The same numbers as of that layer, whose name it has
// where a network is printed. Only ReLU as a type is fused with the layer before it.
class AnyActivation {
 public:
  // Throws Error for any other name.
  explicit AnyActivation(std::string_view name) : kind_(kind_of(name)) {}

  constexpr auto output(auto in) const { return in; }

  std::string class_name() const {
    constexpr const char* names[] = {"Identity", "ReLU", "Tanh", "Sigmoid"};
    return names[static_cast<int>(kind_)];
  }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass) const {
    switch (kind_) {
      case Kind::relu:
        return ReLU{}.forward(device, in, pass);
      case Kind::tanh:
        return Tanh{}.forward(device, in, pass);
      case Kind::sigmoid:
        return Sigmoid{}.forward(device, in, pass);
      case Kind::linear:
        return map(device, pass.slice.samples() * in.numel(), detail::Unchanged{}, pass.x, pass.y);
    }
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass) const {
    switch (kind_) {
      case Kind::relu:
        return ReLU{}.backward(device, in, pass);
      case Kind::tanh:
        return Tanh{}.backward(device, in, pass);
      case Kind::sigmoid:
        return Sigmoid{}.backward(device, in, pass);
      case Kind::linear:
        if (pass.dx) map(device, pass.slice.samples() * in.numel(), detail::Unchanged{}, pass.dy, pass.dx);
    }
  }

 private:
  enum class Kind { linear, relu, tanh, sigmoid };

  static Kind kind_of(std::string_view name) {
    constexpr std::string_view names[] = {"linear", "relu", "tanh", "sigmoid"};
    for (int i = 0; i < 4; ++i)
      if (name == names[i]) return static_cast<Kind>(i);
    throw Error(
        concat("gpunet::nn::AnyActivation: '", name,
               "' is no activation (want relu, tanh, sigmoid or linear), write a layer of your own for another"));
  }

  Kind kind_;
};

}  // namespace gpunet::nn
