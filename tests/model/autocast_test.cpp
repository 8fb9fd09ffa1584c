#include <cmath>
#include <doctest/doctest.h>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"
#include "support/rounded_reference.hpp"

using namespace gpunet;

namespace {

constexpr int samples = 5, channels = 3, extent = 4, hidden = 8, classes = 4;

// Images [2, 4, 4]; the ReLU has two readers, whose gradients are added.
nn::Value every_kind(nn::Value x) {
  const nn::Value conv = nn::conv2d(x, channels, 3, {.padding = 1, .name = "conv"});
  const nn::Value norm = nn::batch_norm(conv, {}, "norm");
  const nn::Value relu = nn::named(
      "relu", [](nn::Value v) { return nn::relu(v); }, norm);
  const nn::Value inner = nn::conv2d(relu, channels, 3, {.padding = 1, .name = "inner"});
  const nn::Value sum = nn::named(
      "sum", [](nn::Value a, nn::Value b) { return a + b; }, relu, inner);
  const nn::Value fc = nn::linear(nn::flatten(sum), hidden, {.name = "fc"});
  return nn::linear(nn::layer_norm(fc, {}, "layer_norm"), classes, {.name = "out"});
}
const std::vector<std::string> layers{"conv", "norm", "relu",       "inner",
                                      "sum",  "fc",   "layer_norm", "out"};

template <class D>
struct Lesson {
  explicit Lesson(Storage storage) {
    net.autocast(storage);
    // Weights and biases of normalizations that are neither 1 nor 0.
    Generator more(5);
    std::vector<float> all = parameters_of(net);
    for (const ParameterInfo& parameter : net.named_parameters())
      if (parameter.name.find("norm") != std::string::npos)
        for (index_t i = 0; i < parameter.sizes.numel(); ++i)
          all[static_cast<std::size_t>(parameter.offset + i)] +=
              0.3f * random_values<float>(1, more)[0];
    device.upload(net.parameters().data(), all.data(), all.size() * sizeof(float));
  }
  void next_batch() {
    inputs = Tensor<float, D>(device, {samples, 2, extent, extent},
                              random_values<float>(samples * 2 * extent * extent, generator));
  }

  D& device = (manual_seed(3), test_device<D>());
  Network<D, float> net{device, every_kind, {2, extent, extent}};
  nn::CrossEntropyLoss criterion;
  Generator generator{7};
  Tensor<float, D> inputs;
  Tensor<label_t, D> labels{device, {samples}, {0, 3, 1, 2, 1}};
};

// What the layers of a network have stored in the last passes.
template <class D>
class Stored {
 public:
  explicit Stored(Network<D, float>& net) {
    for (const std::string& layer : layers) {
      net.register_forward_hook(
          layer, [&y = y[layer]](const Tensor<float, D>& seen) { y = seen.to_vector(); });
      net.register_full_backward_hook(
          layer, [&dy = dy[layer]](const Tensor<float, D>& seen) { dy = seen.to_vector(); });
    }
  }
  std::map<std::string, std::vector<float>> y, dy;
};

// The numbers of a parameter, or of its gradient, in an arena; as float, or rounded to H.
template <class D>
std::vector<float> part(const Network<D, float>& net, const std::vector<float>& arena,
                        const std::string& name) {
  for (const ParameterInfo& parameter : net.named_parameters())
    if (parameter.name == name)
      return {arena.begin() + parameter.offset,
              arena.begin() + parameter.offset + parameter.sizes.numel()};
  throw Error("no parameter " + name);
}
template <class H, class D>
std::vector<float> rounded(const Network<D, float>& net, const std::vector<float>& arena,
                           const std::string& name) {
  std::vector<float> values = part(net, arena, name);
  for (float& value : values)
    value = H(value);
  return values;
}

Bounded exact(const std::vector<float>& values) {
  Bounded out(values.size());
  out.value.assign(values.begin(), values.end());
  return out;
}
Bounded sum_of(const Bounded& a, const Bounded& b) {
  Bounded out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    out.value[i] = a.value[i] + b.value[i];
    out.error[i] = a.error[i] + b.error[i] + unit * std::abs(out.value[i]);
  }
  return out;
}

