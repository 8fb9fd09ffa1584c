// Clamping to bounds: ReLU, ReLU6, Hardtanh.
#pragma once

#include <limits>

#include <gpunet/core/config.hpp>
#include <gpunet/device/functor_math.hpp>

namespace gpunet {

// The bounds of y = min(max(x, low), high).
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();

  friend bool operator==(const Bounds&, const Bounds&) = default;
};

// min(max(x, low), high); NaN stays NaN, as in PyTorch. <= and not <: where subnormal numbers count
// as 0, a negative one is not less than 0 and would be returned unchanged.
template <class T>
struct Clamp {
  T low, high;

  explicit Clamp(const Bounds& bounds)
      : low(static_cast<T>(bounds.low)), high(static_cast<T>(bounds.high)) {}
  GPUNET_FN constexpr Clamp(T lowest, T highest) : low(lowest), high(highest) {}

  GPUNET_FN T operator()(T x) const { return x <= low ? low : x >= high ? high : x; }
  // Returns the gradient of the input: 0 at and beyond the bounds. x may be the input or the
  // output, which reach them together.
  GPUNET_FN T gradient(T x, T dy) const {
    return math::select((x <= low) | (x >= high), T{}, dy);  // without a branch
  }
};

}  // namespace gpunet
