// Bodies of plan.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include <gpunet/core/error.hpp>
#include <gpunet/core/float16.hpp>
#include <gpunet/core/math.hpp>
#include <gpunet/graph/plan.hpp>
#include <gpunet/ops/binary.hpp>
#include <gpunet/ops/sources.hpp>

namespace gpunet {

namespace detail {

// Memory in use from step `begin` to step `end`, both included, and its place.
struct Lifetime {
  index_t size;
  int begin, end;
  index_t* offset;
};

// Places all so that arrays in use at the same time do not overlap: largest first, each at the
// lowest offset that fits.
// Returns the total size.
GPUNET_INLINE index_t place(std::vector<Lifetime> all) {
  using Order = std::vector<const Lifetime*>;
  const auto insert = [](Order& order, const Lifetime* one,
                         bool (*before)(const Lifetime*, const Lifetime*)) {
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
    insert(by_offset, one,
           [](const Lifetime* a, const Lifetime* b) { return *a->offset < *b->offset; });
  }
  return total;
}

// Returns the room for a value of a sample, in elements of the type that the network computes in.
GPUNET_INLINE index_t stored_elements(index_t features, bool is_narrow) {
  return round_up(is_narrow ? ceil_div(features, index_t{2}) : features, sample_alignment);
}

}  // namespace detail

GPUNET_INLINE void append(std::vector<ArenaRange>& ranges, const ParameterInfo& parameter) {
  if (!ranges.empty() && ranges.back().end == parameter.offset)
    ranges.back().end = parameter.end();
  else
    ranges.push_back({parameter.offset, parameter.end()});
}

// Places the outputs of nodes and their caches: one after another, or so that arrays in use at the
// same time do not overlap.
GPUNET_INLINE void Plan::place_values(const std::vector<index_t>& caches,
                                      const std::vector<int>& watched, bool forward_only) {
  std::vector<int> last_read(values.size());
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const PlannedInput& input : nodes[i].inputs)
      last_read[static_cast<std::size_t>(input.value)] = static_cast<int>(i);
  for (const int value : watched)
    last_read[static_cast<std::size_t>(value)] = static_cast<int>(nodes.size());
  std::vector<detail::Lifetime> lifetimes;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    PlannedValue& value = values[static_cast<std::size_t>(nodes[i].output)];
    const index_t size = detail::stored_elements(value.features, value.is_narrow);
    activations += round_up(value.features, sample_alignment);
    nodes[i].cache = forward_only ? 0 : cache_bytes;
    cache_bytes = forward_only ? std::max(cache_bytes, caches[i]) : cache_bytes + caches[i];
    value.offset = output_elements;
    if (forward_only)
      lifetimes.push_back({size, static_cast<int>(i),
                           last_read[static_cast<std::size_t>(nodes[i].output)], &value.offset});
    else
      output_elements += size;
  }
  if (forward_only) output_elements = detail::place(std::move(lifetimes));
}

// Computes the memory that SliceRun needs for the arrays of a node as floats.
GPUNET_INLINE void Plan::reserve_wide(const Graph& graph) {
  wide_offsets.resize(graph.parameters.size());
  for (const PlannedNode& node : nodes) {
    const auto value = [this](int i) -> const PlannedValue& {
      return values[static_cast<std::size_t>(i)];
    };
    index_t elements = 0;
    const auto add = [&elements](bool is_narrow, index_t features) {
      if (is_narrow) elements += round_up(features, sample_alignment);
    };
    const PlannedValue& out = value(node.output);
    add(out.is_narrow, out.features);
    add(node.has_backward && out.has_narrow_gradient, out.features);
    for (const PlannedInput& input : node.inputs) {
      const PlannedValue& in = value(input.value);
      add(in.is_narrow, in.features);
      add(input.wants_gradient && in.has_narrow_gradient, in.features);
    }
    wide_elements = std::max(wide_elements, elements);
    index_t parameters = 0;
    const Node& of = graph.nodes[static_cast<std::size_t>(node.node)];
    for (int p = of.first_parameter; p < of.first_parameter + of.parameters; ++p) {
      wide_offsets[static_cast<std::size_t>(p)] = parameters;
      parameters += round_up(graph.parameters[static_cast<std::size_t>(p)].sizes.numel(),
                             parameter_alignment);
    }
    wide_parameters = std::max(wide_parameters, parameters);
  }
}

