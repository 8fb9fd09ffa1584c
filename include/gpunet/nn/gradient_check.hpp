// Gradient checks of layers and losses by finite differences, in double. For tests; not in
// gpunet.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <string>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/random.hpp>
#include <gpunet/nn/layer_run.hpp>
#include <gpunet/nn/loss.hpp>
#include <gpunet/nn/value.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::nn {

// Returns n uniform random numbers from [low, high).
template <class T>
std::vector<T> random_values(index_t n, Generator& generator, T low = T{-1}, T high = T{1}) {
  std::vector<T> values;
  for (index_t i = 0; i < n; ++i)
    values.push_back(generator.uniform(low, high));
  return values;
}

// Returns n evenly spaced numbers between -2 and 2 in random order, none near 0: a small change of
// one crosses no kink of a maximum or a ReLU.
inline std::vector<double> spread_values(index_t n, Generator& generator) {
  std::vector<double> values;
  for (index_t i : randperm(n, generator))
    values.push_back(-2 + (static_cast<double>(i) + 0.25) * 4 / static_cast<double>(n));
  return values;
}

// Returns the distance of a and b relative to the larger norm: the maximum of Euclidean and maximum
// norm. 0 if they are equal; NaN if one contains NaN or their sizes differ.
template <class A, class B>
double relative_error(const std::vector<A>& a, const std::vector<B>& b) {
  if (a.size() != b.size()) return std::nan("");
  double squares_a = 0, squares_b = 0, squares = 0, most_a = 0, most_b = 0, most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double x = static_cast<double>(a[i]), y = static_cast<double>(b[i]);
    squares_a += x * x;
    squares_b += y * y;
    squares += (x - y) * (x - y);
    most_a = std::max(most_a, std::abs(x));
    most_b = std::max(most_b, std::abs(y));
    most = std::max(most, std::abs(x - y));
  }
  if (squares == 0) return 0;
  // NaN if a or b contains one.
  const double euclidean = std::sqrt(squares / std::max(squares_a, squares_b));
  const double maximum = most / std::max(most_a, most_b);
  return maximum > euclidean ? maximum : euclidean;
}

// The largest relative_error between gradients and finite differences that passes.
inline constexpr double gradient_tolerance = 1e-7;

// The derivative of a function at a point. At a kink or a jump, the range of the slopes on both
// sides.
struct Slope {
  double low = 0, high = 0;
  bool at_kink = false;

  // Returns the derivative that is nearest to `gradient`: at a kink any between the slopes is one.
  double nearest(double gradient) const {
    if (at_kink && low <= gradient && gradient <= high) return gradient;
    return gradient < low ? low : high;
  }
  Slope& operator+=(const Slope& other) {
    low += other.low;
    high += other.high;
    at_kink |= other.at_kink;
    return *this;
  }
};

namespace detail {

// The values of a function at -2h, -h, 0, h and 2h.
struct FivePoints {
  double h;
  std::array<double, 5> f;

  // Returns the slope between points i and i + 1.
  double slope(std::size_t i) const { return (f[i + 1] - f[i]) / h; }
  // Returns the derivative at 0 of a smooth function (error of order h^4).
  double derivative() const { return (8 * (f[3] - f[1]) - (f[4] - f[0])) / (12 * h); }
  // Returns whether the slopes on both sides differ by more than curvature and roundings explain.
  bool has_kink() const {
    double steepest = 0, largest = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      if (i < 4) steepest = std::max(steepest, std::abs(slope(i)));
      largest = std::max(largest, std::abs(f[i]));
    }
    const double bound = 1e-6 * steepest + 1e-14 * largest / h;
    // 0 where a kink is 2h/3 away; there the differences of five and of three points differ.
    const double bend = (f[0] - 4 * f[1] + 6 * f[2] - 4 * f[3] + f[4]) / (2 * h);
    return std::abs(bend) > bound || std::abs(derivative() - (f[3] - f[1]) / (2 * h)) > bound;
  }
  // Returns the slopes beside the inner points, between which a kink or jump is.
  Slope sides() const {
    const auto [low, high] = std::minmax({slope(0), slope(3)});
    const double curvature = 1e-4 * std::max(std::abs(low), std::abs(high));
    return {low - curvature, high + curvature, true};
  }
};

}  // namespace detail

