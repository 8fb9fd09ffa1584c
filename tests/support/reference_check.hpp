// Compares a layer with the output of reference/layers.py.
#pragma once

#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/layer_run.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/isas.hpp"
#include "support/layer_reference.hpp"

using gpunet::nn::LayerRun;

// How close a layer must come: equal as multiples of 1 / scale, or within a relative error.
struct Exactness {
  double scale = 64;     // the reference is in multiples of 1 / scale
  double tolerance = 0;  // as of relative_error
};

// Compares one run of a layer with PyTorch's, for the same inputs.
template <class T, class D>
void check_run(LayerRun<T, D>& run, const LayerReference& expected, gpunet::index_t x_modulus,
               const Exactness& exactness) {
  using gpunet::index_t;
  const auto error = [&](std::vector<T> values, const std::vector<double>& wanted) {
    for (T& value : values)
      value *= static_cast<T>(exactness.scale);
    return relative_error(values, wanted);
  };
  std::vector<T> parameters;
  for (const gpunet::ParameterInfo& parameter : run.parameters()) {
    const gpunet::index_t size = parameter.sizes.numel();
    const auto values = parameters.empty() ? pattern<T>(size, 5, 1, 17) : pattern<T>(size, 3, 2, 7);
    parameters.insert(parameters.end(), values.begin(), values.end());
  }
  run.set_parameters(parameters);
  const auto y = run.forward(pattern<T>(2 * run.in_features(), 7, 3, x_modulus));
  const std::vector<T> dy = pattern<T>(2 * run.out_features(), 11, 5, 19);
  const auto gradients = run.backward(dy);
  CHECK(error(y, expected.y) <= exactness.tolerance);
  CHECK(error(gradients.dx, expected.dx) <= exactness.tolerance);
  CHECK(error(gradients.parameters, expected.parameters) <= exactness.tolerance);
  if (parameters.empty()) return;
  auto twice = run.backward(dy, gpunet::Accumulate::yes, gradients.parameters).parameters;
  for (T& gradient : twice)
    gradient /= 2;
  CHECK(error(twice, expected.parameters) <= exactness.tolerance);
}

// Compares with a layer of reference/layers.py, on every kind of slice that holds the two samples,
// and on every vector path.
template <class T, class D, class L, class In>
void check_against_reference(D& device, const L& layer, In in, const std::string& name,
                             gpunet::index_t x_modulus = 23, const Exactness& exactness = {}) {
  static const ReferenceFile file("layers");
  const LayerReference expected = layer_reference(file, name);
  const KeepIsa keep;
  std::vector<gpunet::Slice> slices{{2, 2, 1}};
  if constexpr (std::same_as<D, gpunet::Host>) slices = {{2, 2, 1}, {2, 1, 4}, {2, 1, 16}};
  for (const gpunet::Slice& slice : slices)
    for (gpunet::Isa path : isas()) {
      CAPTURE(gpunet::to_string(in.sizes()));
      CAPTURE(slice.inner);
      CAPTURE(static_cast<int>(path));
      gpunet::set_isa(path);
      LayerRun<T, D> run(device, layer, in, slice);
      check_run(run, expected, x_modulus, exactness);
    }
}
