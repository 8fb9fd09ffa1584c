// Networks of random sizes on Cuda in float, compared with Host in double: gradients of inputs, of
// parameters, of which some are frozen, and outputs; and recorded steps with the eager ones.
#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/tuned_check.hpp"

using namespace gpunet;
using nn::Value;

namespace {

// A network behind a trainable table of inputs, by which the gradient of its input is computed and
// seen.
struct Case {
  std::string text;
  index_t batch;
  std::vector<index_t> in;  // of one sample
  std::function<Value(const Value&)> body;
  std::vector<std::string> frozen;  // patterns of names
};

Value with_table(const Case& c, const Value& ids) {
  index_t features = 1;
  for (index_t size : c.in)
    features *= size;
  const Value x = nn::embedding(ids, c.batch, features, "x");
  if (c.in.size() == 1) return c.body(reshape(x, {c.in[0]}));
  return c.body(c.in.size() == 2 ? reshape(x, {c.in[0], c.in[1]})
                                 : reshape(x, {c.in[0], c.in[1], c.in[2]}));
}

template <class D, class T>
struct Run {
  D& device;
  Network<D, T> net;
  Tensor<T, D> ids, targets;

  Run(D& on, const Case& c, int seed)
      : device(on), net(on, [&c](const Value& rows) { return with_table(c, rows); }, {1}) {
    Generator random(seed);
    std::vector<T> all(static_cast<std::size_t>(net.parameters().numel()));
    for (const auto& parameter : net.named_parameters()) {
      const index_t count = parameter.sizes.numel();
      const index_t fan_in =
          parameter.name[0] == 'x' ? 1 : std::max(count / parameter.sizes[0], index_t{1});
      const float scale = 1 / std::sqrt(static_cast<float>(fan_in));
      std::vector<float> values = random_values(count, random, -scale, scale);
      // Exact sums, so that no rounding moves a maximum or the sign below a rectifier.
      if (c.in.size() == 3)
        for (float& value : values)
          value = std::round(value * std::sqrt(static_cast<float>(fan_in)) * 8) / 8;
      for (index_t i = 0; i < count; ++i)
        all[static_cast<std::size_t>(parameter.offset + i)] =
            static_cast<T>(values[static_cast<std::size_t>(i)]);
    }
    device.upload(net.parameters().data(), all.data(), all.size() * sizeof(T));
    for (const std::string& pattern : c.frozen)
      net.parameters(pattern).requires_grad(false);
    std::vector<T> numbers;
    for (index_t i = 0; i < c.batch; ++i)
      numbers.push_back(static_cast<T>(i));
    ids = Tensor<T, D>(device, {c.batch, 1}, numbers);
    const Sizes out = net.output_sizes().with_front(c.batch);
    const std::vector<float> wanted = random_values(out.numel(), random, -1.0f, 1.0f);
    targets = Tensor<T, D>(device, out, std::vector<T>(wanted.begin(), wanted.end()));
  }
  std::vector<double> gradients() {
    std::vector<double> all;
    for (const auto& parameter : net.named_parameters())
      for (T value : get_parameter(net, parameter.name).grad().to_vector())
        all.push_back(static_cast<double>(value));
    return all;
  }
};

struct Result {
  std::vector<double> outputs, gradients;
};

template <class D, class T>
Result pass_of(D& device, const Case& c, int seed, bool narrow) {
  manual_seed(seed);  // dropout has the same masks on all devices
  Run<D, T> run(device, c, seed);
  if (narrow) run.net.autocast(Storage::bfloat16);
  const nn::MSELoss loss({.reduction = nn::Reduction::sum});
  const auto outputs = run.net(run.ids);
  const std::vector<T> y = outputs.tensor().to_vector();
  loss(outputs, run.targets).backward();
  return {{y.begin(), y.end()}, run.gradients()};
}

// Returns the largest difference relative to the largest number.
double largest_error(const std::vector<double>& want, const std::vector<double>& got) {
  double largest = 0, error = 0;
  for (double value : want)
    largest = std::max(largest, std::fabs(value));
  for (std::size_t i = 0; i < want.size(); ++i)
    error = std::fabs(want[i] - got[i]) <= error ? error : std::fabs(want[i] - got[i]);
  return largest > 0 ? error / largest : error;
}

// Returns the parameters after three steps, by train::Step, which records them, or one call after
// another.
std::vector<float> parameters_after_steps(const Case& c, int seed, bool narrow, bool recorded) {
  Cuda& device = test_device<Cuda>();
  manual_seed(seed);
  Run<Cuda, float> run(device, c, seed);
  if (narrow) run.net.autocast(Storage::bfloat16);
  const nn::MSELoss criterion;
  optim::SGD optimizer(run.net, {.lr = 0.01f, .momentum = 0.9f});
  train::Step step(run.net, criterion, optimizer);
  for (int i = 0; i < 3; ++i)
    if (recorded) {
      step(run.ids, run.targets);
    } else {
      optimizer.zero_grad();
      auto loss = criterion(run.net(run.ids), run.targets);
      loss.backward();
      optimizer.step();
    }
  std::vector<float> all(static_cast<std::size_t>(run.net.parameters().numel()));
  device.download(all.data(), run.net.parameters().data(), all.size() * sizeof(float));
  return all;
}

// Whether a network of 16-bit numbers, and one of floats, give Host's numbers, and recorded steps
// those of eager ones.
void compare(const Case& c, int seed, bool narrow) {
  CAPTURE(c.text);
  CAPTURE(narrow);
  // Numbers of 16 bits are for networks of float; and one of double draws other masks.
  Host& host = test_device<Host>();
  const bool in_float = narrow || c.text.find("dropout") != std::string::npos;
  const Result want = in_float ? pass_of<Host, float>(host, c, seed, narrow)
                               : pass_of<Host, double>(host, c, seed, narrow);
  const Result got = pass_of<Cuda, float>(test_device<Cuda>(), c, seed, narrow);
  // Sums of a few thousand products in float; bfloat16 has 8 bits, and a number at the edge of two
  // is rounded to either.
  const double tolerance = narrow ? 3e-2 : 1e-5;
  CHECK(largest_error(want.outputs, got.outputs) < tolerance);
  CHECK(largest_error(want.gradients, got.gradients) < tolerance);
  CHECK(parameters_after_steps(c, seed, narrow, true) ==
        parameters_after_steps(c, seed, narrow, false));
}

std::vector<std::string> some_frozen(RandomShapes& random, std::vector<std::string> names) {
  std::erase_if(names, [&](const std::string&) { return random.pick(0, 1) == 0; });
  return names;
}

Case convolutions(RandomShapes& random) {
  const index_t batch = random.pick(0, 3) ? random.pick(1, 9) : 33, height = random.pick(4, 11),
                width = random.pick(4, 11);
  const index_t in = random.pick(1, 20),
                between = random.pick(0, 3) ? random.pick(1, 30) : random.pick(31, 80),
                out = random.pick(1, 20);
  const index_t kernel = random.pick(1, 3), stride = random.pick(1, 2),
                padding = random.pick(0, kernel - 1);
  const bool act = random.pick(0, 3) > 0, pool = random.pick(0, 1), drops = random.pick(0, 2) == 0;
  Case c{concat("convolutions ", in, "-", between, "-", out, " on ", height, " x ", width,
                ", kernel ", kernel, ", stride ", stride, ", padding ", padding, ", batch ", batch,
                act ? ", relu" : "", pool ? ", pool" : "", drops ? ", dropout" : ""),
         batch,
         {in, height, width},
         [=](const Value& x) {
           Value y =
               conv2d(x, between, kernel, {.stride = stride, .padding = padding, .name = "c"});
           if (act) y = relu(y);
           if (pool && y.sizes()[1] >= 2 && y.sizes()[2] >= 2) y = max_pool2d(y, 2);
           if (drops) y = dropout(y, 0.25);
           return conv2d(y, out, 1, {.name = "d"});
         },
         some_frozen(random, {"c.*", "d.*", "c.bias", "d.weight"})};
  return c;
}

Case sequences(RandomShapes& random) {
  const index_t batch = random.pick(1, 9),
                steps = random.pick(0, 3) ? random.pick(1, 12) : random.pick(30, 45),
                features = random.pick(1, 7);
  const index_t hidden = random.pick(0, 2) ? random.pick(1, 7) : random.pick(8, 33);
  const int kind = static_cast<int>(random.pick(0, 2)),
            layers = static_cast<int>(random.pick(1, 2));
  const bool both = random.pick(0, 2) == 0;
  const double dropped = layers > 1 && random.pick(0, 1) ? 0.3 : 0;
  return {
      concat("recurrent ", kind, ": ", features, "-", hidden, ", steps ", steps, ", batch ", batch,
             ", layers ", layers, both ? ", bidirectional" : "", dropped > 0 ? ", dropout" : ""),
      batch,
      {steps, features},
      [=](const Value& x) {
        if (kind == 0)
          return lstm(
                     x, hidden,
                     {.num_layers = layers, .dropout = dropped, .bidirectional = both, .name = "c"})
              .output;
        if (kind == 1)
          return gru(x, hidden,
                     {.num_layers = layers, .dropout = dropped, .bidirectional = both, .name = "c"})
              .output;
        return rnn(x, hidden,
                   {.num_layers = layers, .dropout = dropped, .bidirectional = both, .name = "c"})
            .output;
      },
      some_frozen(random, {"c.*", "c.weight_hh*"})};
}

Case maps(RandomShapes& random) {
  const bool large = random.pick(0, 3) == 0;
  const index_t batch = large ? random.pick(100, 300) : random.pick(1, 64);
  const index_t in = large ? random.pick(300, 500) : random.pick(1, 200),
                out = large ? random.pick(300, 600) : random.pick(1, 300);
  const bool act = random.pick(0, 1), norm = random.pick(0, 1), drops = random.pick(0, 2) == 0;
  return {concat("linear ", in, "-", out, ", batch ", batch, act ? ", gelu" : "",
                 norm ? ", norm" : "", drops ? ", dropout" : ""),
          batch,
          {in},
          [=](const Value& x) {
            Value y = linear(norm ? layer_norm(x, {}, "n") : x, out, {.name = "c"});
            if (act) y = gelu(y);
            if (drops) y = dropout(y, 0.5);
            return linear(y, 5, {.name = "d"});
          },
          some_frozen(random, {"c.*", "d.*", "c.weight"})};
}

// The number of networks of each kind, and the seed: GPUNET_TEST_GEOMETRIES=COUNT,SEED for others.
std::pair<int, int> count_and_seed() {
  int count = 4, seed = 1;
  if (const char* text = std::getenv("GPUNET_TEST_GEOMETRIES"))
    std::sscanf(text, "%d,%d", &count, &seed);
  return {count, seed};
}

void compare_many(Case (*draw)(RandomShapes&)) {
  const auto [count, seed] = count_and_seed();
  CAPTURE(seed);
  RandomShapes random(seed);
  for (int i = 0; i < count; ++i)
    compare(draw(random), seed + i, i % 3 == 2);
}

}  // namespace

