// A training that is stopped and goes on in new objects, from a checkpoint, is bitwise the
// uninterrupted one.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/crc32.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/safetensors.hpp>
#include <gpunet/tensor/files.hpp>
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

// The samples and labels of a lesson, of which each epoch has another order.
struct Data {
  Tensor<float, Host> samples;
  Tensor<label_t, Host> labels;
  data::TensorDataset<> set;

  Data()
      : samples(test_device<Host>(), {30, 6}, pattern<float>(180, 7, 3, 13)),
        labels(remainder(arange<label_t>(test_device<Host>(), 30), label_t{3})),
        set(samples, labels) {}
};

// Everything that a training needs, with a list of its state.
template <class D, class Optimizer>
struct Training {
  Network<D, float> net;
  Optimizer optimizer;
  optim::lr_scheduler::StepLR scheduler;
  optim::swa_utils::AveragedModel<Network<D, float>> ema;
  train::Step<D, float, nn::CrossEntropyLoss, Optimizer> step;
  index_t epoch = 0;
  std::vector<float> losses;

  template <class Options>
  Training(D& device, const Options& options, index_t accumulate = 1)
      : net(device, [](nn::Value x) { return layers(x); }, {6}),
        optimizer(net, options),
        scheduler(optimizer, {.step_size = 2, .gamma = 0.5}),
        ema(net, {.multi_avg_fn = optim::swa_utils::get_ema_multi_avg_fn(0.9)}),
        step(net, nn::CrossEntropyLoss{}, optimizer, {.accumulate = accumulate}) {}

  void add_to(io::Checkpoint& checkpoint) {
    checkpoint.add("model", net)
        .add("optimizer", optimizer)
        .add("scheduler", scheduler)
        .add("ema", ema)
        .add("step", step)
        .add("epoch", epoch);
  }
  template <class Loader>
  void run_epoch(Loader& loader) {
    for (auto [inputs, labels] : loader.to(net.device())) {
      losses.push_back(step(inputs, labels).item());
      ema.update_parameters(net);
    }
    scheduler.step();
    ++epoch;
  }
};

// Trains for six epochs in one go, and again with new objects after each epoch; compares all bits.
template <class D, class Optimizer, class Options>
void check_resuming(D& device, const Options& options) {
  const Data data;
  data::DataLoader loader(data.set, {.batch_size = 8, .shuffle = true});
  const TempFolder folder;
  manual_seed(3);
  Training<D, Optimizer> whole(device, options);
  for (int i = 0; i < 6; ++i)
    whole.run_epoch(loader);
  const auto next = default_generator().random();

  manual_seed(3);
  std::vector<float> losses;
  auto part = std::make_unique<Training<D, Optimizer>>(device, options);
  for (index_t i = 0; i < 6; ++i) {
    part->run_epoch(loader);
    losses.insert(losses.end(), part->losses.begin(), part->losses.end());
    io::Checkpoint saved(folder / "run.safetensors");
    part->add_to(saved);
    saved.save();
    manual_seed(1000 + i);  // as another process
    part = std::make_unique<Training<D, Optimizer>>(device, options);
    io::Checkpoint loaded(folder / "run.safetensors");
    part->add_to(loaded);
    REQUIRE(loaded.load());
    CHECK(part->epoch == i + 1);
  }
  CHECK(same_bits(losses, whole.losses));
  CHECK(same_bits(parameters_of(part->net), parameters_of(whole.net)));
  CHECK(same_bits(parameters_of(part->ema.module()), parameters_of(whole.ema.module())));
  CHECK(part->optimizer.lr() == whole.optimizer.lr());
  CHECK(default_generator().random() == next);
}

}  // namespace

TEST_CASE_TEMPLATE("a training goes on from a checkpoint bitwise", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_resuming<D, optim::SGD<D, float>>(device, optim::SGDOptions{.lr = 0.1, .momentum = 0.9});
  check_resuming<D, optim::SGD<D, float>>(device, optim::SGDOptions{.lr = 0.1});
  check_resuming<D, optim::Adam<D, float>>(device, optim::AdamOptions{.lr = 0.01, .amsgrad = true});
  check_resuming<D, optim::RMSprop<D, float>>(
      device, optim::RMSpropOptions{.lr = 0.01, .momentum = 0.5, .centered = true});
  check_resuming<D, optim::Adagrad<D, float>>(device, optim::AdagradOptions{});
  check_resuming<D, optim::Adadelta<D, float>>(device, optim::AdadeltaOptions{});
  check_resuming<D, optim::NAdam<D, float>>(device, optim::NAdamOptions{});
  check_resuming<D, optim::RAdam<D, float>>(device, optim::RAdamOptions{});
  check_resuming<D, optim::Lion<D, float>>(device, optim::LionOptions{});
}

