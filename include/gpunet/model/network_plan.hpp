// Where everything of a network lies in its arenas.
#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/nn/sequential.hpp>

namespace gpunet {

// One parameter tensor of a model.
struct ParameterInfo {
  std::string name;  // as PyTorch's state_dict has it: "conv1.weight"
  Sizes sizes;
  index_t offset;    // in elements, from the start of the parameter arena
  double low, high;  // drawn uniformly from here
};

// One buffer of a model.
struct BufferInfo {
  std::string name;  // as PyTorch's state_dict has it: "norm1.running_mean"
  Sizes sizes;
  index_t offset;  // in elements, from the start of the arena of buffers
  double initial;
  nn::BufferKind kind;
  bool persistent;  // whether it belongs to the state dict
};

// Every array of a workspace begins on a multiple of this many elements (bytes for the caches), and so on a cache line.
inline constexpr index_t arena_alignment = 64;
// Every parameter begins on a multiple of this many elements: a cache line of floats.
inline constexpr index_t parameter_alignment = 16;
// What one sample takes of an activation is a multiple of this many elements, what it takes of a cache one of this many bytes.
inline constexpr index_t sample_alignment = 4, cache_alignment = 16;

// Offsets of parameters in their arena, and of activations and caches in the memory of a slice. Those of a slice
// are per sample: they are multiplied by the number of samples of the slice.
template <class Net>
struct NetworkPlan {
  static constexpr std::size_t depth = Net::depth;

  std::vector<ParameterInfo> parameters;
  std::vector<index_t> parameter_offsets;            // of all parameters, in their order
  std::array<std::size_t, depth> first_parameter{};  // of each layer, an index into the two lists above
  index_t parameter_elements = 0;                    // with the gaps that alignment leaves
  std::vector<BufferInfo> buffers;                   // and the same for them
  std::vector<index_t> all_buffer_offsets;
  std::array<std::size_t, depth> first_buffer{};
  index_t buffer_elements = 0;
  bool couples_samples = false;                     // whether a layer does
  std::array<index_t, depth> output{}, cache{};     // of each layer
  index_t output_elements = 0, cache_bytes = 0;     // all layers together
  index_t input_features = 0, output_features = 0;  // of the network
  std::size_t first_working = depth;      // the first layer that is no view: nobody needs its input gradient
  index_t widest = 0;                     // features of the largest gradient between two layers
  index_t most_samples = 0;               // of a batch, so that all sizes of a pass are numbers
  std::array<index_t, depth> features{};  // of each layer's output

  // By value: of an empty network a reference would make g++ think that it reads what nobody wrote.
  explicit NetworkPlan(Net net) {
    input_features = net.input().numel();
    net.each([&](auto i, const auto& layer, auto in) { add(net, i, layer, in); });
    output_features = net.output().numel();
    most_samples =
        most_elements /
        std::max(input_features + output_elements + output_features + 2 * widest + cache_bytes, index_t{1});
  }

  // Where the parameters of layer i begin in `parameter_offsets`.
  const index_t* offsets(std::size_t i) const { return parameter_offsets.data() + first_parameter[i]; }
  const index_t* buffer_offsets(std::size_t i) const { return all_buffer_offsets.data() + first_buffer[i]; }
  // The parameters and the buffers of layer i.
  std::span<const ParameterInfo> parameters_of(std::size_t i) const {
    return of_layer(parameters, first_parameter, i);
  }
  std::span<const BufferInfo> buffers_of(std::size_t i) const { return of_layer(buffers, first_buffer, i); }

 private:
  template <class Info>
  static std::span<const Info> of_layer(const std::vector<Info>& all, const std::array<std::size_t, depth>& first,
                                        std::size_t i) {
    return std::span(all).subspan(first[i], (i + 1 < depth ? first[i + 1] : all.size()) - first[i]);
  }

  template <class I, class L, class In>
  void add(const Net& net, I i, const L& layer, In in) {
    require_possible("takes inputs", net.template layer_name<I::value>(), in.sizes());
    require_possible("makes outputs", net.template layer_name<I::value>(), layer.output(in).sizes());
    const auto specs = nn::parameters(layer, in);
    for (const auto& spec : specs)
      require_possible("has parameters", net.template layer_name<I::value>(), spec.sizes);
    add_parameters(i, net.template layer_name<I::value>(), specs);
    const auto kept = nn::buffers(layer, in);
    add_buffers(i, net.template layer_name<I::value>(), kept);
    couples_samples |= nn::couples_samples<L>;
    add_output(i, in.numel(), layer.output(in).numel(), nn::cache_bytes(layer, in), nn::is_view<L>);
  }

  // Sizes whose sums and products in bytes are numbers still.
  static void require_possible(std::string_view what, const std::string& layer, const Sizes& sizes) {
    require(sizes.at_most(most_elements), "gpunet::Model: layer ", layer, " ", what, " of shape ", to_string(sizes),
            " (want 2^48 numbers or fewer, no memory holds more), give smaller sizes");
  }

  void add_parameters(std::size_t i, const std::string& layer, std::span<const nn::ParameterSpec> specs) {
    first_parameter[i] = parameters.size();
    for (const auto& spec : specs) {
      parameters.push_back({concat(layer, ".", spec.name), spec.sizes, parameter_elements, spec.low, spec.high});
      parameter_offsets.push_back(parameter_elements);
      parameter_elements += round_up(spec.sizes.numel(), parameter_alignment);
    }
  }

  void add_buffers(std::size_t i, const std::string& layer, std::span<const nn::BufferSpec> specs) {
    first_buffer[i] = buffers.size();
    for (const auto& spec : specs) {
      buffers.push_back(
          {concat(layer, ".", spec.name), spec.sizes, buffer_elements, spec.initial, spec.kind, spec.persistent});
      all_buffer_offsets.push_back(buffer_elements);
      buffer_elements += round_up(spec.sizes.numel(), parameter_alignment);  // a count has room there too
    }
  }

  void add_output(std::size_t i, index_t from, index_t size, index_t cached, bool is_view) {
    if (i > first_working) widest = std::max(widest, from);
    features[i] = size;
    output[i] = output_elements;
    cache[i] = cache_bytes;
    if (is_view) return;
    first_working = std::min(first_working, i);
    output_elements += round_up(size, sample_alignment);
    cache_bytes += round_up(cached, cache_alignment);
  }
};

}  // namespace gpunet
