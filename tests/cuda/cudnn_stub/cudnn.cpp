// Stands in for libcudnn.so.9 where there is no GPU for it, or to see what it is asked: those functions of it that gpunet
// calls, as plain kernels. It is stricter than cuDNN: it refuses whatever gpunet should not do, and offers what gpunet
// should not take. The declarations are cuDNN's own, so that the types are right.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
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
  int padding, stride;
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

// Sizes of a convolution, as kernels read them.
struct Sizes {
  int samples, in, height, width, out, rows, columns, kernel, stride, padding;
  bool rounds;
};

// To 11 bits, as tensor cores round to tf32.
template <class T>
__device__ double factor(const Sizes& s, T value) {
  if (!s.rounds || sizeof(T) == 8) return value;
  return __uint_as_float((__float_as_uint(static_cast<float>(value)) + 0x1000u) & 0xffffe000u);
}

// What is there for beta = 0 may be no number.
template <class T>
__device__ void store(T& target, double sum, T beta) {
  target = static_cast<T>(beta == 0 ? sum : sum + static_cast<double>(beta * target));
}

template <class T>
__global__ void forward_kernel(Sizes s, const T* x, const T* w, const T* bias, T* y, bool rectifies) {
  const long long count = 1LL * s.samples * s.out * s.rows * s.columns;
  for (long long i = 1LL * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += 1LL * gridDim.x * blockDim.x) {
    const int column = static_cast<int>(i % s.columns), row = static_cast<int>(i / s.columns % s.rows);
    const int out = static_cast<int>(i / s.columns / s.rows % s.out);
    const long long sample = i / s.columns / s.rows / s.out;
    double sum = bias[out];
    for (int in = 0; in < s.in; ++in)
      for (int a = 0; a < s.kernel; ++a)
        for (int b = 0; b < s.kernel; ++b) {
          const int iy = row * s.stride + a - s.padding, ix = column * s.stride + b - s.padding;
          if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
          sum += factor(s, x[((sample * s.in + in) * s.height + iy) * s.width + ix]) *
                 factor(s, w[((out * s.in + in) * s.kernel + a) * s.kernel + b]);
        }
    y[i] = static_cast<T>(rectifies && sum < 0 ? 0.0 : sum);
  }
}

template <class T>
__global__ void input_kernel(Sizes s, const T* dy, const T* w, T beta, T* dx) {
  const long long count = 1LL * s.samples * s.in * s.height * s.width;
  for (long long i = 1LL * blockIdx.x * blockDim.x + threadIdx.x; i < count; i += 1LL * gridDim.x * blockDim.x) {
    const int ix = static_cast<int>(i % s.width), iy = static_cast<int>(i / s.width % s.height);
    const int in = static_cast<int>(i / s.width / s.height % s.in);
    const long long sample = i / s.width / s.height / s.in;
    double sum = 0;
    for (int out = 0; out < s.out; ++out)
      for (int a = 0; a < s.kernel; ++a)
        for (int b = 0; b < s.kernel; ++b) {
          const int row = iy + s.padding - a, column = ix + s.padding - b;
          if (row < 0 || column < 0 || row % s.stride || column % s.stride) continue;
          if (row / s.stride >= s.rows || column / s.stride >= s.columns) continue;
          sum += factor(s, dy[((sample * s.out + out) * s.rows + row / s.stride) * s.columns + column / s.stride]) *
                 factor(s, w[((out * s.in + in) * s.kernel + a) * s.kernel + b]);
        }
    store(dx[i], sum, beta);
  }
}

template <class T>
__global__ void filter_kernel(Sizes s, const T* x, const T* dy, T beta, T* dw) {
  const int count = s.out * s.in * s.kernel * s.kernel;
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += gridDim.x * blockDim.x) {
    const int b = i % s.kernel, a = i / s.kernel % s.kernel, in = i / s.kernel / s.kernel % s.in;
    const int out = i / s.kernel / s.kernel / s.in;
    double sum = 0;
    for (long long sample = 0; sample < s.samples; ++sample)
      for (int row = 0; row < s.rows; ++row)
        for (int column = 0; column < s.columns; ++column) {
          const int iy = row * s.stride + a - s.padding, ix = column * s.stride + b - s.padding;
          if (iy < 0 || iy >= s.height || ix < 0 || ix >= s.width) continue;
          sum += factor(s, x[((sample * s.in + in) * s.height + iy) * s.width + ix]) *
                 factor(s, dy[((sample * s.out + out) * s.rows + row) * s.columns + column]);
        }
    store(dw[i], sum, beta);
  }
}

