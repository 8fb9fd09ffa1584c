// The affine map of floats on Host.
#pragma once

#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/ops/linear/plain.hpp>

namespace gpunet {

// See ../plain.hpp.
index_t linear_scratch(const Host& device, const Slice& slice, index_t in, index_t out, float);
void linear_forward(Host& device, const Slice& slice, index_t in, index_t out, const float* x, const float* w,
                    const float* b, float* y, float* scratch, Activation activation = Activation::none);
void linear_backward_input(Host& device, const Slice& slice, index_t in, index_t out, const float* dy,
                           const float* w, float* dx, float* scratch);
void linear_backward_parameters(Host& device, const Slice& slice, index_t in, index_t out, const float* x,
                                const float* dy, float* dw, float* db, Accumulate accumulate, float* scratch);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/ops/linear/host/linear.ipp>
#endif
