// Two layers and a loss of a program's own: docs/adding_a_layer.md tells how they came about.
#pragma once

#include <array>
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

// The gradient of the slope: the sum of x dy over all elements with x <= 0. Padding samples add 0, because their dy is 0.
template <class T>
struct PReLUSlopeGradient {
  const T *x, *dy;
  T* gradient;
  gpunet::Accumulate accumulate;
  GPUNET_FN T operator()(index_t, index_t r) const { return x[r] > T{} ? T{} : x[r] * dy[r]; }
  GPUNET_FN void store(index_t, T sum) const { gpunet::store_gradient(*gradient, sum, accumulate); }
};

// PReLU with one learned slope for all elements, as torch.nn.PReLU(): its parameter is "weight", of shape [1].
struct PReLU {
  double init = 0.25;

  constexpr auto output(auto in) const { return in; }
  constexpr auto parameters(auto) const { return std::array{gpunet::nn::constant("weight", {1}, init)}; }

  template <class D, class T>
  void forward(D& device, const gpunet::ForwardPass<T>& pass) const {
    for_each(device, pass.out_elements(), PReLUForward<T>{pass.x, pass.parameters[0], pass.y});
  }

  template <class D, class T>
  void backward(D& device, const gpunet::BackwardPass<T>& pass) const {
    const index_t n = pass.in_elements();
    sum_each(device, 1, n, PReLUSlopeGradient<T>{pass.x, pass.dy, pass.gradients[0], pass.accumulate});
    if (pass.dx) for_each(device, n, PReLUInputGradient<T>{pass.x, pass.dy, pass.parameters[0], pass.dx});
  }

  std::string extra_repr(const gpunet::Sizes&, const gpunet::Sizes&) const { return "num_parameters=1"; }
};

// to[i] = 0 where the random number of element i is below p, else scale from[i]. One index = one element.
template <class T>
struct DropElements {
  float p;
  T scale;
  const T* from;
  T* to;
  GPUNET_FN void operator()(index_t i, float random) const { to[i] = random < p ? T{} : scale * from[i]; }
};

// Zeroes elements with probability p and scales the others by 1 / (1 - p) in training mode, as torch.nn.Dropout.
struct Dropout {
  float p = 0.5f;

  constexpr auto output(auto in) const { return in; }
  gpunet::OpTraits traits(const gpunet::Sizes&, const gpunet::Sizes&) const { return {.uses_random = true}; }

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

// The square of x - target and its gradient, for one x per sample. One index = one sample of the slice.
template <class T>
struct SquaredError {
  gpunet::nn::LossPass<T, float> pass;
  GPUNET_FN void operator()(index_t n) const {
    const index_t at = pass.slice.offset(n, 0, pass.features);
    if (n >= pass.slice.count) {
      pass.dx[at] = T{};  // padding
      return;
    }
    const T error = pass.x[at] - static_cast<T>(pass.targets[n]);
    pass.losses[n] = error * error;
    pass.dx[at] = pass.scale * 2 * error;
  }
};

// The mean over the batch of (x - target)^2, as torch.nn.MSELoss on net(inputs).squeeze(1): x and target [batch].
struct MSELoss : gpunet::nn::LossFunction<MSELoss> {
  using target_type = float;  // criterion(net(inputs), targets) takes a Tensor<float, D> [batch]

  // At compile time: refuses wrong shapes of the network's output.
  template <class In>
  static constexpr void check_shape(In) {
    static_assert(In::rank == 1, "mine::MSELoss: the network's output has to have rank 1, end it with Linear<1>");
  }

  // For each batch: refuses wrong run-time sizes, and invalid targets on devices whose memory the host can read.
  template <class D>
  void check(D&, gpunet::View<const float, D>, index_t features) const {
    gpunet::require(features == 1, "mine::MSELoss: ", features,
                    " outputs (want 1), end the network with Linear<1>");
  }

  template <class D, class T>
  void evaluate(D& device, const gpunet::nn::LossPass<T, float>& pass) const {
    for_each(device, pass.slice.samples(), SquaredError<T>{pass});
  }
};

}  // namespace mine
