// MobileNetV2 (Sandler and others, "Inverted Residuals and Linear Bottlenecks", CVPR 2018), as a
// function of values, with the parameters' names and initial values of
// torchvision.models.mobilenet_v2.
#pragma once

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/networks/init_convolutions.hpp>

namespace gpunet::networks {

using nn::Value;

// Returns a convolution of x, batch normalization and ReLU6. Padding preserves height and width
// (divided by the stride).
inline Value conv_norm_relu6(const Value& x, index_t channels, index_t kernel_size,
                             index_t stride = 1, index_t groups = 1) {
  const index_t padding = (kernel_size - 1) / 2;
  return relu6(
      batch_norm(conv2d(x, channels, kernel_size,
                        {.stride = stride, .padding = padding, .groups = groups, .bias = false})));
}

// Returns an inverted residual block of x: a 1x1 convolution that multiplies the channels by
// `expansion`, a depthwise one, and a 1x1 convolution to `channels`; plus x where the shapes are
// the same.
inline Value inverted_residual(const Value& x, index_t channels, index_t stride,
                               index_t expansion) {
  const auto branch = [&](Value y) {
    const index_t wide = expansion * x.size(1);
    if (expansion != 1) y = named("", conv_norm_relu6, y, wide, 1, 1, 1);
    y = named("", conv_norm_relu6, y, wide, 3, stride, wide);
    return batch_norm(conv2d(y, channels, 1, {.bias = false}));
  };
  const Value y = named("conv", branch, x);
  return stride == 1 && x.size(1) == channels ? x + y : y;
}

// Images [3, height, width] -> logits [classes].
struct MobileNetV2 {
  index_t classes = 1000;
  double p = 0.2;  // of the dropout before the last layer

  // Returns the outputs of the network for x, see nn/value.hpp.
  Value operator()(const Value& x) const {
    const auto features = [](Value y) {
      struct Stage {
        index_t expansion, channels, blocks, stride;
      };
      y = named("", conv_norm_relu6, y, 32, 3, 2, 1);
      for (const Stage& stage : {Stage{1, 16, 1, 1},
                                 {6, 24, 2, 2},
                                 {6, 32, 3, 2},
                                 {6, 64, 4, 2},
                                 {6, 96, 3, 1},
                                 {6, 160, 3, 2},
                                 {6, 320, 1, 1}})
        for (index_t block = 0; block < stage.blocks; ++block)
          y = named("", inverted_residual, y, stage.channels, block == 0 ? stage.stride : 1,
                    stage.expansion);
      return named("", conv_norm_relu6, y, 1280, 1, 1, 1);
    };
    const Value y = flatten(adaptive_avg_pool2d(named("features", features, x), 1, 1));
    return linear(dropout(y, p), classes, {.name = "classifier.1"});
  }
};

// Sets the initial values of torchvision.
template <class Net>
void init_mobilenet_v2(Net& net) {
  init_convolutions(net);
  nn::init::normal_(get_parameter(net, "classifier.1.weight"), 0, 0.01);
  nn::init::zeros_(get_parameter(net, "classifier.1.bias"));
}

}  // namespace gpunet::networks
