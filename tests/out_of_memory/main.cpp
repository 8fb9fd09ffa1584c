// Out of memory is an error, not an end: every allocation of every operation fails in turn, alone
// and with all later ones. The operation throws std::bad_alloc or an Error about memory, releases
// what it had, and succeeds when it is called again.
#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "failing_memory.hpp"
#include "io/temp_folder.hpp"
#include "support/arrays.hpp"
#include "support/eager_step.hpp"
#include "support/fnv1a.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

// A hash of several, which allocates nothing.
template <class... X>
std::uint64_t hash_of(const X&... x) {
  std::uint64_t hash = 0xcbf29ce484222325;
  ((hash = (hash ^ static_cast<std::uint64_t>(x)) * 0x100000001b3), ...);
  return hash;
}

nn::Value layers(const nn::Value& x) {
  return linear(relu(batch_norm(linear(x, 8))), 3);
}

template <class D>
std::uint64_t weights_of(const Network<D, float>& net) {
  return fnv1a(parameters_of(net));
}

// 30 samples and their labels.
struct Data {
  Host host{{.threads = 1}};
  Tensor<float, Host> samples{host, {30, 6}, pattern<float>(180, 7, 3, 13)};
  Tensor<label_t, Host> labels{remainder(arange<label_t>(host, 30), label_t{3})};
  data::TensorDataset<> set{samples, labels};
};

// Hashes the state of an object, as a checkpoint would write it.
class StateHash final : public StateVisitor {
 public:
  std::uint64_t value = 0;

 private:
  template <class T>
  void add(std::span<T> x) {
    value = hash_of(value, fnv1a(std::vector<T>(x.begin(), x.end())));
  }
  void visit(const std::string&, const Sizes&, std::span<float> x) override { add(x); }
  void visit(const std::string&, const Sizes&, std::span<double> x) override { add(x); }
  void visit(const std::string&, const Sizes&, std::span<index_t> x) override { add(x); }
  void visit(const std::string&, const Sizes&, std::span<std::uint8_t> x) override { add(x); }
  index_t written_number(const std::string&) override { return 0; }
  void check_option(const std::string&, double) override {}
  bool was_written(const std::string&) const override { return true; }
};

// A network with an optimizer and one batch.
template <class D>
struct Lesson {
  D device;
  Network<D, float> net;
  optim::Adam<D, float> optimizer;
  Tensor<float, D> x;
  Tensor<label_t, D> labels;
  index_t epoch = 0;

  template <class... Options>
  explicit Lesson(const Data& data, const Options&... options)
      : device(options...),
        net((manual_seed(3), device), [](nn::Value of) { return layers(of); }, {6}),
        optimizer(net, {.lr = 0.05}),
        x(data.samples.to(device)),
        labels(data.labels.to(device)) {}

  // Runs an eager step.
  void step() {
    optimizer.zero_grad();
    nn::CrossEntropyLoss{}(net(x), labels).backward();
    optimizer.step();
  }
  void add_to(io::Checkpoint& checkpoint) {
    checkpoint.add("model", net).add("optimizer", optimizer).add("epoch", epoch);
  }
  std::uint64_t weights() const { return weights_of(net); }
  // Of all that a checkpoint has.
  std::uint64_t state() {
    StateHash hash;
    net.visit_state(hash);
    optimizer.visit_state(hash);
    default_generator().visit_state(hash);
    return hash_of(hash.value, epoch);
  }
};

