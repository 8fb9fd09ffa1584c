// The algorithms that are offered, good ones and others.
#pragma once

#include <cstddef>
#include <initializer_list>

#include "descriptors.cuh"

namespace {

bool is_capturing(cudnnHandle_t handle) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(handle->stream, &status) != cudaSuccess ||
         status != cudaStreamCaptureStatusNone;
}

// Bytes, of an algorithm that gpunet may choose. No multiples of anything, so that a workspace too
// small shows.
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

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t y, int wanted, int* found,
    cudnnConvolutionFwdAlgoPerf_t* ways) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  const auto ok = CUDNN_STATUS_SUCCESS;
  const auto same = CUDNN_DETERMINISTIC;
  return offer<cudnnConvolutionFwdAlgoPerf_t>(
      {{CUDNN_CONVOLUTION_FWD_ALGO_DIRECT,
        CUDNN_STATUS_NOT_SUPPORTED,
        1,
        0,
        same,
        CUDNN_FMA_MATH,
        {}},
       {CUDNN_CONVOLUTION_FWD_ALGO_GEMM, ok, 2, huge, same, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD, ok, 3, 1, same, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
        ok,
        4,
        1,
        same,
        CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION,
        {}},
       {CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM,
        ok,
        5,
        forward_bytes,
        same,
        CUDNN_FMA_MATH,
        {}}},
      wanted, found, ways);
}
cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t handle, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t x, int wanted, int* found,
    cudnnConvolutionBwdDataAlgoPerf_t* ways) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  const auto ok = CUDNN_STATUS_SUCCESS;
  return offer<cudnnConvolutionBwdDataAlgoPerf_t>(
      {{CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, ok, 1, 0, CUDNN_NON_DETERMINISTIC, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD,
        ok,
        2,
        0,
        CUDNN_DETERMINISTIC,
        CUDNN_FMA_MATH,
        {}},
       {CUDNN_CONVOLUTION_BWD_DATA_ALGO_1,
        ok,
        3,
        input_bytes,
        CUDNN_DETERMINISTIC,
        CUDNN_FMA_MATH,
        {}}},
      wanted, found, ways);
}
// Of a filter that is padded by 4 there is no way that gives the same bits in every run.
cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t c, cudnnFilterDescriptor_t w, int wanted, int* found,
    cudnnConvolutionBwdFilterAlgoPerf_t* ways) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  const auto ok = CUDNN_STATUS_SUCCESS;
  return offer<cudnnConvolutionBwdFilterAlgoPerf_t>(
      {{CUDNN_CONVOLUTION_BWD_FILTER_ALGO_3, ok, 1, 0, CUDNN_NON_DETERMINISTIC, CUDNN_FMA_MATH, {}},
       {CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1,
        c->rows.padding == 4 ? CUDNN_STATUS_NOT_SUPPORTED : ok,
        2,
        filter_bytes,
        CUDNN_DETERMINISTIC,
        CUDNN_FMA_MATH,
        {}}},
      wanted, found, ways);
}

cudnnStatus_t cudnnGetConvolutionForwardWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
    cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t y, cudnnConvolutionFwdAlgo_t,
    std::size_t* bytes) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  *bytes = forward_bytes;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardDataWorkspaceSize(
    cudnnHandle_t handle, cudnnFilterDescriptor_t w, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t c, cudnnTensorDescriptor_t x, cudnnConvolutionBwdDataAlgo_t,
    std::size_t* bytes) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  *bytes = input_bytes;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnGetConvolutionBackwardFilterWorkspaceSize(
    cudnnHandle_t handle, cudnnTensorDescriptor_t x, cudnnTensorDescriptor_t y,
    cudnnConvolutionDescriptor_t c, cudnnFilterDescriptor_t w, cudnnConvolutionBwdFilterAlgo_t,
    std::size_t* bytes) {
  WANT(!is_capturing(handle) && fits(x, w, c, y));
  *bytes = filter_bytes;
  return CUDNN_STATUS_SUCCESS;
}

}  // extern "C"
