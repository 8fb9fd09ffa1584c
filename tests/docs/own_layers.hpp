// Two layers and a loss of a program's own: docs/adding_a_layer.md tells how they came about.
#pragma once

#include <array>
#include <string>

#include <gpunet/gpunet.hpp>

namespace mine {

using gpunet::index_t;

// y = x where x > 0, else slope x.
template <class T>
struct Leak {
  T slope;
  GPUNET_FN T operator()(T x) const { return x > T{} ? x : slope * x; }
};

// dx = dy where x > 0, else slope dy.
template <class T>
struct LeakGradient {
  T slope;
  GPUNET_FN T operator()(T x, T dy) const { return x > T{} ? dy : slope * dy; }
};

// Like ReLU, but for a small slope below zero, element by element, as torch.nn.LeakyReLU.
struct LeakyReLU {
  double negative_slope = 0.01;

  constexpr auto output(auto in) const { return in; }  // the shape stays

  template <class D, class In, class T>
  void forward(D& device, In in, const gpunet::nn::ForwardPass<T>& pass) const {
    map(device, pass.slice.samples() * in.numel(), Leak<T>{static_cast<T>(negative_slope)}, pass.x, pass.y);
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const gpunet::nn::BackwardPass<T>& pass) const {
    if (!pass.dx) return;  // the first layer: nobody asks
    map(device, pass.slice.samples() * in.numel(), LeakGradient<T>{static_cast<T>(negative_slope)}, pass.x, pass.dy,
        pass.dx);
  }

  std::string extra_repr(auto) const { return gpunet::concat("negative_slope=", negative_slope); }
};

// The same where the slope is a parameter, which lies on the device. One index = one element.
template <class T>
struct PReLUForward {
  const T *x, *slope;
  T* y;
  GPUNET_FN void operator()(index_t i) const { y[i] = Leak<T>{*slope}(x[i]); }
};
template <class T>
struct PReLUInputGradient {
  const T *x, *dy, *slope;
  T* dx;
  GPUNET_FN void operator()(index_t i) const { dx[i] = LeakGradient<T>{*slope}(x[i], dy[i]); }
};

// The gradient of the slope: the sum of x dy over all elements with x <= 0. Those of padding samples add 0, as dy is 0 there.
template <class T>
struct PReLUSlopeGradient {
  const T *x, *dy;
  T* gradient;
  gpunet::Accumulate accumulate;
  GPUNET_FN T operator()(index_t, index_t r) const { return x[r] > T{} ? T{} : x[r] * dy[r]; }
  GPUNET_FN void store(index_t, T sum) const { gpunet::store_gradient(*gradient, sum, accumulate); }
};

// A slope that is learned, one for all elements, as torch.nn.PReLU(): its parameter is "weight", of shape [1].
struct PReLU {
  double init = 0.25;

  constexpr auto output(auto in) const { return in; }
  constexpr auto parameters(auto) const { return std::array{gpunet::nn::constant("weight", {1}, init)}; }

  template <class D, class In, class T>
  void forward(D& device, In in, const gpunet::nn::ForwardPass<T>& pass) const {
    for_each(device, pass.slice.samples() * in.numel(), PReLUForward<T>{pass.x, pass.parameters[0], pass.y});
  }

  template <class D, class In, class T>
  void backward(D& device, In in, const gpunet::nn::BackwardPass<T>& pass) const {
    const index_t n = pass.slice.samples() * in.numel();
    sum_each(device, 1, n, PReLUSlopeGradient<T>{pass.x, pass.dy, pass.gradients[0], pass.accumulate});
    if (pass.dx) for_each(device, n, PReLUInputGradient<T>{pass.x, pass.dy, pass.parameters[0], pass.dx});
  }

  std::string extra_repr(auto) const { return "num_parameters=1"; }
};

// The square of x - target and its gradient, where there is one x for each sample. One index = one sample of the slice.
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

// The mean over the batch of (x - target)^2, as torch.nn.MSELoss on net(inputs).squeeze(1): one number for each sample.
struct MSELoss : gpunet::nn::LossFunction<MSELoss> {
  using target_type = float;  // criterion(net(inputs), targets) takes a Tensor<float, D> [batch]

  // At compile time: the shape that the network's output must have.
  template <class In>
  static constexpr void check_shape(In) {
    static_assert(In::rank == 1, "mine::MSELoss: the network's output has to have rank 1, end it with Linear<1>");
  }

  // For each batch: run-time sizes, and targets where the device's memory can be read here.
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
