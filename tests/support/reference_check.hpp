// Comparison of a layer with what reference/layers.py printed.
#pragma once

#include "reference/layers.hpp"
#include "support/isas.hpp"
#include "support/layer_run.hpp"

// The layer at `in` against PyTorch's, for the same patterns, on every kind of slice that holds the two samples and on
// every vector path. `scale`: the reference is in multiples of 1 / scale. `tolerance` as of relative_error, 0: equal.
template <class T, class D, class L, class In>
void check_against_reference(D& device, const L& layer, In in, const reference::LayerReference& expected,
                             gpunet::index_t x_modulus = 23, double scale = 64, double tolerance = 0) {
  using gpunet::Accumulate, gpunet::index_t, gpunet::Slice;
  const KeepIsa keep;
  std::vector<Slice> slices{{2, 2, 1}};
  if constexpr (std::same_as<D, gpunet::Host>) slices = {{2, 2, 1}, {2, 1, 4}, {2, 1, 16}};
  const auto scaled = [scale](std::vector<T> values) {
    for (T& value : values)
      value *= static_cast<T>(scale);
    return values;
  };
  for (const Slice& slice : slices)
    for (gpunet::Isa path : isas()) {
      CAPTURE(gpunet::to_string(in.sizes()));
      CAPTURE(slice.inner);
      CAPTURE(static_cast<int>(path));
      gpunet::set_isa(path);
      LayerRun<T, D> run(device, layer, in, slice);
      std::vector<T> parameters;
      const auto specs = gpunet::nn::parameters(layer, in);
      for (std::size_t i = 0; i < specs.size(); ++i) {
        const auto values = i == 0 ? pattern<T>(specs[i].sizes.numel(), 5, 1, 17)
                                   : pattern<T>(specs[i].sizes.numel(), 3, 2, 7);
        parameters.insert(parameters.end(), values.begin(), values.end());
      }
      run.set_parameters(parameters);
      const auto y = run.forward(pattern<T>(2 * run.in_features(), 7, 3, x_modulus));
      const std::vector<T> dy = pattern<T>(2 * run.out_features(), 11, 5, 19);
      const auto gradients = run.backward(dy);
      CHECK(relative_error(scaled(y), expected.y) <= tolerance);
      CHECK(relative_error(scaled(gradients.dx), expected.dx) <= tolerance);
      CHECK(relative_error(scaled(gradients.parameters), expected.parameters) <= tolerance);
      if (parameters.empty()) continue;
      const auto twice = run.backward(dy, Accumulate::yes, gradients.parameters);
      for (std::size_t i = 0; i < parameters.size(); ++i)
        CHECK(twice.parameters[i] == 2 * gradients.parameters[i]);
    }
}
