#include <algorithm>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "distributed/world.hpp"
#include "io/temp_folder.hpp"
#include "support/arrays.hpp"
#include "support/cross_entropy_with.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using distributed::DistributedDataParallel;

namespace {

constexpr index_t samples = 48;

nn::Value layers(nn::Value x) {
  return linear(relu(linear(x, 8)), 3);
}

bool gives_nan = false;

// CrossEntropyLoss, or NaN where the test wants it.
struct LossWithNan : CrossEntropyWith<LossWithNan> {
  template <class D, class T>
  void evaluate(D& device, const nn::LossPass<T, label_t>& pass) const {
    inner.evaluate(device, pass);
    if (gives_nan) pass.losses[0] = std::numeric_limits<T>::quiet_NaN();
  }
};

struct How {
  bool alone = false;  // one process with all samples
  index_t epochs = 3;
  index_t accumulate = 1;
  bool clips = false;
  bool counts = true;
  std::string resume = {};
  index_t stop_after = 0;  // by the last rank alone
  index_t nan_at = 0;      // the step of which the last rank has a loss that is not finite; 0: none
  bool stops_on_nan = false, also_stops = false;  // rank 0, for another reason at the same step
};

struct Result {
  train::History history;
  std::vector<double> weights;
};

// A training whose batches have 24 samples of all processes together.
Result train_with(const How& how) {
  Host& host = test_device<Host>();
  const index_t ranks = how.alone ? 1 : world().size(), rank = how.alone ? 0 : world().rank();
  const Tensor<float, Host> x(host, {samples, 4}, pattern<float>(4 * samples, 7, 3, 19));
  std::vector<label_t> classes;
  for (index_t i = 0; i < samples; ++i)
    classes.push_back(static_cast<label_t>(i * i % 3));
  const Tensor<label_t, Host> y(host, {samples}, classes);
  const data::TensorDataset set(x, y);
  data::DataLoader loader(
      set, {.batch_size = 24 / ranks,
            .sampler = data::DistributedSampler(set, {.num_replicas = ranks, .rank = rank})});
  data::DataLoader validation(set, {.batch_size = 5,
                                    .sampler = data::DistributedSampler(
                                        set, {.num_replicas = ranks, .rank = rank, .seed = 5})});
  manual_seed(2);
  Network<Host, float> net(host, layers, {4});
  std::optional<DistributedDataParallel<Host, float>> ddp;
  if (!how.alone) ddp.emplace(net, world());
  optim::Adam optimizer(net, {.lr = 0.02});
  struct Stop {
    const How& how;
    bool is_last;
    void on_step_end(train::Training& run) const {
      if (is_last && run.total_steps == how.stop_after) run.stop("enough");
      if (how.stops_on_nan) train::StopOnNaN(1).on_step_end(run);
      if (how.also_stops && run.is_main && run.total_steps == how.nan_at) run.stop("enough");
      gives_nan = is_last && how.nan_at > 0 && run.total_steps == how.nan_at - 1;
    }
  } stop{how, rank == ranks - 1};
  gives_nan = stop.is_last && how.nan_at == 1;
  const train::FitOptions options{
      .epochs = how.epochs, .accumulate = how.accumulate, .resume = how.resume};
  const auto fit = [&](auto&&... parts) {
    const auto train = [&](auto& model) {
      return train::fit(model, LossWithNan(), optimizer, loader, options,
                        train::Validation(validation), stop, parts...);
    };
    return ddp ? train(*ddp) : train(net);
  };
  Result result;
  if (how.clips && how.counts)
    result.history =
        fit(train::ClipGradNorm{0.5}, train::Accuracy(host, 3),
            train::Measure("f1", train::ConfusionMatrix(host, 3),
                           [](const auto& counts) { return counts.macro_average().f1; }));
  else if (how.counts)
    result.history = fit(train::Accuracy(host, 3), train::Measure("top2", train::TopK(host, 2)),
                         train::Measure("size", [](const auto& outputs, const auto&) {
                           return mean(abs(outputs.tensor())).item();
                         }));
  else
    result.history = fit();
  const std::vector<float> weights = parameters_of(net);
  result.weights.assign(weights.begin(), weights.end());
  return result;
}

std::vector<double> numbers_of(const train::History& history) {
  std::vector<double> all;
  for (const train::Epoch& e : history.epochs) {
    all.insert(all.end(), {e.loss, e.val_loss});
    if (!std::isnan(e.accuracy)) all.push_back(e.accuracy);
    all.push_back(e.val_accuracy);
    for (const auto& [name, value] : e.measures)
      all.push_back(value);
  }
  return all;
}

void check_everywhere_the_same(const std::vector<double>& numbers) {
  const auto count = std::ssize(numbers);
  const std::vector<double> all =
      world().all_gather(Tensor<double, Host>(test_device<Host>(), {count}, numbers)).to_vector();
  for (index_t r = 0; r < world().size(); ++r)
    CHECK(same_bits({all.begin() + r * count, all.begin() + (r + 1) * count}, numbers));
}

// What one rank does otherwise than the others.
struct Other {
  double lr = 0.1, weight_decay = 0;
  index_t epochs = 2, batch_size = 4, accumulate = 1, save_every = 0;
  std::string resume = {};
  std::uint64_t seed = 0;
  bool shuffle = true;
  index_t replicas = world().size(), rank = world().rank();
  bool has_sampler = true;
  enum Parts {
    early_stopping,
    progress_bar,
    none,
    measure,
    slow_down,
    stops_early,
    stops_in_step
  } parts = early_stopping;
  double later_lr = 0.1;  // of slow_down
  int stops_in = 0;       // 1: on_fit_begin, 2: on_epoch_begin, 3: before_update
  std::string why = "enough";
};

// Trains with another learning rate from the second epoch on.
struct SlowDown {
  double lr;
  template <class Model, class Optimizer>
  void on_epoch_begin(train::Run<Model, Optimizer>& run) const {
    if (run.epoch == 2) run.optimizer.set_lr(lr);
  }
};

// Stops the training in the first epoch.
struct StopsEarly {
  const Other& how;
  void on_fit_begin(train::Training& run) const {
    if (how.stops_in == 1) run.stop(how.why);
  }
  void on_epoch_begin(train::Training& run) const {
    if (how.stops_in == 2) run.stop(how.why);
  }
};
struct StopsInStep {
  const Other& how;
  void before_update(train::Training& run) const {
    if (how.stops_in == 3) run.stop(how.why);
  }
};

std::string error_of_fit(const Other& how, train::History* history = nullptr) {
  Host& host = test_device<Host>();
  const Tensor<float, Host> x(host, {samples, 4}, pattern<float>(4 * samples, 7, 3, 19));
  const Tensor<label_t, Host> y(host, {samples}, std::vector<label_t>(samples, 1));
  const data::TensorDataset set(x, y);
  data::DataLoaderOptions of_loader{.batch_size = how.batch_size};
  if (how.has_sampler)
    of_loader.sampler = data::DistributedSampler(
        set,
        {.num_replicas = how.replicas, .rank = how.rank, .shuffle = how.shuffle, .seed = how.seed});
  data::DataLoader loader(set, of_loader);
  Network<Host, float> net(host, layers, {4});
  DistributedDataParallel ddp(net, world());
  optim::SGD optimizer(net, {.lr = how.lr, .weight_decay = how.weight_decay});
  const train::FitOptions options{.epochs = how.epochs,
                                  .accumulate = how.accumulate,
                                  .resume = how.resume,
                                  .save_every = how.save_every};
  const auto fit = [&](auto&&... parts) {
    return error_of([&] {
      train::History result =
          train::fit(ddp, nn::CrossEntropyLoss{}, optimizer, loader, options, parts...);
      if (history) *history = std::move(result);
    });
  };
  if (how.parts == Other::progress_bar) return fit(train::ProgressBar({.quiet = true}));
  if (how.parts == Other::none) return fit();
  if (how.parts == Other::measure)
    return fit(
        train::Measure("f1", train::ConfusionMatrix(host, 3), [](const auto&) { return 1.0; }));
  if (how.parts == Other::slow_down) return fit(SlowDown{how.later_lr});
  if (how.parts == Other::stops_early) return fit(StopsEarly{how});
  if (how.parts == Other::stops_in_step) return fit(StopsInStep{how});
  return fit(train::EarlyStopping());
}

// A name that all ranks have.
std::string common_path(const TempFolder& folder) {
  return world().all_gather(folder / "run.safetensors")[0];
}

}  // namespace

