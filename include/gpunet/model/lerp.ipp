// Bodies of lerp.hpp.
#pragma once

#include <cmath>

#include <gpunet/model/lerp.hpp>
#include <gpunet/ops/lerp.hpp>

namespace gpunet {

template <class D, class T>
void lerp(Network<D, T>& target, const Network<D, T>& net, double weight) {
  require(std::isfinite(weight), "gpunet::lerp: a weight of ", weight,
          " (want a finite number, 0 keeps the target, 1 copies the other network)");
  require(&target.device() == &net.device(),
          "gpunet::lerp: the networks are on two devices, move one with to(device)");
  // The same network, or a shared arena.
  if (target.parameters().data() == net.parameters().data()) return;
  D& device = target.device();
  const auto ranges = detail::common_ranges("gpunet::lerp", target.graph(), net.graph());
  const auto use = target.exclusive_use();
  const auto shared_use = net.shared_use();
  T* const to = target.parameters().data();
  for (const auto& [here, there, size] : ranges.parameters)
    for_each(device, size,
             Lerp<T>{static_cast<T>(weight), net.parameters().data() + there, to + here});
  for (const auto& [here, there, size] : ranges.buffers)
    device.copy(target.buffers().data() + here, net.buffers().data() + there,
                static_cast<std::size_t>(size) * sizeof(T));
  target.note_update();
}

GPUNET_COMPILE_TEMPLATES(GPUNET_LERP)

}  // namespace gpunet
