// Choosing the device when the program starts.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <gpunet/core/launch.hpp>
#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/device_string.hpp>
#include <gpunet/device/host/host.hpp>

namespace gpunet {

inline namespace GPUNET_BACKENDS {

// Makes the device that `text` names (see parse_device; "auto" is "cuda" when a GPU can be used,
// else "cpu"; "cuda" is the current GPU, or that of the process's rank on this machine, see Launch)
// and returns f(device), f being called with a Host& or a Cuda&. CUDA is not touched for "cpu".
// Throws Error for a wrong string and for a device that cannot be used.
template <class F>
decltype(auto) with_device(std::string_view text, HostOptions options, F&& f) {
  using Kind = DeviceChoice::Kind;
  auto [kind, index] = parse_device(text);
  if (kind == Kind::any) kind = Cuda::is_available() ? Kind::cuda : Kind::cpu;
  if (kind == Kind::cuda && Cuda::device_count() == 0)
    throw_error(Error(concat("gpunet::with_device: ", text, " cannot be used: ", Cuda::why_not(),
                             ", or use cpu or auto")));
#if GPUNET_CUDA
  static_assert(std::is_same_v<std::invoke_result_t<F&, Host&>, std::invoke_result_t<F&, Cuda&>>,
                "gpunet::with_device: the function returns another type for Host than for Cuda, "
                "return one for both");
  if (kind == Kind::cuda) {
    if (index < 0) {
      const Launch launch = launch_of_process();
      index = launch.local_world_size > 1
                  ? static_cast<int>(launch.local_rank % Cuda::device_count())
                  : Cuda::current_device();
    }
    Cuda device(index);
    return f(device);
  }
#endif
  Host device(options);
  return f(device);
}

// The same with a Host as it is by default.
template <class F>
decltype(auto) with_device(std::string_view text, F&& f) {
  return with_device(text, HostOptions{}, f);
}

// Calls f(device) for every device of the machine: each GPU that can be used, and then the
// processor.
template <class F>
void for_each_device(F&& f) {
#if GPUNET_CUDA
  for (int i = 0; Cuda::is_available() && i < Cuda::device_count(); ++i) {
    Cuda device(i);
    f(device);
  }
#endif
  Host device;
  f(device);
}

}  // namespace GPUNET_BACKENDS

}  // namespace gpunet
