#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

// The network of reference/hooks.py, and its batch.
template <class D, class T>
struct HooksLesson {
  using Net = nn::Sequential<nn::Input<2, 6, 6>, nn::Conv2d<3, 3>, nn::BatchNorm2d, nn::ReLU,
                             nn::MaxPool2d<2>, nn::Flatten, nn::Linear<5>, nn::ReLU, nn::Linear<3>>;

  HooksLesson() {
    std::vector<T> arena(static_cast<std::size_t>(net.parameters().numel()));
    index_t number = 0;
    for (const ParameterInfo& parameter : net.named_parameters()) {
      const std::vector<T> values = pattern<T>(parameter.sizes.numel(), 5 + 2 * number, number, 29);
      std::copy(values.begin(), values.end(), arena.data() + parameter.offset);
      ++number;
    }
    device.upload(net.parameters().data(), arena.data(), arena.size() * sizeof(T));
  }

  auto loss() { return criterion(net(inputs), labels); }

  D& device = test_device<D>();
  Model<Net, D, T> net{device};
  nn::CrossEntropyLoss criterion;
  Tensor<T, D> inputs{device, {5, 2, 6, 6}, pattern<T>(360, 7, 3, 23)};
  Tensor<label_t, D> labels{device, {5}, {0, 2, 1, 1, 0}};
};

// What PyTorch's hooks of a layer see: its output, and the gradient of the loss by it.
struct HookRun {
  std::string layer;
  std::vector<double> output, gradient;
};

const std::vector<HookRun>& hook_runs() {
  static const std::vector<HookRun> all = [] {
    const ReferenceFile file("hooks");
    std::vector<HookRun> runs;
    for (const std::string layer : {"0", "1", "2", "3", "4", "5", "6", "7"})
      runs.push_back({layer, file.values(layer + ".output"), file.values(layer + ".gradient")});
    return runs;
  }();
  return all;
}

// What the hooks of a layer saw last, and how often.
template <class D, class T>
struct Seen {
  Seen(Network<D, T>& net, const std::string& layer)
      : forward(net.register_forward_hook(layer,
                                          [this](const Tensor<T, D>& y) {
                                            output = y.to_vector();
                                            ++outputs;
                                          })),
        backward(net.register_full_backward_hook(layer, [this](const Tensor<T, D>& dy) {
          gradient = dy.to_vector();
          ++gradients;
        })) {}
  ~Seen() {
    forward.remove();
    backward.remove();
  }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;

  void check(const HookRun& run, int passes) const {
    CAPTURE(run.layer);
    CHECK(relative_error(output, run.output) < 1e-12);
    CHECK(relative_error(gradient, run.gradient) < 1e-12);
    CHECK(outputs == passes);
    CHECK(gradients == passes);
  }

  std::vector<T> output = {}, gradient = {};
  int outputs = 0, gradients = 0;
  Hook<D, T> forward, backward;
};

}  // namespace

TEST_CASE_TEMPLATE("a hook sees the output of a layer and its gradient, as in PyTorch", D,
                   GPUNET_TEST_DEVICES) {
  for (const auto& run : hook_runs()) {
    HooksLesson<D, double> lesson;
    const Seen seen(lesson.net, run.layer);
    lesson.loss().backward();
    seen.check(run, 1);
    lesson.net.forward_backward(lesson.inputs, lesson.criterion, lesson.labels);
    seen.check(run, 2);
  }
}

TEST_CASE_TEMPLATE("hooks on all layers, and steps", D, GPUNET_TEST_DEVICES) {
  HooksLesson<D, double> lesson, other;
  optim::SGD optimizer(lesson.net, {.lr = 0}), plain(other.net, {.lr = 0});
  train::Step step(lesson.net, lesson.criterion, optimizer),
      plain_step(other.net, other.criterion, plain);
  // Hooks change a network that runs already.
  const double before = step(lesson.inputs, lesson.labels).item();
  step(lesson.inputs, lesson.labels);
  {
    std::vector<std::unique_ptr<Seen<D, double>>> all;
    for (const auto& run : hook_runs())
      all.push_back(std::make_unique<Seen<D, double>>(lesson.net, run.layer));
    for (int i = 0; i < 3; ++i) {
      CHECK(step(lesson.inputs, lesson.labels).item() == doctest::Approx(before).epsilon(1e-14));
      std::size_t layer = 0;
      for (const auto& run : hook_runs())
        all[layer++]->check(run, i + 1);
    }
  }
  for (int i = 0; i < 3; ++i)
    CHECK(step(lesson.inputs, lesson.labels).item() ==
          plain_step(other.inputs, other.labels).item());
  CHECK(!lesson.net.has_hooks());
}

