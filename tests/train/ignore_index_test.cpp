// Labels that the loss leaves out are in no metric: compared with a plain count.
#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "io/temp_folder.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

constexpr index_t classes = 4;

// Pseudo-random numbers 0 to below - 1.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) : state_(seed) {}
  index_t operator()(index_t below) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<index_t>(state_ >> 33) % below;
  }

 private:
  std::uint64_t state_;
};

// Outputs [batch, classes, places] with equal ones among them, and labels [batch, places]; a third
// of the labels is ignored.
template <class T>
struct Batch {
  index_t batch, places;
  std::vector<T> outputs;
  std::vector<label_t> labels;

  Batch(index_t size, index_t of_sample, index_t ignored, std::uint64_t seed)
      : batch(size), places(of_sample) {
    Numbers random(seed);
    for (index_t i = 0; i < batch * classes * places; ++i)
      outputs.push_back(static_cast<T>(random(9)) / 4 - 1);
    for (index_t i = 0; i < batch * places; ++i)
      labels.push_back(static_cast<label_t>(random(3) == 0 ? ignored : random(classes)));
  }
  T output(index_t n, index_t k, index_t place) const {
    return outputs[static_cast<std::size_t>((n * classes + k) * places + place)];
  }
};

// ranks[k][r]: labels of class k, not ignored, before whose output r others rank; pairs[k][p]:
// labels of class k predicted as p.
struct Count {
  index_t ignored = 0, total = 0;
  index_t ranks[classes][classes] = {}, pairs[classes][classes] = {};

  template <class T>
  void add(const Batch<T>& batch, index_t leave_out) {
    for (index_t n = 0; n < batch.batch; ++n)
      for (index_t place = 0; place < batch.places; ++place) {
        const index_t label = batch.labels[static_cast<std::size_t>(n * batch.places + place)];
        if (label == leave_out) {
          ++ignored;
          continue;
        }
        ++total;
        std::vector<index_t> order(classes);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](index_t a, index_t b) {
          return batch.output(n, a, place) > batch.output(n, b, place);
        });
        ++pairs[label][order[0]];
        ++ranks[label][std::find(order.begin(), order.end(), label) - order.begin()];
      }
  }
  // Of one class, or of all.
  index_t correct(index_t k, std::optional<index_t> of = {}) const {
    index_t sum = 0;
    for (index_t label = 0; label < classes; ++label)
      for (index_t r = 0; r < k; ++r)
        sum += of.value_or(label) == label ? ranks[label][r] : 0;
    return sum;
  }
};

// Passes its input on, so that a metric sees the numbers of the test.
template <index_t... Places>
using Identity = nn::Sequential<nn::Input<classes, Places...>, nn::Identity>;

template <class D, class T, index_t... Places>
void compare(index_t ignored, bool by_loss) {
  D& device = test_device<D>();
  Model<Identity<Places...>, D, T> net(device);
  const train::MetricOptions options =
      by_loss ? train::MetricOptions{} : train::MetricOptions{.ignore_index = ignored};
  const std::optional<index_t> of_loss = by_loss ? std::optional(ignored) : std::nullopt;
  train::Accuracy accuracy(device, classes, options);
  train::ConfusionMatrix confusion(device, classes, options);
  train::TopK top1(device, 1, options), top3(device, 3, options);
  Count count;
  for (const index_t size : {1, 3, 17, 33}) {
    const Batch<T> batch(size, (index_t{1} * ... * Places), ignored,
                         static_cast<std::uint64_t>(size - ignored));
    count.add(batch, ignored);
    const Tensor<T, D> outputs(device, {size, classes, Places...}, batch.outputs);
    const Tensor<label_t, D> labels(device, {size, Places...}, batch.labels);
    const auto update = [&](auto& metric) {
      metric.update(net(outputs), labels, of_loss);
    };
    update(accuracy), update(confusion), update(top1), update(top3);
  }
  REQUIRE(count.ignored > 0);
  const auto exact = static_cast<double>(count.correct(1)) / static_cast<double>(count.total);

  const auto of_classes = accuracy.result();
  CHECK(of_classes.total() == count.total);
  CHECK(of_classes.ignored == count.ignored);
  CHECK(of_classes.no_class == 0);
  CHECK(of_classes.accuracy() == exact);
  const train::ConfusionCounts pairs = confusion.result();
  CHECK(pairs.total() == count.total);
  CHECK(pairs.ignored() == count.ignored);
  CHECK(pairs.no_class() == 0);
  CHECK(pairs.accuracy() == exact);
  for (index_t k = 0; k < classes; ++k) {
    const auto& of_class = of_classes.classes[static_cast<std::size_t>(k)];
    CHECK(of_class.correct == count.correct(1, k));
    CHECK(of_class.total == count.correct(classes, k));
    CHECK(pairs.scores(k).support == count.correct(classes, k));
    for (index_t p = 0; p < classes; ++p)
      CHECK(pairs(k, p) == count.pairs[k][p]);
  }
  CHECK(top1.result().accuracy() == exact);
  CHECK(top3.result().correct == count.correct(3));
  CHECK(top3.result().total == count.total);
  CHECK(top3.result().ignored == count.ignored);
  CHECK(top3.result().no_class == 0);
}

