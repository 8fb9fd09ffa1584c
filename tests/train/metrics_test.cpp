#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

// Passes its input on: what a test feeds in is what a metric sees.
template <index_t Classes>
using Identity = nn::Sequential<nn::Input<Classes>, nn::Flatten>;

// A classifier of reference/classification.py, and what scikit-learn says of it.
struct Classification {
  index_t samples, classes, used;
  std::vector<index_t> counts;                      // [classes, classes]
  std::vector<std::vector<double>> classes_scores;  // precision, recall, F1 of each class
  std::vector<double> macro, weighted;              // their averages
  double accuracy;
  std::vector<double> top_k;  // for k = 1, 2, ...
};

Classification classification(int number) {
  static const ReferenceFile file("classification");
  const std::string key = std::to_string(number);
  const auto sizes = file.values<index_t>(key + ".sizes");
  const auto scores = file.rows(key + ".scores");
  return {sizes[0],
          sizes[1],
          sizes[2],
          file.values<index_t>(key + ".counts"),
          {scores.begin(), scores.end() - 2},
          scores.end()[-2],
          scores.back(),
          file.values(key + ".accuracy")[0],
          file.values(key + ".top_k")};
}

// The classifier of the reference, in batches of different sizes, into a metric.
template <index_t Classes, class D, class Metric>
void feed(const Classification& set, D& device, Metric& metric) {
  Model<Identity<Classes>, D> net(device);
  index_t size = 1;
  for (index_t first = 0; first < set.samples; size = 2 * size + 1) {
    const index_t count = std::min<index_t>(size, set.samples - first);
    std::vector<float> outputs;
    std::vector<label_t> labels;
    for (index_t n = first; n < first + count; ++n) {
      for (index_t k = 0; k < Classes; ++k)
        outputs.push_back(static_cast<float>((7 * n + (k + 1) * (n % 5 + 1)) % 13));
      labels.push_back(static_cast<label_t>((n * n + n / 3) % set.used));
    }
    const Tensor<float, D> on_device(device, {count, Classes}, outputs);
    const Tensor<label_t, D> labels_on_device(device, {count}, labels);
    metric.update(net(on_device), labels_on_device.view());
    first += count;
  }
}
template <class D, class Metric>
void feed(const Classification& set, D& device, Metric& metric) {
  if (set.classes == 2) return feed<2>(set, device, metric);
  if (set.classes == 3) return feed<3>(set, device, metric);
  if (set.classes == 7) return feed<7>(set, device, metric);
  REQUIRE(set.classes == 12);
  feed<12>(set, device, metric);
}

void check_same(const train::Scores& scores, const std::vector<double>& expected) {
  CHECK(scores.precision == expected[0]);
  CHECK(scores.recall == expected[1]);
  CHECK(scores.f1 == expected[2]);
}

// Sums of up to 12 numbers of at most 1, with weights of at most 133 samples, in another order than
// NumPy's: an addition errs by half a unit of the last place of the sum at most, of which the
// weights are a divisor later.
void check_near(const train::Scores& scores, const std::vector<double>& expected) {
  const double tolerance = 2 * 14 * std::numeric_limits<double>::epsilon();
  CHECK(std::abs(scores.precision - expected[0]) <= tolerance);
  CHECK(std::abs(scores.recall - expected[1]) <= tolerance);
  CHECK(std::abs(scores.f1 - expected[2]) <= tolerance);
}

}  // namespace

TEST_CASE_TEMPLATE("ConfusionMatrix scores classes as scikit-learn does", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (int i = 0; i < 5; ++i) {
    const Classification set = classification(i);
    CAPTURE(set.samples);
    train::ConfusionMatrix confusion(device, set.classes);
    feed(set, device, confusion);
    const train::ConfusionCounts result = confusion.result();
    REQUIRE(result.classes() == set.classes);
    CHECK(result.total() == set.samples);
    CHECK(result.accuracy() == set.accuracy);
    for (index_t k = 0; k < set.classes; ++k) {
      const auto row = static_cast<std::size_t>(k);
      CAPTURE(k);
      for (index_t p = 0; p < set.classes; ++p)
        CHECK(
            result(k, p) ==
            set.counts[row * static_cast<std::size_t>(set.classes) + static_cast<std::size_t>(p)]);
      check_same(result.scores(k), set.classes_scores[row]);
    }
    check_near(result.macro_average(), set.macro);
    check_near(result.weighted_average(), set.weighted);
    CHECK(result.macro_average().support == set.samples);
  }
}

TEST_CASE_TEMPLATE("TopK counts as scikit-learn does", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (int i = 0; i < 5; ++i) {
    const Classification set = classification(i);
    for (std::size_t k = 1; k <= set.top_k.size(); ++k) {
      CAPTURE(set.samples);
      CAPTURE(k);
      train::TopK top_k(device, static_cast<index_t>(k));
      feed(set, device, top_k);
      CHECK(top_k.result().total == set.samples);
      CHECK(top_k.result().accuracy() == set.top_k[k - 1]);
    }
  }
}