TEST_CASE("fit on several processes has the losses and metrics of one process with all samples") {
  if (24 % world().size() != 0) return;
  for (const How& how : {How{}, How{.counts = false}, How{.clips = true}, How{.accumulate = 2},
                         How{.accumulate = 2, .counts = false}}) {
    CAPTURE(how.accumulate);
    CAPTURE(how.clips);
    CAPTURE(how.counts);
    How one = how;
    one.alone = true;
    const Result alone = train_with(one), together = train_with(how);
    REQUIRE(together.history.epochs.size() == 3);
    // 6 steps of Adam, from rounding to 6e-8.
    CHECK(relative_error(together.weights, alone.weights) < 1e-5);
    CHECK(relative_error(numbers_of(together.history), numbers_of(alone.history)) < 1e-5);
    CHECK(alone.history.epochs[2].loss < alone.history.epochs[0].loss);
    check_everywhere_the_same(together.weights);
    check_everywhere_the_same(numbers_of(together.history));
  }
}

TEST_CASE(
    "the accuracies of a validation with ignored labels are those of one process with all "
    "samples") {
  Host& host = test_device<Host>();
  const Tensor<float, Host> x(host, {samples, 4}, pattern<float>(4 * samples, 7, 3, 19));
  std::vector<label_t> classes, some;
  for (index_t i = 0; i < samples; ++i) {
    classes.push_back(static_cast<label_t>(i * i % 3));
    // Of 2, 4 and 8 ranks, half have none.
    some.push_back(i % 2 == 0 || i % 5 == 0 ? -100 : classes.back());
  }
  const Tensor<label_t, Host> y(host, {samples}, classes), y_of_some(host, {samples}, some);
  const data::TensorDataset set(x, y), with_ignored(x, y_of_some);
  const auto part = data::DistributedSampler(
      set, {.num_replicas = world().size(), .rank = world().rank(), .shuffle = false});
  data::DataLoader loader(set, {.batch_size = 3, .sampler = part}),
      validation(with_ignored, {.batch_size = 5, .sampler = part});
  manual_seed(2);
  Network<Host, float> net(host, layers, {4});
  DistributedDataParallel ddp(net, world());
  optim::SGD optimizer(net, {.lr = 0.1});
  const nn::CrossEntropyLoss criterion({.ignore_index = -100});
  const train::History history =
      train::fit(ddp, criterion, optimizer, loader, {.epochs = 1}, train::Validation(validation),
                 train::Measure("top1", train::TopK(host, 1)),
                 train::Measure("matrix", train::ConfusionMatrix(host, 3)));
  const train::Evaluation all =
      train::evaluate(net, criterion, data::DataLoader(with_ignored, {.batch_size = samples}));
  CHECK(all.counted == std::ranges::count_if(some, [](label_t label) { return label >= 0; }));
  CHECK(history.epochs.at(0).val_accuracy == doctest::Approx(all.accuracy).epsilon(1e-12));
  CHECK(history.epochs.at(0)["val_top1"] == all.accuracy);
  CHECK(history.epochs.at(0)["val_matrix"] == all.accuracy);
}

