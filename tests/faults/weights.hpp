// A network whose parameters all have one value: a file of two saves would have two.
#pragma once

#include <algorithm>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

struct Weights {
  gpunet::Host host{{.threads = 1}};
  gpunet::Network<gpunet::Host, float> net{
      host, [](gpunet::nn::Value x) { return gpunet::nn::linear(x, 50); }, {999}};

  void set(float value) {
    for (const gpunet::ParameterInfo& parameter : net.named_parameters())
      std::fill_n(begin(parameter), parameter.sizes.numel(), value);
  }
  bool are(float value) {
    return std::all_of(
        net.named_parameters().begin(), net.named_parameters().end(), [&](const auto& parameter) {
          return std::all_of(begin(parameter), begin(parameter) + parameter.sizes.numel(),
                             [&](float x) { return x == value; });
        });
  }
  float first() { return *begin(net.named_parameters()[0]); }

 private:
  float* begin(const gpunet::ParameterInfo& parameter) {
    return net.parameters().data() + parameter.offset;
  }
};
