// What argmax, argmin, softmax and log_softmax of tensors return and throw, as text with all bits.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/errors.hpp"

// Calls each function with arguments that make(sizes, values) returns: a tensor or a reference.
template <class Make>
std::vector<std::string> class_results(const Make& make) {
  using namespace gpunet;
  std::vector<std::string> results;
  const auto add = [&](auto f) {
    std::string text;
    const std::string error = error_of([&] {
      const auto y = f();
      text = to_string(y.sizes());
      for (const auto value : y.to_vector())
        text += concat(" ", std::bit_cast<std::int32_t>(value));
    });
    results.push_back(error.empty() ? text : error);
  };
  for (const Sizes& sizes :
       {Sizes{2, 3, 20}, Sizes{5, 37}, Sizes{4}, Sizes{}, Sizes{0, 3}, Sizes{3, 0}}) {
    Generator generator(1);
    std::vector<float> values = random_values<float>(sizes.numel(), generator, -3, 3);
    if (values.size() > 100)
      values[50] = std::numeric_limits<float>::quiet_NaN(), values[60] = values[61] = 5;
    for (int dim = -4; dim < 4; ++dim) {
      add([&] { return softmax(make(sizes, values), dim); });
      add([&] { return log_softmax(make(sizes, values), dim); });
      add([&] { return argmax(make(sizes, values), dim); });
      add([&] { return argmin(make(sizes, values), dim, true); });
    }
    add([&] { return argmax(make(sizes, values)); });
  }
  return results;
}

// The same in a unit without tensors.hpp: of tensors, const tensors and temporary ones.
std::vector<std::vector<std::string>> class_results_without_tensors();
