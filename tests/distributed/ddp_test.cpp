#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "distributed/world.hpp"
#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;
using distributed::DistributedDataParallel;

namespace {

using LeNet = nn::Sequential<nn::Input<3, 32, 32>, nn::Conv2d<6, 5>, nn::ReLU, nn::MaxPool2d<2>,
                             nn::Conv2d<16, 5>, nn::ReLU, nn::MaxPool2d<2>, nn::Flatten,
                             nn::Linear<120>, nn::ReLU, nn::Linear<84>, nn::ReLU, nn::Linear<10>>;
using Normalized = nn::Sequential<nn::Input<2, 8, 8>, nn::Conv2d<8, 3, nn::Padding<1>>,
                                  nn::BatchNorm2d, nn::ReLU, nn::MaxPool2d<2>, nn::Flatten,
                                  nn::Linear<16>, nn::BatchNorm1d, nn::ReLU, nn::Linear<4>>;

template <class T, class D>
Tensor<T, D> patterned(D& device, const Sizes& sizes, index_t step, index_t start,
                       index_t modulus) {
  return {device, sizes, pattern<T>(sizes.numel(), step, start, modulus)};
}

// As in reference/distributed.py.
double weighted_sum(const std::vector<double>& values) {
  const std::vector<double> weights = pattern<double>(std::ssize(values), 5, 2, 23);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    sum += values[i] * weights[i];
  return sum;
}

void check_close(double a, double b) {
  // 100 steps of rounding in another order, from 1e-16.
  CHECK(std::abs(a - b) <= 1e-9 * (1 + std::abs(b)));
}

// A training of reference/distributed.py.
struct TrainingReference {
  std::string network;
  int ranks, steps;
  bool no_sync, uneven;
  std::vector<double> losses, weights, buffers;
};

std::vector<TrainingReference> reference_trainings() {
  const ReferenceFile file("distributed");
  std::vector<TrainingReference> trainings;
  for (const std::string& array : file.names("", ".options")) {
    const std::string key = array.substr(0, array.rfind('.'));
    const std::vector<double> options = file.values(array);
    const Sizes& losses = file.sizes(key + ".losses");
    trainings.push_back({key.substr(2), static_cast<int>(losses[0]), static_cast<int>(losses[1]),
                         options[0] != 0, options[1] != 0, file.values(key + ".losses"),
                         file.values(key + ".weights"), file.values(key + ".buffers")});
  }
  return trainings;
}

// A training as in reference/distributed.py, from the numbers of `initial`.
template <class Net, class T, class D>
struct Training {
  explicit Training(Model<Net, D, double>& initial) : net(initial.device()) {
    const std::vector<double> all = parameters_of(initial);
    for (std::size_t i = 0; i < net.named_parameters().size(); ++i) {
      const ParameterInfo& info = net.named_parameters()[i];
      const double* first = all.data() + initial.named_parameters()[i].offset;
      const std::vector<T> values(first, first + info.sizes.numel());
      net.device().upload(net.parameters().data() + info.offset, values.data(),
                          values.size() * sizeof(T));
    }
    ddp.emplace(net, world());
  }

  // Returns the loss of a step.
  double run(int step, const TrainingReference& options) {
    const index_t rank = world().rank();
    const index_t size = !options.uneven || step % 3 ? 4 : 2 + rank;
    const Sizes shape = net.graph().values[0];
    const auto x = patterned<T>(net.device(), shape.with_front(size), 7, 31 * step + 5 * rank, 29);
    std::vector<label_t> labels;
    for (index_t i = 0; i < size; ++i)
      labels.push_back(static_cast<label_t>((3 * i + step + rank) % net.output_sizes()[0]));
    const Tensor<label_t, D> y(net.device(), {size}, labels);
    const auto backward = [&] {
      auto loss = criterion((*ddp)(x), y);
      loss.backward();
      return static_cast<double>(loss.item());
    };
    if (options.no_sync && step % 3 != 2) {
      const auto none = ddp->no_sync();
      return backward();
    }
    const double loss = backward();
    optimizer.step();
    optimizer.zero_grad();
    return loss;
  }

