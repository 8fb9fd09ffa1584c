// Datasets with targets of floats, or of several labels.
#include <doctest/doctest.h>
#include <tuple>
#include <vector>

#include <gpunet/data/concat_dataset.hpp>
#include <gpunet/data/dataloader.hpp>
#include <gpunet/data/subset.hpp>
#include <gpunet/data/tensor_dataset.hpp>
#include <gpunet/data/train_test_split.hpp>
#include <gpunet/extras/data/digits.hpp>
#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using data::DataLoader;

namespace {

// Sample i is [i], its target the 2 x 3 numbers 10 i to 10 i + 5, as Target.
template <class Target>
struct Tables {
  index_t size() const { return 7; }
  Sizes sample_sizes() const { return {1}; }
  Sizes target_sizes() const { return {2, 3}; }
  void read(index_t i, float* sample, Target* target) const {
    *sample = static_cast<float>(i);
    for (index_t k = 0; k < 6; ++k)
      target[k] = static_cast<Target>(10 * i + k);
  }
};
static_assert(data::Dataset<Tables<float>> && !data::LabelDataset<Tables<float>>);
static_assert(data::Dataset<Tables<label_t>> && !data::LabelDataset<Tables<label_t>>);

// The same by two functions.
template <class Target>
struct TwoFunctions {
  index_t odd = -1;  // the target of this sample has another shape

  index_t size() const { return 7; }
  data::SampleWithTarget<Target> operator[](index_t i) const {
    if (i == odd) return {{0}, {1}, {1, 2, 3}, {3}};
    data::SampleWithTarget<Target> sample{
        {static_cast<float>(i)}, {1}, std::vector<Target>(6), {2, 3}};
    for (std::size_t k = 0; k < 6; ++k)
      sample.target[k] = static_cast<Target>(10 * i) + static_cast<Target>(k);
    return sample;
  }
};

// Numbers with targets that are drawn anew each time.
struct Noise {
  index_t size() const { return 6; }
  Sizes sample_sizes() const { return {1}; }
  Sizes target_sizes() const { return {}; }
  void read(index_t i, float* sample, float* target) const {
    *sample = static_cast<float>(i);
    *target = -1;
  }
  void read(index_t i, float* sample, float* target, data::Random& random) const {
    *sample = static_cast<float>(i);
    *target = static_cast<float>(random.uniform(0, 1));
  }
  bool is_random() const { return true; }
};

using Order = std::vector<std::vector<index_t>>;  // the samples of each batch

// Returns the samples of one epoch; checks the targets, those of the tables.
template <class Target, class D>
Order epoch(D& device, auto&& batches) {
  Order order;
  for (auto [inputs, targets] : batches) {
    static_assert(std::is_same_v<decltype(targets), View<const Target, D>>);
    const index_t n = inputs.size(0);
    REQUIRE(inputs.sizes() == Sizes{n, 1});
    REQUIRE(targets.sizes() == Sizes{n, 2, 3});
    const auto values = to_vector(device, inputs);
    const auto numbers = to_vector(device, targets);
    order.emplace_back();
    for (std::size_t i = 0; i < values.size(); ++i) {
      order.back().push_back(static_cast<index_t>(values[i]));
      for (std::size_t k = 0; k < 6; ++k)
        CHECK(numbers[6 * i + k] ==
              static_cast<Target>(10 * order.back()[i] + static_cast<index_t>(k)));
    }
  }
  return order;
}

template <class D, class Target>
void check_loaders(D& device, const auto& set) {
  for (int workers : {0, 3})
    CHECK(epoch<Target>(device,
                        DataLoader(set, {.batch_size = 3, .num_workers = workers}).to(device)) ==
          Order{{0, 1, 2}, {3, 4, 5}, {6}});
  DataLoader loader(set, {.batch_size = 3, .shuffle = true});
  manual_seed(3);
  auto batches = loader.to(device);
  const Order first = epoch<Target>(device, batches);
  CHECK(first != Order{{0, 1, 2}, {3, 4, 5}, {6}});
  manual_seed(3);
  auto resident = loader.resident_on(device);
  CHECK(epoch<Target>(device, resident) == first);
}

using Net = nn::Sequential<nn::Input<2>, nn::Linear<5>, nn::Tanh, nn::Linear<2>>;

}  // namespace

TEST_CASE_TEMPLATE("loaders give targets of any shape", D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  check_loaders<D, float>(device, Tables<float>{});
  check_loaders<D, label_t>(device, Tables<label_t>{});
  check_loaders<D, float>(device, TwoFunctions<float>{});
  check_loaders<D, label_t>(device, TwoFunctions<label_t>{});
}