TEST_CASE_TEMPLATE("a hook that uses its network is refused, and may remove itself", D,
                   GPUNET_TEST_DEVICES) {
  HooksLesson<D, double> lesson;
  int calls = 0;
  std::vector<std::string> said;
  Hook<D, double>* self = nullptr;
  Hook<D, double> hook =
      lesson.net.register_forward_hook("0", [&](const Tensor<double, D>& output) {
        ++calls;
        self->remove();
        said.push_back(error_of([&] { lesson.net(lesson.inputs); }));
        CHECK(output.numel() > 0);
      });
  self = &hook;
  lesson.net(lesson.inputs);
  lesson.net(lesson.inputs);
  CHECK(calls == 1);
  CHECK(said.at(0).find("gpunet::Model: another call uses this model") == 0);
  lesson.net.register_full_backward_hook("0", [&](const Tensor<double, D>&) {
    said.push_back(error_of([&] { lesson.net(lesson.inputs); }));
  });
  lesson.loss().backward();
  CHECK(said.size() == 2);
  CHECK(said.back() == said.front());
}

TEST_CASE_TEMPLATE("hooks of a small dense network see every repeated step", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<nn::Sequential<nn::Input<3>, nn::Linear<4>, nn::ReLU, nn::Linear<2>>, D> net(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = 0.1});
  train::Step step(net, criterion, optimizer);
  const Tensor<float, D> x(device, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor<label_t, D> y(device, {2}, {0, 1});
  step.repeat(2, x, y);
  const Seen seen(static_cast<Network<D, float>&>(net), "1");
  step.repeat(3, x, y);
  CHECK(seen.outputs == 3);
  CHECK(seen.gradients == 3);
  CHECK(seen.output.size() == 8);
}

TEST_CASE("batches of other sizes, parts, views and several hooks of a layer") {
  Host& host = test_device<Host>();
  using Net = nn::Sequential<nn::Input<1, 2, 2>,
                             nn::Named<"a", nn::Sequential<nn::Flatten, nn::Linear<3>, nn::Tanh>>,
                             nn::Named<"fc", nn::Linear<2>>>;
  Model<Net, Host> net(host);
  std::vector<Sizes> seen;
  const auto note = [&](const Tensor<float, Host>& x) {
    seen.push_back(x.sizes());
  };
  net.register_forward_hook("a", note);
  const auto again = net.register_forward_hook("a.0", note);
  net.register_forward_hook("a.2", note);
  net.register_forward_hook("fc", note);
  const auto y = net(randn(host, {5, 1, 2, 2}));
  CHECK(seen == std::vector<Sizes>{{5, 3}, {5, 4}, {5, 3}, {5, 2}});
  seen.clear();
  again.remove();
  CHECK(y.tensor().sizes() == Sizes{5, 2});  // still valid
  net.eval();
  net(randn(host, {17, 1, 2, 2}));
  CHECK(seen == std::vector<Sizes>{{17, 3}, {17, 3}, {17, 2}});
}

TEST_CASE("the gradient of a layer below which everything is frozen is not computed") {
  HooksLesson<Host, double> lesson;
  const Seen first(static_cast<Network<Host, double>&>(lesson.net), "2"),
      last(static_cast<Network<Host, double>&>(lesson.net), "5");
  lesson.net.parameters("0").requires_grad(false);
  lesson.net.parameters("1").requires_grad(false);
  lesson.loss().backward();
  CHECK(first.outputs == 1);
  CHECK(first.gradients == 0);
  last.check(hook_runs()[5], 1);
}

TEST_CASE("a hook may remove itself, add another, and throw") {
  HooksLesson<Host, double> lesson;
  int calls = 0, later = 0;
  std::optional<Hook<Host, double>> hook;
  hook = lesson.net.register_forward_hook("0", [&](const auto&) {
    ++calls;
    hook->remove();
    for (int i = 0; i < 20; ++i)
      lesson.net.register_forward_hook("2", [&](const auto&) { ++later; });
  });
  lesson.loss().backward();
  const int at_once = later;
  lesson.loss().backward();
  CHECK(calls == 1);
  CHECK(at_once == 0);
  CHECK(later == 20);
  const auto broken =
      lesson.net.register_full_backward_hook("0", [](const auto&) { throw Error("enough"); });
  CHECK(error_of([&] { lesson.loss().backward(); }) == "enough");
  broken.remove();
  CHECK(error_of([&] { lesson.loss().backward(); }) == "");
}

TEST_CASE("hooks on layers that do not exist") {
  Host& host = test_device<Host>();
  using nn::Value;
  Network net(host,
              [](Value x) {
                const Value unused = linear(x, 3, {.name = "unused"});
                return relu(linear(relu(linear(x, 3, {.name = "fc1"})), 2, {.name = "fc2"}));
              },
              {4});
  const auto error = [&](const char* layer) {
    return error_of([&] { net.register_forward_hook(layer, [](const auto&) {}); });
  };
  CHECK(error("conv1") ==
        "gpunet::Model: no layer is called \"conv1\" (it has unused fc1 relu fc2 relu), give a "
        "name that std::cout "
        "<< "
        "net prints");
  CHECK(error("") != "");
  CHECK(error("fc") != "");
  CHECK(error("fc1.weight") != "");
  CHECK(error("relu") ==
        "gpunet::Model: 2 layers are called \"relu\" (a hook is for one), give the one that is "
        "meant a name: "
        "nn::named(\"a\", f, x)");
  CHECK(error("unused") ==
        "gpunet::Model: the output does not depend on layer \"unused\" (it is not computed), hook "
        "another one");
  CHECK(error("fc1") == "");
}
