// Trainings that draw from generators of their own.
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gpunet/datasets.hpp>
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "io/temp_folder.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

using Net =
    nn::Sequential<nn::Input<1, 28, 28>, nn::Flatten, nn::Linear<8>, nn::Dropout, nn::Linear<10>>;

// The losses and the weights of a training that draws all from one generator: parts, weights,
// dropout, orders, transforms.
std::vector<float> sweep(int seed, int workers) {
  Host host({.threads = 1});
  Generator own(seed);
  const data::Digits set(48, 1,
                         data::Compose(data::RandomCrop(28, {.padding = 2}), data::ToTensor{}));
  const auto parts = data::random_split(set, {32, 16}, own);
  Model<Net, Host> net(host, {.generator = own});
  optim::SGD optimizer(net, {.lr = 0.1});
  const data::DataLoader loader(parts[0],
                                {.batch_size = 8, .shuffle = true, .num_workers = workers});
  const data::DataLoader held_out(parts[1], {.batch_size = 8, .shuffle = true});
  const auto history = train::fit(net, nn::CrossEntropyLoss(), optimizer, loader,
                                  {.epochs = 3, .generator = own}, train::Validation(held_out));
  std::vector<float> all = to_vector(host, net.parameters());
  for (const train::Epoch& epoch : history.epochs) {
    all.push_back(static_cast<float>(epoch.loss));
    all.push_back(static_cast<float>(epoch.val_loss));
  }
  all.push_back(own.uniform(0.0f, 1.0f));
  return all;
}

// Stops after a number of steps.
struct StopAfter {
  index_t steps;
  void on_step_end(train::Training& run) const {
    if (run.total_steps == steps) run.stop("enough");
  }
};

}  // namespace

TEST_CASE("sweeps in several threads give the numbers that each gives alone") {
  const std::vector<float> first = sweep(1, 0), second = sweep(2, 0);
  CHECK(first != second);
  for (int round = 0; round < 3; ++round) {
    std::vector<float> a, b;
    std::thread other([&] { b = sweep(2, round); });
    a = sweep(1, 2 - round);
    manual_seed(round);  // draws of others from the default generator change nothing
    other.join();
    CHECK(a == first);
    CHECK(b == second);
  }
  manual_seed(9);
  sweep(1, 1);
  CHECK(default_generator().random63() == Generator(9).random63());
}

TEST_CASE_TEMPLATE("a network draws from its generator what it draws from the default one", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto function = [](nn::Value x) {
    return linear(dropout(linear(x, 6)), 2);
  };
  const auto of_two = [](nn::Value x, nn::Value y) {
    return linear(x, 3) + linear(y, 3);
  };
  manual_seed(5);
  const Model<Net, D> model(device);
  const Network network(device, function, {4});
  const Network two(device, of_two, {4}, {2});
  const index_t next = default_generator().random63();
  Generator own(5);
  const Model<Net, D> own_model(device, {.generator = own});
  const Network own_network(device, function, {4}, {.generator = own});
  const Network own_two(device, of_two, {4}, {2}, {.generator = own});
  CHECK(own.random63() == next);
  const auto check = [&](const auto& a, const auto& b) {
    CHECK(to_vector(device, a.parameters()) == to_vector(device, b.parameters()));
    CHECK(a.random_state() == b.random_state());
  };
  check(own_model, model);
  check(own_network, network);
  check(own_two, two);
  own.manual_seed(5);
  check(Model<Net, D>(device, Net{}, {.generator = own}), model);
}

TEST_CASE("a training that resumes has the generators that it was given") {
  Host& host = test_device<Host>();
  const data::Digits set(40, 1,
                         data::Compose(data::RandomCrop(28, {.padding = 2}), data::ToTensor{}));
  for (int kind = 0; kind < 3; ++kind) {
    // The generator of fit, that of the loader, that of its sampler.
    const auto run = [&](int seed, const std::string& resume, index_t steps) {
      Generator own(seed), of_sampler(seed);
      manual_seed(kind == 2 ? 3 : seed);
      Model<Net, Host> net(host, {.generator = own});
      optim::SGD optimizer(net, {.lr = 0.1});
      data::DataLoaderOptions options{.batch_size = 8, .shuffle = kind < 2, .num_workers = 1};
      if (kind == 1) options.generator = own;
      if (kind == 2)
        options.sampler = data::RandomSampler(40, {.replacement = true, .generator = of_sampler});
      const data::DataLoader loader(set, options);
      train::FitOptions with{.epochs = 3, .resume = resume};
      if (kind == 0) with.generator = own;
      train::fit(net, nn::CrossEntropyLoss(), optimizer, loader, with, StopAfter{steps});
      std::vector<float> all = to_vector(host, net.parameters());
      all.push_back(kind == 2 ? of_sampler.uniform(0.0f, 1.0f) : own.uniform(0.0f, 1.0f));
      return all;
    };
    const TempFolder folder;
    const std::string path = folder / "run.safetensors";
    const std::vector<float> whole = run(1, "", -1);
    CHECK(run(1, path, 7) != whole);
    CHECK(run(2, path, -1) == whole);
  }
}

TEST_CASE("generators that cannot be used") {
  Host& host = test_device<Host>();
  const data::Digits set(8, 1);
  std::optional<Generator> own(1);
  const data::DataLoader loader(set, {.batch_size = 4, .shuffle = true, .generator = *own});
  auto batches = loader.to(host);
  for (auto [inputs, labels] : batches)
    CHECK(inputs.size(0) == 4);
  Generator moved = std::move(*own);
  own.reset();
  CHECK(error_of([&] {
          for ([[maybe_unused]] auto batch : batches) {
          }
        }) ==
        "gpunet::Generator: the generator that was given as .generator is gone (destroyed; a moved "
        "one is another), "
        "keep it as long as what draws from it");
  Model<Net, Host> net(host);
  optim::SGD optimizer(net, {.lr = 0.1});
  CHECK(error_of([&] {
          train::fit(net, nn::CrossEntropyLoss(), optimizer, batches, {.generator = moved});
        }) ==
        "gpunet::train::fit: .generator with batches that are made already (they draw from that of "
        "their loader), "
        "give it to the data::DataLoader");
  const data::DataLoader plain(set, {.batch_size = 4});
  auto ready = plain.resident_on(host);
  const auto see = [](const auto&, const auto&) {
    return true;
  };
  CHECK(error_of([&] { train::evaluate(net, nn::CrossEntropyLoss(), ready, see, moved); }) ==
        "gpunet::train::evaluate: a generator with batches that are made already (they draw from "
        "that of their loader), give it to the data::DataLoader");
  const auto history = train::fit(net, nn::CrossEntropyLoss(), optimizer, plain,
                                  {.generator = moved}, train::Validation(ready));
  CHECK(history.epochs[0].val_loss == train::evaluate(net, nn::CrossEntropyLoss(), plain).loss);
}
