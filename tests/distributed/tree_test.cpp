#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <vector>

#include <gpunet/extras/data/painted_shapes.hpp>
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "distributed/world.hpp"
#include "io/temp_folder.hpp"
#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using distributed::DistributedDataParallel;
using distributed::Reduction;

namespace {

constexpr index_t leaves = 8, batch = 32;

using Images =
    nn::Sequential<nn::Input<2, 8, 8>, nn::Conv2d<6, 3, nn::Padding<1>>, nn::ReLU, nn::MaxPool2d<2>,
                   nn::Dropout, nn::Flatten, nn::Linear<20>, nn::ReLU, nn::Dropout, nn::Linear<5>>;

nn::Value layers(nn::Value x) {
  return linear(dropout(relu(linear(x, 11)), 0.25), 3);
}

// A loss computed by the network, of two inputs.
nn::Value distance(nn::Value x, nn::Value t) {
  return square(linear(tanh(linear(x, 6)), 2) - t);
}

// Values that sums round.
template <class T>
std::vector<T> values_of(index_t n, int step) {
  Generator generator(static_cast<std::uint64_t>(step) + 1);
  return random_values<T>(n, generator);
}

// The samples of a batch of all ranks that belong to part `first` of `parts`.
template <class T, class D>
struct PartOf {
  Tensor<T, D> x;
  Tensor<label_t, D> y;
};
template <class T, class D>
PartOf<T, D> part_of(D& device, const Sizes& sample, int step, index_t classes, index_t first,
                     index_t parts) {
  const index_t size = sample.numel();
  const std::vector<T> all = values_of<T>(batch * size, step);
  std::vector<T> x;
  std::vector<label_t> y;
  for (index_t s = first; s < batch; s += parts) {
    x.insert(x.end(), all.begin() + s * size, all.begin() + (s + 1) * size);
    y.push_back(static_cast<label_t>((s * s + step) % classes));
  }
  return {Tensor<T, D>(device, sample.with_front(batch / parts), x),
          Tensor<label_t, D>(device, {batch / parts}, y)};
}

// The sum in pairs: x[l] += x[l + 4], then x[l] += x[l + 2], x[0] += x[1].
template <class Array, class Add>
void sum_in_pairs(std::vector<Array>& x, Add add) {
  for (std::size_t half = x.size() / 2; half > 0; half /= 2)
    for (std::size_t l = 0; l < half; ++l)
      add(x[l], x[l + half]);
}

template <class T>
struct Trained {
  std::vector<T> weights, losses;
};

struct How {
  int steps;
  index_t accumulate = 1;
  bool freezes = false;
};

// One process and no reduction: a pass for each leaf, whose gradients and losses are added up here.
template <class T, class Net, class D>
Trained<T> by_leaves(D& device, Net& net, const How& how) {
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.05, .momentum = 0.9});
  Trained<T> result;
  std::vector<T> older;
  for (int i = 0; i < how.steps; ++i) {
    std::vector<std::vector<T>> gradients;
    std::vector<T> losses;
    for (index_t leaf = 0; leaf < leaves; ++leaf) {
      net.zero_grad();
      const auto part =
          part_of<T>(device, net.graph().values[0], i, net.output_sizes()[0], leaf, leaves);
      auto loss = criterion(net(part.x), part.y);
      losses.push_back(loss.item());
      loss.backward(1.0 / static_cast<double>(how.accumulate));
      gradients.push_back(gradients_of(net));
    }
    sum_in_pairs(losses, [](T& a, T b) { a += b; });
    sum_in_pairs(gradients, [](std::vector<T>& a, const std::vector<T>& b) {
      for (std::size_t k = 0; k < a.size(); ++k)
        a[k] += b[k];
    });
    result.losses.push_back(losses[0] / T{leaves});
    for (std::size_t k = 0; k < gradients[0].size(); ++k) {
      gradients[0][k] /= T{leaves};
      if (i % how.accumulate > 0) gradients[0][k] = older[k] + gradients[0][k];
    }
    older = gradients[0];
    if (i % how.accumulate != how.accumulate - 1) continue;
    device.upload(net.gradients().data(), older.data(), older.size() * sizeof(T));
    optimizer.step();
  }
  result.weights = parameters_of(net);
  return result;
}

