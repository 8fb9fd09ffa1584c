// fit() with {.resume = file}: a training that is stopped after any step and goes on in new objects
// is bitwise the uninterrupted one.
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "io/temp_folder.hpp"
#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

nn::Value layers(const nn::Value& x) {
  return linear(dropout(relu(batch_norm(linear(x, 8))), 0.25), 3);
}

struct Result {
  train::History history;
  std::vector<float> weights, ema;
  double lr = 0;
  std::uint32_t next_random = 0;
};

struct Run {
  index_t epochs = 4;
  index_t accumulate = 1;
  std::string resume = {};
  index_t save_every = 0;
  index_t stop_after = 0;             // steps
  index_t stop_in_validation_of = 0;  // epoch
  bool clips = false;                 // fit runs eagerly
  bool counts = true;
  index_t max_steps = 0;
  index_t patience = 100;
  index_t fail_after = 0;  // steps: a part throws
  int workers = 0;
  index_t batch_size = 8;
  int keep_last = 1;
};

// Trains a new network with everything that has a state.
template <class D>
Result train_once(D& device, const Run& how) {
  const Tensor<float, Host> samples(test_device<Host>(), {30, 6}, pattern<float>(180, 7, 3, 13));
  const Tensor<label_t, Host> labels(
      remainder(arange<label_t>(test_device<Host>(), 30), label_t{3}));
  const data::TensorDataset<> set(samples, labels);
  data::DataLoader loader(
      set, {.batch_size = how.batch_size, .shuffle = true, .num_workers = how.workers});
  data::DataLoader validation(set, {.batch_size = 9, .shuffle = true});

  Network<D, float> net(device, [](nn::Value x) { return layers(x); }, {6});
  optim::Adam<D, float> optimizer(net, {.lr = 0.05});
  optim::lr_scheduler::ReduceLROnPlateau plateau(optimizer, {.factor = 0.5, .patience = 0});
  optim::lr_scheduler::ExponentialLR decay(optimizer, {.gamma = 0.99});
  optim::swa_utils::AveragedModel<Network<D, float>> ema(
      net, {.multi_avg_fn = optim::swa_utils::get_ema_multi_avg_fn(0.9)});

  struct Stop {
    const Run& how;
    void on_step_end(train::Training& run) const {
      if (how.fail_after > 0 && run.total_steps == how.fail_after) throw Error("the power fails");
      if (how.stop_after > 0 && run.total_steps == how.stop_after) run.stop("enough for now");
    }
    void on_validation_step_end(train::Training& run) const {
      if (how.stop_in_validation_of == run.epoch) run.stop(train::End::interrupted, "interrupted");
    }
  } stop{how};
  const train::FitOptions options{.epochs = how.epochs,
                                  .max_steps = how.max_steps,
                                  .accumulate = how.accumulate,
                                  .resume = how.resume,
                                  .save_every = how.save_every,
                                  .keep_last = how.keep_last};
  const auto fit = [&](auto&&... more) {
    return train::fit(
        net, nn::CrossEntropyLoss{}, optimizer, loader, options, train::Validation(validation),
        train::EarlyStopping({.patience = how.patience, .restore_best_weights = true}),
        train::EachEpoch(plateau), train::EachStep(decay), train::EachStep(ema), stop, more...);
  };
  Result result;
  if (how.clips && how.counts)
    result.history = fit(train::ClipGradNorm{0.5}, train::Accuracy(device, 3),
                         train::Measure("top2", train::TopK(device, 2)));
  else if (how.counts)
    result.history = fit(train::Accuracy(device, 3),
                         train::Measure("error", [](const auto& outputs, const auto&) {
                           return mean(abs(outputs.tensor())).item();
                         }));
  else
    result.history = fit();
  result.weights = parameters_of(net);
  result.ema = parameters_of(ema.module());
  result.lr = optimizer.lr();
  result.next_random = Generator(default_generator()).random();
  return result;
}

void check_same_epoch(const train::Epoch& a, const train::Epoch& b) {
  CHECK(a.number == b.number);
  CHECK(a.steps == b.steps);
  const auto numbers = [](const train::Epoch& e) {
    std::vector<double> all{e.loss, e.accuracy, e.val_loss, e.val_accuracy, e.lr};
    for (const auto& [name, value] : e.measures)
      all.push_back(value);
    return all;
  };
  CHECK(same_bits(numbers(a), numbers(b)));
}

void check_same(const Result& resumed, const Result& whole) {
  CHECK(same_bits(resumed.weights, whole.weights));
  CHECK(same_bits(resumed.ema, whole.ema));
  CHECK(resumed.lr == whole.lr);
  CHECK(resumed.next_random == whole.next_random);
  CHECK(resumed.history.end == whole.history.end);
  CHECK(resumed.history.why == whole.history.why);
  CHECK(resumed.history.steps == whole.history.steps);
  REQUIRE(resumed.history.epochs.size() == whole.history.epochs.size());
  for (std::size_t i = 0; i < whole.history.epochs.size(); ++i)
    check_same_epoch(resumed.history.epochs[i], whole.history.epochs[i]);
}