// Checks all values, gradients and gradients of parameters of a pass. Returns the part of the
// rounded values that have one possible value.
template <class H, class D>
double check_pass(Lesson<D>& lesson, const Stored<D>& stored,
                  const std::vector<float>& parameters) {
  const auto w = [&](const std::string& name) {
    return rounded<H>(lesson.net, parameters, name);
  };
  const std::vector<float> gradients = gradients_of(lesson.net);
  std::size_t certain = 0, all = 0;
  const auto check = [&](const std::string& what, const std::vector<float>& got,
                         const Bounded& want) {
    certain += check_rounded<H>(what, got, want);
    all += got.size();
  };
  const auto check_parameters = [&](const std::string& layer, const LayerDerivatives& g) {
    check_near(layer + ".weight", part(lesson.net, gradients, layer + ".weight"), g.w);
    check_near(layer + ".bias", part(lesson.net, gradients, layer + ".bias"), g.b);
  };
  const auto y = [&](const char* layer) -> const std::vector<float>& {
    return stored.y.at(layer);
  };
  const auto dy = [&](const char* layer) -> const std::vector<float>& {
    return stored.dy.at(layer);
  };
  const std::vector<float> x = lesson.inputs.to_vector();  // not rounded
  const SameConvolution first{samples, 2, channels, extent},
      second{samples, channels, channels, extent};
  const auto channel = [&](std::size_t i) {
    return first.channel_of(i);
  };
  const auto row = [](std::size_t i) {
    return i / hidden;
  };
  const auto column = [](std::size_t i) {
    return i % hidden;
  };
  const Normalization norm{channels, channel, channel};
  const Normalization layer_norm{samples, row, column};

  check("conv", y("conv"), first.forward(x, w("conv.weight"), w("conv.bias")));
  check("norm", y("norm"), norm.forward(y("conv"), w("norm.weight"), w("norm.bias")));
  std::vector<float> rectified = y("norm");
  for (float& value : rectified)
    value = std::max(value, 0.0f);
  check("relu", y("relu"), exact(rectified));
  check("inner", y("inner"), second.forward(y("relu"), w("inner.weight"), w("inner.bias")));
  check("sum", y("sum"), sum_of(exact(y("relu")), exact(y("inner"))));
  check("fc", y("fc"), linear_reference(y("sum"), w("fc.weight"), w("fc.bias")));
  check("layer_norm", y("layer_norm"),
        layer_norm.forward(y("fc"), w("layer_norm.weight"), w("layer_norm.bias")));
  check_near("out", y("out"),
             // The output is float.
             linear_reference(y("layer_norm"), w("out.weight"), w("out.bias")));

  const LayerDerivatives out =
      linear_gradients(y("layer_norm"), w("out.weight"), dy("out"), classes);
  check_parameters("out", out);
  check("d layer_norm", dy("layer_norm"), out.x);
  const LayerDerivatives normalized =
      layer_norm.backward(y("fc"), w("layer_norm.weight"), dy("layer_norm"));
  check_parameters("layer_norm", normalized);
  check("d fc", dy("fc"), normalized.x);
  const LayerDerivatives fc = linear_gradients(y("sum"), w("fc.weight"), dy("fc"), hidden);
  check_parameters("fc", fc);
  check("d sum", dy("sum"), fc.x);
  check("d inner", dy("inner"), exact(dy("sum")));
  const LayerDerivatives inner = second.backward(y("relu"), w("inner.weight"), dy("inner"));
  check_parameters("inner", inner);
  check("d relu", dy("relu"), sum_of(inner.x, exact(dy("sum"))));  // added as floats, rounded once
  std::vector<float> passed = dy("relu");
  for (std::size_t i = 0; i < passed.size(); ++i)
    if (y("relu")[i] <= 0) passed[i] = 0;
  check("d norm", dy("norm"), exact(passed));
  const LayerDerivatives batch = norm.backward(y("conv"), w("norm.weight"), dy("norm"));
  check_parameters("norm", batch);
  check("d conv", dy("conv"), batch.x);
  check_parameters("conv", first.backward(x, w("conv.weight"), dy("conv")));
  return static_cast<double>(certain) / static_cast<double>(all);
}

