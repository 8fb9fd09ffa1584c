// cuDNN: its errors as gpunet::Error, and owners of its objects.
#pragma once

#include <cudnn.h>

#include <gpunet/device/cuda/launch.cuh>

namespace gpunet::detail {

// Throws Error unless a call of cuDNN went well. `what` is called when it did not: it names the
// work and its shapes.
template <class Describe>
void check_cudnn(cudnnStatus_t status, const Describe& what,
                 std::source_location where = std::source_location::current()) {
  if (status == CUDNN_STATUS_SUCCESS) [[likely]]
    return;
  char details[512] = "";
  cudnnGetLastErrorString(details, sizeof details);
  throw_error(Error(FirstFailure::explain(
      cudaPeekAtLastError(),
      concat("gpunet: cuDNN error: ", cudnnGetErrorString(status), *details ? " (" : "", details,
             *details ? ")" : "", " in ", what(), place(where)))));
}

// The same of a call that has given work to the device.
template <class Describe>
void check_cudnn(const Cuda& device, cudnnStatus_t status, const Describe& what,
                 std::source_location where = std::source_location::current()) {
  check_cudnn(status, what, where);
  if (const cudaError_t launched = launch_status(device); launched != cudaSuccess) [[unlikely]]
    throw_cuda_error(launched, concat(" in cuDNN's ", what(), " on ", device.name(), place(where)));
}

using CudnnHandle = Owned<cudnnHandle_t, cudnnDestroy>;
using CudnnTensor = Owned<cudnnTensorDescriptor_t, cudnnDestroyTensorDescriptor>;
using CudnnFilter = Owned<cudnnFilterDescriptor_t, cudnnDestroyFilterDescriptor>;
using CudnnConvolution = Owned<cudnnConvolutionDescriptor_t, cudnnDestroyConvolutionDescriptor>;
using CudnnActivation = Owned<cudnnActivationDescriptor_t, cudnnDestroyActivationDescriptor>;

template <class T>
inline constexpr cudnnDataType_t cudnn_type = sizeof(T) == sizeof(float) ? CUDNN_DATA_FLOAT
                                                                         : CUDNN_DATA_DOUBLE;

// The owner of an object of `create`; `what` names it in messages.
template <class Owner, class Create>
Owner make_cudnn(Create create, const char* what = "making a descriptor") {
  typename Owner::pointer made = nullptr;
  check_cudnn(create(&made), [what] { return what; });
  return Owner(made);
}

// An array [samples, channels, height, width] of T, in this order.
template <class T>
CudnnTensor cudnn_tensor(index_t samples, index_t channels, index_t height, index_t width) {
  CudnnTensor tensor = make_cudnn<CudnnTensor>(cudnnCreateTensorDescriptor);
  check_cudnn(cudnnSetTensor4dDescriptor(tensor.get(), CUDNN_TENSOR_NCHW, cudnn_type<T>,
                                         static_cast<int>(samples), static_cast<int>(channels),
                                         static_cast<int>(height), static_cast<int>(width)),
              [&] {
                return concat("a tensor [", samples, ", ", channels, ", ", height, ", ", width,
                              "]");
              });
  return tensor;
}

// How the library may compute, so that it errs no more than Precision says. Double has one way.
// bf16 gets the 11 bits of tf32: the conversion that cuDNN offers beyond is to half, in which a
// gradient can overflow or vanish.
template <class T>
cudnnMathType_t cudnn_math(Precision precision) {
  const bool exact =
      std::is_same_v<T, float> && precision != Precision::tf32 && precision != Precision::bf16;
  return exact ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

// A stream's handle, on the current device.
inline CudnnHandle make_cudnn_handle(cudaStream_t stream) {
  CudnnHandle handle =
      make_cudnn<CudnnHandle>(cudnnCreate, "starting it (GPUNET_CUDNN=never does without)");
  check_cudnn(cudnnSetStream(handle.get(), stream), [] { return "setting the stream"; });
  return handle;
}

}  // namespace gpunet::detail
