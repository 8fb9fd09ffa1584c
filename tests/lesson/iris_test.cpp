// The Iris lesson: seed 32, split with seed 33, Adam, a hundred epochs of one batch. Skipped without data.
#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"

using namespace gpunet;

namespace {

using Net = nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<9>, nn::ReLU, nn::Linear<3>>;

struct Iris {
  std::vector<float> inputs;
  std::vector<label_t> labels;
};

// Lines of four numbers and a label, behind a line of titles.
Iris read_iris(const std::string& path) {
  Iris iris;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::replace(line.begin(), line.end(), ',', ' ');
    std::istringstream numbers(line);
    double value = 0;
    for (int i = 0; i < 4 && numbers >> value; ++i)
      iris.inputs.push_back(static_cast<float>(value));
    if (numbers >> value) iris.labels.push_back(static_cast<label_t>(value));
  }
  return iris;
}

// numpy.random.RandomState(seed).permutation(n)
std::vector<std::size_t> permutation(std::size_t n, std::uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n - 1; i > 0; --i) {
    std::size_t mask = i, j = 0;
    for (const unsigned shift : {1u, 2u, 4u, 8u, 16u})
      mask |= mask >> shift;
    do
      j = engine() & mask;
    while (j > i);
    std::swap(order[i], order[j]);
  }
  return order;
}

// What is trained on: the numbers behind the first fifth of the permutation, as scikit-learn splits.
Iris training_part(const Iris& all) {
  const std::vector<std::size_t> order = permutation(all.labels.size(), 33);
  Iris part;
  for (std::size_t k = (order.size() + 4) / 5; k < order.size(); ++k) {
    for (std::size_t i = 0; i < 4; ++i)
      part.inputs.push_back(all.inputs[4 * order[k] + i]);
    part.labels.push_back(all.labels[order[k]]);
  }
  return part;
}

}  // namespace

TEST_CASE_TEMPLATE("the Iris lesson has PyTorch's losses", D, GPUNET_TEST_DEVICES) {
  const char* data = std::getenv("GPUNET_TEST_DATA");
  const Iris all = read_iris(std::string(data ? data : "nowhere") + "/iris/iris.csv");
  if (all.labels.empty()) {
    MESSAGE("skipped: GPUNET_TEST_DATA names no folder with iris/iris.csv");
    return;
  }
  REQUIRE(all.labels.size() == 150);
  REQUIRE(all.inputs.size() == 600);
  const Iris part = training_part(all);
  D& device = test_device<D>();
  const Tensor<float, D> inputs(device, {120, 4}, part.inputs);
  const Tensor<label_t, D> labels(device, {120}, part.labels);
  manual_seed(32);
  Model<Net, D> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = 0.01});
  train::Step step(net, criterion, optimizer);
  const std::vector<float> losses = step.repeat(100, inputs, labels).to_vector();

  // At epochs 1, 11, ... by PyTorch 1.13 on a processor. On a GPU it differs from them by up to 1e-4.
  const std::vector<double> expected{1.15071142, 0.93773144, 0.77982563, 0.60994011, 0.40079936,
                                     0.25436321, 0.15053052, 0.10086947, 0.08128314, 0.07231428};
  for (std::size_t k = 0; k < expected.size(); ++k)
    CHECK(losses[10 * k] == doctest::Approx(expected[k]).epsilon(3e-4));
}
