// Residual networks (He and others, "Deep Residual Learning for Image Recognition", CVPR 2016),
// with the parameters' names and initial values of torchvision.models.resnet18. Written twice: as
// types, which the compiler checks, and as functions of values with a run-time depth.
#pragma once

#include <array>
#include <span>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/networks/init_convolutions.hpp>

namespace gpunet::networks {

using nn::Value;

// ---- As types.

// A 3x3 convolution without bias; padding preserves height and width (divided by the stride).
template <index_t channels, index_t stride = 1>
using Conv3x3 = nn::Conv2d<channels, 3, nn::Stride<stride>, nn::Padding<1>, nn::Bias<false>>;

// A 1x1 convolution where the shape changes, with batch normalization.
template <index_t channels, index_t stride>
using Downsample = nn::Projection<nn::Named<
    "downsample",
    nn::Sequential<nn::Conv2d<channels, 1, nn::Stride<stride>, nn::Bias<false>>, nn::BatchNorm2d>>>;

// Two 3x3 convolutions; Shortcut is a Downsample or nothing.
template <index_t channels, index_t stride = 1, class... Shortcut>
using BasicBlock =
    nn::Residual<nn::Named<"conv1", Conv3x3<channels, stride>>, nn::Named<"bn1", nn::BatchNorm2d>,
                 nn::ReLU, nn::Named<"conv2", Conv3x3<channels>>, nn::Named<"bn2", nn::BatchNorm2d>,
                 Shortcut..., nn::AfterSum<nn::ReLU>>;

// Two blocks; the first halves height and width.
template <index_t channels>
using HalvingStage =
    nn::Sequential<BasicBlock<channels, 2, Downsample<channels, 2>>, BasicBlock<channels>>;

// Images [3, side, side] -> logits [classes].
template <index_t side = 224, index_t classes = 1000>
using ResNet18 = nn::Sequential<
    nn::Input<3, side, side>,
    nn::Named<"conv1", nn::Conv2d<64, 7, nn::Stride<2>, nn::Padding<3>, nn::Bias<false>>>,
    nn::Named<"bn1", nn::BatchNorm2d>, nn::ReLU, nn::MaxPool2d<3, nn::Stride<2>, nn::Padding<1>>,
    nn::Named<"layer1", nn::Repeat<2, BasicBlock<64>>>, nn::Named<"layer2", HalvingStage<128>>,
    nn::Named<"layer3", HalvingStage<256>>, nn::Named<"layer4", HalvingStage<512>>,
    nn::AdaptiveAvgPool2d<1, 1>, nn::Flatten, nn::Named<"fc", nn::Linear<classes>>>;

// ---- As functions of values.

// Returns two 3x3 convolutions of x, plus a shortcut.
inline Value basic_block(const Value& x, index_t channels, index_t stride) {
  Value y =
      conv2d(x, channels, 3, {.stride = stride, .padding = 1, .bias = false, .name = "conv1"});
  y = relu(batch_norm(y, {}, "bn1"));
  y = conv2d(y, channels, 3, {.padding = 1, .bias = false, .name = "conv2"});
  y = batch_norm(y, {}, "bn2");
  if (stride == 1 && x.size(1) == channels) return relu(y + x);
  const auto downsample = [&](const Value& from) {
    return batch_norm(conv2d(from, channels, 1, {.stride = stride, .bias = false}));
  };
  return relu(y + named("downsample", downsample, x));
}

// Returns stages of blocks, named layer1, layer2, ..., of x; all but the first halve height and
// width and double the channels.
inline Value residual_stages(Value x, index_t channels, std::span<const int> blocks) {
  for (std::size_t i = 0; i < blocks.size(); ++i, channels *= 2)
    x = named(
        concat("layer", i + 1),
        [&](Value y) {
          for (int block = 0; block < blocks[i]; ++block)
            y = named("", basic_block, y, channels, i > 0 && block == 0 ? 2 : 1);
          return y;
        },
        x);
  return x;
}

// ResNet-18, or with {3, 4, 6, 3} blocks ResNet-34: images [3, height, width] -> logits [classes].
struct ResNet {
  std::array<int, 4> blocks = {2, 2, 2, 2};
  index_t classes = 1000;

  // Returns the outputs of the network for x, see nn/value.hpp.
  Value operator()(const Value& x) const {
    Value y = conv2d(x, 64, 7, {.stride = 2, .padding = 3, .bias = false, .name = "conv1"});
    y = max_pool2d(relu(batch_norm(y, {}, "bn1")), 3, {.stride = 2, .padding = 1});
    y = residual_stages(y, 64, blocks);
    return linear(flatten(adaptive_avg_pool2d(y, 1, 1)), classes, {.name = "fc"});
  }
};

// The networks for CIFAR-10 of section 4.2, of 6 n + 2 layers: ResNet-20 has n = 3, ResNet-32
// n = 5. Where the shape changes, the shortcut is a 1x1 convolution (option B of the paper). Images
// [3, 32, 32] -> logits [classes].
struct CIFARResNet {
  int n = 3;
  index_t classes = 10;

  // Returns the outputs of the network for x, see nn/value.hpp.
  Value operator()(const Value& x) const {
    Value y = conv2d(x, 16, 3, {.padding = 1, .bias = false, .name = "conv1"});
    y = residual_stages(relu(batch_norm(y, {}, "bn1")), 16, std::array{n, n, n});
    return linear(flatten(adaptive_avg_pool2d(y, 1, 1)), classes, {.name = "fc"});
  }
};

}  // namespace gpunet::networks