template <class T>
__global__ void bias_kernel(int samples, int channels, int pixels, const T* dy, T beta, T* db) {
  for (int c = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); c < channels; c += gridDim.x * blockDim.x) {
    double sum = 0;
    for (long long sample = 0; sample < samples; ++sample)
      for (int p = 0; p < pixels; ++p)
        sum += dy[(sample * channels + c) * pixels + p];
    store(db[c], sum, beta);
  }
}

// A kernel over `count` indices on the stream of a handle, for arrays of T; first the workspace is overwritten.
template <class Launch>
cudnnStatus_t give_work(cudnnHandle_t handle, void* workspace, std::size_t bytes, const Launch& launch) {
  if (bytes > 0 && cudaMemsetAsync(workspace, 0xff, bytes, handle->stream) != cudaSuccess)
    return refuse("want a workspace on the device");
  launch(dim3(64), dim3(64), handle->stream);
  return cudaPeekAtLastError() == cudaSuccess ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

bool is_capturing(cudnnHandle_t handle) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(handle->stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

// On the device, and at an address that vector loads can read.
bool is_array(const void* array) {
  cudaPointerAttributes attributes{};
  return reinterpret_cast<std::uintptr_t>(array) % 16 == 0 &&
         cudaPointerGetAttributes(&attributes, array) == cudaSuccess && attributes.type == cudaMemoryTypeDevice;
}

bool fits(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t c,
          cudnnTensorDescriptor_t y) {
  const auto windows = [&](int size) {
    return (size + 2 * c->padding - w->h) / c->stride + 1;
  };
  return x->type == w->type && x->type == c->type && x->type == y->type && x->n == y->n && x->c == w->c &&
         y->c == w->k && w->h == w->w && y->h == windows(x->h) && y->w == windows(x->w);
}

Sizes sizes(cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
            cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t y) {
  return {x->n,
          x->c,
          x->h,
          x->w,
          y->c,
          y->h,
          y->w,
          w->h,
          c->stride,
          c->padding,
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

// Bytes, of an algorithm that gpunet may choose. No multiples of anything, so that a workspace too small shows.
constexpr std::size_t forward_bytes = 1003, input_bytes = 2001, filter_bytes = 517;

// The ways that are offered, the "fastest" first.
template <class Way>
cudnnStatus_t offer(std::initializer_list<Way> ways, int wanted, int* found, Way* results) {
  *found = 0;
  for (const Way& way : ways)
    if (*found < wanted) results[(*found)++] = way;
  return CUDNN_STATUS_SUCCESS;
}
constexpr std::size_t huge = std::size_t{1} << 40;

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
cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t d, int pad_h, int pad_w, int u, int v,
                                              int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type) {
  WANT(pad_h == pad_w && u == v && pad_h >= 0 && u > 0 && dilation_h == 1 && dilation_w == 1);
  WANT(mode == CUDNN_CROSS_CORRELATION);
  *d = {type, pad_h, u, CUDNN_DEFAULT_MATH};
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t d, cudnnMathType_t math) {
  WANT(math == CUDNN_FMA_MATH || math == CUDNN_DEFAULT_MATH);
  d->math = math;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnSetActivationDescriptor(cudnnActivationDescriptor_t d, cudnnActivationMode_t mode,
                                           cudnnNanPropagation_t nan, double) {
  WANT(nan == CUDNN_PROPAGATE_NAN);
  d->mode = mode;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                     cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t c,
                                                     cudnnTensorDescriptor_t y, int wanted, int* found,
                                                     cudnnConvolutionFwdAlgoPerf_t* ways) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  const auto ok = CUDNN_STATUS_SUCCESS;
  const auto same = CUDNN_DETERMINISTIC;
  return offer<cudnnConvolutionFwdAlgoPerf_t>(
      {{CUDNN_CONVOLUTION_FWD_ALGO_DIRECT, CUDNN_STATUS_NOT_SUPPORTED, 1, 0, same, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, ok, 2, huge, same, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, ok, 3, 1, same, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM, ok, 4, 1, same, CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION, {}},
       {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM, ok, 5, forward_bytes, same, CUDNN_FMA_MATH, {}}},
      wanted, found, ways);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle, cudnnFilterDescriptor_t w,
                                                          cudnnTensorDescriptor_t y, cudnnConvolutionDescriptor_t c,
                                                          cudnnTensorDescriptor_t x, int wanted, int* found,
                                                          cudnnConvolutionBwdDataAlgoPerf_t* ways) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  const auto ok = CUDNN_STATUS_SUCCESS;
  return offer<cudnnConvolutionBwdDataAlgoPerf_t>(
      {{CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, ok, 1, 0, CUDNN_NON_DETERMINISTIC, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD, ok, 2, 0, CUDNN_DETERMINISTIC, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1, ok, 3, input_bytes, CUDNN_DETERMINISTIC, CUDNN_FMA_MATH, {}}},
      wanted, found, ways);
}
// Of a filter that is padded by 4 there is no way that gives the same bits in every run.
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                            cudnnTensorDescriptor_t y,
                                                            cudnnConvolutionDescriptor_t c,
                                                            cudnnFilterDescriptor_t w, int wanted, int* found,
                                                            cudnnConvolutionBwdFilterAlgoPerf_t* ways) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  const auto ok = CUDNN_STATUS_SUCCESS;
  return offer<cudnnConvolutionBwdFilterAlgoPerf_t>(
      {{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, ok, 1, 0, CUDNN_NON_DETERMINISTIC, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
        c->padding == 4 ? CUDNN_STATUS_NOT_SUPPORTED : ok,
        2,
        filter_bytes,
        CUDNN_DETERMINISTIC,
        CUDNN_FMA_MATH,
        {}}},
      wanted, found, ways);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                      cudnnFilterDescriptor_t w, cudnnConvolutionDescriptor_t c,
                                                      cudnnTensorDescriptor_t y, cudnnConvolutionFwdAlgo_t,
                                                      std::size_t* bytes) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  *bytes = forward_bytes;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(cudnnHandle_t handle, cudnnFilterDescriptor_t w,
                                                           cudnnTensorDescriptor_t y,
                                                           cudnnConvolutionDescriptor_t c,
                                                           cudnnTensorDescriptor_t x, cudnnConvolutionBwdDataAlgo_t,
                                                           std::size_t* bytes) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  *bytes = input_bytes;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(cudnnHandle_t handle, cudnnTensorDescriptor_t x,
                                                             cudnnTensorDescriptor_t y,
                                                             cudnnConvolutionDescriptor_t c,
                                                             cudnnFilterDescriptor_t w,
                                                             cudnnConvolutionBwdFilterAlgo_t, std::size_t* bytes) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  *bytes = filter_bytes;
  return CUDNN_STATUS_SUCCESS;
}