// All that a program does with a network, on objects that it makes.
template <class D, class... Options>
void test_whole(MemoryTest& test, const Data& data, const Options&... options) {
  constexpr bool is_simulated = !std::is_same_v<D, Host>;  // which takes long
  test.whole("building", [&] {
    D device(options...);
    manual_seed(3);
    const Network<D, float> net(device, [](nn::Value x) { return layers(x); }, {6});
    const Model<SmallNet, D> model(device);
    return hash_of(weights_of(net), weights_of(model));
  });
  test.whole("training, eagerly", [&] {
    Lesson<D> lesson(data, options...);
    lesson.step(), lesson.step();
    return lesson.weights();
  });
  test.whole("train::Step", [&] {
    Lesson<D> lesson(data, options...);
    train::Step step(lesson.net, nn::CrossEntropyLoss{}, lesson.optimizer);
    for (int i = 0; i < 3; ++i)
      step(lesson.x, lesson.labels);
    return lesson.weights();
  });
  test.whole("LBFGS", [&] {
    Lesson<D> lesson(data, options...);
    optim::LBFGS<D, float> optimizer(lesson.net, {.max_iter = 2});
    for (int i = 0; i < (is_simulated ? 1 : 2); ++i)
      optimizer.step([&] {
        optimizer.zero_grad();
        auto loss = nn::CrossEntropyLoss{}(lesson.net(lesson.x), lesson.labels);
        loss.backward();
        return loss;
      });
    return lesson.weights();
  });
  for (const int workers : {0, 2}) {
    if (is_simulated && workers == 0) continue;
    test.whole(workers ? "train::fit with two workers" : "train::fit", [&] {
      Lesson<D> lesson(data, options...);
      const data::DataLoader loader(data.set,
                                    {.batch_size = 12, .shuffle = true, .num_workers = workers});
      const data::DataLoader validation(data.set, {.batch_size = 15});
      const auto history =
          train::fit(lesson.net, nn::CrossEntropyLoss{}, lesson.optimizer, loader,
                     {.epochs = is_simulated ? 1 : 2}, train::Accuracy(lesson.device, 3),
                     train::Validation(validation),
                     train::EarlyStopping({.patience = 5, .restore_best_weights = true}));
      return hash_of(lesson.weights(), history.epochs.size());
    });
  }
}

// Operations on objects that stay: an error leaves them as they were, or good for the same
// operation. Each is the first one on new objects, since what has grown once needs no memory any
// more.
template <class D, class... Options>
void test_parts(MemoryTest& test, const Data& data, const Options&... options) {
  std::optional<Lesson<D>> lesson;
  std::uint64_t number = 0;
  const auto make = [&] {
    lesson.reset();
    lesson.emplace(data, options...);
  };
  const auto make_trained = [&] {
    make();
    lesson->step();
  };
  const auto result = [&] {
    return number;
  };
  const auto weights = [&] {
    return lesson->weights();
  };
  const auto state = [&] {
    return lesson->state();
  };
  const auto with_class_weights = [](Lesson<D>& of) {
    const nn::CrossEntropyLoss criterion({.weight = {1, 2, 3}});
    train::Step step(of.net, criterion, of.optimizer);
    step(of.x, of.labels);
  };

  std::vector<float> outputs;
  test({"a forward pass", make,
        [&] {
          lesson->net.eval();
          outputs = lesson->net(lesson->x).tensor().to_vector();
        },
        [&] { return fnv1a(outputs); }, state});
  test({"an eager step", make, [&] { lesson->step(); }, weights, weights});
  test({"a step", make,
        [&] {
          train::Step step(lesson->net, nn::CrossEntropyLoss{}, lesson->optimizer);
          step(lesson->x, lesson->labels);
        },
        weights, weights});
  test({"a step with class weights", make, [&] { with_class_weights(*lesson); }, weights, weights});
  test({"a step that looks for nan", make,
        [&] {
          lesson->net.detect_anomaly();
          lesson->step();
        },
        weights, weights});
  test({"a step with 16 bits", make,
        [&] {
          lesson->net.autocast(Storage::bfloat16);
          lesson->step();
        },
        weights, weights});
  test({"a step with frozen parameters", make_trained,
        [&] {
          lesson->net.parameters("0.weight").requires_grad(false);
          lesson->step();
        },
        weights, weights});
  test({"a step with groups of parameters", make,
        [&] {
          if (lesson->optimizer.groups() == 1)
            lesson->optimizer.add_param_group(lesson->net.parameters("*.bias"), {.lr = 0.01});
          lesson->step();
        },
        weights, weights});
  std::optional<optim::SGD<D, float>> sgd;
  test({"a step whose second group has momentum",
        [&] {
          sgd.reset();
          make();
          sgd.emplace(lesson->net, optim::SGDOptions{.lr = 0.1});
          sgd->add_param_group(lesson->net.parameters("*.bias"), {.momentum = 0.9});
        },
        [&] {
          train::Step step(lesson->net, nn::CrossEntropyLoss{}, *sgd);
          step(lesson->x, lesson->labels);
        },
        weights, weights});
  sgd.reset();
  test({"a step with a hook", make,
        [&] {
          const auto hook = lesson->net.register_forward_hook("0", [&](const Tensor<float, D>& y) {
            number = static_cast<std::uint64_t>(y.numel());
          });
          lesson->step();
        },
        [&] { return hash_of(number, weights()); }, weights});
  test({"a Predictor", make,
        [&] {
          Predictor<D, float> predict(lesson->net);
          outputs = predict(lesson->x).to_vector();
        },
        [&] { return fnv1a(outputs); }, state});
  const data::DataLoader loader(data.set, {.batch_size = 8, .shuffle = true, .num_workers = 2});
  test({"an epoch of batches", make,
        [&] {
          manual_seed(5);
          number = 0;
          for (const auto& [inputs, labels] : loader.to(lesson->device))
            number += static_cast<std::uint64_t>(labels.numel());
        },
        result, weights});
}