// Runs as another process would: with another seed, which the checkpoint replaces.
template <class D>
Result train_again(D& device, const Run& how) {
  manual_seed(99);
  return train_once(device, how);
}

}  // namespace

TEST_CASE_TEMPLATE("fit goes on bitwise after a stop at any step", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  constexpr bool is_host = std::is_same_v<D, Host>;
  for (const Run& how :
       {Run{}, Run{.accumulate = 3}, Run{.accumulate = 3, .clips = true}, Run{.counts = false}}) {
    manual_seed(3);
    const Result whole = train_once(device, how);
    REQUIRE(whole.history.steps == 16);
    for (index_t step = 1; step <= 16; step += is_host ? 1 : 5) {
      CAPTURE(step);
      const TempFolder folder;
      Run part = how;
      part.resume = (folder / "run.safetensors");
      part.stop_after = step;
      manual_seed(3);
      const Result stopped = train_once(device, part);
      CHECK(stopped.history.end == train::End::stopped);
      CHECK(stopped.history.steps == step);
      part.stop_after = 0;
      check_same(train_again(device, part), whole);
      check_same(train_again(device, part), whole);  // it is over: nothing is trained
    }
  }
}

namespace {

// Where the processes of the test below leave their weights: GPUNET_TEST_RESUME_FOLDER.
std::string folder_of_processes() {
  const char* const folder = std::getenv("GPUNET_TEST_RESUME_FOLDER");
  return folder ? folder : "";
}

template <class D>
void train_part_in_process() {
  const std::string folder = folder_of_processes();
  REQUIRE_FALSE(folder.empty());
  const int stop = std::atoi(std::getenv("GPUNET_TEST_STOP_AFTER"));
  manual_seed(stop == 1 ? 3 : 99);  // the checkpoint replaces all seeds but the first
  const Result result =
      train_once(test_device<D>(),
                 {.accumulate = 2, .resume = folder + "/run.safetensors", .stop_after = stop});
  std::ofstream(folder + "/result", std::ios::binary)
      .write(reinterpret_cast<const char*>(result.weights.data()),
             static_cast<std::streamsize>(result.weights.size() * sizeof(float)));
}

}  // namespace

// Not skipped, but run by the test below in a process of its own.
TEST_CASE_TEMPLATE("skipped: a part of a training" * doctest::skip(), D, GPUNET_TEST_DEVICES) {
  train_part_in_process<D>();
}

TEST_CASE_TEMPLATE("fit goes on bitwise after five stops, each time in a new process", D,
                   GPUNET_TEST_DEVICES) {
  const TempFolder folder;
  manual_seed(3);
  const Result whole = train_once(test_device<D>(), {.accumulate = 2});
  const std::string device = std::is_same_v<D, Host> ? "Host" : "Cuda";
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  for (const int stop : {1, 4, 7, 11, 14, 0}) {
    std::filesystem::remove(folder / "result");
    const std::string command =
        concat("GPUNET_TEST_RESUME_FOLDER='", folder.path(), "' GPUNET_TEST_STOP_AFTER=", stop,
               " '", program, "' --no-skip '--test-case=skipped: a part of a training*", device,
               "*' > '", folder.path(), "/output' 2>&1");
    CAPTURE(stop);
    REQUIRE(std::system(command.c_str()) == 0);
    const std::string weights = read_text(folder / "result");
    REQUIRE(weights.size() == whole.weights.size() * sizeof(float));
    CHECK((std::memcmp(weights.data(), whole.weights.data(), weights.size()) == 0) == (stop == 0));
  }
}

TEST_CASE("fit goes on bitwise after a stop within a validation") {
  Host& device = test_device<Host>();
  manual_seed(3);
  const Result whole = train_once(device, {});
  for (index_t epoch = 1; epoch <= 4; ++epoch) {
    const TempFolder folder;
    Run part{.resume = (folder / "run.safetensors"), .stop_in_validation_of = epoch};
    manual_seed(3);
    const Result stopped = train_once(device, part);
    CHECK(stopped.history.end == train::End::interrupted);
    CHECK(static_cast<index_t>(stopped.history.epochs.size()) == epoch);
    part.stop_in_validation_of = 0;
    check_same(train_again(device, part), whole);
  }
}

TEST_CASE(
    "fit goes on bitwise from the last save after an exception, with other threads and workers") {
  Host device({.threads = 1}), other({.threads = 3});
  manual_seed(3);
  const Result whole = train_once(device, {.accumulate = 2});
  for (const index_t save_every : {0, 1, 3})
    for (index_t step = 1; step <= 16; step += 2) {
      CAPTURE(step);
      const TempFolder folder;
      Run part{.accumulate = 2,
               .resume = folder / "run.safetensors",
               .save_every = save_every,
               .fail_after = step};
      manual_seed(3);
      CHECK(error_of([&] { train_once(device, part); }) == "the power fails");
      part.fail_after = 0;
      part.workers = 2;
      check_same(train_again(other, part), whole);
    }
}

