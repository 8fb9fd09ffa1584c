// Stands in for libcudnn.so.9 where there is no GPU for it, or to see what it is asked: those
// functions of it that gpunet calls, as plain kernels. It is stricter than cuDNN: it refuses
// whatever gpunet should not do, and offers what gpunet should not take. The declarations are
// cuDNN's own, so that the types are right.
#include <cstdint>
#include <cstdio>
#include <cudnn.h>

#include "choices.cuh"
#include "convolutions.cuh"
#include "descriptors.cuh"

namespace {

// Overwrites the workspace, then launches a kernel on the stream of a handle.
template <class Launch>
cudnnStatus_t give_work(cudnnHandle_t handle, void* workspace, std::size_t bytes,
                        const Launch& launch) {
  if (bytes > 0 && cudaMemsetAsync(workspace, 0xff, bytes, handle->stream) != cudaSuccess)
    return refuse("want a workspace on the device");
  launch(dim3(64), dim3(64), handle->stream);
  return cudaPeekAtLastError() == cudaSuccess ? CUDNN_STATUS_SUCCESS
                                              : CUDNN_STATUS_EXECUTION_FAILED;
}

// On the device, and at an address that vector loads can read.
bool is_array(const void* array) {
  cudaPointerAttributes attributes{};
  return reinterpret_cast<std::uintptr_t>(array) % 16 == 0 &&
         cudaPointerGetAttributes(&attributes, array) == cudaSuccess &&
         attributes.type == cudaMemoryTypeDevice;
}

Sizes sizes(cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
            cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t y) {
  const auto axis = [](int size, int outputs, int kernel,
                       const cudnnConvolutionStruct::Along& along) {
    return Axis{size, outputs, kernel, along.stride, along.padding, along.dilation};
  };
  return {x->n,
          x->c,
          y->c,
          axis(x->h, y->h, w->h, c->rows),
          axis(x->w, y->w, w->w, c->columns),
          handle->rounds && c->math != CUDNN_FMA_MATH};
}

template <class T>
T number(const void* scale) {
  return *static_cast<const T*>(scale);
}

// Calls work(float or double) for the type of an array.
template <class Work>
cudnnStatus_t with_type(cudnnDataType_t type, const Work& work) {
  return type == CUDNN_DATA_FLOAT ? work(float{}) : work(double{});
}

}  // namespace

extern "C" {

// How many products this library has done, for tests.
int gpunet_cudnn_stub_products = 0;

std::size_t cudnnGetVersion() {
  return CUDNN_VERSION;
}
const char* cudnnGetErrorString(cudnnStatus_t status) {
  return status == CUDNN_STATUS_SUCCESS ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_BAD_PARAM";
}
void cudnnGetLastErrorString(char* message, std::size_t size) {
  std::snprintf(message, size, "%s", last_error.c_str());
  last_error.clear();
}

// Of filters of 1 x 1 with stride 3 it has no forward kernels.
cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void* alpha,
                                      cudnnTensorDescriptor_t xd, const void* x,
                                      cudnnFilterDescriptor_t wd, const void* w,
                                      cudnnConvolutionDescriptor_t c,
                                      cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
                                      std::size_t bytes, const void* beta,
                                      cudnnTensorDescriptor_t yd, void* y) {
  WANT(fits(xd, wd, c, yd));
  WANT(algorithm != CUDNN_CONVOLUTION_FWD_ALGO_GEMM &&
       algorithm != CUDNN_CONVOLUTION_FWD_ALGO_DIRECT);
  WANT(is_array(x) && is_array(w) && is_array(y));
  WANT(is_array(workspace) && bytes >= forward_bytes);
  if (wd->h == 1 && c->rows.stride == 3) return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  ++gpunet_cudnn_stub_products;
  return with_type(xd->type, [&](auto type) {
    using T = decltype(type);
    WANT(number<T>(alpha) == 1 && number<T>(beta) == 0);
    return give_work(handle, workspace, bytes, [&](dim3 blocks, dim3 threads, cudaStream_t stream) {
      forward_kernel<T><<<blocks, threads, 0, stream>>>(
          sizes(handle, xd, wd, c, yd), static_cast<const T*>(x), static_cast<const T*>(w),
          static_cast<const T*>(nullptr), static_cast<T*>(y), false);
    });
  });
}

cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha1, cudnnTensorDescriptor_t xd, const void* x,
    cudnnFilterDescriptor_t wd, const void* w, cudnnConvolutionDescriptor_t c,
    cudnnConvolutionFwdAlgo_t algorithm, void* workspace, std::size_t bytes, const void* alpha2,
    cudnnTensorDescriptor_t zd, const void*, cudnnTensorDescriptor_t bd, const void* bias,
    cudnnActivationDescriptor_t activation, cudnnTensorDescriptor_t yd, void* y) {
  WANT(fits(xd, wd, c, yd));
  WANT(algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
       (activation->mode == CUDNN_ACTIVATION_RELU && c->math != CUDNN_FMA_MATH));
  WANT(algorithm != CUDNN_CONVOLUTION_FWD_ALGO_GEMM &&
       algorithm != CUDNN_CONVOLUTION_FWD_ALGO_DIRECT);
  WANT(activation->mode == CUDNN_ACTIVATION_RELU || activation->mode == CUDNN_ACTIVATION_IDENTITY);
  WANT(zd == yd && bd->n == 1 && bd->c == yd->c && bd->h == 1 && bd->w == 1 &&
       bd->type == yd->type);
  WANT(is_array(x) && is_array(w) && is_array(bias) && is_array(y));
  WANT(is_array(workspace) && bytes >= forward_bytes);
  if (wd->h == 1 && c->rows.stride == 3) return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  ++gpunet_cudnn_stub_products;
  return with_type(xd->type, [&](auto type) {
    using T = decltype(type);
    WANT(number<T>(alpha1) == 1 && number<T>(alpha2) == 0);
    return give_work(handle, workspace, bytes, [&](dim3 blocks, dim3 threads, cudaStream_t stream) {
      forward_kernel<T><<<blocks, threads, 0, stream>>>(
          sizes(handle, xd, wd, c, yd), static_cast<const T*>(x), static_cast<const T*>(w),
          static_cast<const T*>(bias), static_cast<T*>(y),
          activation->mode == CUDNN_ACTIVATION_RELU);
    });
  });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha,
                                           cudnnFilterDescriptor_t wd, const void* w,
                                           cudnnTensorDescriptor_t yd, const void* dy,
                                           cudnnConvolutionDescriptor_t c,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void* workspace,
                                           std::size_t bytes, const void* beta,
                                           cudnnTensorDescriptor_t xd, void* dx) {
  WANT(fits(xd, wd, c, yd));
  WANT(algorithm == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 || c->math != CUDNN_FMA_MATH);
  WANT(algorithm != CUDNN_CONVOLUTION_BWD_DATA_ALGO_0);
  WANT(is_array(w) && is_array(dy) && is_array(dx));
  WANT(is_array(workspace) && bytes >= input_bytes);
  ++gpunet_cudnn_stub_products;
  return with_type(xd->type, [&](auto type) {
    using T = decltype(type);
    WANT(number<T>(alpha) == 1);
    return give_work(handle, workspace, bytes, [&](dim3 blocks, dim3 threads, cudaStream_t stream) {
      input_kernel<T><<<blocks, threads, 0, stream>>>(
          sizes(handle, xd, wd, c, yd), static_cast<const T*>(dy), static_cast<const T*>(w),
          number<T>(beta), static_cast<T*>(dx));
    });
  });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha,
                                             cudnnTensorDescriptor_t xd, const void* x,
                                             cudnnTensorDescriptor_t yd, const void* dy,
                                             cudnnConvolutionDescriptor_t c,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void* workspace, std::size_t bytes, const void* beta,
                                             cudnnFilterDescriptor_t wd, void* dw) {
  WANT(fits(xd, wd, c, yd));
  WANT(algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);
  WANT(is_array(x) && is_array(dy) && is_array(dw));
  WANT(is_array(workspace) && bytes >= filter_bytes);
  ++gpunet_cudnn_stub_products;
  return with_type(xd->type, [&](auto type) {
    using T = decltype(type);
    WANT(number<T>(alpha) == 1);
    return give_work(handle, workspace, bytes, [&](dim3 blocks, dim3 threads, cudaStream_t stream) {
      filter_kernel<T><<<blocks, threads, 0, stream>>>(
          sizes(handle, xd, wd, c, yd), static_cast<const T*>(x), static_cast<const T*>(dy),
          number<T>(beta), static_cast<T*>(dw));
    });
  });
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha,
                                           cudnnTensorDescriptor_t yd, const void* dy,
                                           const void* beta, cudnnTensorDescriptor_t bd, void* db) {
  WANT(bd->n == 1 && bd->c == yd->c && bd->h == 1 && bd->w == 1 && bd->type == yd->type);
  WANT(is_array(dy) && is_array(db));
  return with_type(yd->type, [&](auto type) {
    using T = decltype(type);
    WANT(number<T>(alpha) == 1);
    return give_work(handle, nullptr, 0, [&](dim3 blocks, dim3 threads, cudaStream_t stream) {
      bias_kernel<T><<<blocks, threads, 0, stream>>>(yd->n, yd->c, yd->h * yd->w,
                                                     static_cast<const T*>(dy), number<T>(beta),
                                                     static_cast<T*>(db));
    });
  });
}

}  // extern "C"
