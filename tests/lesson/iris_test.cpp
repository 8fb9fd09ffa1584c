// The Iris lesson: seed 32, split with seed 33, Adam, a hundred epochs of one batch. Skipped
// without data.
#include <algorithm>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tables.hpp>

#include "support/devices.hpp"

using namespace gpunet;

namespace {

using Net =
    nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<9>, nn::ReLU, nn::Linear<3>>;

// The flowers of one part of the lesson.
struct Flowers {
  std::vector<float> inputs;
  std::vector<label_t> labels;

  index_t size() const { return std::ssize(labels); }
};
struct Iris {
  Flowers train, test;
};

// Returns them; nothing without data.
std::optional<Iris> read_iris() {
  const char* data = std::getenv("GPUNET_TEST_DATA");
  const std::string path = std::string(data ? data : "nowhere") + "/iris/iris.csv";
  if (!std::filesystem::exists(path)) {
    MESSAGE("skipped: GPUNET_TEST_DATA names no folder with iris/iris.csv");
    return std::nullopt;
  }
  const data::Table table = data::read_csv(path);
  const std::vector<float> numbers = table.numbers(std::span(table.columns()).first(4));
  const std::vector<label_t> classes = table.categories("target").values;
  const auto rows = [&](const auto& of_part) {
    Flowers part;
    for (const index_t row : of_part) {
      part.inputs.insert(part.inputs.end(), numbers.begin() + 4 * row,
                         numbers.begin() + 4 * (row + 1));
      part.labels.push_back(classes[static_cast<std::size_t>(row)]);
    }
    return part;
  };
  const auto split = data::train_test_split(table.rows(), {.test_size = 0.2, .random_state = 33});
  return Iris{rows(split.train), rows(split.test)};
}

}  // namespace

TEST_CASE_TEMPLATE("the Iris lesson has PyTorch's losses", D, GPUNET_TEST_DEVICES) {
  const std::optional<Iris> iris = read_iris();
  if (!iris) return;
  REQUIRE(iris->train.size() == 120);
  D& device = test_device<D>();
  const Tensor<float, D> inputs(device, {120, 4}, iris->train.inputs);
  const Tensor<label_t, D> labels(device, {120}, iris->train.labels);
  manual_seed(32);
  Model<Net, D> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::Adam optimizer(net, {.lr = 0.01});
  train::Step step(net, criterion, optimizer);
  const std::vector<float> losses = step.repeat(100, inputs, labels).to_vector();

  // At epochs 1, 11, ... by PyTorch 1.13 on a processor. On a GPU it differs from them by up to
  // 1e-4.
  const std::vector<double> expected{1.15071142, 0.93773144, 0.77982563, 0.60994011, 0.40079936,
                                     0.25436321, 0.15053052, 0.10086947, 0.08128314, 0.07231428};
  for (std::size_t k = 0; k < expected.size(); ++k)
    CHECK(losses[10 * k] == doctest::Approx(expected[k]).epsilon(3e-4));
}

TEST_CASE("with activations of 16 bits, the Iris lesson is right as often") {
  const std::optional<Iris> iris = read_iris();
  if (!iris) return;
  Host& host = test_device<Host>();
  const Tensor<float, Host> inputs(host, {120, 4}, iris->train.inputs),
      test_inputs(host, {30, 4}, iris->test.inputs);
  const Tensor<label_t, Host> labels(host, {120}, iris->train.labels);
  std::vector<float> exact;  // the scores of floats
  for (const Storage storage : {Storage::full, Storage::bfloat16, Storage::float16}) {
    CAPTURE(static_cast<int>(storage));
    manual_seed(32);
    Model<Net, Host> net(host);
    net.autocast(storage);
    optim::Adam optimizer(net, {.lr = 0.01});
    amp::GradScaler scaler({.enabled = storage == Storage::float16});
    train::Step step(net, nn::CrossEntropyLoss{}, optimizer, {.scaler = &scaler});
    const float loss = step.repeat(100, inputs, labels).to_vector().back();
    CHECK(loss < 0.0723);  // that of floats in PyTorch after 91 epochs
    Predictor predict(net, {.storage = storage});
    const Tensor<float, Host> scores = predict(test_inputs);
    const std::vector<label_t> guesses = argmax(scores, 1).to_vector();
    if (storage == Storage::full) exact = scores.to_vector();
    for (std::size_t k = 0; k < guesses.size(); ++k) {
      CAPTURE(k);
      // Which side a flower on the border falls on depends on the order of sums, which training
      // with 8 bits amplifies. It is on the border if its own score is less than 1/4 above
      // another's; of the 30, one is.
      float others = -1e9f;
      for (std::size_t c = 0; c < 3; ++c)
        if (static_cast<label_t>(c) != iris->test.labels[k])
          others = std::max(others, exact[3 * k + c]);
      const float margin = exact[3 * k + static_cast<std::size_t>(iris->test.labels[k])] - others;
      CHECK((guesses[k] == iris->test.labels[k] || (storage != Storage::full && margin < 0.25f)));
    }
  }
}