// Steps of a lesson, with or without hooks; all parameters after them.
template <class D>
std::vector<float> trained(Storage storage, bool with_hooks, bool by_step = false) {
  Lesson<D> lesson(storage);
  std::unique_ptr<Stored<D>> stored;
  if (with_hooks) stored = std::make_unique<Stored<D>>(lesson.net);
  optim::Adam optimizer(lesson.net, {.lr = 0.01});
  train::Step step(lesson.net, lesson.criterion, optimizer);
  for (int i = 0; i < 3; ++i) {
    lesson.next_batch();
    if (by_step) {
      step(lesson.inputs, lesson.labels);
      continue;
    }
    optimizer.zero_grad();
    lesson.criterion(lesson.net(lesson.inputs), lesson.labels).backward();
    optimizer.step();
  }
  return parameters_of(lesson.net);
}

template <class H>
constexpr Storage storage_of = std::is_same_v<H, bfloat16> ? Storage::bfloat16 : Storage::float16;

template <class D>
void check_model_of_roundings() {
  const auto check = []<class H>(H) {
    Lesson<D> lesson(storage_of<H>);
    Stored<D> stored(lesson.net);
    optim::SGD optimizer(lesson.net, {.lr = 0.01});
    for (int i = 0; i < 3; ++i) {
      CAPTURE(i);
      lesson.next_batch();
      const std::vector<float> before = parameters_of(lesson.net);
      optimizer.zero_grad();
      lesson.criterion(lesson.net(lesson.inputs), lesson.labels).backward();
      // Bounds are far smaller than a step of 16 bits.
      CHECK(check_pass<H>(lesson, stored, before) > 0.9);
      const std::vector<float> gradients = gradients_of(lesson.net);
      optimizer.step();
      const std::vector<float> after = parameters_of(lesson.net);
      Bounded updated(before.size());  // floats: p - lr g
      for (std::size_t k = 0; k < before.size(); ++k) {
        updated.value[k] = before[k] - 0.01 * gradients[k];
        updated.error[k] = 2 * unit * std::abs(0.01 * gradients[k]) + unit * std::abs(before[k]);
      }
      check_near("parameters", after, updated);
    }
  };
  check(bfloat16{});
  check(float16{});
}

}  // namespace

TEST_CASE_TEMPLATE("each value, gradient and parameter is rounded once, as in a model in double", D,
                   GPUNET_TEST_DEVICES) {
  check_model_of_roundings<D>();
}

TEST_CASE_TEMPLATE("fused or not, in one call or in several: bitwise identical", D,
                   GPUNET_TEST_DEVICES) {
  for (const Storage storage : {Storage::bfloat16, Storage::float16}) {
    const std::vector<float> expected = trained<D>(storage, false);
    CHECK(same_bits(trained<D>(storage, true), expected));
    CHECK(same_bits(trained<D>(storage, false, true), expected));
    CHECK(!same_bits(trained<D>(Storage::full, false), expected));
  }
}

TEST_CASE_TEMPLATE(
    "layers with ReLU are bitwise identical as one node and as two, and with pooling the same "
    "outputs",
    D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto check = [&]<class Net>(Net, const std::vector<const char*>& layers_apart,
                                    bool trains) {
    for (const Storage storage : {Storage::bfloat16, Storage::float16}) {
      manual_seed(9);
      Model<Net, D> fused(device), apart = fused.to(device);
      fused.autocast(storage);
      apart.autocast(storage);
      for (const char* layer : layers_apart)
        apart.register_forward_hook(layer, [](const auto&) {});
      const nn::CrossEntropyLoss criterion;
      optim::SGD fused_optimizer(fused, {.lr = 0.1}), apart_optimizer(apart, {.lr = 0.1});
      Generator generator(9);
      for (int i = 0; i < (trains ? 3 : 1); ++i) {
        const TestBatch<float, D> data(device, Net{}, 5, generator);
        CHECK(eager_step(fused, criterion, fused_optimizer, data) ==
              eager_step(apart, criterion, apart_optimizer, data));
      }
      CHECK(fused.fused_graph().nodes.size() < apart.fused_graph().nodes.size());
      if (trains) CHECK(same_bits(parameters_of(fused), parameters_of(apart)));
    }
  };
  check(nn::Sequential<nn::Input<2, 6, 5>, nn::Conv2d<3, 3>, nn::ReLU, nn::Flatten, nn::Linear<5>,
                       nn::ReLU, nn::Linear<3>>{},
        {"0", "3"}, true);
  check(SmallNet{}, {"conv", "1", "4"},
        false);  // the gradient may go to another of elements that rounding makes equal
}

