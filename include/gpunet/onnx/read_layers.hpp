// ONNX operators with weights, and poolings.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/nn/conv1d.hpp>
#include <gpunet/nn/conv2d.hpp>
#include <gpunet/nn/conv_transpose1d.hpp>
#include <gpunet/nn/conv_transpose2d.hpp>
#include <gpunet/nn/prelu.hpp>
#include <gpunet/onnx/read_shapes.hpp>
#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>
#include <gpunet/ops/conv2d/conv2d.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>
#include <gpunet/ops/prelu.hpp>

namespace gpunet::onnx::detail {

inline namespace GPUNET_BACKENDS {

// Layers with weights.

// Returns the tensor with its two dimensions exchanged.
inline io::TensorEntry transposed(io::TensorEntry tensor) {
  const Sizes strides =
      tensor.strides.rank() > 0 ? tensor.strides : io::detail::packed_strides(tensor.sizes);
  tensor.sizes = {tensor.sizes[1], tensor.sizes[0]};
  tensor.strides = {strides[1], strides[0]};
  return tensor;
}

// Returns x W^T + b for a weight [in, out], or [out, in] if `is_transposed`.
inline Value product(NodeReader& node, const Known& weight, bool is_transposed, const Known* bias) {
  const Value& x = node.value(0);
  const index_t out = weight.sizes[is_transposed ? 0 : 1], in = weight.sizes[is_transposed ? 1 : 0];
  node.want(x.sizes().rank() >= 1 && node.features(x) == in,
            concat("a value of shape ", nn::detail::shape_text(x.sizes()), " and a weight for ", in,
                   " features"));
  std::vector<io::TensorEntry> tensors{is_transposed ? weight.tensor : transposed(weight.tensor)};
  if (bias) {
    tensors.push_back(bias->tensor);
    tensors[1].sizes = {out};
  }
  return node.layer(
      std::move(tensors), {},
      [&](const std::string& name) {
        return nn::linear(x, out, {.bias = bias != nullptr, .name = name});
      },
      x);
}

// Returns whether a constant is a bias for so many outputs: a parameter that is added.
inline bool is_bias(const Known* known, index_t outputs) {
  return known && !known->is_small && known->tensor.problem.empty() &&
         known->tensor.strides.rank() == 0 && known->sizes.numel() == outputs &&
         known->sizes.rank() >= 1 && known->sizes[known->sizes.rank() - 1] == outputs;
}

inline void read_gemm(NodeReader& node) {
  const Known& weight = node.weights(1, 2);
  const bool is_transposed = node.attribute("transB", index_t{0}) != 0;
  node.want(node.attribute("transA", index_t{0}) == 0 && node.value(0).sizes().rank() == 1,
            "transA, or a value that is no [batch, features]");
  node.want(node.attribute("alpha", 1.0) == 1 && node.attribute("beta", 1.0) == 1,
            "alpha or beta other than 1");
  const index_t out = weight.sizes[is_transposed ? 0 : 1];
  if (!node.has(2)) return node.give(product(node, weight, is_transposed, nullptr));
  if (is_bias(node.known(2), out))
    return node.give(product(node, weight, is_transposed, node.known(2)));
  const Value y = product(node, weight, is_transposed, nullptr);
  if (const std::optional<double> number = node.number(2)) return node.give(y + *number);
  node.give(y + node.beside(2, y));
}

inline void read_mat_mul(NodeReader& node) {
  node.want(node.known(1) != nullptr,
            "a product of two values (gpunet has those with weights in the file only)");
  const Known& weight = node.weights(1, 2);
  // A bias that follows.
  if (const NodeInfo* add = node.only_reader("Add"); add && add->inputs.size() == 2) {
    const std::size_t other = add->inputs[0] == node.info().outputs[0] ? 1 : 0;
    const auto found = node.building().operands.find(add->inputs[other]);
    const Known* bias =
        found == node.building().operands.end() ? nullptr : std::get_if<Known>(&found->second);
    if (is_bias(bias, weight.sizes[1]) && bias->sizes.rank() <= node.value(0).dim())
      return node.give_as(*add, product(node, weight, false, bias));
  }
  node.give(product(node, weight, false, nullptr));
}

// The windows of a convolution or pooling along one dimension.
struct Window {
  index_t kernel, stride, dilation, before, after;
  index_t reach() const { return (kernel - 1) * dilation + 1; }
};

// Returns the windows along each dimension behind the channels, of extents `in`.
inline std::vector<Window> windows(const NodeReader& node, const Sizes& in,
                                   std::span<const index_t> kernel) {
  const std::size_t count = kernel.size();
  const auto strides = node.attribute("strides", count, 1, 1);
  const auto dilations = node.attribute("dilations", count, 1, 1);
  const auto pads = node.attribute("pads", 2 * count, 0, 0);
  const std::string_view automatic = node.attribute("auto_pad", "NOTSET");
  const bool is_same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  node.want(is_same || automatic == "NOTSET" || automatic == "VALID", "an unknown auto_pad");
  std::vector<Window> result;
  for (std::size_t i = 0; i < count; ++i) {
    node.want(kernel[i] >= 1 && kernel[i] <= 1 << 20, "a kernel (want 1 to 2^20)");
    Window window{kernel[i], strides[i], dilations[i], pads[i], pads[i + count]};
    if (automatic == "VALID") window.before = window.after = 0;
    if (is_same) {
      const index_t extent = in[static_cast<int>(i) + 1];
      const index_t outputs = (extent + window.stride - 1) / window.stride;
      const index_t zeros =
          std::max<index_t>(0, (outputs - 1) * window.stride + window.reach() - extent);
      window.before = automatic == "SAME_UPPER" ? zeros / 2 : zeros - zeros / 2;
      window.after = zeros - window.before;
    }
    result.push_back(window);
  }
  return result;
}

// Returns the node of a convolution with the axes `axes`: one for rows of a length, two for images.
template <class Layer1d, class Layer2d>
Value convolution(NodeReader& node, const Known& weight, const Known* bias,
                  std::span<const ConvAxis> axes, const Conv2dOp& op, const Sizes& out) {
  const Value& x = node.value(0);
  const index_t outputs = out[0];
  std::vector<io::TensorEntry> tensors{weight.tensor};
  std::vector<nn::ParameterSpec> parameters{nn::constant("weight", weight.sizes, 0)};
  if (bias) {
    node.want(bias->sizes == Sizes{outputs}, "a bias that does not fit the weight");
    tensors.push_back(bias->tensor);
    parameters.push_back(nn::constant("bias", {outputs}, 0));
  }
  return node.layer(
      std::move(tensors), {},
      [&](const std::string& name) {
        using Kernels = Conv2dKernels<WideConv2dGeometry>;
        return axes.size() == 1 ? nn::detail::add_node<Layer1d, Conv2dOp, Kernels>(
                                      "conv1d", op, x, out, parameters, name)
                                : nn::detail::add_node<Layer2d, Conv2dOp, Kernels>(
                                      "conv2d", op, x, out, parameters, name);
      },
      x);
}

// Returns x of a convolution or pooling: [channels, length] or [channels, height, width].
inline const Value& image(const NodeReader& node) {
  const Value& x = node.value(0);
  node.want_batch_first();
  node.want(x.sizes().rank() == 2 || x.sizes().rank() == 3,
            concat("a value of shape ", nn::detail::shape_text(x.sizes()),
                   " (want [batch, channels, length] or [batch, channels, height, width])"));
  return x;
}

inline const Known* bias_of(const NodeReader& node) {
  return node.has(2) ? &node.weights(2, 1) : nullptr;
}

inline void read_conv(NodeReader& node) {
  const Value& x = image(node);
  const Sizes in = x.sizes();
  const Known& weight = node.weights(1, in.rank() + 1);
  const Known* bias = bias_of(node);
  const index_t groups = node.attribute("group", index_t{1});
  node.want(groups >= 1 && in[0] % groups == 0 && weight.sizes[0] % groups == 0 &&
                weight.sizes[1] == in[0] / groups,
            concat("a weight of shape ", to_string(weight.sizes), " in ", groups,
                   " groups for a value of shape ", nn::detail::shape_text(in)));
  const std::vector<index_t> kernel(weight.sizes.begin() + 2, weight.sizes.end());
  std::vector<ConvAxis> axes;
  Sizes out{weight.sizes[0]};
  for (const Window& w : windows(node, in, kernel)) {
    const index_t size = in[static_cast<int>(axes.size()) + 1];
    const index_t rest = size + w.before + w.after - w.reach();
    node.want(rest >= 0, "a kernel that is larger than the padded input");
    axes.push_back({size, rest / w.stride + 1, w.kernel, w.stride, w.before, w.dilation});
    out.append(axes.back().outputs);
  }
  const Conv2dGeometry geometry{in[0], weight.sizes[0], groups,
                                axes.size() == 1 ? ConvAxis{} : axes[0], axes.back()};
  node.give(convolution<nn::Conv1d<>, nn::Conv2d<>>(node, weight, bias, axes,
                                                    {geometry, bias != nullptr}, out));
}

inline void read_conv_transpose(NodeReader& node) {
  const Value& x = image(node);
  const Sizes in = x.sizes();
  const Known& weight = node.weights(1, in.rank() + 1);
  const Known* bias = bias_of(node);
  const index_t groups = node.attribute("group", index_t{1});
  node.want(groups >= 1 && in[0] % groups == 0 && weight.sizes[0] == in[0],
            concat("a weight of shape ", to_string(weight.sizes), " in ", groups,
                   " groups for a value of shape ", nn::detail::shape_text(in)));
  node.want(!node.info().find("output_shape") &&
                node.attribute("auto_pad", "NOTSET") == std::string_view("NOTSET"),
            "output_shape or auto_pad (gpunet reads pads and output_padding)");
  const std::vector<index_t> kernel(weight.sizes.begin() + 2, weight.sizes.end());
  const auto more = node.attribute("output_padding", kernel.size(), 0, 0);
  std::vector<ConvAxis> axes;
  Sizes out{weight.sizes[1] * groups};
  for (const Window& w : windows(node, in, kernel)) {
    const index_t inputs = in[static_cast<int>(axes.size()) + 1];
    node.want(inputs <= most_elements / w.stride, "an input that is too long");
    const index_t size =
        (inputs - 1) * w.stride + w.reach() + more[axes.size()] - w.before - w.after;
    node.want(size >= 1, "pads that leave no output");
    axes.push_back({size, inputs, w.kernel, w.stride, w.before, w.dilation});
    out.append(size);
  }
  const Conv2dGeometry geometry{out[0], in[0], groups, axes.size() == 1 ? ConvAxis{} : axes[0],
                                axes.back()};
  node.give(convolution<nn::ConvTranspose1d<>, nn::ConvTranspose2d<>>(
      node, weight, bias, axes, {geometry, bias != nullptr, true}, out));
}

inline void read_batch_normalization(NodeReader& node) {
  const Value& x = node.value(0);
  node.want_batch_first();
  node.want(node.attribute("training_mode", index_t{0}) == 0,
            "training_mode (export the model in evaluation mode: net.train() of the network "
            "trains it)");
  std::vector<io::TensorEntry> tensors;
  for (std::size_t i = 1; i < 5; ++i) {
    tensors.push_back(node.weights(i, 1).tensor);
    node.want(x.sizes().rank() >= 1 && tensors.back().sizes == Sizes{x.sizes()[0]},
              "statistics that do not fit the channels");
  }
  node.give(node.layer(
      {tensors[0], tensors[1]}, {tensors[2], tensors[3]},
      [&](const std::string& name) {
        return nn::batch_norm(x,
                              {.eps = node.attribute("epsilon", 1e-5),
                               .momentum = 1 - node.attribute("momentum", 0.9)},
                              name);
      },
      x));
}

// Returns the tensors of a normalization: weight, and bias if there is one.
inline std::vector<io::TensorEntry> affine(const NodeReader& node, index_t features) {
  std::vector<io::TensorEntry> tensors{node.weights(1, 1).tensor};
  if (node.has(2)) tensors.push_back(node.weights(2, 1).tensor);
  for (const io::TensorEntry& tensor : tensors)
    node.want(tensor.sizes == Sizes{features}, "a scale or bias that does not fit");
  return tensors;
}

inline void read_layer_normalization(NodeReader& node) {
  const Value& x = node.value(0);
  node.want(x.sizes().rank() >= 1 &&
                node.sample_dim(x, node.attribute("axis", index_t{-1})) == x.sizes().rank() - 1,
            "an axis other than the last");
  auto tensors = affine(node, node.features(x));
  const bool bias = tensors.size() == 2;
  node.give(node.layer(
      std::move(tensors), {},
      [&](const std::string& name) {
        return nn::layer_norm(x, {.eps = node.attribute("epsilon", 1e-5), .bias = bias}, name);
      },
      x));
}

inline Value normalized_groups(NodeReader& node, index_t groups) {
  const Value& x = node.value(0);
  node.want_batch_first();
  node.want(x.sizes().rank() >= 1 && node.has(2), "no channels, or no bias");
  return node.layer(
      affine(node, x.sizes()[0]), {},
      [&](const std::string& name) {
        return nn::group_norm(x, groups, {.eps = node.attribute("epsilon", 1e-5)}, name);
      },
      x);
}
inline void read_instance_normalization(NodeReader& node) {
  const Value& x = node.value(0);
  node.give(normalized_groups(node, x.sizes().rank() >= 1 ? x.sizes()[0] : 1));
}
inline void read_group_normalization(NodeReader& node) {
  node.want(node.opset() >= 21, "an opset before 21 (its scale is that of a group)");
  node.give(normalized_groups(node, node.attribute("num_groups", index_t{1})));
}

inline void read_p_relu(NodeReader& node) {
  const Value& x = node.value(0);
  node.want_batch_first();
  const Known& slope = node.weights(1, -1);
  const Sizes in = x.sizes();
  const index_t count = slope.sizes.numel();
  // One slope, or one for each channel: [channels, 1, ...], perhaps with the batch before it.
  const Sizes of_sample = slope.sizes.rank() == x.dim() ? slope.sizes.tail() : slope.sizes;
  node.want(count == 1 || (in.rank() >= 1 && count == in[0] && of_sample.rank() == in.rank() &&
                           of_sample[0] == count),
            concat("a slope of shape ", to_string(slope.sizes),
                   " (want one, or one for each "
                   "channel)"));
  io::TensorEntry tensor = slope.tensor;
  tensor.sizes = {count};
  tensor.strides = {};  // one dimension of them all
  const std::array parameters{nn::constant("weight", {count}, 0)};
  node.give(node.layer(
      {tensor}, {},
      [&](const std::string& name) {
        return nn::detail::add_node<nn::PReLU<>>(
            "prelu", PReLUOp{count, count == 1 ? 1 : in.numel() / count}, x, in, parameters, name);
      },
      x));
}

// Poolings.

struct PoolSize {
  Window window;
  index_t size, outputs;
};

inline std::vector<PoolSize> pool_sizes(const NodeReader& node, const Value& x) {
  const Sizes in = x.sizes();
  const auto count = static_cast<std::size_t>(in.rank()) - 1;
  node.want(node.info().find("kernel_shape") != nullptr, "no kernel_shape");
  const auto kernel = node.attribute("kernel_shape", count, 1, 1);
  const bool ceil = node.attribute("ceil_mode", index_t{0}) != 0;
  std::vector<PoolSize> result;
  for (const Window& w : windows(node, in, kernel)) {
    const index_t size = in[static_cast<int>(result.size()) + 1];
    node.want(w.dilation == 1, "dilations other than 1");
    node.want(w.kernel <= 255 && w.before < w.kernel && w.after < w.kernel,
              "a kernel over 255, or pads that are not smaller than it");
    const index_t rest = size + w.before + w.after - w.kernel;
    node.want(rest >= 0, "a kernel that is larger than the padded input");
    index_t outputs = rest / w.stride + 1;
    // One more window, which has to begin in the input or the padding before it, as in PyTorch.
    if (ceil && rest % w.stride != 0 && outputs * w.stride < size + w.before) ++outputs;
    result.push_back({w, size, outputs});
  }
  return result;
}

inline Sizes pooled(const Value& x, const std::vector<PoolSize>& sizes) {
  Sizes out{x.sizes()[0]};
  for (const PoolSize& size : sizes)
    out.append(size.outputs);
  return out;
}

inline void read_max_pool(NodeReader& node) {
  const Value& x = image(node);
  const std::vector<PoolSize> sizes = pool_sizes(node, x);
  const PoolSize one{{1, 1, 1, 0, 0}, 1, 1};
  const PoolSize &rows = sizes.size() == 1 ? one : sizes[0], &columns = sizes.back();
  node.give(nn::detail::add_node<MaxPool2dOp>(
      "max_pool2d",
      MaxPool2dOp{{x.sizes()[0], rows.size, columns.size, rows.outputs, columns.outputs,
                   rows.window.kernel, rows.window.stride, rows.window.before,
                   columns.window.kernel, columns.window.stride, columns.window.before},
                  node.attribute("ceil_mode", index_t{0}) != 0},
      x, pooled(x, sizes)));
}

inline void read_average_pool(NodeReader& node) {
  Value x = image(node);
  std::vector<PoolSize> sizes = pool_sizes(node, x);
  const bool counts_padding = node.attribute("count_include_pad", index_t{0}) != 0;
  const bool is_even = std::all_of(sizes.begin(), sizes.end(), [](const PoolSize& size) {
    return size.window.before == size.window.after;
  });
  if (counts_padding && !is_even) {  // padding that counts is a part of the input
    std::vector<index_t> before{0}, after{0};
    for (PoolSize& size : sizes) {
      before.push_back(size.window.before), after.push_back(size.window.after);
      size.size += size.window.before + size.window.after;
      size.window.before = 0;
    }
    x = padded(node, x, before, after);
  }
  const auto axis = [&](const PoolSize& size) {
    return PoolAxis{size.size,          size.outputs,       size.window.kernel,
                    size.window.stride, size.window.before, counts_padding};
  };
  const PoolAxis row{1, 1, 1, 1, 0};
  node.give(nn::detail::add_node<AvgPool2dOp>(
      "avg_pool2d",
      AvgPool2dOp{{x.sizes()[0], sizes.size() == 1 ? row : axis(sizes[0]), axis(sizes.back())}}, x,
      pooled(x, sizes)));
}

inline Value mean_of_channels(const Value& x) {
  return x.sizes().rank() == 3 ? nn::adaptive_avg_pool2d(x, 1, 1) : nn::mean(x, -1, true);
}
inline void read_global_average_pool(NodeReader& node) {
  node.give(mean_of_channels(image(node)));
}

}  // namespace GPUNET_BACKENDS
}  // namespace gpunet::onnx::detail