// Runs epochs of the training until so many steps are done in all, and saves then, in the middle of
// an epoch or at the end of one.
template <class T, class Batches>
void run_until(T& training, Batches& batches, index_t& steps, index_t stop,
               const io::Checkpoint& checkpoint) {
  for (; training.epoch < 13; ++training.epoch) {
    for (auto [inputs, labels] : batches) {
      training.losses.push_back(training.step(inputs, labels).item());
      if (++steps == stop) {
        checkpoint.save();
        return;
      }
    }
    training.scheduler.step();
  }
}

// Stops after the given steps, goes on in new objects with other threads and workers, and compares
// all bits with a training that was never stopped.
template <class D, class GetBatches>
void check_stops(D& device, D& other_device, index_t first, index_t distance, index_t accumulate,
                 const GetBatches& batches_of) {
  using Of = Training<D, optim::Adam<D, float>>;
  const optim::AdamOptions options{.lr = 0.01};
  const TempFolder folder;
  const auto run = [&](D& on, unsigned seed, int workers, index_t stop, bool resumed) {
    manual_seed(seed);
    Of training(on, options, accumulate);
    auto batches = batches_of(on, workers);
    index_t steps = 0;
    io::Checkpoint checkpoint(folder / "run.safetensors");
    training.add_to(checkpoint);
    checkpoint.add("batches", batches).add("steps", steps);
    if (resumed) REQUIRE(checkpoint.load());
    run_until(training, batches, steps, stop, checkpoint);
    return std::pair(training.losses, parameters_of(training.net));
  };
  const auto whole = run(device, 3, 0, -1, false);
  REQUIRE(whole.first.size() == 52);
  for (index_t stop = first; stop <= 52; stop += distance) {
    CAPTURE(stop);
    auto losses = run(device, 3, 0, stop, false).first;
    const auto rest = run(other_device, 1000, 2, -1, true);
    losses.insert(losses.end(), rest.first.begin(), rest.first.end());
    CHECK(same_bits(losses, whole.first));
    CHECK(same_bits(rest.second, whole.second));
  }
}

TEST_CASE(
    "a training goes on after any step, in the middle of an epoch, with any number of threads and "
    "workers") {
  const Data data;
  Host one({.threads = 1}), three({.threads = 3});
  const auto batches_of = [&](Host& on, int workers) {
    const data::DataLoader loader(data.set,
                                  {.batch_size = 8, .shuffle = true, .num_workers = workers});
    return loader.to(on);
  };
  check_stops(one, three, 1, 1, 1, batches_of);
  check_stops(three, one, 1, 1, 3, batches_of);  // in the middle of an accumulation
}

TEST_CASE_TEMPLATE("a training on batches of the device goes on after any step", D,
                   GPUNET_TEST_DEVICES) {
  const Data data;
  D& device = test_device<D>();
  const data::DataLoader loader(data.set, {.batch_size = 8, .shuffle = true});
  check_stops(device, device, 5, 11, 2, [&](D& on, int) { return loader.resident_on(on); });
  check_stops(device, device, 9, 40, 1, [&](D& on, int) { return loader.to(on); });
}

TEST_CASE_TEMPLATE("a training goes from Host to another device and back", D, GPUNET_TEST_DEVICES) {
  const Data data;
  const TempFolder folder;
  Host& host = test_device<Host>();
  data::DataLoader loader(data.set, {.batch_size = 8, .shuffle = true});
  const optim::AdamOptions options{.lr = 0.01, .amsgrad = true};
  Training<Host, optim::Adam<Host, float>> before(host, options, 3), after(host, options, 3);
  Training<D, optim::Adam<D, float>> between(test_device<D>(), options, 3);
  before.run_epoch(loader);  // the last batches are not an update yet
  CHECK(before.step.accumulated() == 1);
  io::Checkpoint first(folder / "first.safetensors"), second(folder / "second.safetensors");
  before.add_to(first), between.add_to(second);
  first.save();
  std::filesystem::copy(folder / "first.safetensors", folder / "second.safetensors");
  REQUIRE(second.load());
  second.save();
  CHECK(read_text(folder / "second.safetensors") == read_text(folder / "first.safetensors"));
  io::Checkpoint third(folder / "second.safetensors");
  after.add_to(third);
  REQUIRE(third.load());
  before.losses.clear();
  manual_seed(9), before.run_epoch(loader);
  manual_seed(9), after.run_epoch(loader);
  CHECK(same_bits(before.losses, after.losses));
  CHECK(same_bits(parameters_of(before.net), parameters_of(after.net)));
}