  Model<Net, D, T> net;
  std::optional<DistributedDataParallel<D, T>> ddp;
  nn::CrossEntropyLoss criterion;
  optim::SGD<D, T> optimizer{net, {.lr = 0.05, .momentum = 0.9}};
};

// A training in float is compared with one in double for `steps`: as long as one in double whose
// weights are rounded to 21, 22, ... and 26 bits after each step (a float has 24) stays within the
// tolerances too. Later an activation changes its sign or a maximum its place, or the training
// itself diverges, and no implementation in float is nearer.
struct FloatComparison {
  int steps;
  // relative: 100 steps that each round a weight by 2^-24, and as much for their gradients.
  double losses = 1e-5;
  double numbers = 1e-5;  // of parameters and running statistics, relative to the largest of each
};
FloatComparison float_comparison(const TrainingReference& training) {
  if (training.network == "LeNet")
    return {training.ranks == 4 && !training.no_sync ? 80 : training.steps};
  // BatchNorm divides by the standard deviation of four samples; of two, its gradients are
  // differences of nearly equal numbers.
  return {.steps = training.uneven ? 5 : training.ranks == 4 ? 60 : 30, .numbers = 1e-4};
}

// Returns the numbers of a parameter or buffer.
template <class T, class Info>
std::vector<double> numbers_of(const std::vector<T>& all, const Info& info) {
  const auto first = all.begin() + info.offset;
  return {first, first + info.sizes.numel()};
}

// Compares each parameter, and each running statistic if this is rank 0, of a network of float with
// that of one of double.
template <class D>
void check_float(Network<D, float>& net, Network<D, double>& exact, double tolerance) {
  const auto check = [&](const auto& info, const std::vector<double>& a,
                         const std::vector<double>& b, double scale) {
    CAPTURE(info.name);
    double error = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      error = std::max(error, std::abs(a[i] - b[i]));
    CHECK(error <= tolerance * scale);
  };
  const auto largest = [](double a, double b) {
    return std::max(std::abs(a), std::abs(b));
  };
  const std::vector<float> weights = parameters_of(net);
  const std::vector<double> exact_weights = parameters_of(exact);
  REQUIRE(net.named_parameters().size() == exact.named_parameters().size());
  for (std::size_t i = 0; i < net.named_parameters().size(); ++i) {
    const std::vector<double> b = numbers_of(exact_weights, exact.named_parameters()[i]);
    check(net.named_parameters()[i], numbers_of(weights, net.named_parameters()[i]), b,
          std::accumulate(b.begin(), b.end(), 0.0, largest));
  }
  if (world().rank() > 0) return;
  const std::vector<float> buffers = to_vector(net.device(), std::as_const(net).buffers());
  const std::vector<double> exact_buffers = to_vector(net.device(), std::as_const(exact).buffers());
  for (std::size_t i = 0; i + 1 < net.named_buffers().size(); ++i) {
    if (!net.named_buffers()[i].name.ends_with("running_mean")) continue;
    REQUIRE(net.named_buffers()[i + 1].name.ends_with("running_var"));
    const std::vector<double> mean = numbers_of(exact_buffers, exact.named_buffers()[i]);
    const std::vector<double> variance = numbers_of(exact_buffers, exact.named_buffers()[i + 1]);
    const double var = std::accumulate(variance.begin(), variance.end(), 0.0, largest);
    // A mean is that of numbers as far from it as their standard deviation.
    check(net.named_buffers()[i], numbers_of(buffers, net.named_buffers()[i]), mean,
          std::accumulate(mean.begin(), mean.end(), std::sqrt(var), largest));
    check(net.named_buffers()[i + 1], numbers_of(buffers, net.named_buffers()[i + 1]), variance,
          var);
  }
}

// Trains as reference/distributed.py does, in double and in float, and compares.
template <class Net, class D>
void check_training(D& device, const TrainingReference& expected) {
  const index_t rank = world().rank();
  manual_seed(static_cast<std::uint64_t>(rank));
  Model<Net, D, double> initial(device);
  Training<Net, double, D> training(initial);
  Training<Net, float, D> float_training(initial);
  const FloatComparison in_float = float_comparison(expected);
  Model<Net, D, double>& net = training.net;
  for (int step = 0; step < expected.steps; ++step) {
    CAPTURE(step);
    const double loss = expected.losses[static_cast<std::size_t>(rank * expected.steps + step)];
    check_close(training.run(step, expected), loss);
    if (step >= in_float.steps) continue;
    CHECK(std::abs(float_training.run(step, expected) - loss) <= in_float.losses * loss);
    if (step + 1 == in_float.steps) check_float(float_training.net, net, in_float.numbers);
  }
  std::size_t i = 0;
  const std::vector<double> weights = parameters_of(net);
  for (const ParameterInfo& info : net.named_parameters())
    check_close(weighted_sum(numbers_of(weights, info)), expected.weights[i++]);
  CHECK(i == expected.weights.size());
  if (rank > 0) return;
  const std::vector<double> buffers = to_vector(device, std::as_const(net).buffers());
  i = 0;
  for (const BufferInfo& info : net.named_buffers()) {
    if (!info.name.ends_with("running_mean") && !info.name.ends_with("running_var")) continue;
    const std::vector<double> numbers = numbers_of(buffers, info);
    const double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
    // The third one of each normalization counts batches.
    check_close(sum, expected.buffers[i / 2 * 3 + i % 2]);
    ++i;
  }
  CHECK(i == expected.buffers.size() / 3 * 2);
}

nn::Value branches(nn::Value x) {
  const nn::Value h = relu(linear(x, 9));
  return linear(tanh(linear(h, 9)) + h, 3);
}

// A training of steps of `batch` samples of all ranks together, of which rank r of n has every
// n-th.
struct Part {
  index_t rank, size;
};
template <class D>
std::vector<double> trained(D& device, const Part& part, index_t accumulate, bool eager,
                            double cap_mb, bool frozen) {
  manual_seed(3);
  Network<D, double> net(device, branches, {5});
  if (frozen) net.parameters("2.*").requires_grad(false);
  std::optional<DistributedDataParallel<D, double>> ddp;
  if (part.size > 1)
    ddp.emplace(net, world(), distributed::DistributedDataParallelOptions{.bucket_cap_mb = cap_mb});
  nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1, .momentum = 0.9});
  train::Step step(net, criterion, optimizer, {.accumulate = accumulate});
  const index_t batch = 24;
  for (int i = 0; i < 12; ++i) {
    const std::vector<double> all = pattern<double>(batch * 5, 7, 11 * i, 31);
    std::vector<double> values;
    std::vector<label_t> labels;
    for (index_t s = part.rank; s < batch; s += part.size) {
      values.insert(values.end(), all.begin() + s * 5, all.begin() + s * 5 + 5);
      labels.push_back(static_cast<label_t>((s * s + i) % 3));
    }
    const index_t own = std::ssize(labels);
    const Tensor<double, D> x(device, {own, 5}, values);
    const Tensor<label_t, D> y(device, {own}, labels);
    if (!eager) {
      step(x, y);
      continue;
    }
    if (i % accumulate == 0) optimizer.zero_grad();
    criterion(net(x), y).backward(1.0 / static_cast<double>(accumulate));
    if (i % accumulate == accumulate - 1) {
      nn::utils::clip_grad_norm_(net, 1e6);
      optimizer.step();
    }
  }
  return parameters_of(net);
}

}  // namespace