// Six samples of 5 numbers with labels [] or [3]. Some labels are ignored: all of one sample, half
// of others.
Tensor<float, Host> six_inputs(Host& host) {
  Tensor<float, Host> x(host, {6, 5});
  for (index_t i = 0; i < x.numel(); ++i)
    x.data()[i] = static_cast<float>((7 * i + i * i) % 13) / 8 - 0.5f;
  return x;
}

nn::Value classifier(nn::Value x) {
  return linear(x, classes);
}
nn::Value of_places(nn::Value x) {
  return reshape(linear(x, 3 * classes), {classes, 3});
}

// Returns the fraction of the labels that are not -100 for which the first largest of the outputs
// is theirs.
template <class D>
double plain_accuracy(Network<D, float>& net, const Tensor<float, Host>& x,
                      const Tensor<label_t, Host>& y) {
  Batch<float> batch(x.sizes()[0], y.numel() / x.sizes()[0], -100, 0);
  batch.outputs = net(Tensor<float, D>(net.device(), x.sizes(), x.to_vector())).to_vector();
  batch.labels = y.to_vector();
  Count count;
  count.add(batch, -100);
  return static_cast<double>(count.correct(1)) / static_cast<double>(count.total);
}

template <class D>
void train_and_compare(nn::Value (*function)(nn::Value), const Tensor<label_t, Host>& y) {
  D& device = test_device<D>();
  Host& host = test_device<Host>();
  const Tensor<float, Host> x = six_inputs(host);
  const data::TensorDataset set(x, y);
  const nn::CrossEntropyLoss criterion({.ignore_index = -100});
  data::DataLoader loader(set, {.batch_size = 4});
  manual_seed(3);
  Network<D, float> net(device, function, {5});
  const auto counted = static_cast<index_t>(y.numel() - std::ranges::count(y.to_vector(), -100));

  const train::Evaluation result = train::evaluate(net, criterion, loader);
  CHECK(result.accuracy == plain_accuracy(net, x, y));
  CHECK(result.counted == counted);
  CHECK(result.samples == 6);
  // The mean over all labels that count, however they are spread over batches; one batch has none.
  const Tensor<label_t, D> labels(device, y.sizes(), y.to_vector());
  const auto whole = static_cast<double>(
      criterion(net(Tensor<float, D>(device, x.sizes(), x.to_vector())), labels).item());
  CHECK(result.loss == doctest::Approx(whole).epsilon(1e-6));
  data::DataLoader one_by_one(set, {.batch_size = 1});
  CHECK(train::evaluate(net, criterion, one_by_one).loss == doctest::Approx(whole).epsilon(1e-6));
  CHECK(result.weight == static_cast<double>(counted));
  CHECK(train::evaluate(net, nn::NLLLoss({.ignore_index = -100}), loader).accuracy ==
        result.accuracy);

  // A step of size 0: all batches have the outputs of the network.
  optim::SGD optimizer(net, {.lr = 0});
  train::Accuracy accuracy(device, classes);
  const train::History history = train::fit(
      net, criterion, optimizer, loader, {.epochs = 1}, train::Validation(loader), accuracy,
      train::Measure("top1", train::TopK(device, 1)),
      train::Measure("total", train::ConfusionMatrix(device, classes),
                     [](const auto& counts) { return counts.total() + 1000 * counts.ignored(); }));
  const train::Epoch& epoch = history.epochs.at(0);
  CHECK(epoch.accuracy == result.accuracy);
  CHECK(epoch.val_accuracy == result.accuracy);
  CHECK(accuracy.result().total() == counted);
  for (const char* name : {"top1", "val_top1"})
    CHECK(epoch[name] == result.accuracy);
  for (const char* name : {"total", "val_total"})
    CHECK(epoch[name] == static_cast<double>(counted + 1000 * (y.numel() - counted)));
}

}  // namespace