TEST_CASE_TEMPLATE("parts of a dataset with targets, and several one after another, have targets",
                   D, GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  const Tables<float> set;
  const TwoFunctions<float> other;
  const data::Subset some(set, {4, 0, 2});
  CHECK(epoch<float>(device, DataLoader(some, {.batch_size = 2}).to(device)) == Order{{4, 0}, {2}});
  const data::Subset of_functions(other, {5});
  CHECK(epoch<float>(device, DataLoader(of_functions).to(device)) == Order{{5}});
  const data::ConcatDataset all(some, other);
  CHECK(epoch<float>(device, DataLoader(all, {.batch_size = 4}).to(device)) ==
        Order{{4, 0, 2, 0}, {1, 2, 3, 4}, {5, 6}});
  const data::ConcatDataset<float> by_views(std::vector<data::DatasetView>{some, of_functions});
  CHECK(epoch<float>(device, DataLoader(by_views, {.batch_size = 4}).to(device)) ==
        Order{{4, 0, 2, 5}});
}

TEST_CASE("random targets depend on the epoch, not on the workers") {
  Host host;
  const Noise set;
  std::vector<std::vector<float>> drawn;
  for (int workers : {0, 1, 3}) {
    manual_seed(1);
    const DataLoader loader(set, {.batch_size = 4, .num_workers = workers});
    auto batches = loader.to(host);
    drawn.emplace_back();
    for (int epoch = 0; epoch < 2; ++epoch)
      for (auto [inputs, targets] : batches) {
        REQUIRE(targets.sizes() == Sizes{inputs.size(0)});
        for (float target : to_vector(host, targets)) {
          CHECK((0 <= target && target < 1));
          drawn.back().push_back(target);
        }
      }
  }
  CHECK(drawn[0] == drawn[1]);
  CHECK(drawn[0] == drawn[2]);
  CHECK(drawn[0][0] != drawn[0][6]);
}

TEST_CASE("a collate_fn changes targets of its type") {
  Host host;
  const Tables<float> floats;
  const Tables<label_t> labels;
  const auto halve = [](View<float, Host>, View<float, Host> targets, data::Random&) {
    for (index_t i = 0; i < targets.numel(); ++i)
      targets.data()[i] /= 2;
  };
  const auto first_of = [&](const auto& loader) {
    auto batches = loader.to(host);
    return (*batches.begin()).targets.data()[1];
  };
  CHECK(first_of(DataLoader(floats, {.collate_fn = halve})) == 0.5F);
  const auto clear = [](auto, auto targets, data::Random&) {
    targets.data()[1] = 0;
  };
  CHECK(first_of(DataLoader(floats, {.collate_fn = clear})) == 0);
  CHECK(first_of(DataLoader(labels, {.collate_fn = clear})) == 0);
  CHECK(error_of([&] { DataLoader(labels, {.collate_fn = halve}); }) ==
        "gpunet::data::DataLoader: collate_fn takes targets of float (want label_t, those of the "
        "dataset), change "
        "its "
        "second argument");
}

TEST_CASE("tensors with targets") {
  Host host;
  const Tensor<float, Host> x(host, {3, 2}, {0, 1, 2, 3, 4, 5}),
      y(host, {3, 2}, {6, 7, 8, 9, 10, 11}), one_each(host, {3}, {1, 2, 3}), none(host, {}, {1});
  const data::TensorDataset set(x, y);
  CHECK(set.size() == 3);
  CHECK(set.target_sizes() == Sizes{2});
  std::vector<float> sample(2), target(2);
  set.read(2, sample.data(), target.data());
  CHECK(sample == std::vector<float>{4, 5});
  CHECK(target == std::vector<float>{10, 11});
  CHECK(data::TensorDataset(x, one_each).target_sizes() == Sizes{});

  const Tensor<label_t, Host> pixels(host, {3, 2, 2}), column(host, {3, 1});
  CHECK(data::TensorDataset(x, pixels).target_sizes() == Sizes{2, 2});
  CHECK(error_of([&] { data::TensorDataset(x, column); }) ==
        "gpunet::data::TensorDataset: labels of shape [3, 1] (want [n], a class for each sample)");
  CHECK(error_of([&] { data::TensorDataset(x, none); }) ==
        "gpunet::data::TensorDataset: targets of shape [] (want [n, ...]), give the tensor a shape "
        "with the number "
        "of "
        "samples in front");
  const Tensor<float, Host> short_one(host, {2, 2});
  CHECK(error_of([&] { data::TensorDataset(x, short_one); }) ==
        "gpunet::data::TensorDataset: 3 samples (shape [3, 2]) and 2 targets (want one for each "
        "sample)");

  const auto [X_train, X_test, y_train, y_test] =
      data::train_test_split(x, y, {.test_size = 1, .shuffle = false});
  CHECK(y_train.to_vector() == std::vector<float>{6, 7, 8, 9});
  CHECK(y_test.sizes() == Sizes{1, 2});
  CHECK(X_test.to_vector() == std::vector<float>{4, 5});
}