TEST_CASE("fit reduces the gradients of a group of batches once") {
  if (24 % world().size() != 0) return;
  const auto calls_of = [](const How& how) {
    const index_t before = world().calls();
    train_with(how);
    return world().calls() - before;
  };
  const index_t groups = world().size() > 1 ? 3 : 0;  // two batches in each of three epochs
  for (const How& how : {How{}, How{.counts = false}, How{.clips = true}}) {
    CAPTURE(how.clips);
    CAPTURE(how.counts);
    How group = how;
    group.accumulate = 2;
    CHECK(calls_of(how) - calls_of(group) == groups);
  }
}

TEST_CASE("a stop on one process stops all, and all resume from the file of rank 0") {
  if (24 % world().size() != 0) return;
  for (const How& how :
       {How{}, How{.accumulate = 2}, How{.accumulate = 2, .counts = false}, How{.clips = true}})
    for (const index_t stop : {1, 2, 3}) {
      CAPTURE(stop);
      const TempFolder folder;
      How part = how;
      part.resume = common_path(folder);
      part.stop_after = stop;
      const Result stopped = train_with(part);
      CHECK(stopped.history.steps == stop);
      CHECK(stopped.history.end == train::End::stopped);
      check_everywhere_the_same(stopped.weights);
      part.stop_after = 0;
      const Result resumed = train_with(part), whole = train_with(how);
      CHECK(resumed.history.steps == 6);
      CHECK(relative_error(resumed.weights, whole.weights) < 1e-6);
      if (how.accumulate == 1) CHECK(same_bits(resumed.weights, whole.weights));
      CHECK(relative_error(numbers_of(resumed.history), numbers_of(whole.history)) < 1e-6);
      check_everywhere_the_same(resumed.weights);
      world().barrier();
    }
}