TEST_CASE_TEMPLATE("LBFGS goes on from a checkpoint bitwise", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const TempFolder folder;
  const Tensor<double, D> x(device, {8, 6}, pattern<double>(48, 7, 3, 13)),
      y(device, {8, 2}, pattern<double>(16, 5, 2, 11));
  struct Fit {
    Network<D, double> net;
    optim::LBFGS<D, double> optimizer;
    explicit Fit(D& on)
        : net(on, [](nn::Value of) { return linear(tanh(linear(of, 5)), 2); }, {6}),
          optimizer(net, {.max_iter = 4,
                          .history_size = 5,
                          .line_search_fn = optim::LineSearch::strong_wolfe}) {}
  };
  const auto step = [&](Fit& fit) {
    return fit.optimizer.step([&] {
      fit.optimizer.zero_grad();
      auto loss = nn::MSELoss{}(fit.net(x), y);
      loss.backward();
      return loss;
    });
  };
  const auto link = [&](io::Checkpoint& checkpoint, Fit& fit) {
    checkpoint.add("model", fit.net).add("optimizer", fit.optimizer);
  };
  manual_seed(3);
  Fit whole(device), other(device);
  step(other), step(other), step(other), step(other);  // a longer history, which is replaced
  for (int i = 0; i < 4; ++i) {
    io::Checkpoint saved(folder / "x.safetensors"), loaded(folder / "x.safetensors");
    link(saved, whole), link(loaded, other);
    saved.save();
    REQUIRE(loaded.load());
    CHECK(step(whole) == step(other));
    CHECK(same_bits(parameters_of(whole.net), parameters_of(other.net)));
  }
}

TEST_CASE("a loop that was left does not go on, and one of before a checkpoint was loaded ends") {
  Host& host = test_device<Host>();
  const TempFolder folder;
  const Data data;
  const data::DataLoader loader(data.set, {.batch_size = 8, .shuffle = true});
  auto batches = loader.to(host);
  io::Checkpoint checkpoint(folder / "x.safetensors");
  checkpoint.add("batches", batches);
  const auto first_inputs = [&] {
    for (auto [inputs, labels] : batches)
      return to_vector(host, inputs);
    return std::vector<float>();
  };
  manual_seed(5);
  first_inputs();
  checkpoint.save();
  const auto next = first_inputs();  // of a new epoch
  CHECK(checkpoint.load());
  CHECK(first_inputs() == next);
  CHECK(contains(error_of([&] {
                   for ([[maybe_unused]] auto batch : batches)
                     checkpoint.load();
                 }),
                 "gpunet::data::DataLoader: another loop over the same batches has begun"));

  // What was read and not yet used is written again.
  for ([[maybe_unused]] auto batch : batches) {
    checkpoint.save();
    break;
  }
  REQUIRE(checkpoint.load());
  checkpoint.save();
  const auto second = first_inputs();
  REQUIRE(checkpoint.load());
  CHECK(first_inputs() == second);
}

