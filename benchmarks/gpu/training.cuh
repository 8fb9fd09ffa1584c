// Training steps on a GPU; included by one file for each network.
#pragma once

#include "../networks.hpp"
#include "../training.hpp"
#include "events.cuh"
#include "jobs.hpp"

namespace bench::gpu {

template <class Net, class Optimizer>
std::unique_ptr<Work> make_training(Cuda& device, index_t batch, bool at_once) {
  if (at_once)
    return std::make_unique<TimedByEvents<RepeatedTraining<Net, Optimizer, Cuda>>>(device, batch);
  return std::make_unique<TimedByEvents<Training<Net, Optimizer, Cuda>>>(device, batch);
}

}  // namespace bench::gpu
