// The GPUs of this machine, and whether they run this program's kernels.
#pragma once

#include <map>
#include <mutex>
#include <string>

#include <gpunet/device/cuda/handle.cuh>

namespace gpunet::detail {

// Does nothing: it is there to be launched. A template, so that several units can hold it.
template <class = void>
__global__ void __launch_bounds__(1, 1) probe_kernel() {}

// "13.0" of 13000
inline std::string cuda_version(int number) {
  return concat(number / 1000, ".", number % 1000 / 10);
}

// Counts the devices; `why` says why there are none.
inline int count_devices(std::string& why) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  ignore_error(status);
  int driver = 0, runtime = 0;
  ignore_error(cudaDriverGetVersion(&driver));
  ignore_error(cudaRuntimeGetVersion(&runtime));
  if (driver == 0)
    why = "found no NVIDIA driver, install one";
  else if (status == cudaErrorInsufficientDriver)
    why = concat("the NVIDIA driver is too old: it knows CUDA ", cuda_version(driver),
                 " and this program needs ", cuda_version(runtime), ", update it");
  else if (status == cudaSuccess || status == cudaErrorNoDevice)
    why =
        "no CUDA GPUs are available: there is a driver, but it shows no device (see "
        "CUDA_VISIBLE_DEVICES)";
  else
    why = concat("CUDA does not start: ", cudaGetErrorString(status), " (",
                 cudaGetErrorName(status), ")");
  return 0;
}

// Throws Error unless there is a device of this number.
inline void require_device(int ordinal, std::string_view where) {
  std::string why;
  const int count = count_devices(why);
  require(count > 0, "gpunet::", where, ": cuda:", ordinal, " cannot be used: ", why);
  require(0 <= ordinal && ordinal < count, "gpunet::", where,
          ": CUDA error: invalid device ordinal: there is no cuda:", ordinal, ", this machine has ",
          count, count == 1 ? " CUDA device" : " CUDA devices", ", the first is cuda:0");
}

// Runs a kernel on the device; why that is not possible, or nothing.
inline std::string probe(int ordinal) {
  const CurrentDevice current(ordinal);
  probe_kernel<><<<1, 1>>>();
  cudaError_t status = cudaGetLastError();
  if (status == cudaSuccess) status = cudaStreamSynchronize(nullptr);
  if (status == cudaSuccess) return "";
  ignore_error(status);
  cudaDeviceProp device{};
  ignore_error(cudaGetDeviceProperties(&device, ordinal));
  const bool wrong_code = status == cudaErrorNoKernelImageForDevice ||
                          status == cudaErrorInvalidDeviceFunction ||
                          status == cudaErrorUnsupportedPtxVersion;
  return concat(
      "cuda:", ordinal, " (", device.name, ", compute capability ", device.major, ".", device.minor,
      ") cannot run the kernels of this program: ", cudaGetErrorString(status), " (",
      cudaGetErrorName(status), ")", wrong_code ? ", build it for this architecture" : "");
}

// Why a device cannot be used, as one sentence; empty when a kernel of this program ran on it.
// Asked once per device.
inline std::string why_not(int ordinal) {
  std::string why;
  const int count = count_devices(why);
  if (count == 0) return why;
  if (ordinal < 0 || ordinal >= count)
    return concat("there is no device ", ordinal, " (want 0 to ", count - 1, ")");
  static std::mutex mutex;
  static std::map<int, std::string> answers;
  const std::lock_guard lock(mutex);
  const auto [answer, is_new] = answers.try_emplace(ordinal);
  if (is_new) answer->second = probe(ordinal);
  return answer->second;
}

}  // namespace gpunet::detail
