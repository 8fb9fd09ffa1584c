// The contract of a layer.
//
// A layer is a small value without device or memory. It defines the shape of its output and appends nodes to a graph. It has
//
//   output(in)                         returns the Shape of one output sample for input samples of Shape `in`; refuses wrong
//                                      shapes by static_assert
//   lower(builder, x, in)              appends nodes that compute the output from value x of Shape `in`; returns the output
//
// A layer that is one op (ops/op.hpp) needs no lower: it has forward(device, pass), backward(device, pass) and optionally
//
//   parameters(in)                     returns a std::array of ParameterSpec, in the order in which they are initialized
//   buffers(in)                        returns a std::array of BufferSpec: arrays that no optimizer changes
//
// An element-wise layer that neighbors may be merged with (see Sequential) has function(): value(x) and gradient(x, y, dy).
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include <gpunet/core/shape.hpp>
#include <gpunet/graph/graph.hpp>

namespace gpunet::nn {

using gpunet::BufferKind;
using gpunet::BufferSpec;
using gpunet::ParameterSpec;

// Returns the specification of a parameter with initial values uniform in [-bound, bound).
constexpr ParameterSpec uniform(std::string_view name, const Sizes& sizes, double bound) {
  return {name, sizes, -bound, bound};
}

// Returns the specification of a parameter with one initial value, which draws nothing from the generator.
constexpr ParameterSpec constant(std::string_view name, const Sizes& sizes, double value) {
  return {name, sizes, value, value};
}

// Return the parameters and buffers of a layer; by default it has none.
template <class L, class In>
constexpr auto parameters(const L& layer, In in) {
  if constexpr (requires { layer.parameters(in); })
    return layer.parameters(in);
  else
    return std::array<ParameterSpec, 0>{};
}
template <class L, class In>
constexpr auto buffers(const L& layer, In in) {
  if constexpr (requires { layer.buffers(in); })
    return layer.buffers(in);
  else
    return std::array<BufferSpec, 0>{};
}

// Returns the name of the layer's type without namespaces and template arguments: "Conv2d", also for
// Named<"conv1", Conv2d<6, 5>>.
template <class L>
std::string class_name() {
  if constexpr (requires { typename L::unnamed; })
    return class_name<typename L::unnamed>();
  else
    return gpunet::detail::class_of(gpunet::detail::signature<L>());
}

namespace detail {

// Whether class L has a member called lower: then the name is ambiguous in a class derived from L and OtherLower.
struct OtherLower {
  void lower();
};
template <class L>
struct WithOtherLower : L, OtherLower {};
template <class L>
inline constexpr bool has_lower = !requires {
  &WithOtherLower<L>::lower;
};

// Returns whether a layer can be lowered for device D and element type T: it has lower(), or both passes of an op.
template <class L, class D, class T>
constexpr bool can_run() {
  if constexpr (requires { typename L::unnamed; })
    return can_run<typename L::unnamed, D, T>();
  else if constexpr (requires { L::template can_run<D, T>(); })
    return L::template can_run<D, T>();
  else if constexpr (has_lower<L>)
    return true;
  else
    return requires(const L& layer, D& device, const ForwardPass<T>& forward, const BackwardPass<T>& backward) {
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
    return builder.add(layer, x, layer.output(in).sizes(), parameters(layer, in), buffers(layer, in));
}

}  // namespace gpunet::nn
