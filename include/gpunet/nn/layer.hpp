// The contract of a layer.
//
// A layer is a small value without device or memory. It defines the shape of its output and appends
// nodes to a graph. It has
//
//   output(in)               returns the Shape of an output sample for input samples of Shape `in`;
//                            refuses wrong shapes by static_assert
//   lower(builder, x, in)    appends nodes that compute the output from value x of Shape `in`;
//                            returns the output
//
// A layer that is one op (ops/op.hpp) needs no lower: it has forward(device, pass),
// backward(device, pass) and optionally
//
//   parameters(in)           returns a std::array of ParameterSpec, in the order of initialization
//   buffers(in)              returns a std::array of BufferSpec: arrays that no optimizer changes
//
// An element-wise layer that neighbors may be merged with (see Sequential) has function(): value(x)
// and gradient(x, y, dy).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <string_view>
#include <type_traits>

#include <gpunet/core/refused.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/graph/graph.hpp>

namespace gpunet::nn {

using gpunet::BufferKind;
using gpunet::BufferSpec;
using gpunet::Initial;
using gpunet::ParameterSpec;

// Return the specification of a parameter with initial values uniform in [-bound, bound), or normal
// with a mean and a standard deviation.
constexpr ParameterSpec uniform(std::string_view name, const Sizes& sizes, double bound) {
  return {
      name, sizes, {bound > 0 ? Initial::Kind::uniform : Initial::Kind::constant, -bound, bound}};
}
constexpr ParameterSpec normal(std::string_view name, const Sizes& sizes, double mean, double std) {
  return {name, sizes, {Initial::Kind::normal, mean, std}};
}

// Returns the specification of a parameter with one initial value, which draws nothing from the
// generator.
constexpr ParameterSpec constant(std::string_view name, const Sizes& sizes, double value) {
  return {name, sizes, {Initial::Kind::constant, value}};
}

// Return the parameters and buffers of a layer; by default it has none.
template <class L, class In>
constexpr auto parameters(const L& layer, In in) {
  if constexpr (requires {
                  { layer.parameters(in) } -> std::convertible_to<std::span<const ParameterSpec>>;
                }) {
    return layer.parameters(in);
  } else {
    static_assert(!gpunet::detail::has_parameters<L>,
                  "gpunet::nn: parameters of a layer has another signature (it would be ignored), "
                  "write constexpr auto parameters(auto in) const, which returns a std::array of "
                  "ParameterSpec: std::array{nn::constant(...)}");
    return std::array<ParameterSpec, 0>{};
  }
}
template <class L, class In>
constexpr auto buffers(const L& layer, In in) {
  if constexpr (requires {
                  { layer.buffers(in) } -> std::convertible_to<std::span<const BufferSpec>>;
                }) {
    return layer.buffers(in);
  } else {
    static_assert(!gpunet::detail::has_buffers<L>,
                  "gpunet::nn: buffers of a layer has another signature (it would be ignored), "
                  "write constexpr auto buffers(auto in) const, which returns a std::array of "
                  "BufferSpec: std::array{BufferSpec{...}}");
    return std::array<BufferSpec, 0>{};
  }
}

// Returns the name of the layer's type without namespaces and template arguments: "Conv2d", also
// for Named<"conv1", Conv2d<6, 5>>.
template <class L>
std::string class_name() {
  if constexpr (requires { typename L::unnamed; })
    return class_name<typename L::unnamed>();
  else
    return gpunet::detail::class_of(gpunet::detail::signature<L>());
}

namespace detail {

using gpunet::detail::has_lower;
using gpunet::detail::has_output;
using gpunet::detail::has_value;

// Refuses by static_assert types that are no layers.
template <class L>
constexpr bool check_layer() {
  if constexpr (requires { typename L::unnamed; }) {
    return check_layer<typename L::unnamed>();
  } else {
    static_assert(!std::is_final_v<L>,
                  "gpunet::nn::Sequential: the type of a layer is final, leave out final");
    static_assert(std::is_final_v<L> || has_output<L> || !has_value<L>,
                  "gpunet::nn::Sequential: a functor with value(x) is no layer, write "
                  "nn::Elementwise<F> for functor F");
    static_assert(std::is_final_v<L> || has_output<L> || has_value<L>,
                  "gpunet::nn::Sequential: a layer lacks output(in), the shape of one sample's "
                  "output, write constexpr auto output(auto in) const { return in; } if it is that "
                  "of the input (docs/adding_a_layer.md)");
    return true;
  }
}

template <class S>
inline constexpr bool is_shape = false;
template <index_t... Ns>
inline constexpr bool is_shape<Shape<Ns...>> = true;

// Returns the shape of a layer's output. Refuses a wrong output(in) by static_assert.
template <class L, class In>
constexpr auto output_shape(const L& layer, In in) {
  if constexpr (requires { requires is_shape<std::remove_cvref_t<decltype(layer.output(in))>>; }) {
    return layer.output(in);
  } else {
    static_assert(sizeof(L) == 0,
                  "gpunet::nn::Sequential: output(in) of a layer does not take a Shape, is not "
                  "const or returns no Shape, write constexpr auto output(auto in) const, and "
                  "return in or one such as Shape(Dim<10>{})");
    return in;
  }
}

// Elements of each channel, the first dimension of a sample; 0 if there are no channels.
template <class In>
constexpr index_t per_channel(In in) {
  const index_t channels = in.template at<0>();
  return channels > 0 ? in.numel() / channels : 0;
}

// Returns whether a layer can be lowered for device D and element type T: it has lower(), or both
// passes of an op.
template <class L, class D, class T>
constexpr bool can_run() {
  if constexpr (requires { typename L::unnamed; })
    return can_run<typename L::unnamed, D, T>();
  else if constexpr (requires { L::template can_run<D, T>(); })
    return L::template can_run<D, T>();
  else if constexpr (has_lower<L>)
    return true;
  else
    return requires(const L& layer, D& device, const ForwardPass<T>& forward,
                    const BackwardPass<T>& backward) {
      layer.forward(device, forward);
      layer.backward(device, backward);
    };
}

}  // namespace detail

// Appends a layer to a graph by its lower(), or as one op. Returns the value of its output.
template <class Builder, class L, class In>
value_t lower(Builder& builder, const L& layer, value_t x, In in) {
  builder.set_layer(gpunet::detail::signature<L>());
  if constexpr (requires { typename L::unnamed; })
    return nn::lower(builder, static_cast<const typename L::unnamed&>(layer), x, in);
  else if constexpr (requires { layer.lower(builder, x, in); })
    return layer.lower(builder, x, in);
  else
    return builder.add(layer, x, detail::output_shape(layer, in).sizes(), parameters(layer, in),
                       buffers(layer, in));
}

}  // namespace gpunet::nn