TEST_CASE_TEMPLATE("trainings are those of PyTorch's DistributedDataParallel", D,
                   GPUNET_TEST_DEVICES) {
  int compared = 0;
  for (const TrainingReference& expected : reference_trainings()) {
    if (expected.ranks != world().size()) continue;
    const std::string network = expected.network;
    CAPTURE(network);
    CAPTURE(expected.no_sync);
    CAPTURE(expected.uneven);
    if (network == "Normalized")
      check_training<Normalized>(test_device<D>(), expected);
    else if (std::is_same_v<D, Host>)  // a simulated GPU takes minutes
      check_training<LeNet>(test_device<D>(), expected);
    ++compared;
  }
  CHECK(compared == (world().size() == 2 ? 4 : world().size() == 4 ? 3 : 0));
}

TEST_CASE_TEMPLATE("ranks with parts of each batch train as one process with all of it", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Part own{world().rank(), world().size()};
  if (24 % own.size != 0) return;
  for (const bool frozen : {false, true}) {
    const std::vector<double> whole = trained(device, {0, 1}, 1, true, 25, frozen);
    for (const bool eager : {true, false})
      for (const index_t accumulate : {1, 3})
        for (const double cap_mb : {25.0, 1e-6}) {
          CAPTURE(eager);
          CAPTURE(accumulate);
          const std::vector<double> alone =
              accumulate == 1 ? whole : trained(device, {0, 1}, accumulate, true, 25, frozen);
          const std::vector<double> together =
              trained(device, own, accumulate, eager, cap_mb, frozen);
          CHECK(relative_error(together, alone) < 1e-13);
          // Bitwise identical on all ranks.
          const auto count = static_cast<index_t>(together.size());
          const Tensor<double, Host> here(test_device<Host>(), {count}, together);
          const std::vector<double> everywhere = world().all_gather(here).to_vector();
          for (index_t r = 0; r < world().size(); ++r)
            CHECK(same_bits({everywhere.begin() + r * count, everywhere.begin() + (r + 1) * count},
                            together));
        }
  }
}

