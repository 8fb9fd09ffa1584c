// One slice through a network, forward and backward.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include <gpunet/model/workspace.hpp>

namespace gpunet {

// The slice's data between the layers: at(0) enters the network, at(i + 1) leaves layer i.
template <class T, std::size_t depth>
class Activations {
 public:
  template <class Net>
  Activations(const Net& net, const NetworkPlan<Net>& plan, const Slice& slice, const T* x, T* outputs) {
    at_[0] = const_cast<T*>(x);  // written by nobody: layers write at(1) and later, and a view layer writes nothing
    net.each([&](auto i, const auto& layer, auto) {
      using L = std::remove_cvref_t<decltype(layer)>;
      at_[i + 1] = nn::is_view<L> ? at_[i] : outputs + plan.output[i] * slice.samples();
    });
  }
  T* operator[](std::size_t i) const { return at_[i]; }

 private:
  std::array<T*, depth + 1> at_{};
};

// What the layers of a network keep, and which of two things they are to do.
template <class T>
struct LayerState {
  T* buffers;
  nn::Mode mode;
};

namespace detail {

// Layers that run on slices of T on device D, forward and backward, for inputs of shape In.
template <class L, class D, class In, class T>
concept HasForward = nn::is_view<L> || requires(const L& layer, D& device, In in, const nn::ForwardPass<T>& pass) {
  layer.forward(device, in, pass);
};
template <class L, class D, class In, class T>
concept HasBackward = nn::is_view<L> ||
    requires(const L& layer, D& device, In in, const nn::BackwardPass<T>& pass) {
  layer.backward(device, in, pass);
};

template <class Net, class D, class T, std::size_t... I>
constexpr bool layers_run(std::index_sequence<I...>) {
  constexpr Net* net = nullptr;
  return ((HasForward<std::remove_cvref_t<decltype(net->template layer<I>())>, D,
                      std::remove_cvref_t<decltype(get<I>(net->shapes()))>, T> &&
           HasBackward<std::remove_cvref_t<decltype(net->template layer<I>())>, D,
                       std::remove_cvref_t<decltype(get<I>(net->shapes()))>, T>)&&...);
}
// Whether all layers of a network do.
template <class Net, class D, class T>
inline constexpr bool is_runnable = layers_run<Net, D, T>(typename Net::indices{});

}  // namespace detail

// Runs all layers on a slice that lies at `x` in the slice's order; returns the network's output.
template <class Net, class D, class T>
T* run_forward(D& device, const Net& net, const NetworkPlan<Net>& plan, const Slice& slice, const T* x,
               const T* parameters, const LayerState<T>& state, const SliceMemory<T>& memory) {
  const Activations<T, Net::depth> data(net, plan, slice, x, memory.outputs);
  net.each([&](auto i, const auto& layer, auto in) {
    using L = std::remove_cvref_t<decltype(layer)>;
    if constexpr (!nn::is_view<L> && detail::HasForward<L, D, decltype(in), T>)  // else Model has refused it
      layer.forward(device, in,
                    nn::ForwardPass<T>{slice,
                                       data[i],
                                       data[i + 1],
                                       {parameters, plan.offsets(i)},
                                       memory.cache + plan.cache[i] * slice.samples(),
                                       memory.scratch,
                                       {state.buffers, plan.buffer_offsets(i)},
                                       state.mode});
  });
  return data[Net::depth];
}

// Whether the layers of a network rectify their input gradients on a device: layer i where [i] is true, for the ReLU that ends
// the one below. On Cuda a product does that before it stores its sums; on Host the layer below does it on the way.
template <class D, class Net>
constexpr auto rectified_gradients() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    std::array<bool, Net::depth> rectified{};
    bool from_relu = false;
    const auto add = [&]<class L>(std::size_t i, std::type_identity<L>) {
      rectified[i] = std::is_same_v<D, Cuda> && from_relu && nn::can_rectify_dx<L>;
      if (!nn::is_view<L>) from_relu = nn::ends_in_relu<L>;
    };
    (add(I, std::type_identity<std::remove_cvref_t<decltype(std::declval<Net>().template layer<I>())>>{}), ...);
    return rectified;
  }
  (typename Net::indices{});
}

// What the layer below each left of its ReLU, see nn::BackwardPass; null where it did not.
template <class Net, class D, class T>
std::array<const std::byte*, Net::depth> relu_bits_below(const D& device, const Net& net,
                                                         const NetworkPlan<Net>& plan, const Slice& slice,
                                                         const SliceMemory<T>& memory) {
  std::array<const std::byte*, Net::depth> bits{};
  const std::byte* below = nullptr;
  net.each([&](auto i, const auto& layer, auto in) {
    bits[i] = below;
    if (!nn::is_view<std::remove_cvref_t<decltype(layer)>>)
      below =
          nn::leaves_relu_bits(layer, device, in, slice) ? memory.cache + plan.cache[i] * slice.samples() : nullptr;
  });
  return bits;
}

// Runs all layers back, from the gradient of the network's output in memory.output_gradient to those of the
// parameters.
template <class Net, class D, class T>
void run_backward(D& device, const Net& net, const NetworkPlan<Net>& plan, const Slice& slice, const T* x,
                  const T* parameters, T* gradients, Accumulate accumulate, const LayerState<T>& state,
                  const SliceMemory<T>& memory) {
  const Activations<T, Net::depth> data(net, plan, slice, x, memory.outputs);
  constexpr auto rectifies = rectified_gradients<D, Net>();
  const auto relu_bits = relu_bits_below(device, net, plan, slice, memory);
  T* dy = memory.output_gradient;
  bool dy_is_rectified = false;
  int side = 0;
  net.each_reversed([&](auto i, const auto& layer, auto in) {
    using L = std::remove_cvref_t<decltype(layer)>;
    if constexpr (!nn::is_view<L> && detail::HasBackward<L, D, decltype(in), T>) {
      T* dx = i == plan.first_working ? nullptr : memory.gradients[side];
      layer.backward(device, in,
                     nn::BackwardPass<T>{slice,
                                         data[i],
                                         data[i + 1],
                                         dy,
                                         dx,
                                         {parameters, plan.offsets(i)},
                                         {gradients, plan.offsets(i)},
                                         accumulate,
                                         memory.cache + plan.cache[i] * slice.samples(),
                                         memory.scratch,
                                         {state.buffers, plan.buffer_offsets(i)},
                                         state.mode,
                                         rectifies[i],
                                         dy_is_rectified,
                                         relu_bits[i]});
      dy = dx;
      dy_is_rectified = rectifies[i];
      side = 1 - side;
    }
  });
}

// Elements of scratch that the greediest layer needs for a slice.
template <class Net, class D, class T>
index_t scratch_elements(const D& device, const Net& net, const Slice& slice, T type) {
  index_t most = 0;
  net.each([&](auto, const auto& layer, auto in) {
    most = std::max(most, nn::scratch(layer, device, in, slice, type));
  });
  return most;
}

}  // namespace gpunet
