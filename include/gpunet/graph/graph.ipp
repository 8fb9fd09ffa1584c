// Bodies of graph.hpp.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

#include <gpunet/core/math.hpp>
#include <gpunet/graph/graph.hpp>

namespace gpunet {

GPUNET_INLINE Graph::Graph() = default;
GPUNET_INLINE Graph::Graph(const Graph&) = default;
GPUNET_INLINE Graph::Graph(Graph&&) noexcept = default;
GPUNET_INLINE Graph& Graph::operator=(const Graph&) = default;
GPUNET_INLINE Graph& Graph::operator=(Graph&&) noexcept = default;
GPUNET_INLINE Graph::~Graph() = default;

GPUNET_INLINE GraphBuilder::GraphBuilder(const Sizes& sizes) {
  graph_.values.push_back(sizes);
}
GPUNET_INLINE GraphBuilder::~GraphBuilder() = default;

GPUNET_INLINE std::vector<int> Graph::readers() const {
  std::vector<int> count(values.size());
  for (const Node& node : nodes)
    for (const value_t value : node.inputs)
      ++count[static_cast<std::size_t>(value)];
  ++count[static_cast<std::size_t>(output)];
  for (const value_t value : watched)
    ++count[static_cast<std::size_t>(value)];
  return count;
}

GPUNET_INLINE void GraphBuilder::enter(std::string_view name) {
  starts_.push_back(path_.size());
  if (!path_.empty()) path_ += '.';
  path_ += name;
}

GPUNET_INLINE void GraphBuilder::enter(index_t number) {
  enter(std::to_string(number));
}

GPUNET_INLINE void GraphBuilder::enter_shared(std::string_view name) {
  shared_.push_back({std::move(path_), std::move(starts_)});
  path_ = name;
  starts_.clear();
}

GPUNET_INLINE void GraphBuilder::leave_shared() {
  path_ = std::move(shared_.back().path);
  starts_ = std::move(shared_.back().starts);
  shared_.pop_back();
}

GPUNET_INLINE Graph GraphBuilder::finish(value_t output) && {
  graph_.output = output;
  return std::move(graph_);
}

GPUNET_INLINE void GraphBuilder::set_merged(const OpType* after, const OpType* type,
                                            const void* kernels, const void* op) {
  const auto* first = static_cast<const std::byte*>(op);
  graph_.nodes.back().merged = {after, type, kernels, {first, first + type->bytes}};
}

namespace detail {

// Throws Error for sizes whose products in bytes could overflow.
GPUNET_INLINE void require_possible(std::string_view what, std::string_view layer,
                                    const Sizes& sizes) {
  require(sizes.at_most(most_elements), "gpunet::Model: layer ", layer, " ", what, " of shape ",
          to_string(sizes),
          " (want 2^48 numbers or fewer, no memory holds more), give smaller sizes");
}

}  // namespace detail

GPUNET_INLINE value_t GraphBuilder::add_node(const OpType* type, const void* kernels,
                                             const void* op, std::span<const value_t> inputs,
                                             const Sizes& output) {
  Graph& g = graph_;
  require(inputs.size() >= 1 && inputs.size() <= most_inputs, "gpunet::Model: layer ", path_,
          " has ", inputs.size(), " inputs (want 1 to ", most_inputs,
          "), join some in a layer before it");
  for (const value_t value : inputs)
    detail::require_possible("takes inputs", path_, g.values[static_cast<std::size_t>(value)]);
  detail::require_possible("makes outputs", path_, output);
  Node node{.name = path_,
            .layer = layer_,
            .type = type,
            .kernels = kernels,
            .op = {},
            .inputs = {inputs.begin(), inputs.end()},
            .output = static_cast<value_t>(g.values.size()),
            .first_parameter = static_cast<int>(g.parameters.size()),
            .parameters = 0,
            .first_buffer = static_cast<int>(g.buffers.size()),
            .buffers = 0};
  std::memcpy(node.op.data(), op, type->bytes);
  g.values.push_back(output);
  g.nodes.push_back(std::move(node));
  return g.nodes.back().output;
}

GPUNET_INLINE std::string GraphBuilder::key_of(std::string_view name) const {
  return name.empty() ? path_ : concat(path_, ".", name);
}

GPUNET_INLINE bool GraphBuilder::share_parameters(std::span<const ParameterSpec> parameters) {
  Graph& g = graph_;
  const std::string first = key_of(parameters[0].name);
  const auto found =
      std::find_if(g.parameters.begin(), g.parameters.end(),
                   [&](const ParameterInfo& parameter) { return parameter.name == first; });
  if (shared_.empty() || found == g.parameters.end()) return false;
  const auto at = static_cast<std::size_t>(found - g.parameters.begin());
  require(is_shared_[at], "gpunet::Model: the parameters shared as ", path_,
          " are those of a layer that is not shared, give one another name");
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const std::string key = key_of(parameters[i].name);
    const bool exists = at + i < g.parameters.size() && g.parameters[at + i].name == key;
    const auto reason = [&] {
      return exists ? concat(key, " has shape ", to_string(g.parameters[at + i].sizes),
                             ", this one wants ", to_string(parameters[i].sizes))
                    : concat("it has no ", key);
    };
    if (!exists || g.parameters[at + i].sizes != parameters[i].sizes)
      require(false, "gpunet::Model: the parameters shared as ", path_,
              " were made by a different layer (", reason(),
              "), use the same layer with inputs of the same features, or another name");
  }
  for (const Node& node : g.nodes)
    require(node.first_parameter != static_cast<int>(at) ||
                node.parameters <= static_cast<int>(parameters.size()),
            "gpunet::Model: the parameters shared as ", path_,
            " were made by a different layer (this one has no ",
            g.parameters[at + parameters.size()].name,
            "), use the same layer for both, or another name");
  g.nodes.back().first_parameter = static_cast<int>(at);
  g.nodes.back().parameters = static_cast<int>(parameters.size());
  g.nodes.back().shares_parameters = true;
  return true;
}

