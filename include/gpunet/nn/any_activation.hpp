// An activation that is chosen at run time.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>

#include <gpunet/core/error.hpp>
#include <gpunet/functions/activations.hpp>
#include <gpunet/nn/identity.hpp>
#include <gpunet/nn/relu.hpp>

namespace gpunet::nn {

namespace detail {

template <class Layer>
constexpr std::string_view activation_name() {
  if constexpr (std::is_same_v<Layer, Identity>)
    return "linear";
  else
    return Layer::function_name;
}

}  // namespace detail

// An activation by its name in torch.nn.functional, with the defaults of its layer:
// AnyActivation("relu"), "gelu", ...; "linear" is Identity. It is lowered to that layer.
class AnyActivation {
  template <class... Layers>
  struct List {
    static constexpr std::string_view names[] = {detail::activation_name<Layers>()...};
  };
#define GPUNET_LAYER(scope, Name) , scope::Name
  using Layers = List<Identity, ReLU,
                      GELU GPUNET_ACTIVATIONS(GPUNET_LAYER) GPUNET_ACTIVATIONS_OF_1(GPUNET_LAYER)
                          GPUNET_ACTIVATIONS_OF_2(GPUNET_LAYER)>;
#undef GPUNET_LAYER
  static constexpr auto& names = Layers::names;

 public:
  // Throws Error for any other name.
  explicit AnyActivation(std::string_view name) : number_(number_of(name)) {}
  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const {
    return in;
  }

  // Appends the layer of that name, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return [&]<class... Ls>(List<Ls...>) {
      value_t y = x;
      std::size_t i = 0;
      (static_cast<void>(i++ == number_ && (y = nn::lower(builder, Ls{}, x, in), true)), ...);
      return y;
    }(Layers{});
  }

 private:
  static std::size_t number_of(std::string_view name) {
    const auto at = std::find(std::begin(names), std::end(names), name);
    if (at != std::end(names)) return static_cast<std::size_t>(at - std::begin(names));
    std::string all(names[0]);
    for (std::size_t i = 1; i < std::size(names); ++i)
      all += concat(i + 1 < std::size(names) ? ", " : " or ", names[i]);
    throw_error(Error(concat("gpunet::nn::AnyActivation: '", name, "' is no activation (want ", all,
                             "), write a layer of your own for another")));
  }

  std::size_t number_;  // in names and Layers
};

}  // namespace gpunet::nn