TEST_CASE_TEMPLATE("metrics count the labels that are not ignored", D, GPUNET_TEST_DEVICES) {
  for (const index_t ignored : {index_t{-100}, index_t{2}, index_t{255}, classes})
    for (const bool by_loss : {false, true}) {
      CAPTURE(ignored);
      CAPTURE(by_loss);
      compare<D, float>(ignored, by_loss);
      compare<D, double>(ignored, by_loss);
      compare<D, float, 5>(ignored, by_loss);
      compare<D, float, 3, 7>(ignored, by_loss);
      compare<D, double, 3, 7>(ignored, by_loss);
      compare<D, float, 1, 1>(ignored, by_loss);
    }
}

TEST_CASE_TEMPLATE(
    "evaluate, Validation and metrics in fit leave out the labels that the loss ignores", D,
    GPUNET_TEST_DEVICES) {
  Host& host = test_device<Host>();
  train_and_compare<D>(classifier, Tensor<label_t, Host>(host, {6}, {0, -100, 3, 1, -100, 2}));
  train_and_compare<D>(of_places, Tensor<label_t, Host>(host, {6, 3},
                                                        {0, -100, 3, -100, -100, -100, 1, 2, 2,
                                                         -100, 0, 1, 3, 3, -100, 2, 1, 0}));
}

TEST_CASE_TEMPLATE("accuracies of labels that are all ignored are not a number", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity<>, D> net(device);
  const Tensor<float, D> outputs(device, {2, classes}, {1, 2, 3, 4, 4, 3, 2, 1});
  const auto check = [&](auto metric, auto ignored) {
    metric.update(net(outputs), Tensor<label_t, D>(device, {2}, {-1, -1}));
    CHECK(std::isnan(metric.result().accuracy()));
    CHECK(ignored(metric.result()) == 2);
    metric.update(net(outputs), Tensor<label_t, D>(device, {2}, {3, 3}));
    CHECK(metric.result().accuracy() == 0.5);
    metric.reset();
    CHECK(ignored(metric.result()) == 0);
  };
  const auto member = [](const auto& result) {
    return result.ignored;
  };
  check(train::Accuracy(device, classes, {.ignore_index = -1}), member);
  check(train::TopK(device, 1, {.ignore_index = -1}), member);
  check(train::ConfusionMatrix(device, classes, {.ignore_index = -1}),
        [](const train::ConfusionCounts& counts) { return counts.ignored(); });
}

