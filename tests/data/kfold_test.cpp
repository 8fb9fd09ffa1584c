// K-fold cross-validation against scikit-learn, labels of datasets and weights of classes.
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/datasets.hpp>
#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

// As in reference/orders.py.
index_t hash_of(const std::vector<index_t>& indices) {
  std::uint64_t value = indices.size();
  for (const index_t i : indices)
    value = value * 31 + static_cast<std::uint64_t>(i);
  return static_cast<index_t>(value);
}

// Folds, with hashes of the training and the test sets.
struct FoldOrder {
  index_t n, n_splits;
  bool shuffle;
  std::uint32_t random_state;
  int classes;
  std::vector<index_t> train, test;
};

std::vector<FoldOrder> fold_orders() {
  const ReferenceFile file("orders");
  std::vector<FoldOrder> orders;
  for (const std::string& array : file.names("folds.")) {
    const auto row = file.values<index_t>(array);
    const auto train = row.begin() + 5, test = train + row[1];
    orders.push_back({row[0],
                      row[1],
                      row[2] != 0,
                      static_cast<std::uint32_t>(row[3]),
                      static_cast<int>(row[4]),
                      {train, test},
                      {test, row.end()}});
  }
  return orders;
}

std::vector<data::TrainTestSplit> folds_of(const FoldOrder& of) {
  data::KFoldOptions options{.shuffle = of.shuffle};
  if (of.shuffle) options.random_state = of.random_state;
  if (of.classes == 0) return data::KFold(of.n_splits, options).split(of.n);
  std::vector<label_t> labels;
  for (int i = 0; i < of.n; ++i)
    labels.push_back((i * i + 3 * (i / 7)) % of.classes);
  return data::StratifiedKFold(of.n_splits, options).split(labels);
}

}  // namespace

TEST_CASE("folds are scikit-learn's") {
  const std::vector<FoldOrder> orders = fold_orders();
  CHECK(orders.size() == 44);
  for (const FoldOrder& expected : orders) {
    CAPTURE(expected.n);
    CAPTURE(expected.n_splits);
    CAPTURE(expected.random_state);
    CAPTURE(expected.classes);
    const auto folds = folds_of(expected);
    REQUIRE(std::ssize(folds) == expected.n_splits);
    for (std::size_t i = 0; i < folds.size(); ++i) {
      CHECK(hash_of(folds[i].train) == expected.train[i]);
      CHECK(hash_of(folds[i].test) == expected.test[i]);
    }
  }
  // As scikit-learn's documentation says: the first n % k folds have one sample more.
  const auto folds = data::KFold(3).split(8);
  CHECK(folds[0].test == std::vector<index_t>{0, 1, 2});
  CHECK(folds[1].test == std::vector<index_t>{3, 4, 5});
  CHECK(folds[2].test == std::vector<index_t>{6, 7});
  CHECK(folds[2].train == std::vector<index_t>{0, 1, 2, 3, 4, 5});
}

TEST_CASE("without a seed the default generator draws one") {
  manual_seed(4);
  const auto drawn = data::KFold(4, {.shuffle = true}).split(20);
  Generator generator(4);
  const auto again =
      data::KFold(4, {.shuffle = true, .random_state = generator.random()}).split(20);
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(drawn[i].test == again[i].test);
  manual_seed(4);
  data::StratifiedKFold(2).split({0, 1, 0, 1});
  Generator untouched(4);
  CHECK(default_generator().random() == untouched.random());
}

TEST_CASE("folds that cannot be made") {
  using data::KFold, data::StratifiedKFold;
  CHECK(error_of([] { KFold(1); }) ==
        "gpunet::data::KFold: 1 folds (want 2 or more, one is tested and the others train)");
  CHECK(error_of([] { StratifiedKFold(-3); }) ==
        "gpunet::data::StratifiedKFold: -3 folds (want 2 or more, one is tested and the others "
        "train)");
  CHECK(error_of([] { KFold(2, {.random_state = 1}); }) ==
        "gpunet::data::KFold: a random_state without shuffle (it has no effect), leave it out or "
        "set .shuffle = "
        "true");
  CHECK(error_of([] { KFold(5).split(4); }) ==
        "gpunet::data::KFold: 5 folds of 4 samples (want 5 to 4294967295 samples, one or more for "
        "each fold), make "
        "fewer folds");
  CHECK(error_of([] { KFold(5).split(-1); }).find("5 folds of -1 samples") != std::string::npos);
  CHECK(error_of([] { KFold(5).split(index_t{1} << 32); }).find("5 folds of 4294967296 samples") !=
        std::string::npos);
  CHECK(error_of([] { StratifiedKFold(2).split({0}); }) ==
        "gpunet::data::StratifiedKFold: 2 folds of 1 samples (want 2 to 4294967295 samples, one or "
        "more for each "
        "fold), make fewer folds");
  CHECK(error_of([] {
          StratifiedKFold(3).split({5, 7, 5, 7, 5});
        }) ==
        "gpunet::data::StratifiedKFold: class 7 has 2 samples (want 3 or more, one for each fold), "
        "make fewer folds "
        "or leave out the class");
}