TEST_CASE_TEMPLATE(
    "a step with 16-bit storage leaves the bits of the loop, for every kind of slice", D,
    GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const index_t batch : {1, 3, 50}) {
    if (!DeviceTraits<D>::has_host_memory && batch > 3) continue;  // which may be a simulator
    CAPTURE(batch);
    manual_seed(11);
    Model<SmallNet, D> stepped(device), looped = stepped.to(device);
    stepped.autocast(Storage::bfloat16);
    looped.autocast(Storage::bfloat16);
    const nn::CrossEntropyLoss criterion;
    optim::SGD step_optimizer(stepped, {.lr = 0.05}), loop_optimizer(looped, {.lr = 0.05});
    train::Step step(stepped, criterion, step_optimizer);
    Generator generator(11);
    for (int i = 0; i < 4; ++i) {
      const TestBatch<float, D> data(device, SmallNet{}, batch, generator);
      CHECK(step(data.inputs, data.labels).item() ==
            eager_step(looped, criterion, loop_optimizer, data));
      CHECK(same_bits(parameters_of(stepped), parameters_of(looped)));
    }
  }
}

TEST_CASE_TEMPLATE("a small dense network, which Cuda trains in one launch, stores 16 bits too", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using Dense = nn::Sequential<nn::Input<3>, nn::Linear<4>, nn::ReLU, nn::Linear<2>>;
  manual_seed(4);
  Model<Dense, D> net(device), other = net.to(device), full = net.to(device);
  net.autocast(Storage::bfloat16);
  other.autocast(Storage::bfloat16);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1}), other_optimizer(other, {.lr = 0.1}),
      full_optimizer(full, {.lr = 0.1});
  train::Step step(net, criterion, optimizer), full_step(full, criterion, full_optimizer);
  Generator generator(1);
  const TestBatch<float, D> data(device, Dense{}, 2, generator);
  step.repeat(3, data.inputs, data.labels);
  full_step.repeat(3, data.inputs, data.labels);
  for (int i = 0; i < 3; ++i)
    eager_step(other, criterion, other_optimizer, data);
  CHECK(same_bits(parameters_of(net), parameters_of(other)));
  CHECK(!same_bits(parameters_of(net), parameters_of(full)));
}

TEST_CASE("updates that are smaller than a step of bfloat16 add up") {
  Host& host = test_device<Host>();
  Model<nn::Sequential<nn::Input<1>, nn::Linear<1, nn::Bias<false>>>, Host> net(host);
  net.autocast(Storage::bfloat16);
  const float one = 1;
  host.upload(net.parameters().data(), &one, sizeof one);
  optim::SGD optimizer(net, {.lr = 0x1p-12});
  const Tensor<float, Host> x(host, {1, 1}, {1.0f});
  int changed = 0;
  for (int i = 0; i < 40; ++i) {
    optimizer.zero_grad();
    const auto y = net(x);
    changed += y.item() != 1;  // of the rounded weight
    mean(y).backward();
    optimizer.step();
  }
  CHECK(parameters_of(net)[0] == 1 - 40 * 0x1p-12f);
  CHECK(changed == 40 - 9);  // 1 - 8 * 2^-12 is a tie between 1 and 1 - 2^-8, which is rounded to 1
}