TEST_CASE("convolutions of random sizes, some frozen, on Cuda") {
  compare_many(convolutions);
}

TEST_CASE("recurrent layers of random sizes, some frozen, on Cuda") {
  compare_many(sequences);
}

TEST_CASE("linear maps of random sizes, some frozen, on Cuda") {
  compare_many(maps);
}

// With few multiprocessors, its input gradient alone is cut into more parts than beside the
// gradients of its parameters.
TEST_CASE("a frozen convolution above a trainable part on Cuda") {
  const auto body = [](const Value& x) {
    return relu(conv2d(x, 18, 4, {.padding = 1, .name = "c"}));
  };
  compare({"99-18 on 3 x 12", 3, {99, 3, 12}, body, {"c.*"}}, 3, false);
}

TEST_CASE(
    "the parts of a sum begin on boundaries of vectors: recurrent layers of one unit on Cuda") {
  // With these sizes the arrays before the parts are no multiple of four in all, and sums are so
  // long that they have parts.
  const auto with = [](index_t steps, index_t features, index_t batch, const auto& body) {
    compare({concat(features, " features, batch ", batch), batch, {steps, features}, body, {}}, 4,
            false);
  };
  with(38, 1, 3, [](const Value& x) { return gru(x, 1, {.name = "c"}).output; });
  with(39, 2, 3, [](const Value& x) { return lstm(x, 1, {.name = "c"}).output; });
  with(38, 1, 5, [](const Value& x) { return rnn(x, 1, {.name = "c"}).output; });
}

#endif