TEST_CASE("an epoch does not go on with other batches") {
  Host& host = test_device<Host>();
  const TempFolder folder;
  const Data data;
  Tensor<float, Host> samples(host, {29, 6});
  Tensor<label_t, Host> labels(host, {29});
  const data::TensorDataset<> fewer(samples, labels);
  const auto place = [&](const data::TensorDataset<>& set, const data::DataLoaderOptions& options,
                         bool saves, bool within) {
    const data::DataLoader loader(set, options);
    auto on_device = loader.to(host);
    auto resident = loader.resident_on(host);
    std::string errors;
    const auto visit = [&](const char* name, auto& batches) {
      io::Checkpoint checkpoint(folder / name + ".safetensors");
      checkpoint.add("loader", batches);
      for ([[maybe_unused]] auto batch : batches) {
        if (saves && within) checkpoint.save();
        break;
      }
      if (saves && !within) checkpoint.save();
      if (!saves) errors += error_of([&] { checkpoint.load(); });
    };
    visit("to", on_device), visit("resident", resident);
    return errors;
  };
  const data::DataLoaderOptions options{.batch_size = 8, .shuffle = true};
  place(data.set, options, true, true);
  const auto refused = [&](const data::TensorDataset<>& set, const data::DataLoaderOptions& other,
                           const std::string& why) {
    const std::string errors = place(set, other, false, true);
    CHECK(contains(errors, folder / "to.safetensors has the option loader." + why));
    CHECK(contains(errors, folder / "resident.safetensors has the option loader." + why));
  };
  CHECK(place(data.set, options, false, true) == "");
  refused(data.set, {.batch_size = 8},
          "shuffled_samples = " + std::to_string(data.set.size()) + " (here it is 0)");
  refused(fewer, options, "samples = " + std::to_string(data.set.size()) + " (here it is 29)");
  refused(data.set, {.batch_size = 9, .shuffle = true}, "batch_size = 8 (here it is 9)");
  refused(data.set, {.batch_size = 8, .shuffle = true, .drop_last = true}, "batches = ");
  place(data.set, options, true, false);  // a new epoch may have others
  CHECK(place(fewer, {.batch_size = 5}, false, true) == "");
}

TEST_CASE("groups and frozen parameters go on from a checkpoint") {
  Host& host = test_device<Host>();
  const TempFolder folder;
  const Data data;
  const auto make = [&](unsigned seed) {
    manual_seed(seed);
    auto of = std::make_unique<Training<Host, optim::AdamW<Host, float>>>(
        host, optim::AdamWOptions{.lr = 0.01});
    of->optimizer.add_param_group(of->net.parameters(biases_and_norms),
                                  {.lr = 0.02, .weight_decay = 0});
    return of;
  };
  data::DataLoader loader(data.set, {.batch_size = 8, .shuffle = true});
  const auto first = make(3), second = make(4);
  first->net.parameters("0.weight").requires_grad(false);
  first->run_epoch(loader);  // its progress is another
  first->net.requires_grad(true);
  second->run_epoch(loader), second->run_epoch(loader);  // what it stores is replaced
  io::Checkpoint saved(folder / "run.safetensors"), loaded(folder / "run.safetensors");
  first->add_to(saved), second->add_to(loaded);
  saved.save();
  REQUIRE(loaded.load());
  for (const auto& training : {&first, &second}) {
    manual_seed(5);
    (*training)->losses.clear();
    (*training)->run_epoch(loader);
  }
  CHECK(same_bits(first->losses, second->losses));
  CHECK(same_bits(parameters_of(first->net), parameters_of(second->net)));
  CHECK(second->optimizer.group(1).lr() == first->optimizer.group(1).lr());
}

TEST_CASE("the other objects with a state") {
  const TempFolder folder;
  Host& host = test_device<Host>();
  Network<Host, float> net(host, [](nn::Value x) { return layers(x); }, {6});
  struct All {
    optim::SGD<Host, float> optimizer;
    optim::lr_scheduler::ReduceLROnPlateau plateau{optimizer, {.patience = 1}};
    optim::lr_scheduler::CosineAnnealingWarmRestarts restarts{optimizer, {.T_0 = 3, .T_mult = 2}};
    optim::lr_scheduler::LinearLR warm_up{optimizer, {.total_iters = 2}};
    optim::lr_scheduler::CosineAnnealingLR decay{optimizer, {.T_max = 9}};
    optim::lr_scheduler::SequentialLR sequence{optimizer, {&warm_up, &decay}, {2}};
    amp::GradScaler scaler;
    Generator generator{7};
    double best = 0.5;
    bool done = false;

    explicit All(Network<Host, float>& net) : optimizer(net, {.lr = 0.1}) {}
    void step() {
      plateau.step(1), restarts.step(), sequence.step();
      generator.normal(0, 1);
      best *= 2, done = true;
    }
    void add_to(io::Checkpoint& checkpoint) {
      checkpoint.add("optimizer", optimizer)
          .add("plateau", plateau)
          .add("restarts", restarts)
          .add("sequence", sequence);
      checkpoint.add("scaler", scaler)
          .add("generator", generator)
          .add("best", best)
          .add("done", done);
    }
  };
  All first(net), second(net);
  for (int i = 0; i < 5; ++i)
    first.step();
  io::Checkpoint saved(folder / "x.safetensors"), loaded(folder / "x.safetensors");
  first.add_to(saved), second.add_to(loaded);
  saved.save();
  REQUIRE(loaded.load());
  CHECK((second.best == 16 && second.done));
  for (int i = 0; i < 5; ++i) {
    CHECK(second.optimizer.lr() == first.optimizer.lr());
    CHECK(second.generator.normal(0, 1) == first.generator.normal(0, 1));
    CHECK(second.restarts.get_last_lr() == first.restarts.get_last_lr());
    first.step(), second.step();
  }
}