TEST_CASE_TEMPLATE("labels that are no class and not ignored are still wrong", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Identity<>, D> net(device);
  const Tensor<float, D> outputs(device, {3, classes}, {1, 2, 3, 4, 4, 3, 2, 1, 0, 0, 0, 1});
  const auto check = [&](auto metric, const std::string& name) {
    for (const label_t wrong : {-2, 4, 255}) {
      const std::string error = error_of([&] {
        metric.update(net(outputs), Tensor<label_t, D>(device, {3}, {3, -1, wrong}));
      });
      if (std::is_same_v<D, Host>) {
        CHECK(contains(error, concat("gpunet::train::", name, ": label ", wrong,
                                     " of sample 2 of the batch is no class")));
      } else {
        CHECK(error.empty());
        CHECK(std::isnan(metric.result().accuracy()));
      }
      metric.reset();
    }
  };
  check(train::Accuracy(device, classes, {.ignore_index = -1}), "Accuracy");
  check(train::TopK(device, 1, {.ignore_index = -1}), "TopK");
  check(train::ConfusionMatrix(device, classes, {.ignore_index = -1}), "ConfusionMatrix");
}

TEST_CASE("a negative label that is not ignored: the message says how") {
  Host host;
  Model<Identity<3>, Host> net(host);
  const Tensor<float, Host> outputs(host, {1, classes, 3}, std::vector<float>(3 * classes));
  train::Accuracy accuracy(host, classes);
  CHECK(error_of([&] {
          accuracy.update(net(outputs), Tensor<label_t, Host>(host, {1, 3}, {0, -100, 1}));
        }) ==
        "gpunet::train::Accuracy: label -100 of sample 1 of the batch is no class (want 0 to 3): "
        "check the labels, "
        "or leave those out that are none by {.ignore_index = -100}");
  CHECK(error_of([&] {
          accuracy.update(net(outputs), Tensor<label_t, Host>(host, {1, 2}, {0, 1}));
        }) ==
        "gpunet::train::Accuracy: labels of shape [1, 2] for outputs of shape [1, 4, 3] (want [1, "
        "3]), give a class "
        "for each place");
}

TEST_CASE_TEMPLATE("checkpoints have the number of ignored labels", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const TempFolder folder;
  Model<Identity<>, D> net(device);
  const Tensor<float, D> outputs(device, {3, classes}, {1, 2, 3, 4, 4, 3, 2, 1, 0, 0, 0, 1});
  const Tensor<label_t, D> labels(device, {3}, {3, -100, 2});
  const auto with = [&](auto... options) {
    struct {
      train::Accuracy<D> accuracy;
      train::TopK<D> top;
      train::ConfusionMatrix<D> confusion;
    } metrics{
        {device, classes, options...}, {device, 1, options...}, {device, classes, options...}};
    return metrics;
  };
  auto written = with(train::MetricOptions{.ignore_index = -100});
  auto read = with(train::MetricOptions{.ignore_index = -100});
  const auto add = [](io::Checkpoint& checkpoint, auto& of) -> io::Checkpoint& {
    return checkpoint.add("a", of.accuracy).add("t", of.top).add("c", of.confusion);
  };
  written.accuracy.update(net(outputs), labels);
  written.top.update(net(outputs), labels);
  written.confusion.update(net(outputs), labels);
  io::Checkpoint to(folder / "metrics.safetensors");
  add(to, written).save();
  io::Checkpoint from(folder / "metrics.safetensors");
  CHECK(add(from, read).load());
  CHECK(read.accuracy.result().ignored == 1);
  CHECK(read.accuracy.result().accuracy() == 0.5);
  CHECK(read.top.result().ignored == 1);
  CHECK(read.top.result().total == 2);
  CHECK(read.confusion.result().ignored() == 1);
  CHECK(read.confusion.result().no_class() == 0);
  CHECK(read.confusion.result()(2, 3) == 1);
}

TEST_CASE(
    "rows of a confusion matrix are counted side by side: no index writes the count of another") {
  constexpr index_t samples = 1 << 18;
  const std::vector<label_t> labels(samples, -100), predictions(samples, 0);
  std::vector<index_t> counts(classes * classes + 1);
  const train::CountPairs count{classes,       samples,       predictions.data(),
                                labels.data(), counts.data(), -100};
  std::vector<std::thread> threads;
  for (index_t k = 0; k <= classes; ++k)
    threads.emplace_back([&count, k] { count(k); });
  for (std::thread& thread : threads)
    thread.join();
  CHECK(counts.back() == samples);
}