// Of filters of 1 x 1 with stride 3 it has no kernel.
cudnnStatus_t cudnnConvolutionBiasActivationForward(
    cudnnHandle_t handle, const void* alpha1, cudnnTensorDescriptor_t xd, const void* x, cudnnFilterDescriptor_t wd,
    const void* w, cudnnConvolutionDescriptor_t c, cudnnConvolutionFwdAlgo_t algorithm, void* workspace,
    std::size_t bytes, const void* alpha2, cudnnTensorDescriptor_t zd, const void*, cudnnTensorDescriptor_t bd,
    const void* bias, cudnnActivationDescriptor_t activation, cudnnTensorDescriptor_t yd, void* y) {
  WANT(fits(xd, wd, c, yd));
  WANT(algorithm == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM ||
       (activation->mode == CUDNN_ACTIVATION_RELU && c->math != CUDNN_FMA_MATH));
  WANT(algorithm != CUDNN_CONVOLUTION_FWD_ALGO_GEMM && algorithm != CUDNN_CONVOLUTION_FWD_ALGO_DIRECT);
  WANT(activation->mode == CUDNN_ACTIVATION_RELU || activation->mode == CUDNN_ACTIVATION_IDENTITY);
  WANT(zd == yd && bd->n == 1 && bd->c == yd->c && bd->h == 1 && bd->w == 1 && bd->type == yd->type);
  WANT(is_array(x) && is_array(w) && is_array(bias) && is_array(y));
  WANT(is_array(workspace) && bytes >= forward_bytes);
  if (wd->h == 1 && c->stride == 3) return CUDNN_STATUS_NOT_SUPPORTED_SHAPE;
  ++gpunet_cudnn_stub_products;
  return with_type(xd->type, [&](auto type) {
    using T = decltype(type);
    WANT(number<T>(alpha1) == 1 && number<T>(alpha2) == 0);
    return give_work(handle, workspace, bytes, [&](dim3 blocks, dim3 threads, cudaStream_t stream) {
      forward_kernel<T><<<blocks, threads, 0, stream>>>(
          sizes(handle, xd, wd, c, yd), static_cast<const T*>(x), static_cast<const T*>(w),
          static_cast<const T*>(bias), static_cast<T*>(y), activation->mode == CUDNN_ACTIVATION_RELU);
    });
  });
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void* alpha, cudnnFilterDescriptor_t wd,
                                           const void* w, cudnnTensorDescriptor_t yd, const void* dy,
                                           cudnnConvolutionDescriptor_t c, cudnnConvolutionBwdDataAlgo_t algorithm,
                                           void* workspace, std::size_t bytes, const void* beta,
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
      input_kernel<T><<<blocks, threads, 0, stream>>>(sizes(handle, xd, wd, c, yd), static_cast<const T*>(dy),
                                                      static_cast<const T*>(w), number<T>(beta),
                                                      static_cast<T*>(dx));
    });
  });
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t xd,
                                             const void* x, cudnnTensorDescriptor_t yd, const void* dy,
                                             cudnnConvolutionDescriptor_t c,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm, void* workspace,
                                             std::size_t bytes, const void* beta, cudnnFilterDescriptor_t wd,
                                             void* dw) {
  WANT(fits(xd, wd, c, yd));
  WANT(algorithm == CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1);
  WANT(is_array(x) && is_array(dy) && is_array(dw));
  WANT(is_array(workspace) && bytes >= filter_bytes);
  ++gpunet_cudnn_stub_products;
  return with_type(xd->type, [&](auto type) {
    using T = decltype(type);
    WANT(number<T>(alpha) == 1);
    return give_work(handle, workspace, bytes, [&](dim3 blocks, dim3 threads, cudaStream_t stream) {
      filter_kernel<T><<<blocks, threads, 0, stream>>>(sizes(handle, xd, wd, c, yd), static_cast<const T*>(x),
                                                       static_cast<const T*>(dy), number<T>(beta),
                                                       static_cast<T*>(dw));
    });
  });
}

cudnnStatus_t cudnnConvolutionBackwardBias(cudnnHandle_t handle, const void* alpha, cudnnTensorDescriptor_t yd,
                                           const void* dy, const void* beta, cudnnTensorDescriptor_t bd, void* db) {
  WANT(bd->n == 1 && bd->c == yd->c && bd->h == 1 && bd->w == 1 && bd->type == yd->type);
  WANT(is_array(dy) && is_array(db));
  return with_type(yd->type, [&](auto type) {
    using T = decltype(type);
    WANT(number<T>(alpha) == 1);
    return give_work(handle, nullptr, 0, [&](dim3 blocks, dim3 threads, cudaStream_t stream) {
      bias_kernel<T><<<blocks, threads, 0, stream>>>(yd->n, yd->c, yd->h * yd->w, static_cast<const T*>(dy),
                                                     number<T>(beta), static_cast<T*>(db));
    });
  });
}

}  // extern "C"