// Returns d f / d t at 0, of a function with several results, by the central difference of five
// points; where a kink is among them, of closer ones.
inline std::vector<Slope> numeric_derivative(double h,
                                             const std::function<std::vector<double>(double)>& f) {
  const auto values_at = [&](double step) {
    return std::array{f(-2 * step), f(-step), f(0), f(step), f(2 * step)};
  };
  const auto points_of = [](double step, const auto& values, std::size_t i) {
    return detail::FivePoints{
        step, {values[0][i], values[1][i], values[2][i], values[3][i], values[4][i]}};
  };
  const double close_step = h / 100;
  const auto values = values_at(h);
  std::array<std::vector<double>, 5> close;
  std::vector<Slope> slopes;
  for (std::size_t i = 0; i < values[0].size(); ++i) {
    detail::FivePoints points = points_of(h, values, i);
    bool at_kink = points.has_kink();
    if (at_kink) {
      if (close[0].empty()) close = values_at(close_step);
      points = points_of(close_step, close, i);
      at_kink = points.has_kink();
    }
    const double derivative = points.derivative();
    slopes.push_back(at_kink ? points.sides() : Slope{derivative, derivative});
  }
  return slopes;
}

// The result of a gradient check.
struct GradientReport {
  double error = 0;             // the largest relative_error
  index_t points = 0;           // numbers whose gradient was compared
  index_t kinks = 0;            // points at a kink, where any gradient between both slopes passes
  std::string first_kink = {};  // "input 3 of sample 0, which is 0.3"

  GradientReport& operator+=(const GradientReport& other) {
    error = std::max(error, other.error);
    points += other.points;
    if (kinks == 0) first_kink = other.first_kink;
    kinks += other.kinks;
    return *this;
  }
};

// Options of the check of a layer.
struct GradientCheckOptions {
  std::uint64_t seed = 1;
  std::vector<double> kinks = {};   // where the function has some, 0 aside: random inputs keep away
  std::vector<double> inputs = {};  // the first inputs, instead of random ones
};

// Returns a step that crosses no kink between n spread_values.
inline double safe_step(index_t n) {
  return std::min(1e-3, 0.25 / static_cast<double>(n));
}

namespace detail {

inline std::string slice_text(const Slice& slice) {
  return concat("slice of ", slice.count, " samples in ", slice.outer, " x ", slice.inner);
}

inline Slope sum(const std::vector<Slope>& slopes) {
  Slope total;
  for (const Slope& slope : slopes)
    total += slope;
  return total;
}

// Replaces the first of `values`, or all of them.
inline void replace_first(std::vector<double>& values, const std::vector<double>& by) {
  std::copy_n(by.begin(), std::min(by.size(), values.size()), values.begin());
}

// Compares a gradient with finite differences. `functions`: the functions of the checked type, for
// the message. place(i): where element i is, in words.
template <class Place>
GradientReport compare(const std::vector<Slope>& slopes, const std::vector<double>& gradient,
                       const std::string& where, const char* what, const char* functions,
                       Place place) {
  GradientReport report{.points = static_cast<index_t>(slopes.size())};
  std::vector<double> numeric;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    numeric.push_back(slopes[i].nearest(gradient[i]));
    if (slopes[i].at_kink && report.kinks++ == 0)
      report.first_kink = place(static_cast<index_t>(i));
  }
  report.error = relative_error(numeric, gradient);
  const std::string at_kinks =
      concat(report.kinks, " of ", report.points, " are at kinks, the first: ", report.first_kink);
  require(report.error == report.error, where, what,
          " or its finite differences contain NaN (elements that were not written are NaN), check ",
          functions);
  const std::string beside = report.kinks == 0 ? "" : "; " + at_kinks;
  require(report.error < gradient_tolerance, where, what,
          " differs from the finite differences (relative error ", report.error,
          ", want less than ", gradient_tolerance, beside, "), check ", functions);
  require(report.kinks == 0 || report.kinks < report.points, where, what,
          " is only compared at kinks (", at_kinks, "), give other inputs");
  return report;
}

}  // namespace detail

