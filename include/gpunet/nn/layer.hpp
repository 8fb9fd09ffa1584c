// What a layer is.
//
// A layer is a small value without device or memory. It tells what it makes of one sample, and runs on slices. It has
//
//   output(in)                         Shape of one sample's output for the Shape `in`
//
// and, unless is_view is true (output and input are then the same memory, and nothing has to be done),
//
//   forward(device, in, pass)          reads pass.x, writes all of pass.y
//   backward(device, in, pass)         reads (and may use up) pass.dy; writes all of pass.dx unless it is null, and the gradients of
//                                      the parameters as pass.accumulate says
//
// and what it needs of
//
//   parameters(in)                     std::array of ParameterSpec, in the order in which they are drawn
//   cache_bytes(in)                    bytes per sample that forward leaves for backward
//   scratch(device, in, slice, T{})    elements of T that forward or backward use for a moment
//   buffers(in)                        std::array of BufferSpec: arrays that it keeps and no optimizer changes
//   couples_samples = true             in training it looks at the whole batch: the batch comes in one slice
//   is_view = true
//   ends_in_relu = true                y is what a ReLU made
//   can_rectify_dx = true              see BackwardPass::rectify_dx
//   leaves_relu_bits(device, in, slice)   asked after forward: whether it left the numbers that its ReLU let through, as bits, in
//                                      its cache
//   extra_repr(in)                     std::string of what stands in brackets behind its name where a network is printed, as
//                                      torch.nn.Module's: "6, 16, kernel_size=(5, 5), stride=(1, 1)"
//   class_name()                       std::string of its name there, where it is not that of its type
//   multiply_adds(in)                  of one sample on the way forward, where it is not one for each parameter
//
// The functions at the end of this file ask a layer for what it may leave out.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <gpunet/core/shape.hpp>
#include <gpunet/ops/slice.hpp>

namespace gpunet::nn {

// A parameter tensor that a layer wants: its name, its sizes, and the uniform distribution it is drawn from.
struct ParameterSpec {
  std::string_view name;
  Sizes sizes;
  double low, high;
};

// A parameter drawn uniformly from [-bound, bound).
constexpr ParameterSpec uniform(std::string_view name, const Sizes& sizes, double bound) {
  return {name, sizes, -bound, bound};
}

// A parameter that begins as one number and takes nothing from the generator.
constexpr ParameterSpec constant(std::string_view name, const Sizes& sizes, double value) {
  return {name, sizes, value, value};
}

// What is in a buffer: numbers of the model's type, or one index_t that counts.
enum class BufferKind { numbers, count };

// An array that a layer keeps from pass to pass and no optimizer changes, as a buffer of torch.nn.Module. One that is not
// persistent is not part of the state dict.
struct BufferSpec {
  std::string_view name;
  Sizes sizes;
  double initial;
  BufferKind kind = BufferKind::numbers;
  bool persistent = true;
};

// Where the parameters (or their gradients, or the buffers) of one layer are: the i-th begins at base + offsets[i].
template <class T>
struct ArraySlices {
  T* base;
  const index_t* offsets;
  T* operator[](int i) const { return base + offsets[i]; }
  // A buffer that counts.
  index_t* count(int i) const { return reinterpret_cast<index_t*>((*this)[i]); }
};

// Whether the network learns or is used: some layers do one thing or the other.
enum class Mode { train, eval };

// What a layer gets on the way forward. x and y are slices of `in` and `output(in)`.
template <class T>
struct ForwardPass {
  Slice slice;
  const T* x;
  T* y;
  ArraySlices<const T> parameters;
  std::byte* cache;
  T* scratch;
  ArraySlices<T> buffers = {};
  Mode mode = Mode::train;
};

// What a layer gets on the way back. x and y are as forward saw and left them; dy may be overwritten; dx is null where
// nobody needs it.
//
// Between a layer that ends in a ReLU and one above it that can, a device may have the gradient rectified (0 where the
// ReLU gave 0) where it is made and not where it is used.
template <class T>
struct BackwardPass {
  Slice slice;
  const T* x;
  const T* y;
  T* dy;
  T* dx;
  ArraySlices<const T> parameters;
  ArraySlices<T> gradients;
  Accumulate accumulate;
  const std::byte* cache;
  T* scratch;
  ArraySlices<T> buffers = {};
  Mode mode = Mode::train;               // as in forward
  bool rectify_dx = false;               // dx is to be 0 where x, which a ReLU made, is
  bool dy_is_rectified = false;          // the layer above has done so with dy
  const std::byte* relu_bits = nullptr;  // what the layer below left, see leaves_relu_bits
};

// What a layer says of itself, or what holds where it says nothing: no parameters, no buffers, no cache, no scratch.
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

template <class L, class In>
constexpr index_t cache_bytes(const L& layer, In in) {
  if constexpr (requires { layer.cache_bytes(in); })
    return layer.cache_bytes(in);
  else
    return 0;
}

template <class L, class D, class In, class T>
index_t scratch(const L& layer, const D& device, In in, const Slice& slice, T type) {
  if constexpr (requires { layer.scratch(device, in, slice, type); })
    return layer.scratch(device, in, slice, type);
  else
    return 0;
}

// Whether it leaves bits on this device, see above.
template <class L, class D, class In>
bool leaves_relu_bits(const L& layer, const D& device, In in, const Slice& slice) {
  if constexpr (requires { layer.leaves_relu_bits(device, in, slice); })
    return layer.leaves_relu_bits(device, in, slice);
  else
    return false;
}

template <class L, class In>
std::string extra_repr(const L& layer, In in) {
  if constexpr (requires { layer.extra_repr(in); })
    return layer.extra_repr(in);
  else
    return "";
}

// As torchinfo counts them: a bias is one too, and normalizing, rectifying and pooling are none.
template <class L, class In>
constexpr index_t multiply_adds(const L& layer, In in) {
  if constexpr (requires { layer.multiply_adds(in); }) {
    return layer.multiply_adds(in);
  } else {
    index_t elements = 0;
    for (const ParameterSpec& spec : parameters(layer, in))
      elements += spec.sizes.numel();
    return elements;
  }
}

// The constants of a layer, false where it has none.
template <class L>
inline constexpr bool couples_samples = requires {
  requires L::couples_samples;
};
template <class L>
inline constexpr bool is_view = requires {
  requires L::is_view;
};
template <class L>
inline constexpr bool ends_in_relu = requires {
  requires L::ends_in_relu;
};
template <class L>
inline constexpr bool can_rectify_dx = requires {
  requires L::can_rectify_dx;
};

}  // namespace gpunet::nn
