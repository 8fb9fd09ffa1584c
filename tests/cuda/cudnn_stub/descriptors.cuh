// The handle and the descriptors, and how a call is refused.
#pragma once

#include <cudnn.h>
#include <string>

struct cudnnContext {
  cudaStream_t stream = nullptr;
  bool rounds = false;  // whether the device has tensor cores for tf32
};
struct cudnnTensorStruct {
  cudnnDataType_t type;
  int n, c, h, w;
};
struct cudnnFilterStruct {
  cudnnDataType_t type;
  int k, c, h, w;
};
struct cudnnConvolutionStruct {
  cudnnDataType_t type;
  struct Along {
    int padding, stride, dilation;
  } rows, columns;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};
struct cudnnActivationStruct {
  cudnnActivationMode_t mode;
};

namespace {

thread_local std::string last_error;

cudnnStatus_t refuse(const char* why) {
  last_error = why;
  return CUDNN_STATUS_BAD_PARAM;
}

#define WANT(condition) \
  if (!(condition)) return refuse("want " #condition)

bool fits(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t c,
          cudnnTensorDescriptor_t y) {
  const auto windows = [](const cudnnConvolutionStruct::Along& along, int size, int kernel) {
    return (size + 2 * along.padding - along.dilation * (kernel - 1) - 1) / along.stride + 1;
  };
  return x->type == w->type && x->type == c->type && x->type == y->type && x->n == y->n &&
         x->c == w->c && y->c == w->k && y->h == windows(c->rows, x->h, w->h) &&
         y->w == windows(c->columns, x->w, w->w);
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  int device = 0, major = 0;
  WANT(cudaGetDevice(&device) == cudaSuccess);
  WANT(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess);
  *handle = new cudnnContext{nullptr, major >= 8};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

#define DESCRIPTOR(Name, Type)                                                \
  cudnnStatus_t cudnnCreate##Name##Descriptor(cudnn##Type##Descriptor_t* d) { \
    *d = new cudnn##Type##Struct{};                                           \
    return CUDNN_STATUS_SUCCESS;                                              \
  }                                                                           \
  cudnnStatus_t cudnnDestroy##Name##Descriptor(cudnn##Type##Descriptor_t d) { \
    delete d;                                                                 \
    return CUDNN_STATUS_SUCCESS;                                              \
  }
DESCRIPTOR(Tensor, Tensor)
DESCRIPTOR(Filter, Filter)
DESCRIPTOR(Convolution, Convolution)
DESCRIPTOR(Activation, Activation)

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t d, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  WANT(format == CUDNN_TENSOR_NCHW && n > 0 && c > 0 && h > 0 && w > 0);
  *d = {type, n, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t d, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  WANT(format == CUDNN_TENSOR_NCHW && k > 0 && c > 0 && h > 0 && w > 0);
  *d = {type, k, c, h, w};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t d, int pad_h, int pad_w,
                                              int u, int v, int dilation_h, int dilation_w,
                                              cudnnConvolutionMode_t mode, cudnnDataType_t type) {
  WANT(pad_h >= 0 && pad_w >= 0 && u > 0 && v > 0 && dilation_h > 0 && dilation_w > 0);
  WANT(mode == CUDNN_CROSS_CORRELATION);
  *d = {type, {pad_h, u, dilation_h}, {pad_w, v, dilation_w}, CUDNN_DEFAULT_MATH};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t math) {
  WANT(math == CUDNN_FMA_MATH || math == CUDNN_DEFAULT_MATH);
  d->math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t d,
                                           cudnnActivationMode_t mode, cudnnNanPropagation_t nan,
                                           double) {
  WANT(nan == CUDNN_PROPAGATE_NAN);
  d->mode = mode;
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
