// Launching a kernel, with errors that name it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <source_location>
#include <string_view>

#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/cuda/handle.cuh>

namespace gpunet::detail {

// "Fill<float>" of gpunet::Fill<float>, for messages.
template <class F>
constexpr std::string_view name_of() {
  std::string_view text = std::source_location::current().function_name();
  text.remove_prefix(text.find("F = ") + 4);
  // "...F = Fill<float>; other = ...]".
  text = text.substr(0, std::min(text.find(';'), text.rfind(']')));
  return text.starts_with("gpunet::") ? text.substr(8) : text;
}

// Whether every launch waits for its kernel and is checked: GPUNET_CUDA_CHECK=1.
inline bool checks_every_launch() {
  static const bool answer = [] {
    const char* text = std::getenv("GPUNET_CUDA_CHECK");
    return text && *text && std::string_view(text) != "0";
  }();
  return answer;
}

// The sizes of a launch: blocks, threads of each, bytes of shared memory beyond the kernel's own.
struct Launch {
  dim3 blocks;
  dim3 threads;
  std::size_t shared = 0;
};

// How the work given last went: whether it was launched, and if every launch is checked, done.
inline cudaError_t launch_status(const Cuda& device) {
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess && checks_every_launch() && !device.is_recording())
    status = cudaStreamSynchronize(device.stream());
  return status;
}

// Throws Error when the launch of kernel `what` failed, or the kernel if every launch is checked.
template <class Describe>
void check_launch(const Cuda& device, const Launch& how, const Describe& what,
                  std::source_location where = std::source_location::current()) {
  const cudaError_t status = launch_status(device);
  if (status != cudaSuccess) [[unlikely]]
    throw_cuda_error(
        status, concat(" in kernel ", what(), " with ", how.blocks.x, " x ", how.blocks.y, " x ",
                       how.blocks.z, " blocks of ", how.threads.x * how.threads.y * how.threads.z,
                       " threads on ", device.name(), place(where)));
}

// Runs kernel(arguments...) on the device's stream. `what` is called when something fails: it names
// the kernel and its shapes.
template <class Describe, class... Parameters, class... Arguments>
void launch(const Cuda& device, const Launch& how, const Describe& what,
            void (*kernel)(Parameters...), const Arguments&... arguments) {
  constexpr std::size_t without_asking = 48 << 10;
  const CurrentDevice current(device.ordinal());
  if (how.shared > without_asking)
    check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                               cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(how.shared)));
  kernel<<<how.blocks, how.threads, how.shared, device.stream()>>>(arguments...);
  check_launch(device, how, what);
}

}  // namespace gpunet::detail