#if !GPUNET_CUDA

// The same for files, which need no memory of a device.
void test_files(MemoryTest& test, const Data& data) {
  const TempFolder folder;
  std::optional<Lesson<Host>> lesson;
  const auto make_trained = [&] {
    lesson.reset();
    lesson.emplace(data, HostOptions{.threads = 1});
    lesson->step();
  };
  const auto weights = [&] {
    return lesson->weights();
  };
  const auto state = [&] {
    return lesson->state();
  };
  make_trained();
  lesson->step();
  lesson->epoch = 7;
  const std::string path = folder / "run.safetensors", of_optimizer = folder / "optimizer.pth";
  io::Checkpoint later(path);
  lesson->add_to(later);
  later.save();
  io::save(lesson->optimizer, of_optimizer);
  for (const char* name : {"net.safetensors", "net.pth", "net.npz"}) {
    const std::string file = folder / name, what = concat("io::load of ", name);
    io::save(lesson->net, file);
    test({concat("io::save to ", name).c_str(), make_trained,
          [&] { io::save(lesson->net, folder / concat("x", name)); },
          [&] { return fnv1a(io::read_file(folder / concat("x", name))); }, state});
    test({what.c_str(), make_trained, [&] { io::load(lesson->net, file); }, weights, state});
  }
  test({"Checkpoint::save", make_trained,
        [&] {
          io::Checkpoint checkpoint(folder / "x.safetensors");
          lesson->add_to(checkpoint);
          checkpoint.save();
        },
        [&] { return fnv1a(io::read_file(folder / "x.safetensors")); }, state});
  // If no allocation succeeds any more, the old values cannot be restored.
  test({"Checkpoint::load", make_trained,
        [&] {
          io::Checkpoint checkpoint(path);
          lesson->add_to(checkpoint);
          checkpoint.load();
        },
        state, state, false});
  test({"io::load of an optimizer", make_trained,
        [&] { io::load(lesson->optimizer, of_optimizer); }, state, state, false});
}

#else

// The memory of a simulated GPU, and pinned memory.
class DeviceMemory final : public FailingMemory {
 public:
  // Returns false if the device is not a simulated one.
  bool is_here() const { return refuse_ && free_; }

  void fail(const Failing& which) override {
    refuse_(which.first, which.and_later ? LONG_MAX : which.first);
  }
  long stop() override { return refuse_(0, 0); }
  long in_use() const override {
    std::size_t free = 0, total = 0;
    free_(&free, &total);
    return static_cast<long>(total - free);
  }

 private:
  using Refuse = long (*)(long first, long last);
  using Free = int (*)(std::size_t* free, std::size_t* total);
  Refuse refuse_ = reinterpret_cast<Refuse>(dlsym(RTLD_DEFAULT, "cudasim_refuse_allocations"));
  Free free_ = reinterpret_cast<Free>(dlsym(RTLD_DEFAULT, "cudaMemGetInfo"));
};

#endif

}  // namespace

// main [EVERY]: with EVERY, after the first 50 only each EVERY-th allocation of an operation fails.
// Linked with gpunet::cuda: on a simulated GPU.
int main(int argc, char** argv) {
  const long every = argc > 1 ? std::atol(argv[1]) : 1;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was printed stays if the program is ended
  const Data data;
#if GPUNET_CUDA
  DeviceMemory memory;
  if (!memory.is_here()) {
    std::printf(
        "skipped, only a simulated GPU refuses memory\n[gpunet] 0 passed, 0 failed, 1 skipped\n");
    return 77;
  }
  MemoryTest test(memory, every);
  test_whole<Cuda>(test, data);
  test_parts<Cuda>(test, data);
#else
  MemoryTest test(host_memory(), every);
  test_whole<Host>(test, data, HostOptions{.threads = 2});
  test_parts<Host>(test, data, HostOptions{.threads = 1});
  test_files(test, data);
#endif
  std::printf("[gpunet] %d passed, %d failed, 0 skipped\n", test.operations() - test.failures(),
              test.failures());
  return test.failures() > 0 ? 1 : 0;
}
