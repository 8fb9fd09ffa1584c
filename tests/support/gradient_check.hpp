// The numeric gradient check that every layer, every loss and every network has to pass, in double.
#pragma once

#include <functional>

#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/guarded_buffer.hpp"
#include "support/layer_run.hpp"

inline constexpr double gradient_tolerance = 1e-7;  // relative, see relative_error

// d f / d t at 0 by the central difference of five points, whose error is of the order h^4. f returns several
// numbers.
inline std::vector<double> numeric_derivative(double h, const std::function<std::vector<double>(double)>& f) {
  const std::vector<double> far_right = f(2 * h), right = f(h), left = f(-h), far_left = f(-2 * h);
  std::vector<double> derivative;
  for (std::size_t i = 0; i < right.size(); ++i)
    derivative.push_back((8 * (right[i] - left[i]) - (far_right[i] - far_left[i])) / (12 * h));
  return derivative;
}

// A step that stays clear of the kinks between n spread_values.
inline double safe_step(gpunet::index_t n) {
  return std::min(1e-3, 0.25 / static_cast<double>(n));
}

// Of one layer, with dy random: the gradients of every input and of every parameter; that Accumulate::yes adds to
// what is there; that padding has the gradient 0; that a null dx changes nothing else.
template <class D>
void check_gradients(LayerRun<double, D>& run, std::uint64_t seed) {
  using gpunet::Accumulate, gpunet::index_t;
  gpunet::Generator generator(seed);
  const index_t features = run.in_features(), outputs = run.out_features(), count = run.slice().count;
  std::vector<double> x = spread_values(count * features, generator);
  std::vector<double> parameters = random_values<double>(run.parameter_count(), generator);
  const std::vector<double> dy = random_values<double>(count * outputs, generator);

  // For every sample n the sum of dy[n] y[n], whose gradient is what backward has to find.
  const auto losses = [&] {
    const std::vector<double> y = run.forward(x);
    std::vector<double> sums(static_cast<std::size_t>(count));
    for (index_t n = 0; n < count; ++n)
      sums.data()[n] =
          std::inner_product(y.data() + n * outputs, y.data() + (n + 1) * outputs, dy.data() + n * outputs, 0.0);
    return sums;
  };

  run.set_parameters(parameters);
  run.forward(x);
  const auto analytic = run.backward(dy);
  const std::vector<double> before = random_values<double>(run.parameter_count(), generator);
  const auto added = run.backward(dy, Accumulate::yes, before);
  const auto without_dx = run.backward(dy, Accumulate::no, {}, InputGradient::skip);

  std::vector<double> numeric_dx(x.size());
  const auto derivatives = [&](index_t k, index_t first, index_t end) {  // by feature k of some samples at a time
    const std::vector<double> kept = x;
    const auto derivative = numeric_derivative(safe_step(count * features), [&](double t) {
      for (index_t n = first; n < end; ++n)
        x.data()[n * features + k] = kept.data()[n * features + k] + t;
      return losses();
    });
    x = kept;
    return derivative;
  };
  for (index_t k = 0; k < features; ++k)
    if (run.couples_samples()) {
      for (index_t n = 0; n < count; ++n) {
        const std::vector<double> of_losses = derivatives(k, n, n + 1);
        numeric_dx.data()[n * features + k] = std::accumulate(of_losses.begin(), of_losses.end(), 0.0);
      }
    } else {  // all at once: they do not depend on each other
      const std::vector<double> of_losses = derivatives(k, 0, count);
      for (index_t n = 0; n < count; ++n)
        numeric_dx.data()[n * features + k] = of_losses.data()[n];
    }
  std::vector<double> numeric_parameters;
  for (double& parameter : parameters) {
    const double kept = parameter;
    const auto derivative = numeric_derivative(1e-3, [&](double t) {
      parameter = kept + t;
      run.set_parameters(parameters);
      return losses();
    });
    parameter = kept;
    numeric_parameters.push_back(std::accumulate(derivative.begin(), derivative.end(), 0.0));
  }

  CHECK(relative_error(numeric_dx, analytic.dx) < gradient_tolerance);
  CHECK(relative_error(numeric_parameters, analytic.parameters) < gradient_tolerance);
  CHECK(analytic.padding == std::vector<double>(analytic.padding.size()));
  CHECK(added.dx == analytic.dx);
  std::vector<double> difference;
  for (std::size_t i = 0; i < before.size(); ++i)
    difference.push_back(added.parameters[i] - before[i]);
  CHECK(relative_error(difference, analytic.parameters) < 1e-13);
  CHECK(without_dx.parameters == analytic.parameters);
}

