// Two layers and a loss of a program's own: docs/adding_a_layer.md tells how they came about.
#pragma once

#include <array>
#include <cmath>
#include <string>

#include <gpunet/gpunet.hpp>

namespace mine {

using gpunet::index_t;

// y = x where x > 0, else slope x, as torch.nn.LeakyReLU: the layer is nn::Elementwise<LeakyReLU>.
struct LeakyReLU {
  double negative_slope = 0.01;

  template <class T>
  GPUNET_FN T value(T x) const {
    return x > T{} ? x : static_cast<T>(negative_slope) * x;
  }
  template <class T>
  GPUNET_FN T gradient(T x, T, T dy) const {  // from x, y and dy
    return x > T{} ? dy : static_cast<T>(negative_slope) * dy;
  }
  std::string extra_repr(const gpunet::Sizes&, const gpunet::Sizes&) const {
    return gpunet::concat("negative_slope=", negative_slope);
  }
};

// PReLU and its gradient; the slope is a parameter in device memory. One index = one element.
template <class T>
struct PReLUForward {
  const T *x, *slope;
  T* y;
  GPUNET_FN void operator()(index_t i) const { y[i] = x[i] > T{} ? x[i] : *slope * x[i]; }
};
template <class T>
struct PReLUInputGradient {
  const T *x, *dy, *slope;
  T* dx;
  GPUNET_FN void operator()(index_t i) const { dx[i] = x[i] > T{} ? dy[i] : *slope * dy[i]; }
};

// The gradient of the slope: the sum of x dy over all elements with x <= 0. Padding samples add 0,
// because their dy is 0.
template <class T>
struct PReLUSlopeGradient {
  const T *x, *dy;
  T* gradient;
  gpunet::Accumulate accumulate;
  GPUNET_FN T operator()(index_t, index_t r) const { return x[r] > T{} ? T{} : x[r] * dy[r]; }
  GPUNET_FN void store(index_t, T sum) const { gpunet::store_gradient(*gradient, sum, accumulate); }
};

// PReLU with one learned slope for all elements, as torch.nn.PReLU(): its parameter is "weight", of
// shape [1].
struct PReLU {
  double init = 0.25;

  constexpr auto output(auto in) const { return in; }
  constexpr auto parameters(auto) const {
    return std::array{gpunet::nn::constant("weight", {1}, init)};
  }

  template <class D, class T>
  void forward(D& device, const gpunet::ForwardPass<T>& pass) const {
    for_each(device, pass.out_elements(), PReLUForward<T>{pass.x, pass.parameters[0], pass.y});
  }

  template <class D, class T>
  void backward(D& device, const gpunet::BackwardPass<T>& pass) const {
    const index_t n = pass.in_elements();
    sum_each(device, 1, n,
             PReLUSlopeGradient<T>{pass.x, pass.dy, pass.gradients[0], pass.accumulate});
    if (pass.dx)
      for_each(device, n, PReLUInputGradient<T>{pass.x, pass.dy, pass.parameters[0], pass.dx});
  }

  std::string extra_repr(const gpunet::Sizes&, const gpunet::Sizes&) const {
    return "num_parameters=1";
  }
};

// to[i] = 0 where the random number of element i is below p, else scale from[i]. One index = one
// element.
template <class T>
struct DropElements {
  float p;
  T scale;
  const T* from;
  T* to;
  GPUNET_FN void operator()(index_t i, float random) const {
    to[i] = random < p ? T{} : scale * from[i];
  }
};

// Zeroes elements with probability p and scales the others by 1 / (1 - p) in training mode, as
// torch.nn.Dropout.
struct Dropout {
  float p = 0.5f;

  constexpr auto output(auto in) const { return in; }
  gpunet::OpTraits traits(const gpunet::Sizes&, const gpunet::Sizes&) const {
    return {.uses_random = true};
  }

  template <class D, class T>
  void forward(D& device, const gpunet::ForwardPass<T>& pass) const {
    run(device, pass, pass.x, pass.y);
  }
  template <class D, class T>
  void backward(D& device, const gpunet::BackwardPass<T>& pass) const {
    if (pass.dx) run(device, pass, static_cast<const T*>(pass.dy), pass.dx);
  }

 private:
  template <class D, class T>
  void run(D& device, const gpunet::OpPass& pass, const T* from, T* to) const {
    const float now = pass.mode == gpunet::nn::Mode::train ? p : 0;
    for_each_random(device, pass, DropElements<T>{now, T{1} / (T{1} - T{now}), from, to});
  }
};

// The logarithm of the hyperbolic cosine of the error.
struct LogCosh {
  static constexpr std::string_view name = "LogCosh";
  template <class T>
  GPUNET_FN T value(T x, T t) const {
    const T error = x > t ? x - t : t - x;  // cosh itself would overflow
    return error + std::log1p(std::exp(-2 * error)) - std::log(T{2});
  }
  template <class T>
  GPUNET_FN T gradient(T x, T t) const {
    return std::tanh(x - t);
  }  // by x
};

// 1 - cos(x, t) of one sample and its gradient. One index = one sample of the slice.
template <class T>
struct CosineDistance {
  gpunet::nn::LossPass<T, T> pass;
  GPUNET_FN void operator()(index_t n) const {
    T xx{}, tt{}, xt{};
    for (index_t k = 0; k < pass.features && n < pass.slice.count; ++k) {
      const T x = pass.x[at(n, k)], t = pass.targets[n * pass.features + k];
      xx += x * x;
      tt += t * t;
      xt += x * t;
    }
    const T norms = std::sqrt(xx * tt);
    if (n < pass.slice.count) pass.losses[n] = 1 - xt / norms;
    for (index_t k = 0; k < pass.features; ++k) {
      const bool padding = n >= pass.slice.count;
      const T gradient =
          padding ? T{} : pass.x[at(n, k)] * xt / xx - pass.targets[n * pass.features + k];
      pass.dx[at(n, k)] = padding ? T{} : pass.scale * gradient / norms;
    }
  }

 private:
  GPUNET_FN index_t at(index_t n, index_t k) const {
    return pass.slice.offset(n, k, pass.features);
  }
};

// The mean over the batch of 1 - cos(x, t): outputs x and targets t [batch, features].
struct CosineLoss : gpunet::nn::LossFunction<CosineLoss> {
  using target_type = void;  // that of the outputs, float or double; label_t for classes

  gpunet::nn::LossTraits traits(const gpunet::Sizes& output) const {
    return {.target = output};
  }  // default: one number

  // At compile time: refuses wrong shapes of the network's output.
  template <class In>
  static constexpr void check_shape(In) {
    static_assert(
        In::rank == 1,
        "mine::CosineLoss: the network's output has to have rank 1, end it with a Linear");
  }

  // For each batch: refuses invalid targets, on devices whose memory the host can read.
  template <class D, class T>
  void check(D&, gpunet::View<const T, D>, index_t) const {}

  template <class D, class T>
  void evaluate(D& device, const gpunet::nn::LossPass<T, T>& pass) const {
    for_each(device, pass.slice.samples(), CosineDistance<T>{pass});
  }
};

}  // namespace mine