GPUNET_INLINE void GraphBuilder::add_parameters(std::span<const ParameterSpec> parameters) {
  Graph& g = graph_;
  if (share_parameters(parameters)) return;
  const std::size_t first = g.parameters.size();
  for (const ParameterSpec& spec : parameters) {
    const std::string name = key_of(spec.name);
    for (std::size_t i = first; i < g.parameters.size(); ++i)
      require(g.parameters[i].name != name, "gpunet::Model: layer ", path_,
              " has two parameters called ", spec.name,
              " (they would be one key), rename one in its parameters(in)");
    for (const ParameterInfo& other : g.parameters)
      require(other.name != name, "gpunet::Model: two layers are called ", path_,
              " (their parameters would be one key), rename one");
    detail::require_possible("has parameters", path_, spec.sizes);
    g.parameters.push_back({name, spec.sizes, g.parameter_elements, spec.initial});
    g.parameter_offsets.push_back(g.parameter_elements);
    g.parameter_elements += round_up(spec.sizes.numel(), parameter_alignment);
    is_shared_.push_back(!shared_.empty());
  }
  g.nodes.back().parameters += static_cast<int>(parameters.size());
}

GPUNET_INLINE void GraphBuilder::order_parameters(std::size_t first,
                                                  std::span<const std::string_view> layers) {
  Graph& g = graph_;
  std::vector<Node*> nodes;
  for (std::size_t i = first; i < g.nodes.size(); ++i)
    if (g.nodes[i].parameters > 0 && !g.nodes[i].shares_parameters) nodes.push_back(&g.nodes[i]);
  if (nodes.empty()) return;
  const auto place = [&](const Node* node) {
    const std::string_view layer =
        std::string_view(node->name).substr(path_.empty() ? 0 : path_.size() + 1);
    return std::find(layers.begin(), layers.end(), layer.substr(0, layer.find('.'))) -
           layers.begin();
  };
  const auto begin = static_cast<std::size_t>(nodes.front()->first_parameter);
  const std::vector<ParameterInfo> before(g.parameters.begin() + std::ptrdiff_t(begin),
                                          g.parameters.end());
  std::stable_sort(nodes.begin(), nodes.end(),
                   [&](const Node* a, const Node* b) { return place(a) < place(b); });
  g.parameter_elements = before.front().offset;
  g.parameters.resize(begin);
  g.parameter_offsets.resize(begin);
  for (Node* node : nodes) {
    const auto from = static_cast<std::size_t>(node->first_parameter) - begin;
    node->first_parameter = static_cast<int>(g.parameters.size());
    for (std::size_t i = from; i < from + static_cast<std::size_t>(node->parameters); ++i) {
      g.parameters.push_back(before[i]);
      g.parameters.back().offset = g.parameter_elements;
      g.parameter_offsets.push_back(g.parameter_elements);
      g.parameter_elements += round_up(before[i].sizes.numel(), parameter_alignment);
    }
  }
  for (std::size_t i = first; i < g.nodes.size(); ++i)
    if (g.nodes[i].has_second_part) g.nodes[i].first_parameter = g.nodes[i - 1].first_parameter;
}

GPUNET_INLINE void GraphBuilder::set_packing(std::size_t first) {
  for (std::size_t i = first; i < graph_.nodes.size(); ++i)
    graph_.nodes[i].is_packing = true;
}

GPUNET_INLINE void GraphBuilder::use_second_part() {
  Node& node = graph_.nodes.back();
  const Node& before = graph_.nodes[graph_.nodes.size() - 2];
  node.first_parameter = before.first_parameter;
  node.parameters = before.parameters;
  node.shares_parameters = node.has_second_part = true;
}

GPUNET_INLINE void GraphBuilder::copy_initial_values(std::size_t count) {
  for (std::size_t i = graph_.parameters.size() - count; i < graph_.parameters.size(); ++i)
    graph_.parameters[i].initial.copied_from = static_cast<int>(count);
}

GPUNET_INLINE index_t GraphBuilder::add_constants(std::span<const double> values) {
  const std::size_t first = graph_.constants.size();
  graph_.constants.insert(graph_.constants.end(), values.begin(), values.end());
  return static_cast<index_t>(first);
}

GPUNET_INLINE void GraphBuilder::add_buffers(std::span<const BufferSpec> buffers) {
  Graph& g = graph_;
  require(!g.nodes.back().shares_parameters, "gpunet::Model: layer ", path_,
          " is shared and has buffers (running statistics, which one of its places would take from "
          "the other), give each place a layer of its own");
  for (const BufferSpec& spec : buffers) {
    g.buffers.push_back({key_of(spec.name), spec.sizes, g.buffer_elements, spec.initial, spec.kind,
                         spec.persistent});
    g.buffer_offsets.push_back(g.buffer_elements);
    g.buffer_elements += round_up(spec.sizes.numel(), parameter_alignment);  // a count fits, too
  }
  g.nodes.back().buffers += static_cast<int>(buffers.size());
}

}  // namespace gpunet
