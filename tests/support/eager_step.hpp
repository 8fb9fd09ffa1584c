// Training a model in tests.
#pragma once

#include <cstring>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"

// Inputs and labels for a network: random, but the same on every device.
template <class T, class D>
struct TestBatch {
  template <class Net>
  TestBatch(D& device, const Net& net, gpunet::index_t batch, gpunet::Generator& generator)
      : inputs(device, net.input().sizes().with_front(batch),
               random_values<T>(net.input().numel() * batch, generator)),
        labels(device, {batch}, random_labels(batch, net.output().numel(), generator)) {}

  static std::vector<gpunet::label_t> random_labels(gpunet::index_t batch, gpunet::index_t classes,
                                                    gpunet::Generator& generator) {
    std::vector<gpunet::label_t> values;
    for (gpunet::index_t n = 0; n < batch; ++n)
      values.push_back(static_cast<gpunet::label_t>(generator.random() % classes));
    return values;
  }

  gpunet::Tensor<T, D> inputs;
  gpunet::Tensor<gpunet::label_t, D> labels;
};

// Runs one training step; returns the loss before the update.
template <class M, class Loss, class Optimizer, class D>
typename M::value_type eager_step(M& net, const Loss& criterion, Optimizer& optimizer,
                                  const TestBatch<typename M::value_type, D>& data) {
  optimizer.zero_grad();
  auto loss = criterion(net(data.inputs), data.labels);
  const auto value = loss.item();
  loss.backward();
  optimizer.step();
  return value;
}

// All elements of a network's arena.
template <class D, class T>
std::vector<T> parameters_of(const gpunet::Network<D, T>& model) {
  std::vector<T> values(static_cast<std::size_t>(model.parameters().numel()));
  if (!values.empty())
    model.device().download(values.data(), model.parameters().data(), values.size() * sizeof(T));
  return values;
}
template <class D, class T>
std::vector<T> gradients_of(const gpunet::Network<D, T>& model) {
  std::vector<T> values(static_cast<std::size_t>(model.gradients().size()));
  if (!values.empty())
    model.device().download(values.data(), model.gradients().data(), values.size() * sizeof(T));
  return values;
}

// Returns whether two arrays are bitwise identical, including signs of zeros and payloads of NaNs.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}
