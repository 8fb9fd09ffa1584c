// Initial values of parameters, as torch.nn.init: on every device bitwise identical to PyTorch's on
// a CPU. `x` is a Tensor or a parameter of a model:
// nn::init::kaiming_normal_(get_parameter(net, "fc1.weight")).
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/device/host/draw.hpp>
#include <gpunet/nn/parameter_bounds.hpp>

namespace gpunet::nn::init {

namespace detail {

template <class X>
using Element = std::remove_cvref_t<decltype(*std::declval<X&>().data())>;

// Fills x with the values that draw(T* values, index_t n) writes, with the generator locked.
template <class X, class Draw>
void draw(X& x, Generator& generator, Draw draw) {
  std::vector<Element<X>> values(static_cast<std::size_t>(x.numel()));
  if (values.empty()) return;
  const auto lock = generator.lock();
  draw(values.data(), x.numel());
  x.device().upload(x.data(), values.data(), values.size() * sizeof values[0]);
}

// A normal distribution truncated to [a, b].
struct TruncatedNormal {
  double mean, std, a, b;
};
// Fill values [n].
void draw_truncated_normal(Generator& generator, index_t n, float* values,
                           const TruncatedNormal& normal);
void draw_truncated_normal(Generator& generator, index_t n, double* values,
                           const TruncatedNormal& normal);

}  // namespace detail

// Sets all elements of x to `value`.
template <class X>
void constant_(X&& x, double value) {
  using T = detail::Element<X>;
  const std::vector<T> values(static_cast<std::size_t>(x.numel()), static_cast<T>(value));
  if (!values.empty()) x.device().upload(x.data(), values.data(), values.size() * sizeof(T));
}
// Sets all elements of x to 0.
template <class X>
void zeros_(X&& x) {
  constant_(x, 0);
}
// Sets all elements of x to 1.
template <class X>
void ones_(X&& x) {
  constant_(x, 1);
}

// Draws x from the uniform distribution on [a, b). Throws Error unless a <= b, both finite.
template <class X>
void uniform_(X&& x, double a = 0, double b = 1, Generator& generator = default_generator()) {
  require(a <= b && std::isfinite(b - a), "gpunet::nn::init::uniform_: from ", a, " to ", b,
          " (want finite numbers, the lower one first)");
  detail::draw(x, generator, [&]<class T>(T* values, index_t n) {
    draw_uniform(generator, n, values, static_cast<T>(a), static_cast<T>(b));
  });
}

// Draws x from the normal distribution. Throws Error if std is negative.
template <class X>
void normal_(X&& x, double mean = 0, double std = 1, Generator& generator = default_generator()) {
  require(std >= 0, "gpunet::nn::init::normal_: invalid standard deviation ", std,
          " (want 0 or more)");
  detail::draw(x, generator,
               [&](auto* values, index_t n) { draw_normal(generator, n, values, mean, std); });
}

// Draws x from the normal distribution truncated to [a, b]. Throws Error unless std > 0 and a < b.
template <class X>
void trunc_normal_(X&& x, double mean = 0, double std = 1, double a = -2, double b = 2,
                   Generator& generator = default_generator()) {
  require(std > 0 && a < b, "gpunet::nn::init::trunc_normal_: a standard deviation of ", std,
          " from ", a, " to ", b, " (want more than 0, and a range)");
  detail::draw(x, generator, [&](auto* values, index_t n) {
    detail::draw_truncated_normal(generator, n, values, {mean, std, a, b});
  });
}

// Fan in and fan out of a parameter [out, in, ...]: the inputs of one output, and the outputs of
// one input.
struct Fans {
  index_t in, out;
};
// Returns the fans of a parameter of these sizes. Throws Error for fewer than two dimensions.
Fans fans_of(const Sizes& sizes);

// Whether the variance is preserved in the forward pass (fan_in) or the backward pass (fan_out).
enum class FanMode { fan_in, fan_out };

namespace detail {

// Return the standard deviations of kaiming_normal_ and xavier_normal_.
double kaiming_std(const Sizes& sizes, double a, FanMode mode, Nonlinearity nonlinearity);
double xavier_std(const Sizes& sizes, double gain);

}  // namespace detail

// Initializes x after He et al. 2015: uniform with bounds sqrt(3) gain / sqrt(fan), or normal with
// standard deviation gain / sqrt(fan). Throws Error for fewer than two dimensions.
template <class X>
void kaiming_uniform_(X&& x, double a = 0, FanMode mode = FanMode::fan_in,
                      Nonlinearity nonlinearity = Nonlinearity::leaky_relu,
                      Generator& generator = default_generator()) {
  const double bound = std::sqrt(3.0) * detail::kaiming_std(x.sizes(), a, mode, nonlinearity);
  uniform_(x, -bound, bound, generator);
}
template <class X>
void kaiming_normal_(X&& x, double a = 0, FanMode mode = FanMode::fan_in,
                     Nonlinearity nonlinearity = Nonlinearity::leaky_relu,
                     Generator& generator = default_generator()) {
  normal_(x, 0, detail::kaiming_std(x.sizes(), a, mode, nonlinearity), generator);
}

// Initializes x after Glorot and Bengio 2010: normal with standard deviation gain
// sqrt(2 / (fan in + fan out)), or uniform with sqrt(3) times that as bounds. Throws Error for
// fewer than two dimensions.
template <class X>
void xavier_uniform_(X&& x, double gain = 1, Generator& generator = default_generator()) {
  const double bound = std::sqrt(3.0) * detail::xavier_std(x.sizes(), gain);
  uniform_(x, -bound, bound, generator);
}
template <class X>
void xavier_normal_(X&& x, double gain = 1, Generator& generator = default_generator()) {
  normal_(x, 0, detail::xavier_std(x.sizes(), gain), generator);
}

}  // namespace gpunet::nn::init

#if !GPUNET_COMPILED
#include <gpunet/nn/init.ipp>
#endif
