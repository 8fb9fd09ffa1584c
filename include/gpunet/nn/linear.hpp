// The fully connected layer.
#pragma once

#include <array>

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/parameter_bounds.hpp>
#include <gpunet/ops/linear_tiny.host.hpp>

#if GPUNET_CUDA  // here, so that every unit has the same version for Cuda
#include <gpunet/ops/linear.cuh>
#endif

namespace gpunet::nn {

// y = x W^T + b with x [in], W [Out, in], b [Out], y [Out]. Linear<120>, or Linear{n} for a size known at run time.
template <index_t Out = dyn>
class Linear {
 public:
  static constexpr Activation linear_activation = Activation::none;  // what stands behind it, see RectifiedLinear
  static constexpr bool can_rectify_dx = true;                       // see BackwardPass

  constexpr Linear() = default;
  constexpr explicit Linear(index_t out) requires(Out == dyn) : out_(out) {}

  template <class In>
  constexpr auto output(In) const {
    static_assert(In::rank == 1,
                  "gpunet::nn::Linear: the input has to have rank 1 [features], put a Flatten before it");
    require(out_ > 0, "gpunet::nn::Linear: ", index_t{out_}, " outputs (want 1 or more)");
    return Shape(out_);
  }

  template <class In>
  constexpr auto parameters(In in) const {
    return std::array{uniform("weight", {out_, in.numel()}, kaiming_uniform_bound(in.numel())),
                      uniform("bias", {out_}, bias_bound(in.numel()))};
  }

  template <class In>
  std::string extra_repr(In in) const {
    return concat("in_features=", index_t{in.numel()}, ", out_features=", index_t{out_}, ", bias=True");
  }

  template <class D, class In, class T>
  index_t scratch(const D& device, In in, const Slice& slice, T type) const {
    return linear_scratch(device, slice, in.numel(), out_, type);
  }

  template <class D, class In, class T>
  void forward(D& device, In in, const ForwardPass<T>& pass, Activation activation = Activation::none) const {
    linear_forward(device, pass.slice, in.numel(), out_, pass.x, pass.parameters[0], pass.parameters[1], pass.y,
                   pass.scratch, activation);
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const BackwardPass<T>& pass, Activation activation = Activation::none) const {
    linear_backward(device, pass.slice, in.numel(), out_, pass.x, pass.y, pass.dy, pass.parameters[0], pass.dx,
                    pass.gradients[0], pass.gradients[1], pass.accumulate, pass.scratch, activation,
                    pass.rectify_dx, pass.relu_bits);
  }

 private:
  [[no_unique_address]] Dim<Out> out_{};
};

Linear(index_t)->Linear<dyn>;

}  // namespace gpunet::nn
