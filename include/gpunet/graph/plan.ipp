// Bodies of plan.hpp.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/graph/plan.hpp>

namespace gpunet {

namespace detail {

// Memory in use from step `begin` to step `end`, both included, and its place.
struct Lifetime {
  index_t size;
  int begin, end;
  index_t* offset;
};

// Places all so that those in use at the same time do not overlap: largest first, each at the lowest offset that fits.
// Returns the total size.
GPUNET_INLINE index_t place(std::vector<Lifetime> all) {
  using Order = std::vector<const Lifetime*>;
  const auto insert = [](Order& order, const Lifetime* one, bool (*before)(const Lifetime*, const Lifetime*)) {
    order.insert(std::upper_bound(order.begin(), order.end(), one, before), one);
  };
  Order by_size, by_offset;
  for (const Lifetime& one : all)
    insert(by_size, &one, [](const Lifetime* a, const Lifetime* b) { return a->size > b->size; });
  index_t total = 0;
  for (const Lifetime* one : by_size) {
    index_t at = 0;
    for (const Lifetime* other : by_offset)
      if (other->begin <= one->end && one->begin <= other->end && *other->offset < at + one->size)
        at = std::max(at, *other->offset + other->size);
    *one->offset = at;
    total = std::max(total, at + one->size);
    insert(by_offset, one, [](const Lifetime* a, const Lifetime* b) { return *a->offset < *b->offset; });
  }
  return total;
}

}  // namespace detail

GPUNET_INLINE void append(std::vector<ArenaRange>& ranges, const ParameterInfo& parameter) {
  if (!ranges.empty() && ranges.back().end == parameter.offset)
    ranges.back().end = parameter.end();
  else
    ranges.push_back({parameter.offset, parameter.end()});
}

GPUNET_INLINE Plan::Plan(const Graph& graph, bool rectifies_gradients, InputGradient input_gradient,
                         index_t element_bytes) {
  const auto at = [](int i) {
    return static_cast<std::size_t>(i);
  };
  // The values that the output depends on.
  std::vector<bool> is_read(graph.values.size());
  is_read[at(graph.output)] = true;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node)
    if (is_read[at(node->output)])
      for (const value_t value : node->inputs)
        is_read[at(value)] = true;

  // Values and nodes, forward.
  value_of.assign(graph.values.size(), -1);
  value_of[0] = 0;
  values.push_back({.features = graph.values[0].numel()});
  std::vector<OpTraits> traits;
  std::vector<int> readers{0};
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (!is_read[at(node.output)]) continue;
    const OpTraits of = graph.traits(node);
    if (of.is_view) {
      value_of[at(node.output)] = value_of[at(node.inputs[0])];
      continue;
    }
    PlannedNode out;
    out.node = static_cast<int>(i);
    out.cache = cache_bytes;
    for (const value_t value : node.inputs) {
      out.inputs.push_back({.value = value_of[at(value)]});
      ++readers[at(value_of[at(value)])];
    }
    out.output = value_of[at(node.output)] = static_cast<int>(values.size());
    const index_t features = graph.output_of(node).numel();
    values.push_back({.offset = output_elements, .features = features, .maker = static_cast<int>(nodes.size())});
    readers.push_back(0);
    output_elements += round_up(features, sample_alignment);
    cache_bytes += round_up(of.cache_bytes + of.cache_elements * element_bytes, cache_alignment);
    couples_samples |= of.couples_samples;
    uses_random |= of.uses_random;
    nodes.push_back(std::move(out));
    traits.push_back(of);
  }
  for (const value_t value : graph.watched)
    if (const int of = value_of[at(value)]; of >= 0) ++readers[at(of)];
  output = value_of[at(graph.output)];
  input_features = values[0].features;
  output_features = values[at(output)].features;

  // Which nodes rectify the gradient for a ReLU below them.
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int input = nodes[i].inputs[0].value, below = values[at(input)].maker;
    if (below < 0) continue;
    nodes[i].rectifies_dx = rectifies_gradients && traits[at(below)].ends_in_relu && traits[i].can_rectify_dx &&
                            nodes[i].inputs.size() == 1 && readers[at(input)] == 1 && input != output;
    if (nodes[i].rectifies_dx) nodes[i].relu_bits_of = below;
    nodes[at(below)].dy_is_rectified = nodes[i].rectifies_dx;
  }

  // Gradients: which values need one because a parameter below them does, which node stores it first in the backward pass, and its
  // lifetime.
  std::vector<bool> needs(values.size());
  needs[0] = input_gradient == InputGradient::compute;
  for (PlannedNode& node : nodes) {
    for (const PlannedInput& input : node.inputs)
      node.has_backward = node.has_backward || needs[at(input.value)];
    const auto parameters = graph.parameters_of(graph.nodes[at(node.node)]);
    node.skips_parameters = std::none_of(parameters.begin(), parameters.end(),
                                         [](const ParameterInfo& parameter) { return parameter.requires_grad; });
    node.has_backward = (node.has_backward || !node.skips_parameters) &&
                        !traits[static_cast<std::size_t>(&node - nodes.data())].stops_gradient;
    needs[at(node.output)] = node.has_backward;
  }
  std::vector<bool> value_has_gradient(values.size());
  value_has_gradient[at(output)] = true;  // by the loss
  has_gradient.resize(graph.parameters.size());
  const int last = static_cast<int>(nodes.size());
  std::vector<detail::Lifetime> lifetimes;
  std::vector<int> first_written(values.size());
  std::vector<bool> has_stored(
      2 * graph.parameters.size());  // of parameters and their second parts: whether the gradient is
  for (int i = last - 1; i >= 0; --i) {
    PlannedNode& node = nodes[at(i)];
    node.has_backward = node.has_backward && value_has_gradient[at(node.output)];  // else no reader passes one down
    if (const Node& of = graph.nodes[at(node.node)]; node.has_backward && of.parameters > 0) {
      const std::size_t stored = 2 * at(of.first_parameter) + (of.has_second_part ? 1 : 0);
      node.adds_to_parameters = has_stored[stored];
      has_stored[stored] = true;
      for (std::size_t p = at(of.first_parameter); p < at(of.first_parameter + of.parameters); ++p)
        if (graph.parameters[p].requires_grad)
          has_gradient[p] = true;
        else
          spare_elements = std::max(spare_elements, graph.parameters[p].sizes.numel());
    }
    index_t adding = 0;
    for (PlannedInput& input : node.inputs) {
      const std::size_t value = at(input.value);
      input.wants_gradient = node.has_backward && needs[value];
      input.adds_gradient = input.wants_gradient && value_has_gradient[value];
      if (input.adds_gradient) {
        adding += round_up(values[value].features, sample_alignment);
      } else if (input.wants_gradient) {
        value_has_gradient[value] = true;
        first_written[value] = last - i;
      }
    }
    if (adding > 0) lifetimes.push_back({adding, last - i, last - i, &node.adding});
  }
  for (std::size_t i = 0; i < values.size(); ++i)
    if (value_has_gradient[i] && static_cast<int>(i) != output)
      lifetimes.push_back({round_up(values[i].features, sample_alignment), first_written[i],
                           values[i].maker < 0 ? last + 1 : last - values[i].maker, &values[i].gradient});
  gradient_elements = detail::place(std::move(lifetimes));
  for (const ParameterInfo& parameter : graph.parameters)
    gradient_offsets.push_back(parameter.requires_grad ? parameter.offset : graph.parameter_elements);
  most_samples =
      most_elements /
      std::max(input_features + output_elements + output_features + gradient_elements + cache_bytes, index_t{1});
}

}  // namespace gpunet