TEST_CASE_TEMPLATE("of equal outputs the first comes first, and what is not a number before all", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity<3>, D> net(device);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor<float, D> outputs(device, {6, 3},
                                 {1, 1, 1, 1, 1, 1, 1, 1, 1, 5, nan, 7, 5, nan, nan, nan, 3, 4});
  const Tensor<label_t, D> labels(device, {6}, {0, 1, 2, 2, 2, 0});
  const index_t correct[] = {2, 5, 6};  // one more with k = 2: samples 1, 3 and 4
  for (index_t k = 1; k <= 3; ++k) {
    train::TopK top_k(device, k);
    top_k.update(net(outputs), labels.view());
    CHECK(top_k.result().correct == correct[k - 1]);
  }
  train::ConfusionMatrix confusion(device, 3);
  confusion.update(net(outputs), labels.view());
  CHECK(confusion.result().correct() == 2);
  CHECK(confusion.result()(2, 1) == 2);
}

TEST_CASE_TEMPLATE("labels that are no class are as wrong for metrics as for the loss", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity<3>, D> net(device);
  const Tensor<float, D> outputs(device, {3, 3}, {1, 2, 3, 1, 2, 3, 1, 2, 3});
  const Tensor<label_t, D> labels(device, {3}, {2, 77, -1});
  const auto refuses = [&](auto& metric, const std::string& name) {
    const std::string error = error_of([&] { metric.update(net(outputs), labels); });
    if (std::is_same_v<D, Host>) {
      CHECK(error == "gpunet::train::" + name +
                         ": label 77 of sample 1 of the batch is no class (want 0 to 2): check the "
                         "labels, or give "
                         "the network as many outputs as there are classes");
    } else {
      CHECK(error.empty());
      CHECK(std::isnan(metric.result().accuracy()));
    }
    metric.reset();
    metric.update(net(outputs), Tensor<label_t, D>(device, {3}, {2, 2, 2}));
    CHECK(metric.result().accuracy() == 1);
  };
  train::Accuracy accuracy(device, 3);
  train::ConfusionMatrix confusion(device, 3);
  train::TopK top_k(device, 3);
  refuses(accuracy, "Accuracy");
  refuses(confusion, "ConfusionMatrix");
  refuses(top_k, "TopK");
}

TEST_CASE_TEMPLATE("metrics begin anew", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  train::ConfusionMatrix confusion(device, 3);
  train::TopK top_k(device, 2);
  CHECK(std::isnan(train::Accuracy(device, 3).result().accuracy()));
  CHECK(std::isnan(confusion.result().accuracy()));
  CHECK(std::isnan(top_k.result().accuracy()));
  CHECK(confusion.result().macro_average().f1 == 0);
  CHECK(confusion.result().weighted_average().f1 == 0);
  feed(classification(2), device, confusion);
  feed(classification(2), device, top_k);
  confusion.reset();
  top_k.reset();
  CHECK(confusion.result().total() == 0);
  CHECK(top_k.result().total == 0);
  CHECK(top_k.result().correct == 0);
}

TEST_CASE("metrics say what does not fit") {
  Host host, other;
  Model<Identity<3>, Host> net(host);
  const Tensor<float, Host> outputs(host, {2, 3}, {1, 2, 3, 1, 2, 3});
  const Tensor<label_t, Host> labels(host, {2}, {0, 1}), three(host, {3}, {0, 1, 2});
  train::ConfusionMatrix confusion(host, 3), ten(host, 10), elsewhere(other, 3);
  train::TopK top_k(host, 2), top_ten(host, 10);
  const auto says = [](auto action, const char* text) {
    CAPTURE(text);
    CHECK(contains(error_of(action), text));
  };
  says([&] { train::ConfusionMatrix(host, 0); }, "ConfusionMatrix: 0 classes (want 1 to 16777216)");
  says([&] { train::ConfusionMatrix(host, -1); }, "ConfusionMatrix: -1 classes");
  says([&] { ten.update(net(outputs), labels.view()); },
       "ConfusionMatrix: outputs of 3 classes (want 10)");
  says([&] { confusion.update(net(outputs), three.view()); },
       "ConfusionMatrix: 3 labels for a batch of 2");
  says([&] { elsewhere.update(net(outputs), labels.view()); },
       "ConfusionMatrix: the outputs are on another device");
  says([&] { confusion.result()(3, 0); }, "(3, 0) of 3 classes (want 0 to 2)");
  says([&] { confusion.result().scores(-1); }, "of 3 classes");
  says([&] { train::TopK(host, 0); }, "TopK: k = 0 (want 1 or more)");
  says([&] { top_ten.update(net(outputs), labels.view()); },
       "TopK: the 10 most likely of 3 classes");
  says([&] { top_k.update(net(outputs), three.view()); }, "TopK: 3 labels for a batch of 2");
  says(
      [&] {
        top_k.update(net(outputs), Tensor<label_t, Host>(host, {2, 1}, {0, 1}));
      },
      "TopK: labels of shape [2, 1] (want [2], a class for each sample), give "
      "labels.view().flatten()");
}
