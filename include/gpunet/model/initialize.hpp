// What a new model begins with.
#pragma once

#include <algorithm>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/model/network_plan.hpp>
#include <gpunet/ops/map.hpp>

namespace gpunet {

// Draws the parameters of a network into their arena, in the order in which torch.nn draws them.
template <class Net, class D, class T>
void draw_parameters(D& device, const NetworkPlan<Net>& plan, Generator& generator, T* arena) {
  constexpr index_t most = 4096;  // at a time, so that a large network needs no second copy of its parameters
  std::vector<T> values;
  const auto lock = generator.lock();
  for (const ParameterInfo& parameter : plan.parameters) {
    T* first = arena + parameter.offset;
    T* const end = first + parameter.sizes.numel();
    const auto low = static_cast<T>(parameter.low), high = static_cast<T>(parameter.high);
    if (low == high) {
      fill(device, end - first, low, first);
      continue;
    }
    for (; first < end; first += values.size()) {
      values.resize(static_cast<std::size_t>(std::min(most, end - first)));
      for (T& value : values)
        value = generator.uniform(low, high);
      device.upload(first, values.data(), values.size() * sizeof(T));
    }
  }
}

// Gives the buffers of a network their first values.
template <class Net, class D, class T>
void initialize_buffers(D& device, const NetworkPlan<Net>& plan, T* arena) {
  fill(device, plan.buffer_elements, T{}, arena);  // counts begin at 0
  for (const BufferInfo& buffer : plan.buffers)
    if (buffer.kind == nn::BufferKind::numbers)
      fill(device, buffer.sizes.numel(), static_cast<T>(buffer.initial), arena + buffer.offset);
}

}  // namespace gpunet
