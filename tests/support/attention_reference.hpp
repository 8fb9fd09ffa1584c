// Layers against reference/attention.safetensors, which reference/attention.py prints.
#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/layer_run.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/isas.hpp"
#include "support/reference_file.hpp"

// Returns numbers of the file.
inline std::vector<double> attention_reference(const std::string& name) {
  static const ReferenceFile file("attention");
  return file.values(name);
}

// Runs the cases of a kind, one after another, on device D in T, for every kind of slice and vector
// path.
template <class D, class T>
class AttentionCases {
 public:
  AttentionCases(D& device, std::string kind, double tolerance)
      : device_(device), kind_(std::move(kind)), tolerance_(tolerance) {}

  template <class L, class In>
  void operator()(gpunet::index_t batch, const L& layer, In in) {
    const KeepIsa keep;
    for (const gpunet::index_t inner : inners())
      for (const gpunet::Isa path : isas()) {
        if (std::same_as<D, gpunet::Host> || path == isas().back()) {
          CAPTURE(kind_);
          CAPTURE(number_);
          CAPTURE(inner);
          CAPTURE(static_cast<int>(path));
          gpunet::set_isa(path);
          check({device_, layer, in, {batch, gpunet::ceil_div(batch, inner), inner}}, batch);
        }
      }
    ++number_;
  }
  // Leaves out so many cases.
  void skip(int cases = 1) { number_ += cases; }
  int number() const { return number_; }

 private:
  static std::vector<gpunet::index_t> inners() {
    if constexpr (std::same_as<D, gpunet::Host>)
      return {1, 4, 16};
    else
      return {1};
  }
  void check(gpunet::nn::LayerRun<T, D> run, gpunet::index_t batch) {
    gpunet::Generator generator(number_);
    const auto draw = [&](gpunet::index_t n) {
      const std::vector<float> values = random_values<float>(n, generator);
      return std::vector<T>(values.begin(), values.end());
    };
    run.set_parameters(draw(run.parameter_count()));
    const std::vector<T> x = draw(batch * run.in_features()), dy = draw(batch * run.out_features());
    check_close(run.forward(x), "y");
    const gpunet::nn::LayerGradients<T> gradients = run.backward(dy);
    check_close(gradients.dx, "dx");
    if (run.parameter_count() > 0) check_close(gradients.parameters, "parameters");
  }
  void check_close(const std::vector<T>& values, std::string_view what) {
    CAPTURE(what);
    const std::string name = kind_ + "." + std::to_string(number_) + "." + std::string(what);
    CHECK(relative_error(values, attention_reference(name)) <= tolerance_);
  }

  D& device_;
  std::string kind_;
  double tolerance_;
  int number_ = 0;
};