namespace {
// Writes any counts in the place of an Accuracy of two classes.
struct AnyCounts {
  std::vector<index_t> counts;
  index_t samples;
  void visit_state(StateVisitor& state) {
    state.array("counts", {4}, std::span(counts));
    state.value("samples", samples);
  }
};
}  // namespace

TEST_CASE("counts that would overflow are refused, and nothing has changed") {
  const TempFolder folder;
  Host host;
  train::Accuracy<Host> accuracy(host, 2);
  const auto load = [&](AnyCounts any) {
    io::Checkpoint(folder / "counts.safetensors").add("accuracy", any).save();
    return error_of(
        [&] { io::Checkpoint(folder / "counts.safetensors").add("accuracy", accuracy).load(); });
  };
  constexpr index_t most = index_t{1} << 53;
  CHECK(load({{2, 1, 1, most}, 3}) == "");
  for (const index_t bad : {index_t{-1}, most + 1, std::numeric_limits<index_t>::max()}) {
    CHECK(contains(load({{0, 0, 0, 0}, bad}),
                   concat("gpunet::StateVisitor: the count accuracy.samples was written as ", bad,
                          " (want 0 to ")));
    CHECK(contains(load({{0, 0, 0, bad}, 5}),
                   concat("the count accuracy.counts was written as ", bad)));
    CHECK(accuracy.result().total() == 3);
    CHECK(accuracy.result().classes[1].correct == most);
    CHECK(accuracy.result().no_class == 0);
  }
}

TEST_CASE("a generator with a seed is saved alike, whatever was drawn before") {
  const TempFolder folder;
  Generator fresh(7), used(1);
  used.normal(0, 1);  // one of two is left
  used.manual_seed(7);
  io::Checkpoint(folder / "fresh.safetensors").add("generator", fresh).save();
  io::Checkpoint(folder / "used.safetensors").add("generator", used).save();
  CHECK(read_text(folder / "used.safetensors") == read_text(folder / "fresh.safetensors"));
}

