// The preferences of a device, for code above it that does not ask which device it has.
#pragma once

#include <algorithm>
#include <type_traits>

#include <gpunet/core/math.hpp>
#include <gpunet/device/device.hpp>

namespace gpunet {

// The size of a network, in elements.
struct NetworkSize {
  index_t parameters;
  index_t activations;  // of all layers, for one sample
};

// The shape of the slices of a batch: outer * inner samples each, data [outer][feature][inner].
struct SliceShape {
  index_t outer, inner;
  // Threads take slices; otherwise slices run one after another and ops use all threads.
  bool side_by_side;
};

// The preferences of device D.
template <class D>
struct DeviceTraits;

// The preferences of the processor.
template <>
struct DeviceTraits<Host> {
  // Whether the processor reads its memory, without the device.
  static constexpr bool has_host_memory = true;
  // Whether it has kernels that do the work of several layers.
  template <class T>
  static constexpr bool fuses = std::is_same_v<T, float>;
  // Whether neighboring element-wise layers run as one kernel. Computing the value between again
  // costs more here than an array in the cache.
  static constexpr bool merges_elementwise = false;
  // Whether its linear layers can use the bits of a ReLU below, see BackwardPass::relu_bits.
  template <class T>
  static constexpr bool uses_relu_bits = false;
  // Whether the layer above a ReLU rectifies its gradient, see BackwardPass::rectify_dx.
  static constexpr bool rectifies_gradients = false;
  // Whether there are kernels for compile-time sizes: unrolled ones for tiny linear layers, smaller
  // ones for convolutions and linear layers that need no kernels for large sizes.
  static constexpr bool unrolls_sizes = true;
  // The largest number of samples that are innermost, see SliceShape.
  static constexpr index_t most_inner = 16;

  // Returns the slices of a batch: groups of 16 samples, which fill vectors; of 4 in small batches;
  // single samples where there are one or two, and in small batches of large samples, so that the
  // threads share each of them.
  //
  // Usually a slice is one group: the activations of the whole network stay in the cache, and
  // threads take slices. The ops share the work among the threads instead where there is one group
  // only, and in two kinds of network that have slices of many groups, one after another: networks
  // with many parameters, where a pass over the weights has to serve many samples and a gradient
  // arena for each run is expensive, and networks so small that a call costs more than its work.
  static constexpr SliceShape slices(index_t batch, const NetworkSize& network) {
    constexpr index_t many_parameters = 1 << 17, few_activations = 1 << 14, large_sample = 1 << 18;
    constexpr index_t most_activations = 1 << 24;  // of a slice: bounds the memory of a step

    const bool sixteen =
        batch >= 48 || (batch >= 12 && batch % 16 == 0) || (batch > 12 && batch < 16);
    const index_t inner = sixteen                                            ? most_inner
                          : batch >= 3 && network.activations < large_sample ? 4
                                                                             : 1;
    const index_t groups = ceil_div(batch, inner),
                  per_group = std::max(network.activations * inner, index_t{1});
    if (groups > 1 && network.parameters < many_parameters && groups * per_group > few_activations)
      return {1, inner, true};

    const index_t slices =
        ceil_div(groups, std::clamp(most_activations / per_group, index_t{1}, groups));
    return {ceil_div(groups, slices), inner, false};
  }

  // Returns whether two devices can use each other's memory.
  static bool share_memory(const auto&, const auto&) { return true; }
  // Returns the number of slices that may run at the same time.
  static index_t workers(const auto& host) { return host.threads(); }
  // Calls task(i, worker) for i < n: on all threads if `side_by_side`, else one after another, so
  // that ops have all threads and the device's scratch buffer.
  static void run(auto& host, bool side_by_side, index_t n, auto task) {
    host.run_if(side_by_side, n, task);
  }
};

// The preferences of GPUs; members are as in Host's.
template <>
struct DeviceTraits<Cuda> {
  static constexpr bool has_host_memory = false;
  template <class T>
  static constexpr bool fuses = true;
  static constexpr bool merges_elementwise = true;  // a launch less
  template <class T>
  static constexpr bool uses_relu_bits = std::is_same_v<T, float>;  // bits of cuBLASLt
  // Products do it before they store their sums.
  static constexpr bool rectifies_gradients = true;
  static constexpr bool unrolls_sizes = false;
  static constexpr index_t most_inner = 1;

  // The whole batch in one slice, in PyTorch's order.
  static constexpr SliceShape slices(index_t batch, const NetworkSize&) {
    return {batch, 1, false};
  }

  // As of Host: if they are the same GPU.
  static bool share_memory(const auto& a, const auto& b) { return a.ordinal() == b.ordinal(); }
  // As of Host: one slice at a time.
  static index_t workers(const auto&) { return 1; }
  // As of Host: calls task(i, 0) for i < n, in order.
  static void run(auto&, bool, index_t n, auto task) {
    for (index_t i = 0; i < n; ++i)
      task(i, 0);
  }
};

// Of a network that is only looked at: there are no kernels.
template <>
struct DeviceTraits<void> : DeviceTraits<Host> {};

}  // namespace gpunet
