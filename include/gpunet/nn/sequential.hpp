// Networks and blocks: layers one after another.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <initializer_list>
#include <string>
#include <type_traits>

#include <gpunet/core/error.hpp>
#include <gpunet/core/pack.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/merge_elementwise.hpp>
#include <gpunet/nn/named.hpp>

namespace gpunet::nn {

// The shape of one input sample of a network: Input<3, 32, 32>. Extents may be run-time sizes
// (`dyn`): Input<3, dyn, dyn>{Shape(Dim<3>{}, Dim{height}, Dim{width})}; if all are:
// Input{3, height, width}.
template <index_t... Ns>
struct Input {
  [[no_unique_address]] Shape<Ns...> shape{};
  constexpr Input() = default;
  constexpr explicit Input(Shape<Ns...> s) : shape(s) {}
  // Throws Error for an extent below 1.
  template <std::integral... Extents>
  requires(sizeof...(Ns) > 0 && sizeof...(Extents) == sizeof...(Ns) && ((Ns == dyn) && ...))  //
      constexpr explicit Input(Extents... extents)
      : shape(Dim<dyn>(static_cast<index_t>(extents))...) {
    for (const index_t extent : {static_cast<index_t>(extents)...})
      require(extent >= 1, "gpunet::nn::Input: an extent of ", extent, " (want 1 or more)");
  }
};

template <index_t... Ns>
Input(Shape<Ns...>) -> Input<Ns...>;
template <std::integral... Extents>
requires(sizeof...(Extents) > 0) Input(Extents...)
->Input<(static_cast<void>(sizeof(Extents)), dyn)...>;

namespace detail {

template <class L>
inline constexpr bool is_block = requires {
  requires L::is_block;
};
template <class L>
inline constexpr bool is_network = requires {
  requires L::is_network;
};

// Returns the name of a Named layer; empty for others.
template <class L>
constexpr std::string_view given_name() {
  if constexpr (requires { L::name; })
    return L::name;
  else
    return {};
}

// Returns whether `name` is the number i, the key of a layer without a name.
constexpr bool is_position(std::string_view name, std::size_t i) {
  std::size_t digits = name.size();
  do {
    if (digits == 0 || name[--digits] != static_cast<char>('0' + i % 10)) return false;
    i /= 10;
  } while (i > 0);
  return digits == 0;
}

// Returns whether all names differ, from each other and from the numbers of layers without a name.
template <class... Layers>
constexpr bool names_differ() {
  constexpr std::size_t n = sizeof...(Layers);
  const std::array<std::string_view, n> names{given_name<Layers>()...};
  for (std::size_t i = 0; i < n; ++i) {
    if (names[i].empty()) continue;
    for (std::size_t j = 0; j < n; ++j)
      if (names[j].empty() ? is_position(names[i], j) : i < j && names[i] == names[j]) return false;
  }
  return true;
}

template <class L>
inline constexpr bool is_input = false;
template <index_t... Ns>
inline constexpr bool is_input<Input<Ns...>> = true;

// Returns whether one of them is true.
constexpr bool any_of(std::initializer_list<bool> all) {
  for (const bool one : all)
    if (one) return true;
  return false;
}

// Refuses wrong layers of a network or a block by static_assert.
template <class... Layers>
constexpr bool check_layers() {
  static_assert(sizeof...(Layers) > 0,
                "gpunet::nn::Sequential: there is no layer in it, give it one");
  static_assert(!any_of({is_input<Layers>...}),
                "gpunet::nn::Sequential: an Input that is not the first argument, give the shape "
                "of one sample in front");
  static_assert(!any_of({is_network<Layers>...}),
                "gpunet::nn::Sequential: an inner Sequential has an Input, leave it out there (the "
                "layer before gives it)");
  static_cast<void>(any_of({is_input<Layers> || is_network<Layers> || check_layer<Layers>()...}));
  static_assert(names_differ<Layers...>(),
                "gpunet::nn::Sequential: two layers have the same name (their parameters would be "
                "one key), rename one");
  return true;
}

// The output shape of some layers, computed from left to right by a fold.
template <class S>
struct ShapeBehind {
  S shape;
  template <class L>
  friend constexpr auto operator>>(ShapeBehind before, const L& layer) {
    return behind(detail::output_shape(layer, before.shape));
  }
  template <class Out>
  static constexpr auto behind(Out out) {
    return ShapeBehind<Out>{out};
  }
};

// The state of lowering after some layers: their output, its shape, their number, and the
// element-wise ones at their end.
template <class Builder, class S, class Tail = ElementwiseTail<>>
struct LoweredBehind {
  Builder& builder;
  value_t value;
  S shape;
  index_t count;
  Tail tail = {};