TEST_CASE("ranks that do not train alike are an error on all of them, before the first step") {
  const index_t n = world().size(), last = n - 1;
  CHECK(error_of_fit({}) == "");
  CHECK(error_of_fit({.has_sampler = false}) == "");
  CHECK(error_of_fit({.parts = world().is_main() ? Other::progress_bar : Other::early_stopping}) ==
        "");
  if (n == 1) return;
  const TempFolder folder;
  const std::string path = common_path(folder);
  const auto check = [&](const Other& other, const std::string& expected,
                         const Other& others = {}) {
    CAPTURE(expected);
    const std::string error = error_of_fit(world().rank() == last ? other : others);
    CHECK(contains(error, concat("gpunet::train::fit: rank ", last, " has ", expected)));
  };
  check({.lr = 0.2},
        "optimizer.param_groups.0.lr 0.2 where rank 0 has optimizer.param_groups.0.lr 0.1 (");
  check({.weight_decay = 0.1}, "optimizer.param_groups.0.weight_decay 0.1 where rank 0 has");
  check({.epochs = 3},
        "epochs 3 where rank 0 has epochs 2 (all ranks must train alike), give all ranks");
  check({.batch_size = 2}, "batches in an epoch ");
  check({.accumulate = 2}, "accumulate 2 where rank 0 has accumulate 1");
  check({.resume = path}, concat("resume ", path, " where rank 0 has resume none"));
  check({.save_every = 3, .resume = path}, "save_every 3 where rank 0 has save_every 0",
        {.resume = path});
  check({.parts = Other::stops_in_step},
        "parts that may stop it in a step some where rank 0 has parts that may stop it in a step "
        "none");
  check({.parts = Other::none}, "parts 0 where rank 0 has parts 1");
  check({.parts = Other::measure}, "measures f1 where rank 0 has measures none");
  check({.seed = 3}, concat("sampler DistributedSampler of 48 samples for ", n,
                            " ranks, seed 3, shuffle where rank 0 has"));
  check({.shuffle = false}, "sampler DistributedSampler of 48 samples for ");
  check({.has_sampler = false}, "batches in an epoch 12 where rank 0 has batches in an epoch ");
  CHECK(error_of_fit({.parts = Other::slow_down, .later_lr = 0.05}) == "");
  CHECK(contains(
      error_of_fit({.parts = Other::slow_down, .later_lr = world().rank() == last ? 0.01 : 0.1}),
      concat("rank ", last, " has other parameters than rank 0")));
  CHECK(contains(error_of_fit({.rank = 0}),
                 concat("ranks 0 and 1 have the same samples, part 0 of ", n)));
  CHECK(contains(error_of_fit({.replicas = n + 1}),
                 concat(n, " ranks train, and their DistributedSampler is for ", n + 1)));
  CHECK(error_of_fit({}) == "");
}

