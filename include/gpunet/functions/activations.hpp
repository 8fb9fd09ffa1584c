// Activations, element by element, with PyTorch's names, definitions and defaults. Each is a layer;
// its function, with the name in lower case, takes values and tensors. A new one needs three
// places here: its struct, its function, and its line in a list at the end.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/device/functor_math.hpp>
#include <gpunet/functions/clamp.hpp>
#include <gpunet/functions/function.hpp>

namespace gpunet::nn {

namespace detail {

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

}  // namespace detail

// (exp(x) - exp(-x)) / (exp(x) + exp(-x))
struct Tanh : Function<Tanh> {
  static constexpr std::string_view function_name = "tanh";
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
struct Sigmoid : Function<Sigmoid> {
  static constexpr std::string_view function_name = "sigmoid";
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
class Hardtanh : public Function<Hardtanh> {
 public:
  static constexpr std::string_view function_name = "hardtanh";
  constexpr explicit Hardtanh(double min_val = -1, double max_val = 1)
      : low_(min_val), high_(max_val) {
    require(min_val < max_val, "gpunet::nn::Hardtanh: min_val ", min_val, " and max_val ", max_val,
            " (want the second to be larger)");
  }
  template <class T>
  GPUNET_FN static T value(T x, T min_val, T max_val) {
    return Clamp<T>(min_val, max_val)(x);
  }
  template <class T>
  GPUNET_FN T value(T x) const {
    return value(x, static_cast<T>(low_), static_cast<T>(high_));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return Clamp<T>(static_cast<T>(low_), static_cast<T>(high_)).gradient(x, dy);
  }
  Bounds bounds() const { return {low_, high_}; }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat(gpunet::detail::option_text("min_val", low_), ", ",
                  gpunet::detail::option_text("max_val", high_));
  }
  constexpr std::array<double, 2> options() const { return {low_, high_}; }

 private:
  double low_, high_;
};

// min(max(x, 0), 6)
struct ReLU6 : Function<ReLU6> {
  static constexpr std::string_view function_name = "relu6";
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
class LeakyReLU : public Function<LeakyReLU> {
 public:
  static constexpr std::string_view function_name = "leaky_relu";
  constexpr explicit LeakyReLU(double negative_slope = 0.01) : slope_(negative_slope) {}
  template <class T>
  GPUNET_FN static T value(T x, T negative_slope) {
    return math::select(x > T{}, x, x * negative_slope);
  }
  template <class T>
  GPUNET_FN T value(T x) const {
    return value(x, static_cast<T>(slope_));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    return math::select(x > T{}, dy, dy * static_cast<T>(slope_));
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return gpunet::detail::option_text("negative_slope", slope_);
  }
  constexpr std::array<double, 1> options() const { return {slope_}; }

 private:
  double slope_;
};

// x where it is positive, else alpha * (exp(x) - 1)
class ELU : public Function<ELU> {
 public:
  static constexpr std::string_view function_name = "elu";
  constexpr explicit ELU(double alpha = 1) : alpha_(alpha) {}
  template <class T>
  GPUNET_FN static T value(T x, T alpha) {
    return math::select(x > T{}, x, alpha * math::expm1(x));
  }
  template <class T>
  GPUNET_FN T value(T x) const {
    return value(x, static_cast<T>(alpha_));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    // Of NaN dy, as in PyTorch.
    return math::select(x <= T{}, dy * static_cast<T>(alpha_) * math::exp(x), dy);
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return gpunet::detail::option_text("alpha", alpha_);
  }
  constexpr std::array<double, 1> options() const { return {alpha_}; }

 private:
  double alpha_;
};

// scale * x where x is positive, else scale * alpha * (exp(x) - 1): Klambauer and others,
// "Self-Normalizing Neural Networks", NeurIPS 2017.
struct SELU : Function<SELU> {
  static constexpr std::string_view function_name = "selu";
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

struct GELUByErf : Function<GELUByErf> {
  static constexpr std::string_view function_name = "gelu";
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

struct GELUByTanh : Function<GELUByTanh> {
  static constexpr std::string_view function_name = "gelu";
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
  static constexpr std::string_view function_name = "gelu";
  constexpr explicit GELU(Approximate approximate = Approximate::none)
      : approximate_(approximate) {}
  GPUNET_REFUSED_CALL

  constexpr auto output(auto in) const { return in; }

  // Appends the op, see layer.hpp.
  template <class Builder, class Value, class In>
  Value lower(Builder& builder, Value x, In in) const {
    builder.set_layer(gpunet::detail::signature<GELU>());
    if (approximate_ == Approximate::none) return detail::GELUByErf().append(builder, x, in);
    return detail::GELUByTanh().append(builder, x, in);
  }

 private:
  Approximate approximate_;
};

// x / (1 + exp(-x))
struct SiLU : Function<SiLU> {
  static constexpr std::string_view function_name = "silu";
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
struct Mish : Function<Mish> {
  static constexpr std::string_view function_name = "mish";
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
struct LogSigmoid : Function<LogSigmoid> {
  static constexpr std::string_view function_name = "logsigmoid";
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
class Softplus : public Function<Softplus> {
 public:
  static constexpr std::string_view function_name = "softplus";
  constexpr explicit Softplus(double beta = 1, double threshold = 20)
      : beta_(beta), threshold_(threshold) {
    require(beta != 0,
            "gpunet::nn::Softplus: beta 0 (the result is divided by it), want another number");
  }
  template <class T>
  GPUNET_FN static T value(T x, T beta, T threshold) {
    const T z = x * beta;
    return math::select(z > threshold, x, detail::log_one_plus_exp(z) / beta);
  }
  template <class T>
  GPUNET_FN T value(T x) const {
    return value(x, static_cast<T>(beta_), static_cast<T>(threshold_));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    const T z = x * static_cast<T>(beta_);
    return math::select(z > static_cast<T>(threshold_), dy, dy * detail::logistic(z));
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return concat(gpunet::detail::option_text("beta", beta_), ", ",
                  gpunet::detail::option_text("threshold", threshold_));
  }
  constexpr std::array<double, 2> options() const { return {beta_, threshold_}; }

