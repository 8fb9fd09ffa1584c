// The networks of the jobs as functions of values, from gpunet/networks; opponent_jobs.py has the
// same.
#pragma once

#include <gpunet/networks/language.hpp>
#include <gpunet/networks/mobilenet_v2.hpp>
#include <gpunet/networks/resnet.hpp>
#include <gpunet/networks/unet.hpp>

namespace bench {

namespace nn = gpunet::nn;

// Lesson 07. `input`: the sizes of one sample.
struct ResNet20 : gpunet::networks::CIFARResNet {
  static constexpr gpunet::Sizes input{3, 32, 32};
};

// The block of MobileNetV2 that occurs most often at 28 x 28: 32 channels, expanded to 192.
struct MobileNetBlock {
  static constexpr gpunet::Sizes input{32, 28, 28};
  nn::Value operator()(const nn::Value& x) const {
    return gpunet::networks::inverted_residual(x, 32, 1, 6);
  }
};

// Networks as they are published, on images of their size.
struct ResNet18 : gpunet::networks::ResNet {
  static constexpr gpunet::Sizes input{3, 224, 224};
};
struct MobileNetV2 : gpunet::networks::MobileNetV2 {
  static constexpr gpunet::Sizes input{3, 224, 224};
  MobileNetV2() { p = 0; }  // the sides would drop other elements
};
struct UNet : gpunet::networks::UNet {
  static constexpr gpunet::Sizes input{3, 256, 256};
};

// Lesson 09, with the vocabulary size of the often used plays of Shakespeare.
struct CharLSTM {
  static constexpr gpunet::index_t vocabulary = 65;
  static constexpr gpunet::Sizes input{64};
  nn::Value operator()(const nn::Value& x) const {
    return gpunet::networks::CharLSTM<>{vocabulary}(x);
  }
};

struct CharTransformer {
  static constexpr gpunet::index_t vocabulary = 65;
  static constexpr gpunet::Sizes input{64};
  nn::Value operator()(const nn::Value& x) const {
    return gpunet::networks::CharTransformer<>{vocabulary}(x);
  }
};

}  // namespace bench