// Checks a layer with random dy: the gradients of all inputs and parameters; that Accumulate::yes
// adds; that the gradient of padding is 0; that a null dx changes nothing else. Throws Error if a
// check fails, or if all inputs, or all parameters, are at kinks.
template <class D>
GradientReport check_gradients(LayerRun<double, D>& run, const GradientCheckOptions& options = {}) {
  Generator generator(options.seed);
  const index_t features = run.in_features(), outputs = run.out_features(),
                count = run.slice().count;
  const double step = safe_step(count * features);
  std::vector<double> x = spread_values(count * features, generator);
  for (const double kink : options.kinks)
    for (double& value : x)
      if (std::abs(value - kink) < 4 * step) value = kink + 4 * step;
  detail::replace_first(x, options.inputs);
  std::vector<double> parameters = random_values<double>(run.parameter_count(), generator);
  const std::vector<double> dy = random_values<double>(count * outputs, generator);

  // Returns the sum of dy[n] y[n] for every sample n. backward computes its gradient.
  const auto losses = [&] {
    const std::vector<double> y = run.forward(x);
    std::vector<double> sums(static_cast<std::size_t>(count));
    for (index_t n = 0; n < count; ++n)
      sums.data()[n] = std::inner_product(y.data() + n * outputs, y.data() + (n + 1) * outputs,
                                          dy.data() + n * outputs, 0.0);
    return sums;
  };

  run.set_parameters(parameters);
  run.forward(x);
  const auto analytic = run.backward(dy);
  const std::vector<double> before = random_values<double>(run.parameter_count(), generator);
  const auto added = run.backward(dy, Accumulate::yes, before);
  const auto without_dx = run.backward(dy, Accumulate::no, {}, InputGradient::skip);

  std::vector<Slope> numeric_dx(x.size());
  // By feature k of some samples.
  const auto derivatives = [&](index_t k, index_t first, index_t end) {
    const std::vector<double> kept = x;
    const auto derivative = numeric_derivative(step, [&](double t) {
      for (index_t n = first; n < end; ++n)
        x.data()[n * features + k] = kept.data()[n * features + k] + t;
      return losses();
    });
    x = kept;
    return derivative;
  };
  for (index_t k = 0; k < features; ++k)
    if (run.couples_samples()) {
      for (index_t n = 0; n < count; ++n)
        numeric_dx.data()[n * features + k] = detail::sum(derivatives(k, n, n + 1));
    } else {  // of all samples together: they are independent
      const std::vector<Slope> of_losses = derivatives(k, 0, count);
      for (index_t n = 0; n < count; ++n)
        numeric_dx.data()[n * features + k] = of_losses.data()[n];
    }
  std::vector<Slope> numeric_parameters;
  for (double& parameter : parameters) {
    const double kept = parameter;
    const auto derivative = numeric_derivative(1e-3, [&](double t) {
      parameter = kept + t;
      run.set_parameters(parameters);
      return losses();
    });
    parameter = kept;
    numeric_parameters.push_back(detail::sum(derivative));
  }

  const std::string where =
      concat("gpunet::nn::check_layer_gradients, ", detail::slice_text(run.slice()), ": ");
  GradientReport report =
      detail::compare(numeric_dx, analytic.dx, where, "the gradient of the inputs",
                      "forward and backward", [&](index_t i) {
                        return concat("input ", i % features, " of sample ", i / features,
                                      ", which is ", x.data()[i]);
                      });
  report += detail::compare(
      numeric_parameters, analytic.parameters, where, "the gradient of the parameters",
      "forward and backward",
      [&](index_t i) { return concat("parameter ", i, ", which is ", parameters.data()[i]); });
  require(analytic.padding == std::vector<double>(analytic.padding.size()), where,
          "the input gradient of padding samples, whose dy is 0, is not 0, check backward");
  require(added.dx == analytic.dx, where,
          "the input gradient depends on pass.accumulate, which is for parameters");
  std::vector<double> difference;
  for (std::size_t i = 0; i < before.size(); ++i)
    difference.push_back(added.parameters[i] - before[i]);
  require(relative_error(difference, analytic.parameters) < 1e-13, where,
          "with Accumulate::yes the gradient of the parameters is not added to what is there, use "
          "store_gradient");
  require(without_dx.parameters == analytic.parameters, where,
          "the gradient of the parameters is another one where pass.dx is null, check backward");
  return report;
}

// Checks a layer for inputs of shape `in` on one slice. Throws Error if a check fails.
template <class D, class L, class In>
GradientReport check_layer_gradients(D& device, const L& layer, In in, const Slice& slice,
                                     const GradientCheckOptions& options = {}) {
  LayerRun<double, D> run(device, layer, in, slice);
  return check_gradients(run, options);
}

// The same on every kind of slice that the device uses.
template <class D, class L, class In>
GradientReport check_layer_gradients(D& device, const L& layer, In in,
                                     const GradientCheckOptions& options = {}) {
  GradientReport report;
  for (const Slice& slice : test_slices<D>())
    report += check_layer_gradients(device, layer, in, slice, options);
  return report;
}

// Checks a function of one, two or three values (nn/value.hpp), for inputs of these sizes, on every
// kind of slice that the device uses. Throws Error if a check fails.
template <class D, class F>
GradientReport check_function_gradients(D& device, F f, std::initializer_list<Sizes> inputs,
                                        const GradientCheckOptions& options = {}) {
  GradientReport report;
  for (const Slice& slice : test_slices<D>()) {
    LayerRun<double, D> run(
        device, detail::graph_of_function(detail::backend_of<D, double>(), f, inputs), slice);
    report += check_gradients(run, options);
  }
  return report;
}