  template <class L>
  friend auto operator>>(LoweredBehind before, const L& layer) {
    constexpr std::string_view name = given_name<L>();
    if constexpr (name.empty())
      before.builder.enter(before.count);
    else
      before.builder.enter(name);
    const auto out = detail::output_shape(layer, before.shape);
    const value_t y = nn::lower(before.builder, layer, before.value, before.shape);
    before.builder.leave();
    const auto behind = merge_elementwise(before.builder, before.tail, layer);
    return LoweredBehind<Builder, std::remove_const_t<decltype(out)>,
                         std::remove_const_t<decltype(behind)>>{before.builder, y, out,
                                                                before.count + 1, behind};
  }
};

// Returns state >> layer First >> layer First + 1 >> ... up to the one before End, 64 at a time:
// clang++ limits folds to 256.
template <std::size_t First, std::size_t End, class State, class Layers>
constexpr auto fold_layers(State state, const Layers& layers) {
  constexpr std::size_t most = 64, count = std::min(most, End - First);
  const auto next = [&]<std::size_t... I>(std::index_sequence<I...>) {
    return (state >> ... >> get<First + I>(layers));
  }
  (std::make_index_sequence<count>{});
  if constexpr (First + count < End)
    return fold_layers<First + count, End>(next, layers);
  else
    return next;
}

template <class S, class Layers>
constexpr auto output_of(S in, const Layers& layers) {
  return fold_layers<0, Layers::size>(ShapeBehind<S>{in}, layers).shape;
}
template <class Builder, class S, class Layers>
value_t lower_all(Builder& builder, value_t x, S in, const Layers& layers) {
  return fold_layers<0, Layers::size>(LoweredBehind<Builder, S>{builder, x, in, 0}, layers).value;
}

}  // namespace detail

// Layers one after another, as torch.nn.Sequential: a value without device or memory.
//
// Without an Input it is a block of a network; names of its parameters begin with its own:
//   nn::Sequential<nn::Input<3, 32, 32>,
//                  // features.0.weight
//                  nn::Named<"features", nn::Sequential<nn::Conv2d<6, 5>, nn::ReLU>>,
//                  nn::Flatten, nn::Linear<10>>  // 2.weight
template <class... Layers>
class Sequential {
  static_assert(detail::check_layers<Layers...>());

 public:
  static constexpr bool is_block = true;
  // Returns whether all layers can be lowered for device D and element type T.
  template <class D, class T>
  static constexpr bool can_run() {
    return !detail::any_of({!detail::can_run<Layers, D, T>()...});
  }

  constexpr Sequential() = default;
  constexpr explicit Sequential(Layers... layers) requires(sizeof...(Layers) > 0)
      : layers_(layers...) {}

  GPUNET_REFUSED_CALL

  template <class In>
  constexpr auto output(In in) const {
    return detail::output_of(in, layers_);
  }
  // Appends all layers, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    return detail::lower_all(builder, x, in, layers_);
  }

 private:
  [[no_unique_address]] Pack<Layers...> layers_{};
};

// A network: it begins with its Input.
template <index_t... Ns, class... Layers>
class Sequential<Input<Ns...>, Layers...> {
  static_assert(detail::check_layers<Layers...>());

 public:
  static constexpr bool is_network = true;
  // Returns whether all layers can be lowered for device D and element type T.
  template <class D, class T>
  static constexpr bool can_run() {
    return !detail::any_of({!detail::can_run<Layers, D, T>()...});
  }

  constexpr Sequential() = default;
  constexpr explicit Sequential(Input<Ns...> input, Layers... layers)
      : input_(input), layers_(layers...) {}

  // Return the shapes of one sample.
  constexpr auto input() const { return input_.shape; }
  GPUNET_REFUSED_CALL

  constexpr auto output() const { return detail::output_of(input_.shape, layers_); }

  // Appends all layers to a graph; returns the value of the output.
  template <class Builder>
  value_t lower(Builder& builder) const {
    return detail::lower_all(builder, GraphBuilder::input, input_.shape, layers_);
  }

 private:
  [[no_unique_address]] Input<Ns...> input_{};
  [[no_unique_address]] Pack<Layers...> layers_{};
};

template <class... Layers>
Sequential(Layers...) -> Sequential<Layers...>;
template <index_t... Ns, class... Layers>
Sequential(Input<Ns...>, Layers...) -> Sequential<Input<Ns...>, Layers...>;

// Returns the graph of a network for device D and element type T; <void, void>: a graph to print
// that cannot run.
template <class D, class T, class Net>
Graph lower(const Net& net) {
  Lowering<D, T> builder(net.input().sizes());
  const value_t output = net.lower(builder);
  return std::move(builder).finish(output);
}

}  // namespace gpunet::nn
