// What PyTorch's losses made of ten shapes each: reference/losses.safetensors.
#pragma once

#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/gradient_check.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/reference_file.hpp"

// Returns an array of the file.
inline std::vector<float> loss_reference(const std::string& name) {
  static const ReferenceFile file("losses");
  return file.values<float>(name);
}

// Returns n floats from [low, high), as doubles.
inline std::vector<double> doubles(gpunet::index_t n, gpunet::Generator& generator, float low,
                                   float high) {
  const std::vector<float> values = gpunet::nn::random_values<float>(n, generator, low, high);
  return {values.begin(), values.end()};
}

// The loss of a batch and its gradient.
template <class T>
struct LossResult {
  std::vector<T> loss, dx;
};

// Computes the loss of outputs x [batch, ...] and targets on one slice, as a network does.
template <class D, class Loss, class Target, class T = double>
LossResult<T> run_loss(D& device, const Loss& criterion, const gpunet::Slice& slice,
                       const gpunet::Sizes& output, const std::vector<T>& x,
                       const std::vector<Target>& targets) {
  using namespace gpunet;
  const index_t features = output.numel();
  const AnyLoss<D, T> loss(criterion);
  const nn::LossTraits traits = loss.traits(output);
  const Sizes target_sizes = traits.target.with_front(slice.count);
  const Tensor<Target, D> device_targets(device, target_sizes, targets);
  GuardedBuffer<T, D> device_x(device, slice.samples() * features),
      dx(device, slice.samples() * features);
  GuardedBuffer<T, D> losses(device, slice.count);
  device_x.upload(to_slice_order(slice, features, x));
  dx.fill_with_nan();
  std::vector<T> numbers(traits.constants.begin(), traits.constants.end());
  numbers.push_back(0);  // for the total weight
  const Tensor<T, D> constants(device, {std::ssize(numbers)}, numbers);
  T* total = const_cast<T*>(constants.data()) + std::ssize(numbers) - 1;
  loss.check_sizes(output);
  loss.check(device, device_targets.data(), target_sizes, features);
  if (traits.is_weighted) {
    nn::LossPass<T, void> all{};
    all.targets = device_targets.data();
    all.channels = output[0];
    all.constants = constants.data();
    loss.total_weight(device, all, target_sizes.numel(), total);
  }
  const bool adds = traits.reduction == nn::Reduction::sum || traits.is_weighted;
  const T divisor = adds ? T{1} : static_cast<T>(slice.count);
  loss.evaluate(
      device, {slice, features, device_x.data(), device_targets.data(), 1 / divisor, losses.data(),
               dx.data(), output[0], constants.data(), traits.is_weighted ? total : nullptr});
  T sum = 0;
  for (T one : losses.download())
    sum += one;
  const Slice all{slice.samples(), slice.outer, slice.inner};
  return {{sum / divisor}, to_rows(all, features, dx.download().data())};
}

// Compares a loss with PyTorch's: make(reduction) returns it.
template <class D, class Make, class Target>
void check_loss(const std::string& name, const gpunet::Sizes& shape, Make make,
                const std::vector<double>& x, const std::vector<Target>& targets) {
  using namespace gpunet;
  D& device = test_device<D>();
  const std::vector<float> gradient = loss_reference(name + ".mean.dx");
  const index_t batch = shape[0];
  std::vector<Slice> slices{{batch, batch, 1}};
  if constexpr (std::same_as<D, Host>)
    for (index_t inner : {4, 16})
      slices.push_back({batch, ceil_div(batch, inner), inner});
  for (const Slice& slice : slices) {
    CAPTURE(name);
    CAPTURE(slice.inner);
    LossResult<double> mean =
        run_loss(device, make(nn::Reduction::mean), slice, shape.tail(), x, targets);
    CHECK(nn::relative_error(mean.loss, loss_reference(name + ".mean")) <= 1e-6);
    for (std::size_t i = gradient.size(); i < mean.dx.size(); ++i)
      CHECK(mean.dx[i] == 0);  // of padding
    mean.dx.resize(gradient.size());
    CHECK(nn::relative_error(mean.dx, gradient) <= 1e-6);
    const LossResult<double> sum =
        run_loss(device, make(nn::Reduction::sum), slice, shape.tail(), x, targets);
    CHECK(nn::relative_error(sum.loss, loss_reference(name + ".sum")) <= 1e-6);
  }
}