// The same of a layer for the input shape `in` on one slice.
template <class D, class L, class In>
void check_layer_gradients(D& device, const L& layer, In in, const gpunet::Slice& slice, std::uint64_t seed = 1) {
  CAPTURE(gpunet::to_string(in.sizes()));
  CAPTURE(slice.count);
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  LayerRun<double, D> run(device, layer, in, slice);
  check_gradients(run, seed);
}

// Of one loss on one slice, with random targets below `classes`: the gradient of scale times the sum of the losses.
template <class D, class Loss>
void check_loss_gradients(D& device, const Loss& loss, gpunet::index_t classes, const gpunet::Slice& slice,
                          std::uint64_t seed = 1) {
  using gpunet::index_t;
  using Target = typename Loss::target_type;
  CAPTURE(classes);
  CAPTURE(slice.count);
  CAPTURE(slice.outer);
  CAPTURE(slice.inner);
  constexpr double scale = 0.375;
  gpunet::Generator generator(seed);
  std::vector<double> x = random_values<double>(slice.count * classes, generator, -3.0, 3.0);
  std::vector<Target> targets;
  for (index_t n = 0; n < slice.count; ++n)
    targets.push_back(static_cast<Target>(generator.random() % classes));
  const gpunet::Tensor<Target, D> device_targets(device, {slice.count}, targets);
  GuardedBuffer<double, D> device_x(device, slice.samples() * classes), dx(device, slice.samples() * classes);
  GuardedBuffer<double, D> losses(device, slice.count);
  const auto evaluate = [&] {
    device_x.upload(to_slice_order(slice, classes, x));
    dx.fill_with_nan();
    loss.evaluate(
        device, gpunet::nn::LossPass<double, Target>{slice, classes, device_x.data(), device_targets.data(), scale,
                                                     losses.data(), dx.data()});
    return losses.download();
  };

  evaluate();
  const gpunet::Slice all{slice.samples(), slice.outer, slice.inner};
  std::vector<double> analytic = to_rows(all, classes, dx.download().data());
  const std::vector<double> padding(analytic.begin() + slice.count * classes, analytic.end());
  analytic.resize(x.size());
  std::vector<double> numeric(x.size());
  for (index_t k = 0; k < classes; ++k) {
    const std::vector<double> kept = x;
    const auto derivative = numeric_derivative(1e-3, [&](double t) {
      for (index_t n = 0; n < slice.count; ++n)
        x.data()[n * classes + k] = kept.data()[n * classes + k] + t;
      return evaluate();
    });
    x = kept;
    for (index_t n = 0; n < slice.count; ++n)
      numeric.data()[n * classes + k] = scale * derivative.data()[n];
  }
  CHECK(relative_error(numeric, analytic) < gradient_tolerance);
  CHECK(padding == std::vector<double>(padding.size()));
}

// Of a network in a model, for a batch of random inputs and targets: the gradient of the loss with respect to every
// parameter, by loss.backward() and by Model::forward_backward.
template <class D, class Net, class Loss>
void check_network_gradients(D& device, const Net& net, gpunet::index_t batch, const Loss& loss,
                             std::uint64_t seed = 1) {
  using Target = typename Loss::target_type;
  CAPTURE(batch);
  gpunet::Generator generator(seed);
  gpunet::manual_seed(seed);
  gpunet::Model<Net, D, double> model(device, net);
  const gpunet::index_t classes = model.plan().output_features;
  const auto sizes = net.input().sizes().with_front(batch);
  const gpunet::Tensor<double, D> x(device, sizes, random_values<double>(sizes.numel(), generator));
  std::vector<Target> labels;
  for (gpunet::index_t n = 0; n < batch; ++n)
    labels.push_back(static_cast<Target>(generator.random() % classes));
  const gpunet::Tensor<Target, D> targets(device, {batch}, labels);

  std::vector<double> arena(static_cast<std::size_t>(model.parameters().numel()));
  const std::size_t bytes = arena.size() * sizeof(double);
  const auto gradient = [&] {
    device.download(arena.data(), model.gradients().data(), bytes);
    return arena;
  };
  loss(model(x), targets).backward();
  const std::vector<double> analytic = gradient();
  model.zero_grad();
  model.forward_backward(x, loss, targets.view());
  CHECK(gradient() == analytic);

  device.download(arena.data(), model.parameters().data(), bytes);
  std::vector<double> numeric(arena.size());
  for (const auto& parameter : model.named_parameters())
    for (gpunet::index_t i = parameter.offset; i < parameter.offset + parameter.sizes.numel(); ++i) {
      const double kept = arena.data()[i];
      const auto value = [&](double t) {
        arena.data()[i] = kept + t;
        device.upload(model.parameters().data(), arena.data(), bytes);
        return std::vector{static_cast<double>(loss(model(x), targets).item())};
      };
      numeric.data()[i] = numeric_derivative(1e-4, value)[0];
      arena.data()[i] = kept;
    }
  CHECK(relative_error(numeric, analytic) < gradient_tolerance);
}
