// What a worker process measures.
#pragma once

#include <cstdint>

#include <gpunet/gpunet.hpp>

namespace bench {

using gpunet::Host;
using gpunet::index_t;

// A piece of work that can be repeated. Its data are made with it; the model comes with start().
class Work {
 public:
  virtual ~Work() = default;

  // Begins anew, from the same numbers: long trainings of one batch end in zeros and subnormal numbers, which cost
  // more than those of a real training.
  virtual void start() {}
  virtual void run(index_t steps) = 0;
  // A number that both sides have to agree on: the last loss, or an output.
  virtual double value() const = 0;
};

// Number i of the data of all jobs, spread over 0 to 2^32; opponent_jobs.py computes the same.
inline std::uint32_t spread(index_t i) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(i) * 2654435761u);
}

// -1 to 1.
inline gpunet::Tensor<float, Host> spread_values(Host& device, const gpunet::Sizes& sizes) {
  gpunet::Tensor<float, Host> values(device, sizes);
  for (index_t i = 0; i < values.numel(); ++i)
    values.data()[i] = static_cast<float>(spread(i) / 2147483648.0 - 1);
  return values;
}

// Labels that have nothing to do with the inputs: there is always something left to learn.
inline gpunet::Tensor<gpunet::label_t, Host> spread_labels(Host& device, index_t batch, index_t classes) {
  gpunet::Tensor<gpunet::label_t, Host> labels(device, {batch});
  for (index_t i = 0; i < batch; ++i)
    labels.data()[i] = static_cast<gpunet::label_t>((spread(i) >> 16) % static_cast<std::uint32_t>(classes));
  return labels;
}

}  // namespace bench