TEST_CASE(
    "gradients are reduced in buckets, the last layers first, and only those that are computed") {
  Host& host = test_device<Host>();
  Network<Host, float> net(host, branches, {5});
  {
    DistributedDataParallel ddp(net, world(), {.bucket_cap_mb = 1e-6});
    // Each parameter is more than that.
    REQUIRE(ddp.buckets().size() == net.named_parameters().size());
    index_t end = net.parameters().numel();
    for (const ArenaRange& range : ddp.buckets()) {
      CHECK(range.end == end);
      end = range.begin;
    }
    CHECK(end == 0);
    CHECK(net.reducer() != nullptr);
    CHECK(contains(error_of([&] { DistributedDataParallel twice(net, world()); }),
                   "has one already"));
  }
  CHECK(net.reducer() == nullptr);
  Network<Host, float> large(
      host, [](nn::Value x) { return linear(relu(linear(relu(linear(x, 700)), 700)), 10); }, {20});
  {
    // The first one takes 1 MiB, so that it is soon on its way.
    DistributedDataParallel ddp(large, world());
    REQUIRE(ddp.buckets().size() == 2);
    CHECK(ddp.buckets()[0].begin == large.named_parameters()[2].offset);
  }
  DistributedDataParallel ddp(large, world(), {.bucket_cap_mb = 1});
  std::vector<ArenaRange> ranges = ddp.buckets();
  REQUIRE(ranges.size() == 2);  // of the last two layers, and of the first
  CHECK(ranges[0].begin == ranges[1].end);
  CHECK(ranges[0].end == large.parameters().numel());
  CHECK(ranges[1].begin == 0);
  large.parameters("1.*").requires_grad(false);
  ranges = ddp.buckets();
  REQUIRE(ranges.size() == 2);
  CHECK(ranges[0].begin > ranges[1].end);
  CHECK(
      contains(error_of([&] { DistributedDataParallel none(net, world(), {.bucket_cap_mb = 0}); }),
               "bucket_cap_mb 0"));
}

TEST_CASE(
    "networks that differ between ranks are an error on all of them, with the first difference") {
  if (world().size() == 1) return;
  Host& host = test_device<Host>();
  const bool is_last = world().rank() == world().size() - 1;
  const auto error = [&](auto&& net) {
    return error_of([&] { DistributedDataParallel ddp(net, world()); });
  };
  const auto net_of = [&](index_t hidden, bool with_norm) {
    return Network<Host, float>(host,
                                [=](nn::Value x) {
                                  x = linear(x, hidden);
                                  return linear(with_norm ? batch_norm(x) : relu(x), 3);
                                },
                                {5});
  };
  CHECK(error(net_of(is_last ? 8 : 7, false)) ==
        concat("gpunet::distributed::DistributedDataParallel: rank ", world().size() - 1,
               " has parameter 0.weight [8, 5] where rank 0 has parameter 0.weight [7, 5] (their "
               "gradients cannot be "
               "added), make the same network by the same program on all ranks"));
  CHECK(
      contains(error(net_of(7, is_last)), "has parameter 1.weight [7] where rank 0 has parameter"));
  Network<Host, float> frozen = net_of(7, false);
  if (is_last) frozen.parameters("0.bias").requires_grad(false);
  CHECK(contains(error(frozen), "has frozen 0.bias where rank 0 has trained 0.bias ("));
  CHECK(error(net_of(7, true)) == "");
  Network<Host, float> net = net_of(7, true);
  const auto error_with = [&](const distributed::DistributedDataParallelOptions& options) {
    return error_of([&] { DistributedDataParallel ddp(net, world(), options); });
  };
  CHECK(contains(error_with({.bucket_cap_mb = is_last ? 24.0 : 25.0}),
                 "has bucket_cap_mb 24 where rank 0 has bucket_cap_mb 25"));
  CHECK(contains(error_with({.broadcast_buffers = !is_last}),
                 "has broadcast_buffers off where rank 0 has broadcast_buffers on"));
}