template <class T, class Net, class D>
Trained<T> by_step(D& device, Net& net, const How& how) {
  DistributedDataParallel ddp(net, world(), {.reduction = Reduction::fixed_tree});
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.05, .momentum = 0.9});
  train::Step step(net, criterion, optimizer, {.accumulate = how.accumulate});
  Trained<T> result;
  for (int i = 0; i < how.steps; ++i) {
    const auto part = part_of<T>(device, net.graph().values[0], i, net.output_sizes()[0],
                                 world().rank(), world().size());
    result.losses.push_back(step(part.x, part.y).item());
  }
  result.weights = parameters_of(net);
  return result;
}

// What rank 0 has, on all ranks.
template <class T>
std::vector<T> of_rank_0(std::vector<T> numbers, std::size_t size) {
  numbers.resize(size);
  Tensor<T, Host> all(test_device<Host>(), {static_cast<index_t>(size)}, numbers);
  world().broadcast(all);
  return all.to_vector();
}

// Trains `make(device)` both ways. Each number of ranks has other threads.
template <class T, class D, class Make>
void check_by_step(D& device, Make make, const How& how) {
  const auto made = [&](D& on, index_t seed) {
    manual_seed(static_cast<std::uint64_t>(seed));
    auto net = make(on);
    if (how.freezes) net.parameters("0.*").requires_grad(false);
    return net;
  };
  Trained<T> alone;
  if (world().is_main()) {
    auto net = made(device, 5);
    alone = by_leaves<T>(device, net, how);
  }
  // All begin with what rank 0 has, also the random numbers.
  auto net = made(device, 5 + world().rank());
  const Trained<T> together = by_step<T>(device, net, how);
  CHECK(same_bits(together.weights, of_rank_0(alone.weights, together.weights.size())));
  CHECK(same_bits(together.losses, of_rank_0(alone.losses, together.losses.size())));
  CHECK(together.losses.front() != together.losses.back());
}

bool shares_leaves() {
  return leaves % world().size() == 0;
}

}  // namespace

TEST_CASE(
    "200 steps on any number of ranks and threads have the bits of leaves that are added up by "
    "hand") {
  if (!shares_leaves()) return;
  Host host({.threads = world().size() == 1 ? 3 : world().size() == 2 ? 2 : 1});
  check_by_step<float>(host, [](Host& on) { return Model<Images, Host>(on); }, {.steps = 200});
}

TEST_CASE_TEMPLATE(
    "gradients of several batches, and of a part of the parameters, are added up in leaves", D,
    GPUNET_TEST_DEVICES) {
  if (!shares_leaves()) return;
  D& device = test_device<D>();
  const auto make = [](D& on) {
    return Network<D, double>(on, layers, {7});
  };
  check_by_step<double>(device, make, {.steps = 12, .accumulate = 3});
  check_by_step<double>(device, make, {.steps = 4, .freezes = true});
}

TEST_CASE_TEMPLATE(
    "a network that computes its loss from two inputs, in a Step with the leaves of this rank", D,
    GPUNET_TEST_DEVICES) {
  if (!shares_leaves()) return;
  D& device = test_device<D>();
  manual_seed(1);
  Network<D, float> alone(device, distance, {3}, {2});
  Network<D, float> net(device, distance, {3}, {2});
  net.copy_state(alone);
  DistributedDataParallel ddp(net, world(), {.reduction = Reduction::fixed_tree});
  optim::Adam optimizer(net, {.lr = 0.01});
  train::Step step(net, nn::OutputLoss{}, optimizer);
  const auto rows = [&](index_t width, int of, index_t first, index_t parts) {
    return part_of<float>(device, {width}, of, 1, first, parts).x;
  };
  const float loss =
      step({rows(3, 4, world().rank(), world().size()), rows(2, 5, world().rank(), world().size())})
          .item();
  std::vector<std::vector<float>> gradients;
  std::vector<float> losses;
  for (index_t leaf = 0; leaf < leaves; ++leaf) {
    alone.zero_grad();
    auto of_leaf = mean(alone(rows(3, 4, leaf, leaves), rows(2, 5, leaf, leaves)));
    losses.push_back(of_leaf.item());
    of_leaf.backward();
    gradients.push_back(gradients_of(alone));
  }
  sum_in_pairs(losses, [](float& a, float b) { a += b; });
  sum_in_pairs(gradients, [](std::vector<float>& a, const std::vector<float>& b) {
    for (std::size_t k = 0; k < a.size(); ++k)
      a[k] += b[k];
  });
  for (float& g : gradients[0])
    g /= float{leaves};
  CHECK(loss == losses[0] / float{leaves});
  CHECK(same_bits(gradients_of(net), gradients[0]));
}