// The random arguments of check_loss_gradients: outputs from [low, high); targets from [target_low,
// target_high), labels from 0 to the classes - 1.
struct LossRange {
  double low = -3, high = 3, target_low = 0, target_high = 1;
  std::vector<double> outputs = {};  // the first outputs, instead of random ones
};

// Checks a loss of outputs of one shape on one slice, in double: the gradient of the loss of the
// batch; that its own checks accept outputs and targets; that the gradient of padding is 0. Throws
// Error if a check fails, or if all outputs are at kinks.
template <class D, class Loss>
GradientReport check_loss_gradients(D& device, const Loss& loss, const Sizes& output,
                                    const Slice& slice, const LossRange& range = {},
                                    std::uint64_t seed = 1) {
  using Target = TargetOf<Loss, D, double>;
  const std::string where =
      concat("gpunet::nn::check_loss_gradients, ", detail::slice_text(slice), ": ");
  const AnyLoss<D, double> any(loss);
  const LossTraits traits = any.traits(output);
  const Sizes target_sizes = traits.target.with_front(slice.count);
  const index_t features = output.numel(), channels = output.rank() == 0 ? 1 : output[0];
  require(features >= 1, where, "an output of shape ", to_string(output),
          " (want 1 number or more)");
  Generator generator(seed);
  std::vector<double> x =
      random_values<double>(slice.count * features, generator, range.low, range.high);
  detail::replace_first(x, range.outputs);
  std::vector<Target> targets;
  for (index_t i = 0; i < target_sizes.numel(); ++i)
    if constexpr (std::is_integral_v<Target>)
      targets.push_back(static_cast<Target>(generator.random() % channels));
    else
      targets.push_back(
          static_cast<Target>(generator.uniform(range.target_low, range.target_high)));
  const Tensor<Target, D> device_targets(device, target_sizes, targets);
  std::vector<double> numbers(traits.constants.begin(), traits.constants.end());
  const Tensor<double, D> constants(device, {static_cast<index_t>(numbers.size())}, numbers);
  Tensor<double, D> total(device, {1}, {1.0});
  GuardedBuffer<double, D> device_x(device, slice.samples() * features),
      dx(device, slice.samples() * features);
  GuardedBuffer<double, D> losses(device, slice.count);
  LossPass<double, void> pass{.slice = slice,
                              .features = features,
                              .x = device_x.data(),
                              .targets = device_targets.data(),
                              .scale = 0.375,
                              .losses = losses.data(),
                              .dx = dx.data(),
                              .channels = channels,
                              .constants = constants.data()};

  any.check_sizes(output);
  any.check(device, pass.targets, target_sizes, features);
  if (traits.is_weighted) {
    any.total_weight(device, pass, target_sizes.numel(), total.data());
    pass.total = total.data();
  }
  const auto evaluate = [&] {
    device_x.upload(to_slice_order(slice, features, x));
    dx.fill_with_nan();
    any.evaluate(device, pass);
    return losses.download();
  };

  for (const double loss_of_sample : evaluate())
    require(loss_of_sample == loss_of_sample, where, "the loss of a sample is NaN, check evaluate");
  const Slice all{slice.samples(), slice.outer, slice.inner};
  std::vector<double> analytic = to_rows(all, features, dx.download().data());
  const std::vector<double> padding(analytic.begin() + slice.count * features, analytic.end());
  analytic.resize(x.size());
  std::vector<Slope> numeric(x.size());
  for (index_t k = 0; k < features; ++k) {
    const std::vector<double> kept = x;
    const auto derivative = numeric_derivative(1e-3, [&](double t) {
      for (index_t n = 0; n < slice.count; ++n)
        x.data()[n * features + k] = kept.data()[n * features + k] + t;
      std::vector<double> scaled = evaluate();
      for (double& loss_of_sample : scaled)
        loss_of_sample *= pass.scale;
      return scaled;
    });
    x = kept;
    for (index_t n = 0; n < slice.count; ++n)
      numeric.data()[n * features + k] = derivative.data()[n];
  }
  const GradientReport report =
      detail::compare(numeric, analytic, where, "the gradient", "evaluate", [&](index_t i) {
        return concat("output ", i % features, " of sample ", i / features, ", which is ",
                      x.data()[i]);
      });
  require(padding == std::vector<double>(padding.size()), where,
          "the gradient of padding samples is not 0, check evaluate");
  return report;
}

// The same on every kind of slice that the device uses.
template <class D, class Loss>
GradientReport check_loss_gradients(D& device, const Loss& loss, const Sizes& output,
                                    const LossRange& range = {}) {
  GradientReport report;
  for (const Slice& slice : test_slices<D>())
    report += check_loss_gradients(device, loss, output, slice, range);
  return report;
}

}  // namespace gpunet::nn
