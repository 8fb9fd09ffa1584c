// Neighbouring layers that a device does better at once: the list of layers is written anew, here and nowhere else.
#pragma once

#include <array>
#include <type_traits>

#include <gpunet/device/device.hpp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/fused.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/named.hpp>
#include <gpunet/nn/relu.hpp>
#include <gpunet/nn/sequential.hpp>

namespace gpunet {

namespace detail {

// What a layer is to its neighbours.
enum class Role { other, convolution, linear, relu, pool };

template <class L>
inline constexpr Role role = Role::other;
template <class L>
requires requires {
  typename L::unnamed;
}
inline constexpr Role role<L> = role<typename L::unnamed>;
template <index_t Out, index_t Kernel, class... Options>
inline constexpr Role role<nn::Conv2d<Out, Kernel, Options...>> = Role::convolution;
template <index_t Out>
inline constexpr Role role<nn::Linear<Out>> = Role::linear;
template <>
inline constexpr Role role<nn::ReLU> = Role::relu;
template <>
inline constexpr Role role<nn::MaxPool2d<2>> = Role::pool;

// Runs of neighbouring layers that become one.
template <std::size_t depth>
struct LayerGroups {
  std::array<std::size_t, depth> first{}, size{};
  std::size_t count = 0;

  constexpr explicit LayerGroups(const std::array<Role, depth>& roles) {
    for (std::size_t i = 0; i < depth; i += size[count++]) {
      const auto is = [&](std::size_t j, Role role) {
        return j < depth && roles[j] == role;
      };
      first[count] = i;
      size[count] = 1;
      if ((is(i, Role::convolution) || is(i, Role::linear)) && is(i + 1, Role::relu))
        size[count] = is(i, Role::convolution) && is(i + 2, Role::pool) ? 3 : 2;
    }
  }
};

// The layer L with the name, or else the number, that L has in the network as the user wrote it.
template <std::size_t Position, class Original, class L>
struct InPlaceOf : L {
  static constexpr std::size_t position = Position;
  static constexpr std::string_view name = nn::detail::given_name<Original>();
  constexpr explicit InPlaceOf(const L& layer) : L(layer) {}
};

template <class Net, std::size_t... I>
constexpr auto layer_groups(std::index_sequence<I...>) {
  return LayerGroups<sizeof...(I)>(
      {role<std::remove_cvref_t<decltype(std::declval<Net>().template layer<I>())>>...});
}

// The layer that does what group G of the network does.
template <std::size_t G, bool keeps_bits, class Net>
constexpr auto fuse_group(const Net& net) {
  constexpr auto groups = layer_groups<Net>(typename Net::indices{});
  constexpr std::size_t first = groups.first[G], size = groups.size[G];
  const auto& layer = net.template layer<first>();
  using L = std::remove_cvref_t<decltype(layer)>;
  if constexpr (size == 1)
    return InPlaceOf<first, L, L>(layer);
  else if constexpr (role<L> == Role::convolution)
    return InPlaceOf<first, L, nn::ConvolutionBlock<L, size == 3>>(nn::ConvolutionBlock<L, size == 3>(layer));
  else
    return InPlaceOf<first, L, nn::RectifiedLinear<L, keeps_bits>>(nn::RectifiedLinear<L, keeps_bits>(layer));
}

// The network with all groups of layers fused.
template <bool keeps_bits, class Net>
constexpr auto fuse_groups(const Net& net) {
  constexpr auto groups = layer_groups<Net>(typename Net::indices{});
  return [&]<std::size_t... G>(std::index_sequence<G...>) {
    return nn::Sequential(nn::Input(net.input()), fuse_group<G, keeps_bits>(net)...);
  }
  (std::make_index_sequence<groups.count>{});
}

// Whether a device has the layers that do the work of several: Host has those for floats.
template <class D, class T>
inline constexpr bool fuses = std::is_same_v<D, Cuda> || (std::is_same_v<D, Host> && std::is_same_v<T, float>);

// Whether a product on the device can use the bits of a ReLU: those of cuBLASLt can, which are of floats.
template <class D, class T>
inline constexpr bool uses_relu_bits = std::is_same_v<D, Cuda>&& std::is_same_v<T, float>;

}  // namespace detail

// The network that a model runs in place of `net` on a device, with the same parameters of the same names: convolution + ReLU +
// pooling, and linear + ReLU, are one layer where the device has one.
template <class D, class T, class Net>
constexpr auto fuse(const D&, const Net& net, T) {
  static_assert(
      !nn::detail::is_block<Net>,
      "gpunet::Model: the first argument of its Sequential is no Input, begin with the shape of one sample: "
      "Input<3, 32, 32>");
  if constexpr (detail::fuses<D, T>)
    return detail::fuse_groups<detail::uses_relu_bits<D, T>>(net);
  else
    return net;
}

}  // namespace gpunet
