// What a layer is.
//
// A layer is a small value without device or memory. It says what it makes of one sample, and appends the nodes that do so to
// a graph. It has
//
//   output(in)                         Shape of one sample's output for the Shape `in`; refuses wrong shapes by static_assert
//   lower(builder, x, in)              appends nodes that make its output from the value x of Shape `in`; returns that value
//
// A layer that is one op (ops/op.hpp) needs no lower: it has forward(device, pass) and backward(device, pass) and what it
// needs of
//
//   parameters(in)                     std::array of ParameterSpec, in the order in which they are drawn
//   buffers(in)                        std::array of BufferSpec: arrays that it keeps and no optimizer changes
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

// A parameter drawn uniformly from [-bound, bound).
constexpr ParameterSpec uniform(std::string_view name, const Sizes& sizes, double bound) {
  return {name, sizes, -bound, bound};
}

// A parameter that begins as one number and takes nothing from the generator.
constexpr ParameterSpec constant(std::string_view name, const Sizes& sizes, double value) {
  return {name, sizes, value, value};
}

// The parameters and buffers of a layer, none where it says nothing.
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

// The name of the layer's type, without namespaces and template arguments: "Conv2d", also of a Named<"conv1", Conv2d<6, 5>>.
template <class L>
std::string class_name() {
  if constexpr (requires { typename L::unnamed; })
    return class_name<typename L::unnamed>();
  else
    return gpunet::detail::class_of(gpunet::detail::signature<L>());
}

namespace detail {

// Whether a class has a member called lower, of any kind: then the name is ambiguous in a class that has another one too.
struct OtherLower {
  void lower();
};
template <class L>
struct WithOtherLower : L, OtherLower {};
template <class L>
inline constexpr bool has_lower = !requires {
  &WithOtherLower<L>::lower;
};

// Whether a layer can be lowered for device D and element type T: by its lower(), or as an op that has both passes.
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

// Appends a layer to a graph, as its lower() says, or as the op that it is.
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
