// Bodies of summary.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <ostream>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/model/summary.hpp>

namespace gpunet {

GPUNET_INLINE Summary summary(const Graph& graph, index_t element_bytes, index_t batch_size) {
  require(batch_size >= 1, "gpunet::summary: a batch of ", batch_size, " samples (want 1 or more)");
  Summary out;
  out.blocks = graph.blocks;
  std::vector<int> maker(graph.values.size(), -1);  // of each value, a layer
  std::vector<value_t> first_output;                // of each layer
  std::vector<value_t> unpadded(graph.values.size());
  std::iota(unpadded.begin(), unpadded.end(), 0);
  for (const Node& node : graph.nodes) {
    if (node.is_packing) {
      const int from = maker[static_cast<std::size_t>(node.inputs[0])];
      maker[static_cast<std::size_t>(node.output)] = from;
      if (from < 0 || node.inputs.size() > 1) continue;
      const auto layer = static_cast<std::size_t>(from);
      if (first_output[layer] != node.inputs[0]) continue;
      first_output[layer] = node.output;
      out.layers[layer].output_size = graph.output_of(node).with_front(batch_size);
      continue;
    }
    if (node.is_padding) {
      unpadded[static_cast<std::size_t>(node.output)] = node.inputs[0];
      maker[static_cast<std::size_t>(node.output)] =
          maker[static_cast<std::size_t>(node.inputs[0])];
      continue;
    }
    const value_t x = unpadded[static_cast<std::size_t>(node.inputs[0])];
    const Sizes &in = graph.values[static_cast<std::size_t>(x)], &to = graph.output_of(node);
    const void* op = node.op.data();
    LayerSummary layer{detail::class_of(node.layer),      node.name,
                       node.type->extra_repr(op, in, to), in.with_front(batch_size),
                       to.with_front(batch_size),         {}};
    for (const value_t value : node.inputs)
      layer.inputs.push_back(maker[static_cast<std::size_t>(value)]);
    maker[static_cast<std::size_t>(node.output)] = static_cast<int>(out.layers.size());
    for (const ParameterInfo& parameter : graph.parameters_of(node))
      layer.num_params += parameter.sizes.numel();
    // As torchinfo counts them: a bias is one; normalization, ReLU and pooling are none.
    const index_t mult_adds = node.type->multiply_adds(op, in, to, layer.num_params);
    require(layer.input_size.at_most(most_elements) && layer.output_size.at_most(most_elements) &&
                Sizes{batch_size, mult_adds}.at_most(index_t{1} << 56),
            "gpunet::summary: a batch of ", batch_size, " samples at layer ", layer.var_name,
            " (want 2^48 numbers or fewer, no memory holds more), give a smaller batch");
    layer.mult_adds = batch_size * mult_adds;
    first_output.push_back(node.output);
    // Of one element, see below.
    layer.output_bytes = graph.traits(node).is_view ? 0 : element_bytes;
    layer.param_bytes = element_bytes * layer.num_params;
    out.total_mult_adds += layer.mult_adds;
    if (!node.shares_parameters) {
      out.total_params += layer.num_params;
      for (const ParameterInfo& parameter : graph.parameters_of(node))
        if (parameter.requires_grad) out.trainable_params += parameter.sizes.numel();
      out.total_param_bytes += layer.param_bytes;
    }
    out.layers.push_back(std::move(layer));
  }
  for (LayerSummary& layer : out.layers) {  // whose sizes are known now, after packing
    layer.output_bytes *= layer.output_size.numel();
    if (layer.num_params > 0) out.total_output_bytes += 2 * layer.output_bytes;
  }
  out.input_size = graph.values[0].with_front(batch_size);
  out.output_size = graph.values[static_cast<std::size_t>(graph.output)].with_front(batch_size);
  for (const Sizes& sizes : graph.outputs)
    out.outputs.push_back(sizes.with_front(batch_size));
  if (out.outputs.empty()) out.outputs = {out.output_size};
  out.total_input_bytes = element_bytes * out.input_size.numel();
  return out;
}

namespace detail {

GPUNET_INLINE std::string with_commas(index_t n) {
  std::string digits = std::to_string(n);
  for (auto i = static_cast<index_t>(digits.size()) - 3; i > 0; i -= 3)
    digits.insert(static_cast<std::size_t>(i), 1, ',');
  return digits;
}

// Returns a number in units: with two decimals, or two digits where they would be 0.
GPUNET_INLINE std::string in_units(index_t n, index_t unit) {
  const double number = static_cast<double>(n) / static_cast<double>(unit);
  if (n == 0 || number >= 0.005) return gpunet::detail::fixed_text(number, 2);
  return gpunet::detail::fixed_text(number, 1 - static_cast<int>(std::floor(std::log10(number))));
}

// Returns "(M): 2.63": in millions, from 1e9 in billions (G), from 1e12 in trillions (T); without
// decimals if they are 0.
GPUNET_INLINE std::string in_millions(index_t n) {
  const bool tera = n >= 1'000'000'000'000, giga = n >= 1'000'000'000;
  const index_t unit = tera ? 1'000'000'000'000 : giga ? 1'000'000'000 : 1'000'000;
  const char* letter = tera ? "T" : giga ? "G" : "M";
  if (n % unit == 0) return concat("(", letter, "): ", with_commas(n / unit));
  const std::string number = in_units(n, unit);
  const std::size_t point = number.find('.');
  return concat("(", letter, "): ", with_commas(std::stoll(number.substr(0, point))),
                number.substr(point));
}

GPUNET_INLINE std::string megabytes(index_t bytes) {
  return in_units(bytes, 1'000'000);
}

// The rows of a table: a first column of a given width, others of 20 characters, one blank between
// them.
class TextTable {
 public:
  explicit TextTable(std::size_t first_width) : first_width_(first_width) {}