TEST_CASE("a checkpoint that does not fit changes nothing") {
  Host& host = test_device<Host>();
  const TempFolder folder;
  const std::string path = folder / "run.safetensors";
  const auto small = [](nn::Value x) {
    return linear(x, 2, {.name = "fc"});
  };
  Network<Host, float> net(host, small, {3});
  optim::SGD sgd(net, {.lr = 0.1, .momentum = 0.9});
  index_t epoch = 4;
  io::Checkpoint checkpoint(path);
  checkpoint.add("model", net).add("optimizer", sgd).add("epoch", epoch);
  CHECK(checkpoint.load() == false);
  checkpoint.save();
  epoch = 9;
  const auto before = parameters_of(net);

  const auto check_refused = [&](auto&& add, const std::string& why) {
    io::Checkpoint other(path);
    add(other);
    CHECK(error_of([&] { other.load(); }) == "gpunet::io::Checkpoint: " + path + " " + why);
    CHECK(epoch == 9);
    CHECK(parameters_of(net) == before);
  };
  check_refused([&](auto& to) { to.add("model", net).add("optimizer", sgd); },
                "has epoch, which the objects here do not (others were saved, or with other "
                "options), add what was "
                "saved");
  check_refused([&](auto& to) { to.add("epoch", epoch).add("net", net).add("optimizer", sgd); },
                "has no net.fc.weight (another object was saved, or one with other options), add "
                "what was saved");
  Network<Host, float> wide(host, [](nn::Value x) { return linear(x, 3, {.name = "fc"}); }, {3});
  check_refused([&](auto& to) { to.add("epoch", epoch).add("model", wide).add("optimizer", sgd); },
                "has model.fc.weight of shape [2, 3] and type F32 (want [3, 3] and F32), build the "
                "object as it was "
                "when it was saved");

  io::save(net, folder / "weights.safetensors");
  CHECK(contains(error_of([&] { io::Checkpoint(folder / "weights.safetensors").load(); }),
                 "is no checkpoint (weights alone are read by io::load), name another file"));
  CHECK(error_of([&] { checkpoint.add("epoch", epoch); }) ==
        "gpunet::io::Checkpoint::add: 'epoch' is empty or the name of another object, give each a "
        "name of its own");

  // One bit of any byte, and an end at any byte: nothing of it is read.
  const std::string bytes = read_text(path);
  const auto check_damaged = [&](const std::string& damaged) {
    io::write_file_atomically(path, std::as_bytes(std::span(damaged)));
    CHECK(contains(error_of([&] { checkpoint.load(); }), path));
    CHECK(epoch == 9);
  };
  for (std::size_t i = 0; i < bytes.size(); i += bytes.size() / 300) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    CAPTURE(i);
    check_damaged(damaged);
    check_damaged(bytes.substr(0, i));
  }
  CHECK(parameters_of(net) == before);
  std::string last = bytes;
  last.back() = static_cast<char>(last.back() ^ 1);
  io::write_file_atomically(path, std::as_bytes(std::span(last)));
  CHECK(contains(error_of([&] { checkpoint.load(); }), path + " is damaged (the checksum of "));
}

TEST_CASE("a checkpoint keeps the files before it") {
  const TempFolder folder;
  const std::string path = folder / "run.safetensors";
  index_t epoch = 0;
  const auto read = [&](const std::string& file) {
    io::Checkpoint checkpoint(file);
    epoch = -1;
    checkpoint.add("epoch", epoch).load();
    return epoch;
  };
  const auto save = [&](int keep_last, index_t now) {
    io::Checkpoint checkpoint(path, {.keep_last = keep_last});
    epoch = now;
    checkpoint.add("epoch", epoch).save();
  };
  for (index_t now = 1; now <= 5; ++now) {
    save(3, now);
    CHECK(folder.count() == static_cast<std::size_t>(std::min<index_t>(now, 3)));
    CHECK(read(path) == now);
    if (now > 1) CHECK(read(io::earlier_name(path, 1)) == now - 1);
    if (now > 2) CHECK(read(path + ".2") == now - 2);
  }
  save(1, 6);  // leaves the others
  CHECK(read(path) == 6);
  CHECK(read(path + ".1") == 4);

  // Through a link, beside the file that it names.
  std::filesystem::create_symlink(path, folder / "link.safetensors");
  io::Checkpoint linked(folder / "link.safetensors", {.keep_last = 2});
  epoch = 7;
  linked.add("epoch", epoch).save();
  CHECK(read(path) == 7);
  CHECK(read(path + ".1") == 6);
  CHECK(!io::exists(folder / "link.safetensors.1"));

  // What is damaged or gone is not replaced by itself.
  std::string bytes = read_text(path);
  bytes.back() = static_cast<char>(bytes.back() ^ 1);
  io::write_file_atomically(path, std::as_bytes(std::span(bytes)));
  CHECK(error_of([&] {
          read(path);
        }).ends_with(" differs), rename the one before to it, " + path + ".1"));
  std::filesystem::remove(path);
  CHECK(error_of([&] { read(path); }) ==
        "gpunet::io::Checkpoint: there is no " + path + " but one before it, " + path +
            ".1 (a training would begin anew and replace it), rename it to " + path +
            ", or remove it");
  CHECK(error_of([] { io::Checkpoint(""); }) ==
        "gpunet::io::Checkpoint: a file whose path is empty, give its name");
  CHECK(error_of([&] { io::Checkpoint(path, {.keep_last = 0}); }) ==
        "gpunet::io::Checkpoint: keep_last 0 (want 1, the newest file alone, to 1000)");
}

