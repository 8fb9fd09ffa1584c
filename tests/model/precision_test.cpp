#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/eager_step.hpp"
#include "support/isas.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

struct Pass {
  std::vector<double> outputs, gradients;
  double loss = 0;
};

// Forward and backward of one batch with the given parameters, computed in T.
template <class T>
Pass run(Host& host, const std::vector<float>& parameters, index_t batch) {
  Model<LeNet, Host, T> net(host);
  const std::vector<T> values(parameters.begin(), parameters.end());
  host.upload(net.parameters().data(), values.data(), values.size() * sizeof(T));
  Generator generator(batch);
  const TestBatch<float, Host> data(host, LeNet{}, batch, generator);
  const std::vector<float> rows = data.inputs.to_vector();
  const Tensor<T, Host> inputs(host, data.inputs.sizes(), std::vector<T>(rows.begin(), rows.end()));
  const auto output = net(inputs);
  auto loss = nn::CrossEntropyLoss{}(output, data.labels);
  loss.backward();
  const std::vector<T> y = output.tensor().to_vector(), gradients = gradients_of(net);
  return {
      {y.begin(), y.end()}, {gradients.begin(), gradients.end()}, static_cast<double>(loss.item())};
}

}  // namespace

TEST_CASE("LeNet in float, on every vector path, agrees with LeNet in double") {
  const KeepIsa keep;
  Host host({.threads = 2});
  manual_seed(31);
  Model<LeNet, Host> net(host);
  const std::vector<float> parameters = parameters_of(net);
  for (index_t batch : {1, 3, 4, 16, 19}) {
    const Pass exact = run<double>(host, parameters, batch);
    for (Isa path : isas()) {
      set_isa(path);
      CAPTURE(batch);
      CAPTURE(static_cast<int>(path));
      const Pass pass = run<float>(host, parameters, batch);
      CHECK(relative_error(pass.outputs, exact.outputs) < 1e-5);
      CHECK(relative_error(pass.gradients, exact.gradients) < 1e-5);
      CHECK(pass.loss == doctest::Approx(exact.loss).epsilon(1e-6));
    }
  }
}
