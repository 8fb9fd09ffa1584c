// Slices on the threads of a device.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet {

// Returns how many slices may be under way at a time.
template <class D>
index_t device_workers(const D& device) {
  if constexpr (requires { device.threads(); })
    return device.threads();
  else
    return 1;
}

// Calls task(i, worker) for i < n: side by side on the threads of a device that has some, else one after another, so that ops
// have all threads and the device's scratch buffer.
template <class D, class Task>
void run_tasks(D& device, bool side_by_side, index_t n, Task task) {
  if constexpr (requires { device.threads(); })
    device.run_if(side_by_side, n, task);
  else
    for (index_t i = 0; i < n; ++i)
      task(i, 0);
}

}  // namespace gpunet