namespace {

// What is trained by fit(): images that are mirrored at random, 72 in batches of 16 of all
// processes, the last one of 8.
struct FitData {
  FitData(index_t ranks, index_t rank)
      : loader(set,
               {.batch_size = 16 / ranks,
                .sampler = data::DistributedSampler(set, {.num_replicas = ranks, .rank = rank})}) {}

  Host& host = test_device<Host>();
  data::Shapes set{72, 1, data::Compose(data::RandomHorizontalFlip(), data::ToTensor())};
  data::DataLoader<> loader;
  Network<Host, float> net{
      host,
      [](nn::Value x) { return linear(dropout(relu(linear(flatten(x), 11)), 0.25), 10); },
      {3, 32, 32}};
  optim::Adam<Host, float> optimizer{net, {.lr = 0.02}};
};

struct FitHow {
  index_t accumulate = 1;
  bool counts = false, clips = false;
  std::string resume = {};
  index_t max_steps = 0;
};

struct Fitted {
  std::vector<float> weights;
  std::vector<double> numbers;  // loss and accuracy of each epoch
};

Fitted by_fit(const FitHow& how) {
  manual_seed(8);
  FitData data(world().size(), world().rank());
  DistributedDataParallel ddp(data.net, world(), {.reduction = Reduction::fixed_tree});
  const train::FitOptions options{
      .epochs = 2, .max_steps = how.max_steps, .accumulate = how.accumulate, .resume = how.resume};
  const auto run = [&](auto&&... parts) {
    return train::fit(data.net, nn::CrossEntropyLoss{}, data.optimizer, data.loader, options,
                      parts...);
  };
  Fitted result;
  const train::History history = how.clips    ? run(train::ClipGradNorm{0.5})
                                 : how.counts ? run(train::Accuracy(data.host, 10))
                                              : run();
  for (const train::Epoch& epoch : history.epochs) {
    result.numbers.push_back(epoch.loss);
    if (how.counts) result.numbers.push_back(epoch.accuracy);
  }
  result.weights = parameters_of(data.net);
  return result;
}

// The same by a loop of one process over leaves.
Fitted by_hand(const FitHow& how) {
  manual_seed(8);
  FitData data(1, 0);
  train::Accuracy accuracy(data.host, 10);
  std::vector<float> older;
  Fitted result;
  auto batches = data.loader.to(data.host);
  for (int epoch = 0; epoch < 2; ++epoch) {
    batches.set_epoch(epoch);
    accuracy.reset();
    double sum = 0, samples = 0;
    index_t number = 0;
    for (auto [x, y] : batches) {
      std::vector<std::vector<float>> gradients;
      std::vector<float> losses;
      const std::vector<float> all_x = to_vector(data.host, x);
      const std::vector<label_t> all_y = to_vector(data.host, y);
      const index_t count = x.size(0) / leaves, size = 3 * 32 * 32;
      for (index_t leaf = 0; leaf < leaves; ++leaf) {
        std::vector<float> own_x;
        std::vector<label_t> own_y;
        for (index_t i = leaf; i < x.size(0); i += leaves) {
          own_x.insert(own_x.end(), all_x.begin() + i * size, all_x.begin() + (i + 1) * size);
          own_y.push_back(all_y[static_cast<std::size_t>(i)]);
        }
        const Tensor<float, Host> leaf_x(data.host, {count, 3, 32, 32}, own_x);
        const Tensor<label_t, Host> leaf_y(data.host, {count}, own_y);
        data.net.zero_grad();
        const auto outputs = data.net(leaf_x);
        auto loss = nn::CrossEntropyLoss{}(outputs, leaf_y);
        losses.push_back(loss.item());
        accuracy.update(outputs, leaf_y);
        loss.backward(1.0 / static_cast<double>(how.accumulate));
        gradients.push_back(gradients_of(data.net));
      }
      sum_in_pairs(losses, [](float& a, float b) { a += b; });
      sum_in_pairs(gradients, [](std::vector<float>& a, const std::vector<float>& b) {
        for (std::size_t k = 0; k < a.size(); ++k)
          a[k] += b[k];
      });
      const auto n = static_cast<double>(x.size(0));
      sum += n * static_cast<double>(losses[0] / float{leaves});
      samples += n;
      for (std::size_t k = 0; k < gradients[0].size(); ++k) {
        gradients[0][k] /= float{leaves};
        if (number % how.accumulate > 0) gradients[0][k] = older[k] + gradients[0][k];
      }
      older = gradients[0];
      if (++number % how.accumulate > 0 && number < batches.size()) continue;
      data.host.upload(data.net.gradients().data(), older.data(), older.size() * sizeof(float));
      if (how.clips) nn::utils::clip_grad_norm_(data.net, 0.5);
      data.optimizer.step();
    }
    result.numbers.push_back(sum / samples);
    if (how.counts) result.numbers.push_back(accuracy.result().accuracy());
  }
  result.weights = parameters_of(data.net);
  return result;
}

}  // namespace