  void add_row(std::string_view first, const std::vector<std::string>& others) {
    std::string row = padded(first, first_width_);
    for (const std::string& text : others)
      row += padded(text, column_width);
    text_ += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  void add_line(std::string_view text) { text_ += concat(text, "\n"); }
  void add_divider() { add_line(std::string(first_width_ + 4 * column_width, '=')); }
  // The text, with a last divider.
  std::string end() {
    add_divider();
    return text_.substr(0, text_.size() - 1);
  }

 private:
  static constexpr std::size_t column_width = 20;

  static std::string padded(std::string_view text, std::size_t width) {
    return std::string(text) +
           std::string(width - std::min(width, gpunet::detail::characters(text)) + 1, ' ');
  }

  std::size_t first_width_;
  std::string text_;
};

// Returns the text with line breaks written as \n, for a row of a table.
GPUNET_INLINE std::string on_one_line(std::string_view text) {
  std::string out;
  for (const char c : text)
    out += c == '\n' ? "\\n" : std::string(1, c);
  return out;
}

GPUNET_INLINE std::string count_or_dashes(index_t n) {
  return n > 0 ? with_commas(n) : "--";
}

}  // namespace detail

GPUNET_INLINE std::string to_string(const Summary& summary) {
  std::vector<std::string> paths, titles;
  for (const LayerSummary& layer : summary.layers)
    paths.push_back(detail::on_one_line(layer.var_name));
  const auto modules = detail::modules_of(paths, summary.blocks);
  std::vector<std::size_t> count;  // of modules at each depth
  std::size_t width = 40;          // in steps of 5
  for (const auto& entry : modules) {
    count.resize(std::max(count.size(), entry.depth + 1));
    std::string branch = "├─";
    for (std::size_t i = 0; i < entry.depth; ++i)
      branch = i == 0 ? "│    └─" : "│    " + branch;
    titles.push_back(
        concat(branch, entry.block.empty() ? summary.layers[entry.first].class_name : entry.block,
               " (", entry.name, "): ", entry.depth + 1, "-", ++count[entry.depth]));
    width = std::max(width, (gpunet::detail::characters(titles.back()) + 8) / 5 * 5);
  }
  detail::TextTable table(width);
  table.add_divider();
  table.add_row("Layer (type (var_name):depth-idx)",
                {"Output Shape", "Param #", "Mult-Adds", "Bytes"});
  table.add_divider();
  const std::string all =
      gpunet::detail::short_list(summary.outputs, [](const Sizes& s) { return to_string(s); });
  table.add_row("Sequential", {all.size() <= 20 ? all : to_string(summary.outputs[0]) + ", ...",
                               "--", "--", "--"});
  for (std::size_t i = 0; i < titles.size(); ++i) {
    const LayerSummary& layer = summary.layers[modules[i].last];
    if (!modules[i].block.empty())
      table.add_row(titles[i], {to_string(layer.output_size), "--", "--", "--"});
    else
      table.add_row(titles[i],
                    {to_string(layer.output_size), detail::count_or_dashes(layer.num_params),
                     detail::count_or_dashes(layer.mult_adds),
                     detail::count_or_dashes(layer.output_bytes + layer.param_bytes)});
  }
  table.add_divider();
  table.add_line("Total params: " + detail::with_commas(summary.total_params));
  table.add_line("Trainable params: " + detail::with_commas(summary.trainable_params));
  table.add_line("Non-trainable params: " +
                 detail::with_commas(summary.total_params - summary.trainable_params));
  table.add_line("Total mult-adds " + detail::in_millions(summary.total_mult_adds));
  table.add_divider();
  table.add_line("Input size (MB): " + detail::megabytes(summary.total_input_bytes));
  table.add_line("Forward/backward pass size (MB): " +
                 detail::megabytes(summary.total_output_bytes));
  table.add_line("Params size (MB): " + detail::megabytes(summary.total_param_bytes));
  table.add_line("Estimated Total Size (MB): " + detail::megabytes(summary.total_bytes()));
  return table.end();
}

GPUNET_INLINE std::ostream& operator<<(std::ostream& out, const Summary& summary) {
  return out << to_string(summary);
}

}  // namespace gpunet
