// The fully connected layer.
#pragma once

#include <array>

#include <gpunet/device/traits.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/options.hpp>
#include <gpunet/nn/parameter_bounds.hpp>
#include <gpunet/ops/linear/linear.hpp>

namespace gpunet::nn {

// y = x W^T + b with x [..., in], W [Out, in], b [Out], y [..., Out], as torch.nn.Linear: a map of
// the last dimension, the same for all others (put a Flatten before it for one row of all
// elements). Linear<120>, or Linear{n} for a run-time size; y = x W^T as Linear<120, Bias<false>>
// or Linear{n, Bias<false>{}}.
template <index_t Out = dyn, class... Options>
class Linear {
  static_assert((detail::is_bias<Options> && ...),
                "gpunet::nn::Linear: an option is not Bias<...>");
  static constexpr bool bias = detail::has_bias<Options...>;

 public:
  constexpr Linear() = default;
  constexpr explicit Linear(index_t out) requires(Out == dyn) : out_(out) {}
  constexpr Linear(index_t out, Bias<bias>) requires(Out == dyn) : out_(out) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(In::rank >= 1,
                  "gpunet::nn::Linear: the input has no dimension of features, give Input a size");
    require(out_ > 0, "gpunet::nn::Linear: ", index_t{out_}, " outputs (want 1 or more)");
    if constexpr (In::rank >= 1)
      return with_extent<In::rank - 1>(in, out_);
    else
      return Shape(out_);
  }

  template <class In>
  constexpr auto parameters(In in) const {
    const index_t features = last(in);
    const ParameterSpec weight =
        uniform("weight", {out_, features}, kaiming_uniform_bound(features));
    if constexpr (bias)
      return std::array{weight, uniform("bias", {out_}, bias_bound(features))};
    else
      return std::array{weight};
  }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    const auto features = last(in);
    const LinearOp op{features, out_, rows(in.sizes()), bias};
    using Kernels =
        LinearKernels<decltype(known<typename Builder::device_type>(features, Dim<Out>{}))>;
    return builder.template add<LinearOp, Kernels>(op, x, output(in).sizes(), parameters(in));
  }

 private:
  // Return the features of a row, and the rows of a sample.
  template <class In>
  static constexpr auto last(In in) {
    return in.template at<In::rank - 1>();
  }
  static constexpr index_t rows(const Sizes& in) {
    index_t product = 1;
    for (int i = 0; i + 1 < in.rank(); ++i)
      product *= in[i];
    return product;
  }
  // Returns the sizes that the kernels may know, as a type.
  template <class D, index_t In>
  static constexpr auto known(Dim<In>, Dim<Out>) {
    if constexpr (!DeviceTraits<D>::unrolls_sizes)
      return AnySizes{};
    else if constexpr (In > 0 && Out > 0 && In * Out <= 128)
      return TinySizes<In, Out>{};  // so few weights that code for each of them pays
    else if constexpr (In != dyn && Out != dyn && small_linear_sizes(In, Out))
      return SmallSizes{};
    else
      return AnySizes{};
  }

  [[no_unique_address]] Dim<Out> out_{};
};

Linear(index_t)->Linear<dyn>;
template <bool has>
Linear(index_t, Bias<has>) -> Linear<dyn, Bias<has>>;

GPUNET_REFUSED_LAYER(Linear, "Linear<8> or Linear{8}", dyn)

}  // namespace gpunet::nn