TEST_CASE(
    "fit on any number of ranks has the bits of leaves that are added up by hand, also after a "
    "resumption") {
  if (!shares_leaves()) return;
  for (const FitHow& how :
       {FitHow{}, FitHow{.accumulate = 2}, FitHow{.counts = true}, FitHow{.clips = true}}) {
    CAPTURE(how.accumulate);
    CAPTURE(how.counts);
    CAPTURE(how.clips);
    Fitted alone;
    if (world().is_main()) alone = by_hand(how);
    const Fitted together = by_fit(how);
    REQUIRE(together.numbers.size() == (how.counts ? 4 : 2));
    CHECK(same_bits(together.weights, of_rank_0(alone.weights, together.weights.size())));
    CHECK(same_bits(together.numbers, of_rank_0(alone.numbers, together.numbers.size())));
    if (how.counts || how.clips) continue;
    const TempFolder folder;
    FitHow part = how;
    part.resume = world().all_gather(folder / "run.safetensors")[0];
    part.max_steps = 7;  // within the second epoch
    by_fit(part);
    part.max_steps = 0;
    CHECK(same_bits(by_fit(part).weights, together.weights));
    world().barrier();
  }
}

TEST_CASE("what a fixed tree cannot do is an error") {
  Host& host = test_device<Host>();
  const auto options = [](index_t n) {
    return distributed::DistributedDataParallelOptions{.reduction = Reduction::fixed_tree,
                                                       .tree_leaves = n};
  };
  Network<Host, float> net(host, layers, {7});
  CHECK(contains(error_of([&] { DistributedDataParallel ddp(net, world(), options(24)); }),
                 "tree_leaves 24 (want a power of two"));
  if (world().size() > 1)
    CHECK(contains(error_of([&] { DistributedDataParallel ddp(net, world(), options(1)); }),
                   concat(world().size(), " ranks and 1 leaves (each rank needs equally many)")));
  CHECK(net.reducer() == nullptr);
  if (!shares_leaves()) return;

  Network<Host, float> norm(host, [](nn::Value x) { return linear(batch_norm(linear(x, 4)), 3); },
                            {7});
  CHECK(contains(error_of([&] { DistributedDataParallel ddp(norm, world(), options(leaves)); }),
                 "layer 1 (BatchNorm"));
  const index_t own = leaves / world().size();
  const auto inputs = [&](index_t n) {
    return Tensor<float, Host>(host, {n, 7}, values_of<float>(n * 7, 1));
  };
  const Tensor<label_t, Host> y(host, {own},
                                std::vector<label_t>(static_cast<std::size_t>(own), 1));
  {
    norm.eval();  // with the running statistics
    DistributedDataParallel ddp(norm, world(), options(leaves));
    optim::SGD optimizer(norm, {.lr = 0.1});
    train::Step step(norm, nn::CrossEntropyLoss{}, optimizer);
    CHECK(step(inputs(own), y).item() > 0);
    norm.train();
    CHECK(contains(error_of([&] { step(inputs(own), y); }),
                   "has statistics of its batch in training mode"));
  }

  DistributedDataParallel ddp(net, world(), options(leaves));
  optim::SGD optimizer(net, {.lr = 0.1});
  train::Step step(net, nn::CrossEntropyLoss{}, optimizer, {.accumulate = 2});
  const std::vector<float> before = parameters_of(net);
  CHECK(contains(
      error_of([&] { nn::CrossEntropyLoss{}(net(inputs(own)), y).backward(); }),
      "in a loop of your own (the batch has to run in leaves), use train::Step or train::fit"));
  CHECK(contains(error_of([&] { net.forward_backward(inputs(own), nn::CrossEntropyLoss{}, y); }),
                 "in a loop of your own"));
  CHECK(contains(error_of([&] { const auto none = ddp.no_sync(); }),
                 "no_sync: with Reduction::fixed_tree"));
  if (own > 1)
    CHECK(contains(error_of([&] { step(inputs(own + 1), y); }),
                   concat(own + 1, " samples on a rank with ", own, " of 8 leaves")));
  if (own < leaves) {
    const index_t n = world().is_main() ? 2 * own : own;
    CHECK(contains(error_of([&] {
                     step(inputs(n),
                          Tensor<label_t, Host>(
                              host, {n}, std::vector<label_t>(static_cast<std::size_t>(n), 1)));
                   }),
                   concat("the batch of this rank has ", n, " samples, those of all ",
                          world().size(), " ranks together ", leaves + own)));
  }
  train::Step sum(net, nn::CrossEntropyLoss{{.reduction = nn::Reduction::sum}}, optimizer);
  CHECK(contains(error_of([&] { sum(inputs(own), y); }), "a loss with Reduction::sum"));

  // An error between the batches of an update leaves the gradients of the first one.
  step(inputs(own), y);
  const std::vector<float> gradients = gradients_of(net);
  std::vector<label_t> wrong(static_cast<std::size_t>(own), 1);
  wrong.back() = 3;
  CHECK(error_of([&] { step(inputs(own), Tensor<label_t, Host>(host, {own}, wrong)); }) != "");
  CHECK(same_bits(gradients_of(net), gradients));
  CHECK(contains(error_of([&] { step(inputs(own), Tensor<label_t, Host>(host, {own + 1})); }),
                 concat(own + 1, " targets for a batch of ", own)));
  CHECK(same_bits(parameters_of(net), before));
  step(inputs(own), y);
  CHECK(!same_bits(parameters_of(net), before));
}