TEST_CASE("values between layers and their gradients take half of the room") {
  using Deep = nn::Sequential<nn::Input<64>, nn::Linear<64>, nn::Tanh, nn::Linear<64>, nn::Tanh,
                              nn::Linear<64>, nn::Tanh, nn::Linear<64>, nn::Tanh, nn::Linear<64>>;
  const Graph graph = nn::lower<Host, float>(Deep{});
  const Plan full(graph, false, InputGradient::skip),
      narrow(graph, false, InputGradient::skip, {.storage = Storage::bfloat16}),
      forward(graph, false, InputGradient::skip,
              {.storage = Storage::bfloat16, .forward_only = true});
  CHECK(full.output_elements == 9 * 64);
  CHECK(narrow.output_elements == 8 * 32 + 64);
  CHECK(full.gradient_elements == 2 * 64);
  CHECK(narrow.gradient_elements == 2 * 32);
  CHECK(narrow.activations == full.activations);
  CHECK(narrow.wide_elements == 4 * 64);  // x, y, dx, dy
  CHECK(narrow.wide_parameters == 64 * 64 + 64);
  CHECK(full.wide_elements == 0);
  CHECK(forward.output_elements <= 2 * 32 + 64);  // two at a time, and the output
}

TEST_CASE_TEMPLATE(
    "inputs and constants, whole or not, sums, probabilities and outputs are not rounded", D,
    GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Storage storage : {Storage::bfloat16, Storage::float16}) {
    CAPTURE(static_cast<int>(storage));
    const auto run = [&](Network<D, float>& net, const Tensor<float, D>& x,
                         const Tensor<float, D>& y) {
      net.eval();
      net.autocast(storage);
      const std::vector<float> outputs = net(x, y).to_vector();
      Predictor predict(net, {.storage = storage});
      CHECK(predict({x, y}).to_vector() == outputs);
      return outputs;
    };
    // bfloat16 has no whole numbers between 256 and 258, float16 none between 4096 and 4100.
    const Tensor<float, D> a(device, {2, 1}, {1000.25f, 4099}), b(device, {2, 1}, {1000, 4098});
    Network difference(device, [](nn::Value x, nn::Value y) { return x - y; }, {1}, {1});
    CHECK(run(difference, a, b) == std::vector<float>{0.25f, 1});

    Network sums(device,
                 [](nn::Value x, nn::Value) { return sum(square(nn::relu(x)), {1}) / 1024; },
                 {102400}, {1});
    CHECK(run(sums, full(device, {1, 102400}, 1.0f), Tensor<float, D>(device, {1, 1}, {0})) ==
          std::vector<float>{100});

    // The scores are rounded nowhere, because the network returns them.
    constexpr int many = 5000;
    manual_seed(4);
    Network losses(device,
                   [](nn::Value x, nn::Value label) {
                     const nn::Value scores = nn::linear(x, many);
                     return std::vector{nn::flatten(scores), cross_entropy(scores, label)};
                   },
                   {4}, {});
    Generator generator(6);
    const std::vector<index_t> labels{257, 513, 4099};
    const std::vector<float> y =
        run(losses, Tensor<float, D>(device, {3, 4}, random_values<float>(12, generator)),
            Tensor<float, D>(device, {3}, {257, 513, 4099}));
    for (std::size_t row = 0; row < labels.size(); ++row) {
      const float* scores = &y[row * (many + 1)];
      double exponentials = 0;
      for (int k = 0; k < many; ++k)
        exponentials += std::exp(double{scores[k]});
      CHECK(scores[many] ==
            doctest::Approx(std::log(exponentials) - scores[labels[row]]).epsilon(1e-6));
    }

    // Rows of the table are their numbers, in parts that both storages hold.
    const Tensor<float, Host> indices(test_device<Host>(), {2}, {4097, 259});
    Network rows(device,
                 [&](nn::Value tokens, nn::Value) {
                   const nn::Value fixed = nn::constant(tokens, indices);
                   return nn::cat({nn::embedding(narrow(tokens, 1, 1, 2), many, 2, "a"),
                                   nn::embedding(fixed, many, 2, "b")},
                                  1);
                 },
                 {3}, {1});
    std::vector<float> table;
    for (int i = 0; i < 2 * many; ++i) {
      table.push_back(static_cast<float>(i % many / 100));
      table.push_back(static_cast<float>(i % many % 100));
    }
    device.upload(rows.parameters().data(), table.data(), table.size() * sizeof(float));
    CHECK(run(rows, Tensor<float, D>(device, {1, 3}, {0, 257, 4999}),
              Tensor<float, D>(device, {1, 1}, {0})) ==
          std::vector<float>{2, 57, 49, 99, 40, 97, 2, 59});
  }
}