TEST_CASE("labels of datasets, and balanced weights of their classes") {
  Host& host = test_device<Host>();
  const Tensor<float, Host> x(host, {6, 1});
  const Tensor<label_t, Host> y(host, {6}, {2, 0, 0, 1, 0, 1});
  const data::TensorDataset set(x, y);
  CHECK(data::labels_of(set) == std::vector<label_t>{2, 0, 0, 1, 0, 1});
  const data::Subset part(set, {3, 0, 5});
  CHECK(data::labels_of(part) == std::vector<label_t>{1, 2, 1});
  const data::Subset of_part(part, {1});
  CHECK(data::labels_of(of_part) == std::vector<label_t>{2});
  const data::Shapes shapes(20, 3);
  std::vector<label_t> drawn;
  std::vector<float> sample(static_cast<std::size_t>(shapes.sample_sizes().numel()));
  for (index_t i = 0; i < 20; ++i)
    drawn.push_back(shapes.read(i, sample.data()));
  CHECK(data::labels_of(shapes) == drawn);

  // sklearn.utils.class_weight.compute_class_weight("balanced"): 6 / (3 * count).
  CHECK(data::compute_class_weight(data::labels_of(set), 3) == std::vector<double>{6.0 / 9, 1, 2});
  CHECK(data::compute_class_weight({0, -100, 1, 0, 2, 0, -100, 1}, 3, -100) ==
        std::vector<double>{6.0 / 9, 1, 2});
  const auto error = [](std::vector<label_t> labels, index_t classes) {
    return error_of([&] { data::compute_class_weight(labels, classes); });
  };
  CHECK(error({0, 1}, 0) ==
        "gpunet::data::compute_class_weight: 0 classes of 2 samples (want 1 class or more, and a "
        "sample of each)");
  CHECK(error({}, 1) ==
        "gpunet::data::compute_class_weight: 1 classes of 0 samples (want 1 class or more, and a "
        "sample of each)");
  CHECK(error({0, 3, 1}, 3) ==
        "gpunet::data::compute_class_weight: label 3 of 3 classes (want 0 to 2), give the number "
        "of classes, as the "
        "network's outputs");
  CHECK(error({0, -1, 1}, 3).find("label -1 of 3 classes") != std::string::npos);
  CHECK(error({0, 2, 2}, 3) ==
        "gpunet::data::compute_class_weight: class 1 has no samples (no weight makes it count as "
        "the others), give "
        "fewer classes or samples of it");
  const Tensor<float, Host> numbers(host, {6, 2});
  const data::TensorDataset regression(x, numbers);
  CHECK(error_of([&] { data::labels_of(regression); }) ==
        "gpunet::data: the targets of the dataset are of float and shape [2] (want a label for "
        "each sample), take "
        "a dataset with labels, or a Subset of the dataset itself instead of a DatasetView of it");

  // A loss takes them: the mean of the weighted losses by the weights, as PyTorch's.
  const auto weights = data::compute_class_weight(data::labels_of(set), 3);
  Network<Host, double> net(host, [](nn::Value v) { return v; }, {3});
  const Tensor<double, Host> logits(host, {2, 3}, {1, 2, 4, 0, 0, 0});
  const Tensor<label_t, Host> labels(host, {2}, {0, 2});
  const double first = std::log(std::exp(1.0) + std::exp(2.0) + std::exp(4.0)) - 1,
               second = std::log(3.0);
  CHECK(nn::CrossEntropyLoss({.weight = weights})(net(logits), labels).item() ==
        doctest::Approx((weights[0] * first + weights[2] * second) / (weights[0] + weights[2]))
            .epsilon(1e-14));
}
