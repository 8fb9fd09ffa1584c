// The interface of the benchmarks that a worker process runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include <gpunet/gpunet.hpp>

namespace bench {

using gpunet::Host;
using gpunet::index_t;

// A benchmark that can be repeated. The constructor makes its data, start() the model.
class Work {
 public:
  virtual ~Work() = default;

  // Restarts from the same numbers: a long training on one batch ends in zeros and subnormal numbers, which take longer
  // than those of a real training.
  virtual void start() {}
  virtual void run(index_t steps) = 0;
  // Runs steps and returns the time in milliseconds.
  virtual double time(index_t steps) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    run(steps);
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  // Returns a value that both sides must agree on: the last loss, or an output.
  virtual double value() const = 0;
};

// Returns number i of the data of all jobs, from 0 to 2^32; opponent_jobs.py computes the same.
inline std::uint32_t spread(index_t i) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * 2654435761u);
}

// -1 to 1.
template <class D>
gpunet::Tensor<float, D> spread_values(D& device, const gpunet::Sizes& sizes) {
  std::vector<float> values(static_cast<std::size_t>(sizes.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(spread(static_cast<index_t>(i)) / 2147483648.0 - 1);
  return {device, sizes, values};
}

// Labels that are unrelated to the inputs: there is always something left to learn.
template <class D>
gpunet::Tensor<gpunet::label_t, D> spread_labels(D& device, index_t batch, index_t classes) {
  std::vector<gpunet::label_t> labels(static_cast<std::size_t>(batch));
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] =
        static_cast<gpunet::label_t>((spread(static_cast<index_t>(i)) >> 16) % static_cast<std::uint32_t>(classes));
  return {device, {batch}, labels};
}

}  // namespace bench
