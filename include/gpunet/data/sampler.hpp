// In which order an epoch visits the samples.
#pragma once

#include <numeric>
#include <vector>

#include <gpunet/core/random.hpp>

namespace gpunet::data {

// The order of one epoch over n samples: 0 to n - 1, or shuffled. Takes from `generator` what an epoch of PyTorch's
// DataLoader takes from its default generator, so that the same seed gives the same batches: a seed for the workers
// (which need none here) and, if shuffled, one for the permutation.
inline std::vector<index_t> draw_order(index_t n, bool shuffle, Generator& generator = default_generator()) {
  const auto lock = generator.lock();
  generator.random63();
  if (shuffle) {
    Generator own(generator.random63());
    return randperm(n, own);
  }
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  return order;
}

}  // namespace gpunet::data