TEST_CASE("targets that do not fit are refused") {
  Host host;
  const TwoFunctions<float> broken{.odd = 3};
  const auto read_all = [&](const auto& set) {
    DataLoader loader(set);
    for (auto batches = loader.to(host); const auto& batch : batches)
      std::ignore = batch;
  };
  CHECK(error_of([&] { read_all(broken); }) ==
        "gpunet::data: the target of sample 3 has the shape [3] and sample 0 [2, 3] (a batch has "
        "one shape), bring "
        "all "
        "samples to one");
  const Tables<float> floats;
  const Tables<label_t> labels;
  static_assert(
      std::is_same_v<decltype(data::ConcatDataset({floats, floats})), data::ConcatDataset<float>>);
  CHECK(data::ConcatDataset({labels, labels}).size() == 2 * labels.size());
  CHECK(error_of([&] {
          data::ConcatDataset({labels, floats});
        }) ==
        "gpunet::data::ConcatDataset: the targets of dataset 1 are of float (want label_t), "
        "concatenate datasets "
        "with "
        "targets of one type, of a vector or a mixed list by ConcatDataset<float>(sets)");
  CHECK(error_of([&] { data::ConcatDataset(floats, labels); }) ==
        "gpunet::data::ConcatDataset: the targets of dataset 1 are of label_t (want float), "
        "concatenate datasets "
        "with "
        "targets of one type, of a vector or a mixed list by ConcatDataset<float>(sets)");
  const Noise other;
  CHECK(error_of([&] { data::ConcatDataset(floats, other); }) ==
        "gpunet::data::ConcatDataset: the targets of dataset 1 have shape [], those before it [2, "
        "3] (a batch has "
        "one "
        "shape), bring them to one");
  CHECK(error_of([&] { DataLoader<float>{labels}; }) ==
        "gpunet::data::DataLoader: the targets of the dataset are of label_t, those of the loader "
        "of float, write "
        "DataLoader loader(set), which has those of the set");
  float sample;
  CHECK(error_of([&] { data::DatasetView(floats).read(0, &sample); }) ==
        "gpunet::data: the targets of the dataset are of float and shape [2, 3] (want a label for "
        "each sample), "
        "take a dataset with labels, or a Subset of the dataset itself instead of a DatasetView of "
        "it");
}

// It took the labels for floats.
TEST_CASE("a part of a DatasetView has its labels") {
  const data::Digits digits = data::Digits::test(6);
  const data::DatasetView view(digits);
  const std::vector<index_t> rows{5, 0, 3};
  const data::Subset part(view, rows);
  static_assert(std::same_as<data::TargetOf<data::Subset<data::DatasetView>>, label_t>);
  std::vector<float> sample(static_cast<std::size_t>(view.sample_sizes().numel())), want = sample;
  for (index_t i = 0; i < 3; ++i) {
    CHECK(part.read(i, sample.data()) ==
          digits.read(rows[static_cast<std::size_t>(i)], want.data()));
    CHECK(sample == want);
  }
}

TEST_CASE_TEMPLATE("fit learns numbers as the loop does, and evaluate has no accuracy", D,
                   GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  Host host;
  Generator generator(5);
  const auto x = randn(host, {20, 2}, generator), y = randn(host, {20, 2}, generator);
  const data::TensorDataset set(x, y);
  const nn::MSELoss criterion;
  std::vector<std::vector<float>> weights;
  train::History history;
  for (bool by_fit : {false, true}) {
    manual_seed(2);
    Model<Net, D> net(device);
    optim::SGD optimizer(net, {.lr = 0.1});
    DataLoader loader(set, {.batch_size = 8, .shuffle = true});
    if (by_fit) {
      history = train::fit(net, criterion, optimizer, loader, {.epochs = 3});
    } else {
      train::Step step(net, criterion, optimizer);
      auto batches = loader.to(device);
      for (int epoch = 0; epoch < 3; ++epoch)
        for (auto [inputs, targets] : batches)
          step(inputs, targets);
    }
    weights.push_back(to_vector(device, std::as_const(net).parameters()));
    const train::Evaluation result = train::evaluate(net, criterion, loader);
    auto resident = loader.resident_on(device);
    CHECK(train::evaluate(net, criterion, resident).loss ==
          doctest::Approx(result.loss).epsilon(1e-6));
    CHECK(result.samples == 20);
    CHECK(std::isnan(result.accuracy));
    CHECK(std::isnan(
        train::fit(net, criterion, optimizer, loader, {.epochs = 1}, train::Validation(loader))
            .epochs[0]
            .val_accuracy));
  }
  CHECK(weights[0] == weights[1]);
  REQUIRE(history.epochs.size() == 3);
  CHECK(history.epochs[2].loss < history.epochs[0].loss);
}