TEST_CASE("a checkpoint that the system does not let us look for is not taken for a missing one") {
  const std::string path = std::string(300, 'a') + ".safetensors";  // longer than a name may be
  CHECK(contains(error_of([&] { io::Checkpoint(path).load(); }),
                 "gpunet::io: cannot look for " + path));
}

TEST_CASE("the name of a checkpoint says its format") {
  for (const char* name : {"run.pth", "run.pt", "run.ckpt", "run", "runs.1/run.npz"})
    CHECK(contains(
        error_of([&] { io::Checkpoint checkpoint(name); }),
        concat(name,
               " (a checkpoint is a safetensors file, which torch.load does not read), name it "
               "run.safetensors")));
  io::Checkpoint("RUN.SAFETENSORS");
  io::Checkpoint("run.safetensors.12");  // an earlier one
}

TEST_CASE_TEMPLATE("tensors and strings have a place beside the weights", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const TempFolder folder;
  const std::string path = folder / "x.safetensors";
  Tensor<float, D> mean(device, {2}, {1.5f, -2});
  Tensor<double, D> one(device, {}, {0.1});
  Tensor<label_t, D> labels(device, {3}, {1, -2, 3});
  Tensor<bool, D> mask(device, {2, 1}, {true, false});
  Tensor<std::uint8_t, D> nothing(device, {0});
  std::string note = "from Monday";
  std::vector<std::string> classes{"cat", "", "\xC3\xA4\n"};
  const auto add_to = [&](io::Checkpoint& file) {
    file.add("mean", mean)
        .add("one", one)
        .add("labels", labels)
        .add("mask", mask)
        .add("nothing", nothing);
    file.add("note", note).add("classes", classes);
  };
  io::Checkpoint saved(path);
  add_to(saved);
  saved.save();
  const auto before = std::tuple(mean.to_vector(), one.to_vector(), labels.to_vector(),
                                 mask.to_vector(), note, classes);
  const auto now = [&] {
    return std::tuple(mean.to_vector(), one.to_vector(), labels.to_vector(), mask.to_vector(), note,
                      classes);
  };
  mean = Tensor<float, D>(device, {2}, {0, 0}), one = Tensor<double, D>(device, {}, {0});
  labels = Tensor<label_t, D>(device, {3}, {7, 7, 7}),
  mask = Tensor<bool, D>(device, {2, 1}, {false, true});
  note = "", classes = {"a", "b", "c", "d"};
  CHECK(now() != before);
  CHECK(saved.load());
  CHECK(now() == before);
  // They are arrays of the file.
  CHECK(io::read_tensor<float>(device, path, "mean").to_vector() == std::vector<float>{1.5f, -2});
  CHECK(io::read_tensor<label_t>(device, path, "labels").to_vector() ==
        std::vector<label_t>{1, -2, 3});

  // Nothing changes if another shape is wanted.
  note = "of today", classes.clear();
  Tensor<float, D> other(device, {3});
  io::Checkpoint wrong(path);
  wrong.add("note", note).add("classes", classes).add("mean", other);
  CHECK(contains(error_of([&] { wrong.load(); }),
                 "x.safetensors has mean of shape [2] and type F32 (want [3] and F32)"));
  CHECK(note == "of today");
  CHECK(classes.empty());
}

TEST_CASE("a checkpoint with an impossible number of strings is refused") {
  const TempFolder folder;
  const std::string path = folder / "x.safetensors";
  std::vector<std::string> names{"a"};
  io::Checkpoint checkpoint(path);
  checkpoint.add("names", names).save();
  const io::SafetensorsFile file = io::SafetensorsFile::read(path);
  for (const index_t size : {index_t{-1}, std::numeric_limits<index_t>::max()}) {
    std::vector<io::TensorEntry> entries = file.entries();
    io::Metadata metadata = file.metadata();
    for (io::TensorEntry& entry : entries)
      if (entry.name == "names.size") {
        entry.bytes = std::as_bytes(std::span(&size, 1));
        metadata["crc32 names.size"] = std::to_string(io::detail::crc32(entry.bytes));
      }
    io::write_safetensors(folder / "bad.safetensors", entries, metadata);
    io::Checkpoint bad(folder / "bad.safetensors");
    bad.add("names", names);
    CHECK(contains(error_of([&] { bad.load(); }),
                   size < 0 ? "names was written with -1 strings" : "has no names.1"));
    CHECK(names == std::vector<std::string>{"a"});
  }
}
