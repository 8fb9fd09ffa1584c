// Choosing the device when the program starts.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

#include <gpunet/device/device_string.hpp>
#include <gpunet/device/host/host.hpp>

// A unit without CUDA answers the questions about GPUs itself. Included here and not by gpunet.hpp, so that this
// header alone gives both policies wherever both can be had.
#if GPUNET_CUDA
#include <gpunet/device/cuda/cuda.cuh>
#else
namespace gpunet::cuda {

inline namespace GPUNET_BACKENDS {

// Why no GPU can be used, as one sentence; empty when a kernel of this program ran on one.
inline std::string why_not() {
  return "gpunet not compiled with CUDA enabled, build the program with nvcc";
}
inline std::string why_not(int) {
  return why_not();
}
inline bool is_available() {
  return false;
}
inline int device_count() {
  return 0;
}
[[noreturn]] inline int current_device() {
  throw Error("gpunet::cuda::current_device: " + why_not());
}
[[noreturn]] inline std::string get_device_name(int) {
  throw Error("gpunet::cuda::get_device_name: " + why_not());
}

}  // namespace GPUNET_BACKENDS

}  // namespace gpunet::cuda
#endif

namespace gpunet::cuda {

// Of a GPU's memory the processor holds nothing; for programs that ask whatever device they run on.
inline std::size_t memory_allocated(const Host&) {
  return 0;
}
inline std::size_t memory_reserved(const Host&) {
  return 0;
}

}  // namespace gpunet::cuda

namespace gpunet {

inline namespace GPUNET_BACKENDS {

// Makes the device that `text` names (see parse_device; "auto" is the current GPU when it can be used, else the
// processor) and returns f(device), f being called with a Host& or a Cuda&. CUDA is not touched for "cpu".
// Throws Error for a wrong string and for a device that cannot be used.
template <class F>
decltype(auto) with_device(std::string_view text, HostOptions options, F&& f) {
  using Kind = DeviceChoice::Kind;
  auto [kind, index] = parse_device(text);
  if (kind == Kind::any) kind = cuda::is_available() ? Kind::cuda : Kind::cpu;
  if (kind == Kind::cuda && cuda::device_count() == 0)
    throw Error(
        concat("gpunet::with_device: ", text, " cannot be used: ", cuda::why_not(), ", or use cpu or auto"));
#if GPUNET_CUDA
  static_assert(
      std::is_same_v<std::invoke_result_t<F&, Host&>, std::invoke_result_t<F&, Cuda&>>,
      "gpunet::with_device: the function returns another type for Host than for Cuda, return one for both");
  if (kind == Kind::cuda) {
    Cuda device(index < 0 ? cuda::current_device() : index);
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
  for (int i = 0; cuda::is_available() && i < cuda::device_count(); ++i) {
    Cuda device(i);
    f(device);
  }
#endif
  Host device;
  f(device);
}

}  // namespace GPUNET_BACKENDS

}  // namespace gpunet
