// Element-wise activations, with PyTorch's names, definitions and defaults.
#pragma once

#include <string>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/device/functor_math.hpp>
#include <gpunet/nn/layer.hpp>
#include <gpunet/ops/clamp.hpp>
#include <gpunet/ops/elementwise.hpp>

namespace gpunet::nn {

namespace detail {

// What all of them have: a layer F whose value(x) and gradient(x, y, dy) make it an op. The options
// of a layer are arguments of its constructor; in a network that is a type it has its defaults.
template <class F>
struct ActivationLayer {
  static constexpr bool is_of_gpunet = true;

  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return in; }
  // The function, for merging with neighbors (Sequential).
  constexpr F function() const { return static_cast<const F&>(*this); }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    builder.set_layer(gpunet::detail::signature<F>());
    return builder.add(ElementwiseOp<F>{function()}, x, in.sizes());
  }
};

// 1 / (1 + exp(-x))
template <class T>
GPUNET_FN T logistic(T x) {
  return T{1} / (T{1} + math::exp(-x));
}
// log(1 + exp(x)), without overflow
template <class T>
GPUNET_FN T log_one_plus_exp(T x) {
  return math::select(x > T{}, x, T{}) + math::log1p(math::exp(-math::select(x < T{}, -x, x)));
}

// Writes "name=value", as PyTorch prints an option.
inline std::string option_text(const char* name, double value) {
  return concat(name, "=", gpunet::detail::python_repr(value));
}

}  // namespace detail

// (exp(x) - exp(-x)) / (exp(x) + exp(-x))
struct Tanh : detail::ActivationLayer<Tanh> {
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::tanh(x);
  }
  template <class T>
  GPUNET_FN T gradient(T, T y, T dy) const {
    return dy * (T{1} - y * y);
  }
};

// 1 / (1 + exp(-x))
struct Sigmoid : detail::ActivationLayer<Sigmoid> {
  template <class T>
  GPUNET_FN T value(T x) const {
    return detail::logistic(x);
  }
  template <class T>
  GPUNET_FN T gradient(T, T y, T dy) const {
    return dy * (T{1} - y) * y;
  }
};

// min(max(x, min_val), max_val)
class Hardtanh : public detail::ActivationLayer<Hardtanh> {
 public:
  constexpr explicit Hardtanh(double min_val = -1, double max_val = 1)
      : low_(min_val), high_(max_val) {
    require(min_val < max_val, "gpunet::nn::Hardtanh: min_val ", min_val, " and max_val ", max_val,
            " (want the second to be larger)");
  }
  template <class T>
  GPUNET_FN T value(T x) const {
    return clamp<T>()(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return clamp<T>().gradient(x, dy);
  }
  Bounds bounds() const { return {low_, high_}; }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat(detail::option_text("min_val", low_), ", ",
                  detail::option_text("max_val", high_));
  }

 private:
  template <class T>
  GPUNET_FN Clamp<T> clamp() const {
    return {static_cast<T>(low_), static_cast<T>(high_)};
  }

  double low_, high_;
};

// min(max(x, 0), 6)
struct ReLU6 : detail::ActivationLayer<ReLU6> {
  template <class T>
  GPUNET_FN T value(T x) const {
    return Clamp<T>(T{}, T{6})(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return Clamp<T>(T{}, T{6}).gradient(x, dy);
  }
  static Bounds bounds() { return {0, 6}; }
};

// x where it is positive, else negative_slope * x
class LeakyReLU : public detail::ActivationLayer<LeakyReLU> {
 public:
  constexpr explicit LeakyReLU(double negative_slope = 0.01) : slope_(negative_slope) {}
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::select(x > T{}, x, x * static_cast<T>(slope_));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return math::select(x > T{}, dy, dy * static_cast<T>(slope_));
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return detail::option_text("negative_slope", slope_);
  }

 private:
  double slope_;
};

