// Choosing the device when the program starts.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <gpunet/device/device_string.hpp>
#include <gpunet/device/host/host.hpp>

// Included here and not by gpunet.hpp, so that this header alone gives both policies wherever both can be had.
#if GPUNET_CUDA
#include <gpunet/device/cuda/cuda.cuh>
#endif

namespace gpunet {

inline namespace GPUNET_BACKENDS {

#if !GPUNET_CUDA
// What a unit without CUDA has of the policy Cuda: answers to the questions about GPUs. There are no objects of it.
class Cuda {
 public:
  Cuda() = delete;

  // Why no GPU can be used, as one sentence; empty when a kernel of this program ran on one.
  static std::string why_not() { return "gpunet not compiled with CUDA enabled, build the program with nvcc"; }
  static std::string why_not(int) { return why_not(); }
  static bool is_available() { return false; }
  static int device_count() { return 0; }
  [[noreturn]] static int current_device() { throw Error("gpunet::Cuda::current_device: " + why_not()); }
  [[noreturn]] static std::string get_device_name(int) {
    throw Error("gpunet::Cuda::get_device_name: " + why_not());
  }
};
#endif

// Makes the device that `text` names (see parse_device; "auto" is the current GPU when it can be used, else the
// processor) and returns f(device), f being called with a Host& or a Cuda&. CUDA is not touched for "cpu".
// Throws Error for a wrong string and for a device that cannot be used.
template <class F>
decltype(auto) with_device(std::string_view text, HostOptions options, F&& f) {
  using Kind = DeviceChoice::Kind;
  auto [kind, index] = parse_device(text);
  if (kind == Kind::any) kind = Cuda::is_available() ? Kind::cuda : Kind::cpu;
  if (kind == Kind::cuda && Cuda::device_count() == 0)
    throw Error(
        concat("gpunet::with_device: ", text, " cannot be used: ", Cuda::why_not(), ", or use cpu or auto"));
#if GPUNET_CUDA
  static_assert(
      std::is_same_v<std::invoke_result_t<F&, Host&>, std::invoke_result_t<F&, Cuda&>>,
      "gpunet::with_device: the function returns another type for Host than for Cuda, return one for both");
  if (kind == Kind::cuda) {
    Cuda device(index < 0 ? Cuda::current_device() : index);
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

// Calls f(device) for every device of the machine: each GPU that can be used, and then the processor.
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
