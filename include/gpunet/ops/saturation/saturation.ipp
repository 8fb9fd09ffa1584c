// Bodies of saturation.hpp.
#pragma once

#include <algorithm>

#include <gpunet/core/math.hpp>
#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/device/host/vector_math.hpp>
#include <gpunet/ops/saturation/saturation.hpp>

#define GPUNET_KERNELS <gpunet/ops/saturation/host/elements.inl>
#include <gpunet/device/host/each_path.inl>

namespace gpunet {

namespace detail {

// Calls kernel(n, x, y) for pieces of the arrays, on several threads where that pays.
template <class Kernel>
void in_pieces(Host& device, index_t n, const float* x, float* y, Kernel kernel) {
  constexpr index_t piece = 1 << 13;
  device.run_if(n > piece, ceil_div(n, piece), [=](index_t i, int) {
    const FlushSubnormals flush;
    kernel(std::min(piece, n - i * piece), x + i * piece, y + i * piece);
  });
}

}  // namespace detail

GPUNET_INLINE void saturate(Host& device, index_t n, HyperbolicTangent, const float* x, float* y) {
  detail::in_pieces(device, n, x, y, [](index_t count, const float* from, float* to) {
    GPUNET_CALL_PATH(16, map_tanh, count, from, to);
  });
}

GPUNET_INLINE void saturate(Host& device, index_t n, Logistic, const float* x, float* y) {
  detail::in_pieces(device, n, x, y, [](index_t count, const float* from, float* to) {
    GPUNET_CALL_PATH(16, map_logistic, count, from, to);
  });
}

template <class F, class Gradient>
template <class D, class T>
void SaturationOp<F, Gradient>::forward(D& device, const ForwardPass<T>& pass) const {
  saturate(device, pass.out_elements(), F{}, pass.x, pass.y);
}

template <class F, class Gradient>
template <class D, class T>
void SaturationOp<F, Gradient>::backward(D& device, const BackwardPass<T>& pass) const {
  if (pass.dx) map(device, pass.in_elements(), Gradient{}, pass.y, pass.dy, pass.dx);
}

#if GPUNET_COMPILED
GPUNET_COMPILE_KERNELS(detail::OwnKernels<TanhOp>);
GPUNET_COMPILE_KERNELS(detail::OwnKernels<SigmoidOp>);
#endif

}  // namespace gpunet