GPUNET_INLINE Plan::Plan(const Graph& graph, bool rectifies_gradients, InputGradient input_gradient,
                         const PlanOptions& options)
    : storage(options.storage) {
  const auto at = [](int i) {
    return static_cast<std::size_t>(i);
  };
  // The values that the output depends on, and the values that the network returns.
  std::vector<bool> is_read(graph.values.size()), is_returned(graph.values.size());
  is_read[at(graph.output)] = is_returned[at(graph.output)] = true;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    if (!is_read[at(node->output)]) continue;
    const bool joins_outputs = node->output == graph.output && !graph.outputs.empty();
    for (const value_t value : node->inputs) {
      is_read[at(value)] = true;
      if (is_returned[at(node->output)] && (joins_outputs || graph.traits(*node).is_view))
        is_returned[at(value)] = true;
    }
  }

  // Values and nodes, forward.
  value_of.assign(graph.values.size(), -1);
  value_of[0] = 0;
  values.push_back({.features = graph.values[0].numel()});
  std::vector<OpTraits> traits;
  std::vector<index_t> caches;
  std::vector<int> readers{0}, outside{};  // values that are read outside the network
  std::vector<StoredAs> stored_as{StoredAs::full};
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
    StoredAs widest = StoredAs::constant;  // of the inputs
    for (const value_t value : node.inputs) {
      const int input = value_of[at(value)];
      out.inputs.push_back({.value = input});
      ++readers[at(input)];
      if (widest != StoredAs::full && stored_as[at(input)] != StoredAs::constant)
        widest = stored_as[at(input)];
    }
    stored_as.push_back(is_returned[at(node.output)]         ? StoredAs::full
                        : of.stored_as == StoredAs::promoted ? widest
                                                             : of.stored_as);
    out.output = value_of[at(node.output)] = static_cast<int>(values.size());
    values.push_back(
        {.features = graph.output_of(node).numel(),
         .maker = static_cast<int>(nodes.size()),
         .is_narrow = storage != Storage::full && stored_as.back() == StoredAs::narrow});
    readers.push_back(0);
    caches.push_back(
        round_up(of.cache_bytes + of.cache_elements * options.element_bytes, cache_alignment));
    couples_samples |= of.couples_samples;
    uses_random |= of.uses_random;
    nodes.push_back(std::move(out));
    traits.push_back(of);
  }
  for (const value_t value : graph.watched)
    if (const int of = value_of[at(value)]; of >= 0) {
      ++readers[at(of)];
      outside.push_back(of);
    }
  output = value_of[at(graph.output)];
  outside.push_back(output);
  place_values(caches, outside, options.forward_only);
  input_features = values[0].features;
  output_features = values[at(output)].features;

  // Which nodes rectify the gradient for a ReLU below them.
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const int input = nodes[i].inputs[0].value, below = values[at(input)].maker;
    if (below < 0) continue;
    nodes[i].rectifies_dx = rectifies_gradients && traits[at(below)].ends_in_relu &&
                            traits[i].can_rectify_dx && nodes[i].inputs.size() == 1 &&
                            readers[at(input)] == 1 && input != output;
    if (nodes[i].rectifies_dx) nodes[i].relu_bits_of = below;
    nodes[at(below)].dy_is_rectified = nodes[i].rectifies_dx;
  }

  // Gradients: which values need one because a parameter below them does, which node stores it
  // first in the backward pass, and its lifetime.
  std::vector<bool> needs(values.size());
  needs[0] = input_gradient == InputGradient::compute;
  for (PlannedNode& node : nodes) {
    for (const PlannedInput& input : node.inputs)
      node.has_backward = node.has_backward || needs[at(input.value)];
    const auto parameters = graph.parameters_of(graph.nodes[at(node.node)]);
    node.skips_parameters =
        std::none_of(parameters.begin(), parameters.end(),
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
      // Of parameters and their second parts: whether the gradient is.
      2 * graph.parameters.size());
  for (int i = last - 1; i >= 0; --i) {
    PlannedNode& node = nodes[at(i)];
    // Else no reader passes one down.
    node.has_backward = node.has_backward && value_has_gradient[at(node.output)];
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
  for (PlannedValue& value : values)
    value.has_narrow_gradient = value.is_narrow;
  for (const PlannedNode& node : nodes)
    for (const PlannedInput& input : node.inputs)
      if (input.adds_gradient) values[at(input.value)].has_narrow_gradient = false;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (value_has_gradient[i] && static_cast<int>(i) != output)
      lifetimes.push_back(
          {detail::stored_elements(values[i].features, values[i].has_narrow_gradient),
           first_written[i], values[i].maker < 0 ? last + 1 : last - values[i].maker,
           &values[i].gradient});
  gradient_elements = detail::place(std::move(lifetimes));
  for (const ParameterInfo& parameter : graph.parameters)
    gradient_offsets.push_back(parameter.requires_grad ? parameter.offset
                                                       : graph.parameter_elements);
  if (storage != Storage::full) reserve_wide(graph);
  most_samples = most_elements / std::max(input_features + output_elements + output_features +
                                              gradient_elements + cache_bytes + wide_elements,
                                          index_t{1});
}

GPUNET_INLINE void require_storable_constants(const Graph& graph, const Plan& plan,
                                              const char* where) {
  if (plan.storage != Storage::float16) return;
  const auto value_at = [&](value_t value) -> const PlannedValue* {
    const int planned = plan.value_of[static_cast<std::size_t>(value)];
    return planned < 0 ? nullptr : &plan.values[static_cast<std::size_t>(planned)];
  };
  const auto overflows = [](double number) {
    return std::isfinite(number) && !std::isfinite(float{float16(static_cast<float>(number))});
  };
  const auto refuse = [where](double number, const std::string& of) {
    const char* const sign = number < 0 ? "-" : "";
    throw_error(Error(
        concat(where, ": the number ", number, " of ", of,
               " cannot be converted to float16 without overflow (the largest is 65504), give ",
               sign, "65504, or ", sign, "INFINITY where that is meant, or store bfloat16")));
  };
  for (const Node& node : graph.nodes) {
    const PlannedValue* const output = value_at(node.output);
    const OpTraits traits = graph.traits(node);
    const bool scales =
        node.as<BinaryOp<functions::Product>>() || node.as<BinaryOp<functions::Quotient>>();
    if (!output || !output->is_narrow || traits.stored_as != StoredAs::promoted || scales) continue;
    if (traits.clamps && traits.clamps->low > 0 && overflows(traits.clamps->low))
      refuse(traits.clamps->low, node.name);
    if (traits.clamps && traits.clamps->high < 0 && overflows(traits.clamps->high))
      refuse(traits.clamps->high, node.name);
    // A number below the range of float16 does no harm to a maximum, nor a number above it to a
    // minimum.
    const bool is_maximum = node.as<BinaryOp<functions::Maximum>>(),
               is_minimum = node.as<BinaryOp<functions::Minimum>>();
    for (const value_t input : node.inputs) {
      const PlannedValue* const value = value_at(input);
      if (!value || value->maker < 0) continue;
      const int maker = plan.nodes[static_cast<std::size_t>(value->maker)].node;
      const Node& from = graph.nodes[static_cast<std::size_t>(maker)];
      const ConstantOp* const constant = from.as<ConstantOp>();
      if (!constant) continue;
      const auto first = graph.constants.begin() + constant->first;
      const auto bad = std::find_if(first, first + value->features, [&](double number) {
        return overflows(number) && !(number < 0 ? is_maximum : is_minimum);
      });
      if (bad != first + value->features)
        refuse(*bad, concat(from.name, ", read by ", node.name, ","));
    }
  }
}

}  // namespace gpunet
