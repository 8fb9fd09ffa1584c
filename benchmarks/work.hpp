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

  // Restarts from the same numbers: a long training on one batch ends in zeros and subnormal
  // numbers, which take longer than those of a real training.
  virtual void start() {}
  virtual void run(index_t steps) = 0;
  // Runs steps and returns the time in milliseconds.
  virtual double time(index_t steps) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    run(steps);
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  }
  // Returns a value that all sides must agree on: the last loss, or a weighted sum of the outputs.
  virtual double value() const = 0;
};

// Returns number i of the data of all jobs, from 0 to 2^32; opponent_jobs.py computes the same.
inline std::uint32_t spread(index_t i) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * 2654435761u);
}

// Returns the same from -1 to 1.
inline float spread_value(index_t i) {
  return static_cast<float>(spread(i) / 2147483648.0 - 1);
}
// Returns other numbers from -1 to 1, unrelated to those of spread_value.
inline float spread_square(index_t i) {
  return spread_value(i * i);
}

// Returns a tensor of number(0), number(1), ...
template <class D>
gpunet::Tensor<float, D> spread_tensor(D& device, const gpunet::Sizes& sizes,
                                       float (*number)(index_t)) {
  std::vector<float> values(static_cast<std::size_t>(sizes.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = number(static_cast<index_t>(i));
  return {device, sizes, values};
}

// Returns classes from 0 to classes - 1, as labels or as the floats that an Embedding takes. Labels
// are unrelated to the inputs, so that the loss does not reach 0.
template <class T, class D>
gpunet::Tensor<T, D> spread_classes(D& device, const gpunet::Sizes& sizes, index_t classes) {
  std::vector<T> values(static_cast<std::size_t>(sizes.numel()));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<T>((spread(static_cast<index_t>(i)) >> 16) %
                               static_cast<std::uint32_t>(classes));
  return {device, sizes, values};
}

}  // namespace bench
