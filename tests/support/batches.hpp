// Reads the batches of a loader.
#pragma once

#include <cstddef>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/core/shape.hpp>
#include <gpunet/tensor/view.hpp>

using Order = std::vector<std::vector<gpunet::label_t>>;  // the labels of each batch

// Returns one epoch's labels; checks that the samples match the labels: [i, -i] for label i.
template <class D>
Order epoch(D& device, auto&& batches) {
  Order order;
  for (auto [inputs, labels] : batches) {
    order.push_back(to_vector(device, labels));
    const std::vector<float> values = to_vector(device, inputs);
    REQUIRE(inputs.sizes() == gpunet::Sizes{labels.numel(), 2});
    REQUIRE(values.size() == 2 * order.back().size());
    for (std::size_t i = 0; i < order.back().size(); ++i) {
      REQUIRE(values[2 * i] == static_cast<float>(order.back()[i]));
      REQUIRE(values[2 * i + 1] == -static_cast<float>(order.back()[i]));
    }
  }
  return order;
}