 private:
  double beta_, threshold_;
};

// x / (1 + |x|)
struct Softsign : Function<Softsign> {
  static constexpr std::string_view function_name = "softsign";
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
struct Hardswish : Function<Hardswish> {
  static constexpr std::string_view function_name = "hardswish";
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
struct Hardsigmoid : Function<Hardsigmoid> {
  static constexpr std::string_view function_name = "hardsigmoid";
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

// 0 where |x| <= lambd, else x
class Hardshrink : public Function<Hardshrink> {
 public:
  static constexpr std::string_view function_name = "hardshrink";
  constexpr explicit Hardshrink(double lambd = 0.5) : lambd_(lambd) {}
  template <class T>
  GPUNET_FN static T value(T x, T lambd) {
    return math::select(x >= -lambd && x <= lambd, T{}, x);
  }
  template <class T>
  GPUNET_FN T value(T x) const {
    return value(x, static_cast<T>(lambd_));
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {
    const T lambd = static_cast<T>(lambd_);
    return math::select(x >= -lambd && x <= lambd, T{}, dy);
  }
  std::string extra_repr(const Sizes&, const Sizes&) const {
    return gpunet::detail::python_repr(lambd_);
  }
  constexpr std::array<double, 1> options() const { return {lambd_}; }

 private:
  double lambd_;
};

// Return these functions, element by element, of a value or a tensor.
template <FunctionArgument X>
auto tanh(X&& x) {
  return apply_function(Tanh(), std::forward<X>(x));
}
template <FunctionArgument X>
auto sigmoid(X&& x) {
  return apply_function(Sigmoid(), std::forward<X>(x));
}
template <FunctionArgument X>
auto hardtanh(X&& x, double min_val = -1, double max_val = 1) {
  return apply_function(Hardtanh(min_val, max_val), std::forward<X>(x));
}
template <FunctionArgument X>
auto relu6(X&& x) {
  return apply_function(ReLU6(), std::forward<X>(x));
}
template <FunctionArgument X>
auto leaky_relu(X&& x, double negative_slope = 0.01) {
  return apply_function(LeakyReLU(negative_slope), std::forward<X>(x));
}
template <FunctionArgument X>
auto elu(X&& x, double alpha = 1) {
  return apply_function(ELU(alpha), std::forward<X>(x));
}
template <FunctionArgument X>
auto selu(X&& x) {
  return apply_function(SELU(), std::forward<X>(x));
}
template <FunctionArgument X>
auto gelu(X&& x, Approximate approximate = Approximate::none) {
  if (approximate == Approximate::tanh)
    return apply_function(detail::GELUByTanh(), std::forward<X>(x));
  return apply_function(detail::GELUByErf(), std::forward<X>(x));
}
template <FunctionArgument X>
auto silu(X&& x) {
  return apply_function(SiLU(), std::forward<X>(x));
}
template <FunctionArgument X>
auto mish(X&& x) {
  return apply_function(Mish(), std::forward<X>(x));
}
template <FunctionArgument X>
auto logsigmoid(X&& x) {
  return apply_function(LogSigmoid(), std::forward<X>(x));
}
template <FunctionArgument X>
auto softplus(X&& x, double beta = 1, double threshold = 20) {
  return apply_function(Softplus(beta, threshold), std::forward<X>(x));
}
template <FunctionArgument X>
auto softsign(X&& x) {
  return apply_function(Softsign(), std::forward<X>(x));
}
template <FunctionArgument X>
auto hardswish(X&& x) {
  return apply_function(Hardswish(), std::forward<X>(x));
}
template <FunctionArgument X>
auto hardsigmoid(X&& x) {
  return apply_function(Hardsigmoid(), std::forward<X>(x));
}
template <FunctionArgument X>
auto hardshrink(X&& x, double lambd = 0.5) {
  return apply_function(Hardshrink(lambd), std::forward<X>(x));
}

}  // namespace gpunet::nn

namespace gpunet {

// The same names for tensors.
using nn::elu, nn::gelu, nn::hardshrink, nn::hardsigmoid, nn::hardswish, nn::hardtanh;
using nn::leaky_relu, nn::logsigmoid, nn::mish, nn::relu6, nn::selu, nn::sigmoid, nn::silu;
using nn::softplus, nn::softsign, nn::tanh;

}  // namespace gpunet

// All of them, by the number of their options: X(namespace, struct).
// clang-format off
#define GPUNET_ACTIVATIONS(X) \
  X(nn, ReLU6) X(nn, SELU) X(nn, SiLU) X(nn, Mish) X(nn, Tanh) X(nn, Sigmoid) X(nn, LogSigmoid) \
  X(nn, Softsign) X(nn, Hardswish) X(nn, Hardsigmoid)
#define GPUNET_ACTIVATIONS_OF_1(X) X(nn, LeakyReLU) X(nn, ELU) X(nn, Hardshrink)
#define GPUNET_ACTIVATIONS_OF_2(X) X(nn, Hardtanh) X(nn, Softplus)
#define GPUNET_GELUS(X) X(nn::detail, GELUByErf) X(nn::detail, GELUByTanh)
// clang-format on