TEST_CASE("parameters that are frozen later, not alike on all ranks, are an error on all of them") {
  if (world().size() == 1) return;
  Host& host = test_device<Host>();
  const Tensor<float, Host> x(host, {2, 5}, pattern<float>(10, 7, 3, 19));
  const Tensor<label_t, Host> y(host, {2}, {0, 1});
  for (const bool trains : {true, false})
    for (const bool in_step : {true, false}) {
      Network<Host, float> net(host, [](nn::Value v) { return linear(relu(linear(v, 7)), 3); },
                               {5});
      DistributedDataParallel ddp(net, world());
      optim::SGD optimizer(net, {.lr = 0.1});
      const nn::CrossEntropyLoss criterion;
      train::Step step(ddp, criterion, optimizer);
      net.train(trains);
      const auto train = [&] {
        if (in_step) return static_cast<void>(step(x, y));
        criterion(ddp(x), y).backward();
        optimizer.step();
      };
      train();
      net.parameters("0.*").requires_grad(false);  // alike: fewer gradients
      const index_t before = world().bytes();
      train();
      CHECK(world().bytes() > before);
      net.parameters(world().rank() == world().size() - 1 ? "1.weight" : "1.bias")
          .requires_grad(false);
      CHECK(contains(error_of(train),
                     concat("rank ", world().size() - 1,
                            " has frozen 1.weight where rank 0 has trained 1.weight (")));
      net.parameters("1.*").requires_grad(true);
      train();
      ddp.verify_parameters();
    }
}

TEST_CASE("parameters that have become others on a rank are an error on all of them") {
  Host& host = test_device<Host>();
  Network<Host, float> net(host, [](nn::Value v) { return linear(relu(linear(v, 70)), 3); }, {5});
  DistributedDataParallel ddp(net, world());
  ddp.verify_parameters();
  if (world().size() == 1) return;
  const bool is_last = world().rank() == world().size() - 1;
  const auto change = [&](float factor, std::string_view which) {
    for (const ParameterInfo& info : net.named_parameters())
      for (index_t i = info.offset; is_last && info.name == which && i < info.end(); ++i)
        net.parameters().data()[i] *= factor;
  };
  change(1 + 1e-6f, "0.weight");  // as other processors round
  ddp.verify_parameters();
  change(1.01f, "0.weight");
  CHECK(contains(error_of([&] { ddp.verify_parameters(); }),
                 concat("rank ", world().size() - 1, " has other parameters than rank 0 (norms ")));
  change(1 / 1.01f, "0.weight");
  ddp.verify_parameters();
  change(-1, "1.bias");  // of the same norm
  CHECK(contains(error_of([&] { ddp.verify_parameters(); }), "has other parameters than rank 0"));
  change(std::numeric_limits<float>::quiet_NaN(), "1.bias");
  CHECK(contains(error_of([&] { ddp.verify_parameters(); }), "has other parameters than rank 0"));
}

TEST_CASE("a step in which the ranks would become different is an error") {
  Host& host = test_device<Host>();
  const Tensor<float, Host> x(host, {2, 5}, pattern<float>(10, 7, 3, 19));
  const Tensor<label_t, Host> y(host, {2}, {0, 1});
  Network<Host, float> net(host, [](nn::Value v) { return linear(v, 3); }, {5});
  optim::SGD optimizer(net, {.lr = 0.1});
  const nn::CrossEntropyLoss criterion;
  std::optional<DistributedDataParallel<Host, float>> ddp(std::in_place, net,
                                                          distributed::Communicator(world()));
  train::Step step(*ddp, criterion, optimizer),
      group(*ddp, criterion, optimizer, {.accumulate = 2});
  step(x, y);  // the communicator that it was made with has ended
  const std::string within =
      "gpunet::train::Step: an update within no_sync() (each rank would update by its own "
      "gradients)";
  {
    const auto no_sync = ddp->no_sync();
    CHECK(contains(error_of([&] { step(x, y); }), within));
    CHECK(contains(error_of([&] { step.repeat(3, x, y); }), within));
    group(x, y);
    CHECK(contains(error_of([&] { group(x, y); }), within));
    CHECK(contains(error_of([&] { group.update(); }), within));
  }
  CHECK(group.accumulated() == 1);
  group(x, y);
  ddp->verify_parameters();
  ddp.reset();
  CHECK(contains(
      error_of([&] { step(x, y); }),
      "gpunet::train::Step: the DistributedDataParallel that this was made with has ended"));
  CHECK(contains(error_of([&] { step.repeat(3, x, y); }), "has ended"));
}