TEST_CASE(
    "fit goes on after EarlyStopping only to return its result, and with more epochs or steps") {
  Host& device = test_device<Host>();
  const TempFolder folder;
  Run run{.epochs = 30, .resume = folder / "run.safetensors", .patience = 1};
  manual_seed(3);
  const Result whole = train_once(device, run);
  REQUIRE(whole.history.end == train::End::no_improvement);
  check_same(train_again(device, run), whole);

  manual_seed(3);
  const Result six = train_once(device, {.epochs = 6});
  Run more{.epochs = 2, .resume = folder / "more.safetensors"};
  manual_seed(3);
  train_once(device, more);
  more.epochs = 6;
  check_same(train_again(device, more), six);

  for (const index_t accumulate : {1, 3}) {  // the tenth step is the second of a group of three
    CAPTURE(accumulate);
    manual_seed(3);
    const Result whole_of_six = train_once(device, {.epochs = 6, .accumulate = accumulate});
    Run steps{.epochs = 6,
              .accumulate = accumulate,
              .resume = folder / concat("steps", accumulate, ".safetensors"),
              .max_steps = 10};
    manual_seed(3);
    const Result ten = train_once(device, steps);
    CHECK(ten.history.steps == 10);
    CHECK(ten.history.epochs.size() == 3);
    const Result again = train_again(device, steps);
    CHECK(again.history.steps == 10);
    CHECK(again.history.epochs.size() == 3);
    CHECK(same_bits(again.weights, ten.weights));
    steps.max_steps = 0;
    check_same(train_again(device, steps), whole_of_six);
  }
}

TEST_CASE(
    "fit goes on bitwise from max_steps within a group of batches, and refuses another size of "
    "it") {
  Host& device = test_device<Host>();
  for (const bool clips : {false, true}) {
    manual_seed(3);
    const Result whole = train_once(device, {.accumulate = 3, .clips = clips});
    for (index_t steps = 1; steps <= 8; ++steps) {
      CAPTURE(steps);
      const TempFolder folder;
      Run run{.accumulate = 3,
              .resume = folder / "run.safetensors",
              .clips = clips,
              .max_steps = steps};
      manual_seed(3);
      train_once(device, run);
      run.max_steps = 0;
      run.accumulate = 2;
      const bool within = steps % 4 == 1 || steps % 4 == 2;  // an epoch has 4 steps
      if (within)
        CHECK(contains(error_of([&] { train_again(device, run); }),
                       "has the option step.accumulate = 3 (here it is 2)"));
      run.accumulate = 3;
      check_same(train_again(device, run), whole);
    }
  }
}

TEST_CASE("fit does not save a training whose loss is NaN") {
  Host& device = test_device<Host>();
  const TempFolder folder;
  Network<Host, float> net(device, [](nn::Value x) { return linear(x, 1); }, {1});
  optim::SGD optimizer(net, {.lr = 1e30});
  const Tensor<float, Host> x(device, {4, 1}, {1, 2, 3, 4});
  const data::TensorDataset set(x, x);
  data::DataLoader loader(set, {.batch_size = 1});
  const std::string path = folder / "run.safetensors";
  for (int i = 0; i < 2; ++i) {  // the second goes on from finite weights
    const auto history = train::fit(net, nn::MSELoss{}, optimizer, loader,
                                    {.epochs = 9, .resume = path}, train::StopOnNaN(1));
    CHECK(history.end == train::End::not_finite);
    CHECK(history.steps == 2);
  }
}

TEST_CASE("fit refuses checkpoints that do not fit") {
  Host& device = test_device<Host>();
  const TempFolder folder;
  const std::string path = folder / "run.safetensors";
  CHECK(error_of([&] { train_once(device, {.save_every = 10}); }) ==
        "gpunet::train::fit: save_every 10 (want 0 or more, and with .resume a file), write "
        "{.resume = "
        "\"run.safetensors\", .save_every = 100}");
  CHECK(contains(error_of([&] { train_once(device, {.resume = path, .save_every = -1}); }),
                 "save_every -1"));
  CHECK(contains(error_of([&] {
                   train_once(device,
                              {.resume = folder / "nowhere/run.safetensors", .fail_after = 1});
                 }),
                 "nowhere"));
  CHECK(error_of([&] { train_once(device, {.keep_last = 2}); }) ==
        "gpunet::train::fit: keep_last 2 (want a file in .resume, of which so many are kept), "
        "write {.resume = "
        "\"run.safetensors\", .keep_last = 3}");
  train_once(device, {.epochs = 3, .resume = folder / "kept.safetensors", .keep_last = 2});
  CHECK(folder.count() == 2);  // and none of the first epoch
  CHECK(io::exists(folder / "kept.safetensors.1"));
  train_once(device, {.epochs = 1, .resume = path});
  CHECK(contains(error_of([&] { train_once(device, {.resume = path, .batch_size = 10}); }),
                 "the checkpoint is of a loader with 4 batches, this one has 3 (the order of the "
                 "samples would be another), "
                 "use the same data and batch size"));
  CHECK(contains(error_of([&] { train_once(device, {.resume = path, .counts = false}); }),
                 "training.current of shape [1, 10] and type F64 (want [1, 8] and F64)"));
}
