// A layer that several places of a network share.
#pragma once

#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/named.hpp>

namespace gpunet::nn {

// The layer or block L, whose parameters all Shared of one name have in common; in files they are
// called Name.weight, ..., from the beginning of the network's names. Sequential<Input<8>,
// Shared<"step", Linear<8>>, Tanh, Shared<"step", Linear<8>>> applies one matrix twice. Gradients
// are added. Throws Error if the layers differ or have buffers, as BatchNorm2d has.
template <FixedString Name, class L>
class Shared {
  static_assert(
      !Name.view().empty(),
      "gpunet::nn::Shared: the name is empty (by which the parameters are found), give one");

 public:
  constexpr Shared() = default;
  constexpr explicit Shared(L layer) : layer_(layer) {}

  // Returns whether the layer can be lowered for device D and element type T.
  template <class D, class T>
  static constexpr bool can_run() {
    return detail::can_run<L, D, T>();
  }
  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    static_assert(detail::check_layer<L>());
    return detail::output_shape(layer_, in);
  }
  // Appends the layer, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    builder.enter_shared(Name.view());
    const value_t y = nn::lower(builder, layer_, x, in);
    builder.leave_shared();
    return y;
  }

 private:
  [[no_unique_address]] L layer_{};
};

}  // namespace gpunet::nn