TEST_CASE("hooks are called for each leaf") {
  if (!shares_leaves()) return;
  Host& host = test_device<Host>();
  Network<Host, float> net(host, layers, {7});
  DistributedDataParallel ddp(net, world(), {.reduction = Reduction::fixed_tree});
  optim::SGD optimizer(net, {.lr = 0.1});
  train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
  std::vector<Sizes> seen;
  const auto hook = net.register_forward_hook(
      "0", [&](const Tensor<float, Host>& y) { seen.push_back(y.sizes()); });
  const auto part = part_of<float>(host, {7}, 1, 3, world().rank(), world().size());
  step(part.x, part.y);
  CHECK(seen == std::vector<Sizes>(static_cast<std::size_t>(leaves / world().size()),
                                   Sizes{batch / leaves, 11}));
}

TEST_CASE_TEMPLATE("the rows of a leaf, of numbers of any size", D, GPUNET_TEST_DEVICES) {
  if (!shares_leaves()) return;
  D& device = test_device<D>();
  Network<D, float> net(device, layers, {7});
  DistributedDataParallel ddp(net, world(), {.reduction = Reduction::fixed_tree});
  REQUIRE(net.leaves() != nullptr);
  LeafReducer<D, float>& tree = *net.leaves();
  const index_t own = leaves / world().size(), samples = 2 * own;
  const auto check = [&]<class E>(int number, index_t row, const std::vector<E>& values) {
    const Tensor<E, D> all(device, {samples, row}, values);
    const View<const E, D> part = tree.rows_of_leaf(number, View<const E, D>(all.view()));
    CHECK(part.sizes() == Sizes{2, row});
    // The first leaf of a rank.
    std::vector<E> expected(values.begin(), values.begin() + row);
    expected.insert(expected.end(), values.begin() + own * row, values.begin() + (own + 1) * row);
    CHECK(to_vector(device, part) == expected);
  };
  CHECK(tree.begin_batch(samples) == own);
  tree.begin_leaf();
  const auto count = [&]<class E>(E, index_t row) {
    std::vector<E> values;
    for (index_t i = 0; i < samples * row; ++i)
      values.push_back(static_cast<E>(i));
    return values;
  };
  check(0, 3, count(std::uint8_t{}, 3));
  check(1, 5, count(double{}, 5));
  check(2, 1, count(label_t{}, 1));
  tree.abandon_batch();
}
