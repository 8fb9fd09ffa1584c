// Networks of ONNX models that tests write, and their outputs.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/onnx.hpp>

#include "io/temp_folder.hpp"
#include "onnx_file.hpp"
#include "support/devices.hpp"

namespace onnx_file {

using namespace gpunet;
using Numbers = std::vector<double>;

// Numbers from -1 to 1, other ones for each seed.
inline std::vector<float> numbers(index_t count, unsigned seed) {
  std::vector<float> result;
  std::uint32_t state = seed * 2654435761u + 1;
  for (index_t i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    result.push_back(static_cast<float>(state >> 8) / (1 << 23) - 1);
  }
  return result;
}

inline onnx::Model model_of(const OnnxFile& file, const onnx::ReadOptions& options = {}) {
  TempFolder folder;
  write_bytes(folder / "m.onnx", file.bytes());
  return onnx::read(folder / "m.onnx", options);
}

// The output of a model in evaluation mode for inputs [batch, ...].
template <class D>
Tensor<float, Host> run(D& device, const OnnxFile& file, index_t batch, const std::vector<float>& x,
                        const onnx::ReadOptions& options = {}) {
  Network net(device, model_of(file, options));
  net.eval();
  const Tensor<float, D> inputs(device, net.graph().values[0].with_front(batch), x);
  Host& host = test_device<Host>();
  const auto y = net(inputs);
  return Tensor<float, Host>(host, net.output_sizes().with_front(batch), y.to_vector());
}

inline void check_near(const Tensor<float, Host>& y, const Sizes& sizes, const Numbers& wanted,
                       double bound = 1e-6) {
  REQUIRE(y.sizes() == sizes);
  const std::vector<float> values = y.to_vector();
  REQUIRE(values.size() == wanted.size());
  double worst = 0;  // NaN is
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double error =
        std::fabs(static_cast<double>(values[i]) - wanted[i]) / (1 + std::fabs(wanted[i]));
    if (!(error <= worst)) worst = error;
  }
  CHECK(worst <= bound);
}

// The first and the last loss of 20 steps of SGD.
template <class D>
std::array<double, 2> losses_of_training(Network<D, float>& net, const Tensor<float, D>& x,
                                         const Tensor<float, D>& target, double lr) {
  optim::SGD optimizer(net, {.lr = lr});
  std::array<double, 2> losses{};
  for (int step = 0; step < 20; ++step) {
    auto loss = nn::MSELoss()(net(x), target);
    losses[step == 0 ? 0 : 1] = static_cast<double>(loss.item());
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return losses;
}

// What building the network of a model says.
inline std::string build_error(const OnnxFile& file, const onnx::ReadOptions& options = {}) {
  return error_of([&] {
    const onnx::Model model = model_of(file, options);
    Network net(test_device<Host>(), model);
  });
}

}  // namespace onnx_file
