// A network: an input shape and a list of layers.
#pragma once

#include <concepts>
#include <string>

#include <gpunet/core/error.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/nn/nested.hpp>

namespace gpunet::nn {

// The shape of one sample that enters a network: Input<3, 32, 32>. An extent may be `dyn` and given at run time:
// Input<3, dyn, dyn>{Shape(Dim<3>{}, Dim{height}, Dim{width})}. Where all are: Input{3, height, width}.
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

// The shapes before, between and after the layers, grown from left to right by a fold.
template <class... Shapes>
struct Trace {
  static constexpr std::size_t last = sizeof...(Shapes) - 1;
  Pack<Shapes...> shapes;

  template <class L>
  friend constexpr auto operator>>(Trace trace, const L& layer) {
    return trace.grow(layer.output(get<last>(trace.shapes)), std::index_sequence_for<Shapes...>{});
  }
  template <class S, std::size_t... I>
  constexpr auto grow(S shape, std::index_sequence<I...>) const {
    return Trace<Shapes..., S>{Pack<Shapes..., S>(get<I>(shapes)..., shape)};
  }
};

// The number that stands for layer i where it has no name: i, unless the layer says otherwise.
template <class L>
constexpr std::size_t position(std::size_t i) {
  if constexpr (requires { L::position; })
    return L::position;
  else
    return i;
}

// Whether `name` is the number i, the key of a layer without a name.
constexpr bool is_position(std::string_view name, std::size_t i) {
  std::size_t digits = name.size();
  do {
    if (digits == 0 || name[--digits] != static_cast<char>('0' + i % 10)) return false;
    i /= 10;
  } while (i > 0);
  return digits == 0;
}

template <class... Layers>
constexpr bool names_differ() {
  constexpr std::size_t n = sizeof...(Layers);
  const std::array<std::string_view, n> names{given_name<Layers>()...};
  std::size_t next = 0;
  const std::array<std::size_t, n> positions{position<Layers>(next++)...};
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (names[j].empty() ? is_position(names[i], positions[j]) : i != j && names[i] == names[j]) return false;
  return true;
}

template <class L>
inline constexpr bool is_input = false;
template <index_t... Ns>
inline constexpr bool is_input<Input<Ns...>> = true;

// Says what is wrong with the layers of a network or a block.
template <class... Layers>
constexpr bool check_layers() {
  static_assert(sizeof...(Layers) > 0, "gpunet::nn::Sequential: there is no layer in it, give it one");
  static_assert(
      !(is_input<Layers> || ...),
      "gpunet::nn::Sequential: an Input that is not the first argument, give the shape of one sample in front");
  static_assert(
      !(is_network<Layers> || ...),
      "gpunet::nn::Sequential: an inner Sequential has an Input, leave it out there (the layer before gives it)");
  static_assert(
      names_differ<Layers...>(),
      "gpunet::nn::Sequential: two layers have the same name (their parameters would be one key), rename one");
  return true;
}

// Dotted names may meet those of blocks: Named<"a.0", Linear<2>> and Named<"a", Sequential<Linear<2>>>.
template <std::size_t... I, class... Layers>
constexpr bool leaf_names_differ(const gpunet::detail::PackOf<std::index_sequence<I...>, Layers...>*) {
  return names_differ<Layers...>();
}

}  // namespace detail

// Layers one after another, as torch.nn.Sequential. A value: it knows no device and owns no memory.
//
// One without an Input is a block of a network, whose parameters are called after both:
//   nn::Sequential<nn::Input<3, 32, 32>,
//                  nn::Named<"features", nn::Sequential<nn::Conv2d<6, 5>, nn::ReLU>>,  // features.0.weight
//                  nn::Flatten, nn::Linear<10>>                                        // 2.weight
template <class... Layers>
class Sequential {
  static_assert(detail::check_layers<Layers...>());

 public:
  static constexpr bool is_block = true;

  constexpr Sequential() = default;
  constexpr explicit Sequential(Layers... layers) requires(sizeof...(Layers) > 0) : layers_(layers...) {}

  // Its layers and those of the blocks in it, in one list.
  constexpr auto leaves() const { return detail::flat(layers_); }

 private:
  [[no_unique_address]] Pack<Layers...> layers_{};
};

// One that begins with its Input, as a network has to.
template <index_t... Ns, class... Layers>
class Sequential<Input<Ns...>, Layers...> {
  static_assert(detail::check_layers<Layers...>());
  using Leaves = decltype(detail::flat(std::declval<Pack<Layers...>>()));
  static_assert(detail::leaf_names_differ(static_cast<Leaves*>(nullptr)),
                "gpunet::nn::Sequential: a layer is called as one in a block (its name has a dot), rename it");

 public:
  static constexpr bool is_network = true;
  // The number of layers, those of blocks among them.
  static constexpr std::size_t depth = Leaves::size;
  using indices = std::make_index_sequence<depth>;

  constexpr Sequential() = default;
  constexpr explicit Sequential(Input<Ns...> input, Layers... layers)
      : input_(input), layers_(detail::flat(Pack<Layers...>(layers...))) {}

  // Layer i of all, those of blocks among them.
  template <std::size_t I>
  constexpr const auto& layer() const {
    return get<I>(layers_);
  }

  // All shapes at once, shape<0> to shape<depth>; of one sample.
  constexpr auto shapes() const { return trace(indices{}).shapes; }
  constexpr auto input() const { return input_.shape; }
  constexpr auto output() const { return get<depth>(shapes()); }

  // The key of layer i in the state dict: its name, or its position as in torch.nn.Sequential; behind those of the blocks
  // that it is in: "features.0".
  template <std::size_t I>
  std::string layer_name() const {
    using L = std::remove_cvref_t<decltype(layer<I>())>;
    constexpr std::string_view given = detail::given_name<L>();
    return given.empty() ? std::to_string(detail::position<L>(I)) : std::string(given);
  }

  // f(index, layer, shape of its input) for every layer, first to last; index is an integral_constant.
  template <class F>
  constexpr void each(F f) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto all = shapes();
      (f(std::integral_constant<std::size_t, I>{}, layer<I>(), get<I>(all)), ...);
    }
    (indices{});
  }
  // The same, last to first.
  template <class F>
  constexpr void each_reversed(F f) const {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      const auto all = shapes();
      (f(std::integral_constant<std::size_t, depth - 1 - I>{}, layer<depth - 1 - I>(), get<depth - 1 - I>(all)),
       ...);
    }
    (indices{});
  }

 private:
  template <std::size_t... I>
  constexpr auto trace(std::index_sequence<I...>) const {
    using Start = detail::Trace<Shape<Ns...>>;
    return (Start{Pack<Shape<Ns...>>(input_.shape)} >> ... >> get<I>(layers_));
  }

  [[no_unique_address]] Input<Ns...> input_{};
  [[no_unique_address]] Leaves layers_{};
};

template <class... Layers>
Sequential(Layers...) -> Sequential<Layers...>;
template <index_t... Ns, class... Layers>
Sequential(Input<Ns...>, Layers...) -> Sequential<Input<Ns...>, Layers...>;

}  // namespace gpunet::nn