TEST_CASE("a stop on one process in any function of a part stops all") {
  const index_t last = world().size() - 1;
  for (const int where : {1, 2, 3})
    for (const std::string why : {"enough", ""}) {
      CAPTURE(where);
      train::History history;
      CHECK(error_of_fit({.parts = where == 3 ? Other::stops_in_step : Other::stops_early,
                          .stops_in = world().rank() == last ? where : 0,
                          .why = why},
                         &history) == "");
      CHECK(history.steps == (where == 1 ? 0 : 1));
      CHECK(history.end == train::End::stopped);
      CHECK(history.why == (world().rank() == last ? why : concat("rank ", last, ": ", why)));
    }
}

TEST_CASE("fit within no_sync() is an error") {
  Host& host = test_device<Host>();
  const Tensor<float, Host> x(host, {4, 4}, pattern<float>(16, 7, 3, 19));
  const Tensor<label_t, Host> y(host, {4}, std::vector<label_t>(4, 1));
  const data::TensorDataset set(x, y);
  data::DataLoader loader(set, {.batch_size = 2});
  Network<Host, float> net(host, layers, {4});
  DistributedDataParallel ddp(net, world());
  optim::SGD optimizer(net, {.lr = 0.1});
  const auto no_sync = ddp.no_sync();
  CHECK(contains(error_of([&] { train::fit(ddp, nn::CrossEntropyLoss{}, optimizer, loader); }),
                 "gpunet::train::fit: within no_sync()"));
}

TEST_CASE(
    "a loss of one rank that is not finite ends the training of all, and is in no checkpoint") {
  if (24 % world().size() != 0) return;
  const index_t last = world().size() - 1;
  for (const index_t bad : {1, 2, 3, 0}) {  // the step; 0: none
    for (const int kind : {0, 1, 2}) {
      const bool stops = kind > 0, also = kind > 1;
      CAPTURE(bad);
      CAPTURE(stops);
      CAPTURE(also);
      const TempFolder folder;
      const How how{
          .resume = common_path(folder), .nan_at = bad, .stops_on_nan = stops, .also_stops = also};
      const Result result = train_with(how);
      CHECK(result.history.end ==
            (bad > 0 && stops ? train::End::not_finite : train::End::finished));
      const std::string what =
          concat("the loss of epoch ", (bad + 1) / 2, ", step ", 2 - bad % 2, " is not finite");
      const std::string who = world().rank() == last ? "" : concat("rank ", last, ": ");
      CHECK(result.history.why.substr(0, who.size() + what.size()) == (bad == 0 ? "" : who + what));
      if (stops && bad > 0) {
        CHECK(result.history.steps == bad);
        // What goes on from the file is the training without the bad sample.
        world().barrier();
        const Result resumed = train_with({.resume = how.resume}), whole = train_with({});
        CHECK(resumed.history.steps == 6);
        CHECK(same_bits(resumed.weights, whole.weights));
      }
      world().barrier();
    }
  }
}

TEST_CASE(
    "a training goes on with another number of processes, if their batches have as many samples "
    "together") {
  if (24 % world().size() != 0) return;
  const Result whole = train_with({});
  for (const bool alone_first : {true, false})
    for (const index_t stop : {1, 2, 3}) {
      CAPTURE(alone_first);
      CAPTURE(stop);
      const TempFolder folder;
      How first{.alone = alone_first, .resume = common_path(folder), .stop_after = stop};
      How second{.alone = !alone_first, .resume = first.resume};
      const auto run = [](const How& how) {
        std::optional<Result> result;
        if (!how.alone || world().is_main()) result = train_with(how);
        world().barrier();
        return result;
      };
      const std::optional<Result> stopped = run(first), resumed = run(second);
      if (stopped) CHECK(stopped->history.steps == stop);
      if (!resumed) continue;
      CHECK(resumed->history.steps == 6);
      CHECK(relative_error(resumed->weights, whole.weights) < 1e-5);  // 6 steps of Adam, as above
      CHECK(relative_error(numbers_of(resumed->history), numbers_of(whole.history)) < 1e-5);
    }
}