TEST_CASE("what meets a constant is stored in 16 bits, what meets a number of an input is not") {
  Host& host = test_device<Host>();
  const Tensor<float, Host> mask = full(host, {64}, 0.5f);
  const auto room = [&](bool by_input) {
    const Network net(host,
                      [&](nn::Value x) {
                        const nn::Value y = nn::linear(x, 64);
                        return nn::linear(by_input ? y * x : y * mask, 64);
                      },
                      {64});
    return Plan(net.graph(), false, InputGradient::skip, {.storage = Storage::bfloat16})
        .output_elements;
  };
  CHECK(room(true) == 32 + 64 + 64);        // y, the product, the output
  CHECK(room(false) == 32 + 64 + 32 + 64);  // and the constant
}

// The largest number of float16 is 65504; from 65520 on, rounding gives infinity.
TEST_CASE_TEMPLATE("a constant that float16 cannot store is an error, as in PyTorch", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Host& host = test_device<Host>();
  const Tensor<float, Host> mask(host, {2, 3}, {0, 1, 0, 1, 1, 1});  // the last row wholly
  const auto with = [&](double number) {
    manual_seed(8);
    return Network(
        device,
        [&](nn::Value x) {
          return softmax(masked_fill(nn::reshape(nn::linear(x, 6), {2, 3}), mask, number), 2);
        },
        {4});
  };
  const auto message = [](const std::string& where, const std::string& text,
                          const std::string& sign) {
    return "gpunet::" + where + ": the number " + text +
           " cannot be converted to float16 without overflow (the largest is 65504), give " + sign +
           "65504, or " + sign + "INFINITY where that is meant, or store bfloat16";
  };
  const Tensor<float, D> x(device, {1, 4}, {1, -2, 3, 0.5f});
  for (const double number : {-1e9, -65520.0, 65520.0, 3e38}) {
    CAPTURE(number);
    auto net = with(number);
    const std::vector<float> before = net(x).to_vector();
    const std::string text = concat(number, " of masked_fill, read by add,"),
                      sign = number < 0 ? "-" : "";
    CHECK(error_of([&] { net.autocast(Storage::float16); }) ==
          message("Model::autocast", text, sign));
    CHECK(error_of([&] { Predictor predict(net, {.storage = Storage::float16}); }) ==
          message("Predictor", text, sign));
    CHECK(net.storage() == Storage::full);
    CHECK(net(x).to_vector() == before);
    net.autocast(Storage::bfloat16);
    CHECK(std::isfinite(net(x).to_vector()[5]));
  }
  for (const double number : {-65504.0, -65519.0, 65504.0}) {
    CAPTURE(number);
    auto net = with(number);
    net.autocast(Storage::float16);
    const std::vector<float> y = net(x).to_vector();
    for (int k = 3; k < 6; ++k)
      CHECK(y[static_cast<std::size_t>(k)] == 1.0f / 3);
  }
  // As meant: the masked element is 0, a row without others NaN, in PyTorch, too.
  auto net = with(-INFINITY);
  net.autocast(Storage::float16);
  CHECK(net(x).to_vector()[1] == 0);
  CHECK(std::isnan(net(x).to_vector()[4]));
}