// x where it is positive, else alpha * (exp(x) - 1)
class ELU : public detail::ActivationLayer<ELU> {
 public:
  constexpr explicit ELU(double alpha = 1) : alpha_(alpha) {}
  template <class T>
  GPUNET_FN T value(T x) const {
    return math::select(x > T{}, x, static_cast<T>(alpha_) * math::expm1(x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    // Of NaN dy, as in PyTorch.
    return math::select(x <= T{}, dy * static_cast<T>(alpha_) * math::exp(x), dy);
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return detail::option_text("alpha", alpha_);
  }

 private:
  double alpha_;
};

// scale * x where x is positive, else scale * alpha * (exp(x) - 1): Klambauer and others,
// "Self-Normalizing Neural Networks", NeurIPS 2017.
struct SELU : detail::ActivationLayer<SELU> {
  static constexpr double scale = 1.0507009873554804934193349852946,
                          alpha = 1.6732632423543772848170429916717;
  template <class T>
  GPUNET_FN T value(T x) const {
    return static_cast<T>(scale) * math::select(x > T{}, x, static_cast<T>(alpha) * math::expm1(x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return static_cast<T>(scale) *
           math::select(x <= T{}, dy * static_cast<T>(alpha) * math::exp(x), dy);
  }
};

namespace detail {

struct GELUByErf {
  static std::string extra_repr(const Sizes&, const Sizes&) { return "approximate='none'"; }
  static constexpr double inverse_root = 0.70710678118654752440;  // 1 / sqrt(2)
  static constexpr double density = 0.39894228040143267794;       // 1 / sqrt(2 pi)

  template <class T>
  GPUNET_FN T below(T x) const {
    return T{0.5} * (T{1} + math::erf(x * static_cast<T>(inverse_root)));
  }
  template <class T>
  GPUNET_FN T value(T x) const {
    return x * below(x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy * (below(x) + x * static_cast<T>(density) * math::exp(T{-0.5} * x * x));
  }
};

struct GELUByTanh {
  static std::string extra_repr(const Sizes&, const Sizes&) { return "approximate='tanh'"; }
  static constexpr double root = 0.79788456080286535588, cubic = 0.044715;  // sqrt(2 / pi)

  template <class T>
  GPUNET_FN T tanh_of(T x) const {
    return math::tanh(static_cast<T>(root) * (x + static_cast<T>(cubic) * x * x * x));
  }
  template <class T>
  GPUNET_FN T value(T x) const {
    return T{0.5} * x * (T{1} + tanh_of(x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    const T t = tanh_of(x),
            slope = static_cast<T>(root) * (T{1} + T{3} * static_cast<T>(cubic) * x * x);
    return dy * T{0.5} * (T{1} + t + x * (T{1} - t * t) * slope);
  }
};

}  // namespace detail

// How GELU computes the distribution function.
enum class Approximate { none, tanh };

// x P(X < x) for a normally distributed X: x (1 + erf(x / sqrt(2))) / 2, or an approximation by
// tanh. Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016.
class GELU {
 public:
  constexpr explicit GELU(Approximate approximate = Approximate::none)
      : approximate_(approximate) {}
  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return in; }

  // Appends the op, see layer.hpp.
  template <class Builder, class In>
  value_t lower(Builder& builder, value_t x, In in) const {
    builder.set_layer(gpunet::detail::signature<GELU>());
    if (approximate_ == Approximate::none)
      return builder.add(ElementwiseOp<detail::GELUByErf>{}, x, in.sizes());
    return builder.add(ElementwiseOp<detail::GELUByTanh>{}, x, in.sizes());
  }

 private:
  Approximate approximate_;
};

// x / (1 + exp(-x))
struct SiLU : detail::ActivationLayer<SiLU> {
  template <class T>
  GPUNET_FN T value(T x) const {
    return x / (T{1} + math::exp(-x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    const T s = detail::logistic(x);
    return dy * s * (T{1} + x * (T{1} - s));
  }
};

// x tanh(log(1 + exp(x)))
struct Mish : detail::ActivationLayer<Mish> {
  template <class T>
  GPUNET_FN T value(T x) const {
    return x * math::tanh(detail::log_one_plus_exp(x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    const T t = math::tanh(detail::log_one_plus_exp(x));
    return dy * (t + x * detail::logistic(x) * (T{1} - t * t));
  }
};

// log(1 / (1 + exp(-x)))
struct LogSigmoid : detail::ActivationLayer<LogSigmoid> {
  template <class T>
  GPUNET_FN T value(T x) const {
    return -detail::log_one_plus_exp(-x);
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return dy * detail::logistic(-x);
  }
};

// log(1 + exp(beta * x)) / beta; x where beta * x is above the threshold
class Softplus : public detail::ActivationLayer<Softplus> {
 public:
  constexpr explicit Softplus(double beta = 1, double threshold = 20)
      : beta_(beta), threshold_(threshold) {
    require(beta != 0,
            "gpunet::nn::Softplus: beta 0 (the result is divided by it), want another number");
  }
  template <class T>
  GPUNET_FN T value(T x) const {
    const T z = x * static_cast<T>(beta_);
    return math::select(z > static_cast<T>(threshold_), x,
                        detail::log_one_plus_exp(z) / static_cast<T>(beta_));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    const T z = x * static_cast<T>(beta_);
    return math::select(z > static_cast<T>(threshold_), dy, dy * detail::logistic(z));
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat(detail::option_text("beta", beta_), ", ",
                  detail::option_text("threshold", threshold_));
  }

 private:
  double beta_, threshold_;
};

// x / (1 + |x|)
struct Softsign : detail::ActivationLayer<Softsign> {
  template <class T>
  GPUNET_FN T value(T x) const {
    return x / (T{1} + (x < T{} ? -x : x));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    const T below = T{1} + (x < T{} ? -x : x);
    return dy / (below * below);
  }
};

// 0 up to -3, x from 3, x (x + 3) / 6 between
struct Hardswish : detail::ActivationLayer<Hardswish> {
  template <class T>
  GPUNET_FN T value(T x) const {
    const T above = x + T{3};
    return x * (above < T{} ? T{} : above > T{6} ? T{6} : above) / T{6};
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return math::select(x <= T{-3}, T{}, math::select(x < T{3}, dy * (x / T{3} + T{0.5}), dy));
  }
};

// 0 up to -3, 1 from 3, (x + 3) / 6 between
struct Hardsigmoid : detail::ActivationLayer<Hardsigmoid> {
  template <class T>
  GPUNET_FN T value(T x) const {
    const T above = x + T{3};
    return (above < T{} ? T{} : above > T{6} ? T{6} : above) / T{6};
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return math::select(x > T{-3} && x < T{3}, dy / T{6}, T{});
  }
};

}  // namespace gpunet::nn

#if GPUNET_COMPILED
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Tanh>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Sigmoid>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Hardtanh>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::ReLU6>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::LeakyReLU>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::ELU>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::SELU>>);
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::GELUByErf>>);
GPUNET_EXTERN_KERNELS(
    gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::detail::GELUByTanh>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::SiLU>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Mish>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::LogSigmoid>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Softplus>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Softsign>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Hardswish>>);
GPUNET_EXTERN_KERNELS(gpunet::detail::OwnKernels<gpunet::ElementwiseOp<gpunet::nn::Hardsigmoid>>);
#endif
