// Times by CUDA events.
#pragma once

#include <utility>

#include <gpunet/device/cuda/handle.cuh>

#include "../work.hpp"

namespace bench::gpu {

using gpunet::Cuda;

// Work W on a GPU: its times are those between two events on the device's stream.
template <class W>
class TimedByEvents : public W {
 public:
  template <class... Arguments>
  explicit TimedByEvents(Cuda& device, Arguments&&... arguments)
      : W(device, std::forward<Arguments>(arguments)...), stream_(device.stream()) {
    for (gpunet::detail::Event& event : events_) {
      cudaEvent_t made;
      gpunet::check(cudaEventCreate(&made));
      event.reset(made);
    }
  }

  // The same steps run once before, untimed: a GPU lowers its clocks while it waits for its turn.
  double time(index_t steps) override {
    this->run(steps);
    gpunet::check(cudaEventRecord(events_[0].get(), stream_));
    this->run(steps);
    gpunet::check(cudaEventRecord(events_[1].get(), stream_));
    gpunet::check(cudaEventSynchronize(events_[1].get()));
    float ms = 0;
    gpunet::check(cudaEventElapsedTime(&ms, events_[0].get(), events_[1].get()));
    return ms;
  }

 private:
  cudaStream_t stream_;
  gpunet::detail::Event events_[2];
};

}  // namespace bench::gpu