TEST_CASE("what of a constant float16 has to store") {
  Host& host = test_device<Host>();
  const Tensor<float, Host> large(host, {3}, {1, 1e9f, 2}), small(host, {3}, {1, -1e9f, 2});
  // The error of h = f(linear(x)), a value between layers.
  const auto error = [&](auto f) {
    Network net(host, [&](nn::Value x) { return nn::linear(f(nn::linear(x, 3)), 2); }, {4});
    const std::string text = error_of([&] { net.autocast(Storage::float16); });
    return text.empty() ? text : text.substr(0, text.find(" cannot"));
  };
  const auto says = [](const std::string& number, const std::string& function) {
    return "gpunet::Model::autocast: the number " + number + " of " + function;
  };
  CHECK(error([&](nn::Value x) { return x + large; }) == says("1e+09", "constant, read by add,"));
  CHECK(error([&](nn::Value x) { return small - x; }) == says("-1e+09", "constant, read by sub,"));
  CHECK(error([&](nn::Value x) { return maximum(x, large); }) ==
        says("1e+09", "constant, read by maximum,"));
  CHECK(error([&](nn::Value x) { return minimum(x, small); }) ==
        says("-1e+09", "constant, read by minimum,"));
  CHECK(error([&](nn::Value x) {
          return nn::cat({x, nn::constant(x, large)}, 1);
        }) == says("1e+09", "constant, read by cat,"));
  CHECK(error([&](nn::Value x) { return x + nn::reshape(nn::constant(x, large), {3}); }) ==
        says("1e+09", "constant, read by add,"));
  CHECK(error([&](nn::Value x) { return clamp(x, 1e5, 1e6); }) == says("1e+05", "clamp"));
  CHECK(error([&](nn::Value x) { return clamp(x, -1e6, -1e5); }) == says("-1e+05", "clamp"));
  // Never the result, or a factor, whose products may be small.
  CHECK(error([&](nn::Value x) { return minimum(x, large); }).empty());
  CHECK(error([&](nn::Value x) { return maximum(x, small); }).empty());
  CHECK(error([&](nn::Value x) { return clamp(x, -1e9, 1e9); }).empty());
  CHECK(error([&](nn::Value x) { return x * large; }).empty());
  CHECK(error([&](nn::Value x) { return x / large; }).empty());
  CHECK(error([&](nn::Value x) {
          return x + Tensor<float, Host>(host, {3}, {-INFINITY, 65504, NAN});
        }).empty());
  // Stored as floats: operands beside the input, and the output of the network.
  Network by_input(host, [&](nn::Value x) { return nn::linear(x + large, 2); }, {3});
  CHECK(error_of([&] { by_input.autocast(Storage::float16); }).empty());
  Network returned(host, [&](nn::Value x) { return nn::linear(x, 3) + large; }, {3});
  CHECK(error_of([&] { returned.autocast(Storage::float16); }).empty());
}

TEST_CASE("wrong uses of autocast") {
  Host& host = test_device<Host>();
  Model<nn::Sequential<nn::Input<3>, nn::Linear<2>>, Host, double> exact_net(host);
  exact_net.autocast(Storage::full);
  CHECK(error_of([&] { exact_net.autocast(Storage::float16); }) ==
        "gpunet::Model::autocast: a network of double with a storage of 16 bits (which would lose "
        "all that double "
        "adds), use one of float");
  CHECK(exact_net.storage() == Storage::full);

  Model<nn::Sequential<nn::Input<3>, nn::Linear<2>>, Host> net(host);
  const Tensor<float, Host> x(host, {1, 3}, {1, 2, 3});
  const Tensor<label_t, Host> label(host, {1}, {1});
  const nn::CrossEntropyLoss criterion;
  const auto y = net(x);
  const auto loss = criterion(y, label);
  const float value = loss.item();
  net.autocast(Storage::full);  // changes nothing
  CHECK(y.tensor().numel() == 2);
  net.autocast(Storage::bfloat16);
  CHECK(net.storage() == Storage::bfloat16);
  CHECK(loss.item() == value);
  CHECK(contains(error_of([&] { loss.backward(); }), "requires_grad or autocast"));
  CHECK(contains(error_of([&] { y.tensor(); }), "(or autocast)"));
  criterion(net(x), label).backward();
}

TEST_CASE("networks that share parameters have storages of their own") {
  Host& host = test_device<Host>();
  Network a(host, every_kind, {2, extent, extent});
  Network b(a, every_kind, {2, extent, extent});
  Generator generator(2);
  const Tensor<float, Host> x(host, {1, 2, extent, extent},
                              random_values<float>(2 * extent * extent, generator));
  a.eval(), b.eval();
  const std::vector<float> full = a(x).to_vector();
  b.autocast(Storage::float16);
  CHECK(a(x).to_vector() == full);
  CHECK(b(x).to_vector() != full);
  b.autocast(Storage::full);
  CHECK(b(x).to_vector() == full);
}
