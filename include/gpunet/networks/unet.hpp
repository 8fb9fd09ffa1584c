// A U-Net with batch normalization (Ronneberger and others, "U-Net: Convolutional Networks for
// Biomedical Image Segmentation", 2015; Buda and others, 2019), as a function of values, with the
// parameters' names of the network mateuszbuda/brain-segmentation-pytorch of PyTorch Hub.
#pragma once

#include <string>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

namespace gpunet::networks {

using nn::Value;

// Returns two 3x3 convolutions of x with batch normalization and ReLU, named after their block:
// enc1conv1, enc1norm1, ...
inline Value double_conv(Value x, index_t channels, const std::string& block) {
  for (int i = 1; i <= 2; ++i) {
    x = conv2d(x, channels, 3, {.padding = 1, .bias = false, .name = concat(block, "conv", i)});
    x = relu(batch_norm(x, {}, concat(block, "norm", i)));
  }
  return x;
}

// Images [channels, height, width] -> a probability for each pixel [1, height, width]; height and
// width are multiples of 16.
struct UNet {
  index_t features = 32;  // channels of the first block; each further one doubles them

  // Returns the outputs of the network for x, see nn/value.hpp.
  Value operator()(Value x) const {
    return sigmoid(conv2d(level(x, 1, features), 1, 1, {.name = "conv"}));
  }

 private:
  // Returns the encoder's block i, the levels below, and the decoder's block i, of x.
  static Value level(const Value& x, int i, index_t channels) {
    if (i == 5) return named("bottleneck", double_conv, x, channels, "bottleneck");
    const Value down = named(concat("encoder", i), double_conv, x, channels, concat("enc", i));
    const Value below = level(max_pool2d(down, 2), i + 1, 2 * channels);
    const nn::ConvTranspose2d up(channels, 2, 2);
    const Value joined = nn::cat({nn::apply<3>(up, below, concat("upconv", i)), down}, 1);
    return named(concat("decoder", i), double_conv, joined, channels, concat("dec", i));
  }
};

}  // namespace gpunet::networks
