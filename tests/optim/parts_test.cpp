// Parts of a network: frozen ones, and groups of parameters.
#include <algorithm>
#include <doctest/doctest.h>
#include <string>
#include <type_traits>
#include <utility>
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

// The network of reference/parts.py, and its batch.
template <class D, class T>
struct PartsLesson {
  using Net = nn::Sequential<nn::Input<4>, nn::Linear<5>, nn::Tanh, nn::Linear<3>>;

  PartsLesson() {
    std::vector<T> arena(static_cast<std::size_t>(net.parameters().numel()));
    index_t step = 5, start = 0;
    for (const ParameterInfo& parameter : net.named_parameters()) {
      const std::vector<T> values = pattern<T>(parameter.sizes.numel(), step, start, 17);
      std::copy(values.begin(), values.end(), arena.data() + parameter.offset);
      step += 2, ++start;
    }
    device.upload(net.parameters().data(), arena.data(), arena.size() * sizeof(T));
  }

  std::vector<T> parameters() const {
    const std::vector<T> arena = parameters_of(net);
    std::vector<T> values;
    for (const ParameterInfo& parameter : net.named_parameters()) {
      const T* first = arena.data() + parameter.offset;
      values.insert(values.end(), first, first + parameter.sizes.numel());
    }
    return values;
  }

  D& device = test_device<D>();
  Model<Net, D, T> net{device};
  nn::CrossEntropyLoss criterion;
  Tensor<T, D> inputs{device, {5, 4}, pattern<T>(20, 7, 3, 23)};
  Tensor<label_t, D> labels{device, {5}, {0, 2, 1, 1, 0}};
};

// A run of PyTorch: the parameters after all steps.
struct PartsRun {
  std::string optimizer, name;
  std::vector<double> parameters;
};

// Returns the runs of a kind in reference/parts.py.
std::vector<PartsRun> runs_of(const std::string& kind) {
  const ReferenceFile file("parts");
  std::vector<PartsRun> runs;
  for (const std::string& array : file.names(kind + ".")) {
    const std::size_t begin = kind.size() + 1, dot = array.find('.', begin);
    runs.push_back({array.substr(begin, dot - begin), array.substr(dot + 1), file.values(array)});
  }
  REQUIRE(!runs.empty());
  return runs;
}

// Calls f(optimizer) with the optimizer of a run.
template <class D, class T, class F>
void with_optimizer(const std::string& name, Network<D, T>& net, F f) {
  if (name == "SGD")
    f(optim::SGD(net, {.lr = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.05}));
  else if (name == "Adam")
    f(optim::Adam(net, {.lr = 0.02, .weight_decay = 0.05}));
  else if (name == "AdamW")
    f(optim::AdamW(net, {.lr = 0.02, .weight_decay = 0.2}));
  else if (name == "RMSprop")
    f(optim::RMSprop(
        net, {.lr = 0.01, .eps = 0.1, .weight_decay = 0.05, .momentum = 0.5, .centered = true}));
  else if (name == "NAdam")
    f(optim::NAdam(net, {.lr = 0.02, .weight_decay = 0.05, .momentum_decay = 0.1}));
  else if (name == "RAdam")
    f(optim::RAdam(net, {.lr = 0.02, .weight_decay = 0.2, .decoupled_weight_decay = true}));
  else if (name == "Adagrad")
    f(optim::Adagrad(
        net,
        {.lr = 0.05, .lr_decay = 0.1, .weight_decay = 0.05, .initial_accumulator_value = 0.5}));
  else if (name == "Adadelta")
    f(optim::Adadelta(net, {.lr = 0.5, .rho = 0.8, .eps = 0.01, .weight_decay = 0.05}));
  else
    f(optim::Lion(net, {.lr = 0.003, .betas = {0.9, 0.999}, .weight_decay = 0.1}));
}

// Gives the optimizer the groups of the runs. Adagrad and Adadelta have no momentum.
template <class Optimizer, class D, class T>
void add_groups(Optimizer& optimizer, Network<D, T>& net, bool has_momentum) {
  optimizer.add_param_group(net.parameters(biases_and_norms), {.weight_decay = 0});
  optim::ParamGroupOptions of_last{.lr = 0.005};
  if (has_momentum) of_last.momentum = 0.5;
  optimizer.add_param_group(net.parameters("2.weight"), of_last);
}
bool has_momentum(const std::string& optimizer) {
  return optimizer != "Adagrad" && optimizer != "Adadelta";
}

// Calls f(scheduler) with the schedule of a run.
template <class F>
void with_schedule(const std::string& name, optim::Rates& rates, bool has_momentum, F f) {
  using namespace optim::lr_scheduler;
  if (name == "none") return f([] {});
  const auto steps = [&f](auto&& scheduler) {
    f([&] { scheduler.step(); });
  };
  if (name == "StepLR") return steps(StepLR(rates, {.step_size = 3, .gamma = 0.5}));
  if (name == "CosineAnnealingLR")
    return steps(CosineAnnealingLR(rates, {.T_max = 15, .eta_min = 0.001}));
  if (name == "OneCycleLR")
    return steps(
        OneCycleLR(rates, {.max_lr = 0.05, .total_steps = 30, .cycle_momentum = has_momentum}));
  if (name == "PolynomialLR") return steps(PolynomialLR(rates, {.total_iters = 15, .power = 0.9}));
  if (name == "CosineAnnealingWarmRestarts")
    return steps(CosineAnnealingWarmRestarts(rates, {.T_0 = 3, .T_mult = 2}));
  if (name == "LambdaLR")
    return steps(
        LambdaLR(rates, [](index_t epoch) { return 1 / (1 + static_cast<double>(epoch)); }));
  if (name == "ChainedScheduler") {
    ConstantLR constant(rates, {.factor = 0.5, .total_iters = 4});
    ExponentialLR exponential(rates, {.gamma = 0.9});
    return steps(ChainedScheduler({&constant, &exponential}));
  }
  if (name == "SWALR")
    return steps(optim::swa_utils::SWALR(rates, {.swa_lr = 0.02, .anneal_epochs = 6}));
  if (name == "SequentialLR") {
    LinearLR warm_up(rates, {.start_factor = 0.1, .total_iters = 5});
    ExponentialLR exponential(rates, {.gamma = 0.9});
    return steps(SequentialLR(rates, {&warm_up, &exponential}, {6}));
  }
  ReduceLROnPlateau plateau(rates, {.patience = 1, .min_lr = 0.001});
  f([&] { plateau.step(1.0); });
}

// Whether steps are done by train::Step.
enum class By { loop, step };

template <class D>
void check_frozen(const PartsRun& run, By by) {
  CAPTURE(run.optimizer);
  CAPTURE(run.name);
  PartsLesson<D, double> lesson;
  auto& net = lesson.net;
  with_optimizer(run.optimizer, net, [&](auto optimizer) {
    train::Step step(net, lesson.criterion, optimizer);
    for (const char* frozen : {"0", "2.bias", ""}) {
      net.requires_grad(true);
      if (*frozen) net.parameters(frozen).requires_grad(false);
      for (int i = 0; i < 7; ++i) {
        if (by == By::step) {
          step(lesson.inputs, lesson.labels);
          continue;
        }
        optimizer.zero_grad();
        lesson.criterion(net(lesson.inputs), lesson.labels).backward();
        if (run.name == "clipped") nn::utils::clip_grad_norm_(net, 0.05);
        if (run.name == "penalized") nn::utils::add_weight_penalty_(net, {.l1 = 0.01, .l2 = 0.02});
        optimizer.step();
      }
      if (by == By::step && !std::is_same_v<D, Host>) CHECK(step.recording(5).recorded);
    }
  });
  CHECK(relative_error(lesson.parameters(), run.parameters) < 1e-12);
}

template <class D>
void check_groups(const PartsRun& run, By by) {
  CAPTURE(run.optimizer);
  CAPTURE(run.name);
  PartsLesson<D, double> lesson;
  auto& net = lesson.net;
  with_optimizer(run.optimizer, net, [&](auto optimizer) {
    add_groups(optimizer, net, has_momentum(run.optimizer));
    train::Step step(net, lesson.criterion, optimizer);
    with_schedule(run.name, optimizer, has_momentum(run.optimizer), [&](auto next) {
      for (int i = 0; i < 20; ++i) {
        if (by == By::step) {
          step(lesson.inputs, lesson.labels);
        } else {
          optimizer.zero_grad();
          lesson.criterion(net(lesson.inputs), lesson.labels).backward();
          optimizer.step();
        }
        next();
      }
    });
    if (by == By::step && !std::is_same_v<D, Host>) CHECK(step.recording(5).recorded);
  });
  CHECK(relative_error(lesson.parameters(), run.parameters) < 1e-12);
}

template <class D>
void check_accumulated(const PartsRun& run, By by) {
  CAPTURE(run.optimizer);
  PartsLesson<D, double> lesson;
  auto& net = lesson.net;
  const Tensor<double, D> others(net.device(), {5, 4}, pattern<double>(20, 3, 1, 19));
  int outputs = 0, gradients = 0;
  std::vector<double> gradient;
  const auto forward = net.register_forward_hook("1", [&](const Tensor<double, D>&) { ++outputs; });
  const auto backward = net.register_full_backward_hook("2", [&](const Tensor<double, D>& seen) {
    ++gradients;
    gradient = seen.to_vector();
  });
  with_optimizer(run.optimizer, net, [&](auto optimizer) {
    add_groups(optimizer, net, has_momentum(run.optimizer));
    train::Step step(net, lesson.criterion, optimizer, {.accumulate = 2});
    net.parameters("0.bias").requires_grad(false);
    for (int i = 0; i < 16; ++i) {
      if (i == 9) net.requires_grad(true);
      if (i == 6) backward.remove();
      const Tensor<double, D>& x = i % 2 == 0 ? lesson.inputs : others;
      if (by == By::step) {
        step(x, lesson.labels);
      } else {
        if (i % 2 == 0) optimizer.zero_grad();
        lesson.criterion(net(x), lesson.labels).backward(1.0 / 2);
        if (i % 2 == 1) optimizer.step();
      }
      CHECK(outputs == i + 1);
      CHECK(gradients == std::min(i + 1, 6));
      if (i == 0) {  // half of softmax - target, over the batch
        CHECK(gradient.size() == 15);
        double positive = 0;
        for (const double one : gradient)
          positive += std::max(one, 0.0);
        CHECK(positive < 0.5);
        CHECK(positive > 0.05);
      }
    }
    if (by == By::step && !std::is_same_v<D, Host>) CHECK(step.recording(5).recorded);
  });
  CHECK(relative_error(lesson.parameters(), run.parameters) < 1e-12);
}

// Makes the steps of a run of LBFGS.
template <class D, class Parts>
void check_lbfgs(PartsLesson<D, double>& lesson, Parts&& parameters, const std::string& name) {
  CAPTURE(name);
  optim::LBFGS optimizer(parameters, {.lr = 0.5,
                                      .max_iter = 4,
                                      .history_size = 3,
                                      .line_search_fn = optim::LineSearch::strong_wolfe});
  for (int i = 0; i < 3; ++i)
    optimizer.step([&] {
      optimizer.zero_grad();
      auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
      loss.backward();
      return loss;
    });
  CHECK(relative_error(lesson.parameters(), ReferenceFile("parts").values("lbfgs." + name)) <
        1e-10);
}

std::vector<std::string> names_of(const Parameters<Host, float>& parameters) {
  std::vector<std::string> names;
  for (const int i : parameters.indices())
    names.push_back(parameters.network().named_parameters()[static_cast<std::size_t>(i)].name);
  return names;
}

}  // namespace

TEST_CASE_TEMPLATE("steps of a network with frozen parts are PyTorch's", D, GPUNET_TEST_DEVICES) {
  for (const auto& run : runs_of("frozen")) {
    check_frozen<D>(run, By::loop);
    if (run.name == "plain") check_frozen<D>(run, By::step);
  }
}

TEST_CASE_TEMPLATE("steps of groups of parameters are PyTorch's", D, GPUNET_TEST_DEVICES) {
  for (const auto& run : runs_of("groups"))
    for (const By by : {By::loop, By::step})
      check_groups<D>(run, by);
}

TEST_CASE_TEMPLATE("gradients of two batches, frozen parts, groups and hooks", D,
                   GPUNET_TEST_DEVICES) {
  for (const auto& run : runs_of("accumulated"))
    for (const By by : {By::loop, By::step})
      check_accumulated<D>(run, by);
}

TEST_CASE_TEMPLATE("LBFGS moves a part of a network, and what is not frozen", D,
                   GPUNET_TEST_DEVICES) {
  PartsLesson<D, double> last, others;
  check_lbfgs(last, last.net.parameters("2"), "last");
  others.net.parameters("0.bias").requires_grad(false);
  check_lbfgs(others, others.net, "others");
}

TEST_CASE_TEMPLATE("LBFGS begins anew where other parameters are frozen", D, GPUNET_TEST_DEVICES) {
  PartsLesson<D, double> lesson, other;
  const auto step = [](auto& of, auto& optimizer) {
    optimizer.step([&] {
      optimizer.zero_grad();
      auto loss = of.criterion(of.net(of.inputs), of.labels);
      loss.backward();
      return loss;
    });
  };
  const optim::LBFGSOptions options{.lr = 0.5, .max_iter = 4};
  optim::LBFGS optimizer(lesson.net, options);
  step(lesson, optimizer);
  const auto before = lesson.parameters();
  lesson.net.parameters("0").requires_grad(false);
  other.net.copy_state(lesson.net);
  other.net.parameters("0").requires_grad(false);
  optim::LBFGS fresh(other.net, options);
  step(lesson, optimizer);
  step(other, fresh);
  CHECK(lesson.parameters() == other.parameters());
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK((before[i] == lesson.parameters()[i]) == (i < 25));
  lesson.net.requires_grad(false);
  const auto after = lesson.parameters();
  CHECK(contains(error_of([&] { step(lesson, optimizer); }),
                 "gpunet::Network: no gradient to compute"));
  CHECK(lesson.parameters() == after);
}

TEST_CASE_TEMPLATE("every optimizer takes a part of a network", D, GPUNET_TEST_DEVICES) {
  const auto check = []<class Optimizer>(std::type_identity<Optimizer>, const auto& make) {
    PartsLesson<D, float> lesson;
    Optimizer optimizer = make(lesson.net.parameters("2"));
    const auto before = lesson.parameters();
    lesson.criterion(lesson.net(lesson.inputs), lesson.labels).backward();
    optimizer.step();
    const auto after = lesson.parameters();
    for (std::size_t i = 0; i < before.size(); ++i)
      CHECK((before[i] == after[i]) == (i < 25));
  };
  const auto check_all = [&]<class... Optimizers>(std::type_identity<Optimizers>... of) {
    (check(of, [](const auto& parameters) { return Optimizers(parameters); }), ...);
  };
  check_all(
      std::type_identity<optim::SGD<D, float>>(), std::type_identity<optim::Adam<D, float>>(),
      std::type_identity<optim::AdamW<D, float>>(), std::type_identity<optim::RMSprop<D, float>>(),
      std::type_identity<optim::NAdam<D, float>>(), std::type_identity<optim::RAdam<D, float>>(),
      std::type_identity<optim::Adagrad<D, float>>(),
      std::type_identity<optim::Adadelta<D, float>>(), std::type_identity<optim::Lion<D, float>>());
}

TEST_CASE("groups of an optimizer without momentum have none") {
  PartsLesson<Host, float> lesson;
  optim::Adagrad optimizer(lesson.net);
  const std::string message =
      "gpunet::optim::Adagrad: has no momentum (a schedule of one would change nothing), for "
      "OneCycleLR set "
      "cycle_momentum to false";
  CHECK(error_of([&] {
          optimizer.add_param_group(lesson.net.parameters("2"), {.momentum = 0.5});
        }) == message);
  CHECK(optimizer.groups() == 1);
  optimizer.add_param_group(lesson.net.parameters("2"), {.lr = 0.5});
  CHECK(error_of([&] { optimizer.set_momentum(0.5); }) == message);
  CHECK(error_of([&] { optimizer.group(0).set_momentum(0.5); }) == message);
  CHECK(error_of([&] { optimizer.group(1).set_momentum(0.5); }) == message);
  using optim::lr_scheduler::OneCycleLR;
  CHECK(error_of([&] { OneCycleLR cycle(optimizer.group(1), {.max_lr = 1, .total_steps = 9}); }) ==
        message);
  CHECK(optimizer.group(1).lr() == 0.5);
  optim::LBFGS lbfgs(lesson.net);
  CHECK(error_of([&] { lbfgs.set_weight_decay(0.1); }) ==
        "gpunet::optim::LBFGS: has no weight decay (it would change nothing), add one to the "
        "gradients by "
        "nn::utils::add_weight_penalty_");
}

TEST_CASE("a pattern names parameters, or parts of the network") {
  using Net =
      nn::Sequential<nn::Input<1, 4, 4>,
                     nn::Named<"features", nn::Sequential<nn::Conv2d<2, 3>, nn::BatchNorm2d>>,
                     nn::Flatten, nn::Named<"fc", nn::Linear<3>>>;
  Model<Net, Host> net(test_device<Host>());
  using Names = std::vector<std::string>;
  const Names all = names_of(net.parameters("*"));
  CHECK(all == Names{"features.0.weight", "features.0.bias", "features.1.weight", "features.1.bias",
                     "fc.weight", "fc.bias"});
  CHECK(names_of(net.parameters("features.*")) == Names(all.begin(), all.begin() + 4));
  CHECK(names_of(net.parameters("features")) == Names(all.begin(), all.begin() + 4));
  CHECK(names_of(net.parameters("features.1")) == Names{"features.1.weight", "features.1.bias"});
  CHECK(names_of(net.parameters("fc.weight")) == Names{"fc.weight"});
  CHECK(names_of(net.parameters("*.bias")) ==
        Names{"features.0.bias", "features.1.bias", "fc.bias"});
  CHECK(names_of(net.parameters("f?.*")) == Names{"fc.weight", "fc.bias"});
  CHECK(names_of(net.parameters("*e*s*0*")) == Names{"features.0.weight", "features.0.bias"});
  CHECK(names_of(net.parameters(biases_and_norms)) ==
        Names{"features.0.bias", "features.1.weight", "features.1.bias", "fc.bias"});
  CHECK(names_of(net.parameters([](const ParameterInfo& p) { return p.sizes.rank() == 4; })) ==
        Names{"features.0.weight"});
  CHECK(net.parameters("fc").size() == 2);
  CHECK(net.parameters("fc").numel() == 2 * 2 * 2 * 3 + 3);
  CHECK(error_of([&] { net.parameters("feature"); }) ==
        "gpunet::Model::parameters: no parameter is called \"feature\" (it has features.0.weight "
        "features.0.bias "
        "features.1.weight features.1.bias fc.weight fc.bias), give a name, a part as "
        "\"features.0\", or a pattern "
        "as \"*.bias\"");
  for (const char* none : {"", ".", "fc.", "FC", "fc.*.*", "features.0.weight.x", "f"})
    CHECK(error_of([&] { net.parameters(none); }) != "");
  CHECK(error_of([&] { net.parameters([](const ParameterInfo&) { return false; }); }) ==
        "gpunet::Model::parameters: the function is true for none of the 6 parameters (nothing "
        "would change), look "
        "at their names and sizes in net.named_parameters()");
}

TEST_CASE("no gradient is computed for what nobody needs") {
  using Net =
      nn::Sequential<nn::Input<4>, nn::Linear<5>, nn::Tanh, nn::Linear<6>, nn::Tanh, nn::Linear<3>>;
  Model<Net, Host> net(test_device<Host>());
  const auto backward = [&] {
    std::vector<bool> has;
    for (const PlannedNode& node : net.plan().nodes)
      has.push_back(node.has_backward);
    return has;
  };
  CHECK(backward() == std::vector<bool>{true, true, true, true, true});
  net.parameters("0").requires_grad(false);
  CHECK(!net.parameters("*").requires_grad());
  CHECK(net.parameters("2").requires_grad());
  CHECK(backward() == std::vector<bool>{false, false, true, true, true});
  CHECK(!net.plan().nodes[2].inputs[0].wants_gradient);
  net.parameters("4").requires_grad(false);
  CHECK(backward() == std::vector<bool>{false, false, true, true, true});
  CHECK(net.plan().nodes[4].skips_parameters);
  CHECK(!net.plan().nodes[2].skips_parameters);
  CHECK(summary(net).trainable_params == 5 * 6 + 6);
  net.requires_grad(false);
  CHECK(backward() == std::vector<bool>{false, false, false, false, false});
  net.parameters("0.weight").requires_grad(true);
  CHECK(backward() == std::vector<bool>{true, true, true, true, true});
}

TEST_CASE_TEMPLATE(
    "freezing and unfreezing leaves no gradients behind: all are those of a network that was never "
    "frozen",
    D, GPUNET_TEST_DEVICES) {
  using Net =
      nn::Sequential<nn::Input<1, 6, 6>, nn::Conv2d<3, 3>, nn::ReLU, nn::Flatten, nn::Linear<3>>;
  D& device = test_device<D>();
  Model<Net, D> net(device), never(device);
  never.copy_state(net);
  const index_t batch = 200;  // several slices, whose gradients are added
  const Tensor<float, D> inputs(device, {batch, 1, 6, 6}, pattern<float>(batch * 36, 7, 3, 23));
  const Tensor<label_t, D> labels(device, {batch}, std::vector<label_t>(batch, 1));
  const nn::CrossEntropyLoss criterion;
  const auto gradients = [&](auto& of) {
    of.zero_grad();
    of.forward_backward(inputs, criterion, labels);
    std::vector<float> arena(static_cast<std::size_t>(of.gradients().size()));
    device.download(arena.data(), of.gradients().data(), arena.size() * sizeof(float));
    return arena;
  };
  const std::vector<float> expected = gradients(never);
  CHECK(gradients(net) == expected);
  net.parameters("*.weight").requires_grad(false);
  gradients(net);
  net.requires_grad(true);
  CHECK(gradients(net) == expected);  // with the gaps between them
}

TEST_CASE_TEMPLATE("a network none of whose trained parameters has an effect says so", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::string message =
      "gpunet::Network: no gradient to compute (no trained parameter has an effect on the outputs: "
      "they are "
      "frozen, "
      "behind detach, or in layers whose values are not used), let the outputs depend on one";
  const Tensor<float, D> x(device, {2, 3}, {1, 2, 3, 4, 5, 6});
  const auto error = [&](auto& net) {
    return error_of([&] { mean(net(x)).backward(); });
  };
  Network behind(device, [](nn::Value v) { return 2 * detach(linear(v, 3)); }, {3});
  CHECK(error(behind) == message);
  Network unread(device,
                 [](nn::Value v) {
                   linear(v, 3);
                   return relu(v);
                 },
                 {3});
  CHECK(error(unread) == message);
  behind.requires_grad(false);
  CHECK(contains(error(behind), "(all parameters are frozen by requires_grad(false))"));
  Network half(device, [](nn::Value v) { return linear(detach(linear(v, 3)), 2); }, {3});
  CHECK(error(half) == "");
}

TEST_CASE_TEMPLATE("a network of which everything is frozen says so, and stays as it is", D,
                   GPUNET_TEST_DEVICES) {
  PartsLesson<D, float> lesson;
  lesson.net.requires_grad(false);
  optim::AdamW optimizer(lesson.net, {.lr = 0.1, .weight_decay = 0.5});
  const auto before = lesson.parameters();
  const std::string message =
      "gpunet::Network: no gradient to compute (all parameters are frozen by "
      "requires_grad(false)), let some of "
      "them "
      "be trained: net.parameters(\"fc.*\").requires_grad(true)";
  const auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
  CHECK(error_of([&] { loss.backward(); }) == message);
  optimizer.step();
  train::Step step(lesson.net, lesson.criterion, optimizer);
  CHECK(error_of([&] { step(lesson.inputs, lesson.labels); }) == message);
  CHECK(error_of([&] { step.repeat(2, lesson.inputs, lesson.labels); }) == message);
  CHECK(lesson.parameters() == before);
  lesson.net.parameters("2").requires_grad(true);
  step(lesson.inputs, lesson.labels);
  CHECK(lesson.parameters() != before);
}

TEST_CASE_TEMPLATE("an optimizer of some parameters leaves the others as they are", D,
                   GPUNET_TEST_DEVICES) {
  PartsLesson<D, float> lesson;
  optim::SGD optimizer(lesson.net.parameters("2"), {.lr = 0.1, .weight_decay = 0.5});
  const auto before = lesson.parameters();
  lesson.criterion(lesson.net(lesson.inputs), lesson.labels).backward();
  optimizer.step();
  const auto after = lesson.parameters();
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK((before[i] == after[i]) == (i < 25));
}

TEST_CASE_TEMPLATE("a frozen parameter gets no gradient, and one that was frozen adds to none", D,
                   GPUNET_TEST_DEVICES) {
  PartsLesson<D, double> frozen, whole;
  const auto gradients = [](auto& net, std::size_t i) {
    const ParameterInfo& parameter = net.named_parameters()[i];
    std::vector<double> values(static_cast<std::size_t>(parameter.sizes.numel()));
    net.device().download(values.data(), net.gradients().data() + parameter.offset,
                          values.size() * sizeof(double));
    return values;
  };
  const auto backward = [](auto& lesson) {
    lesson.criterion(lesson.net(lesson.inputs), lesson.labels).backward();
  };
  backward(whole);
  backward(frozen);
  frozen.net.parameters("2.weight").requires_grad(false);
  CHECK(gradients(frozen.net, 2) == std::vector<double>(15));
  backward(frozen);
  CHECK(gradients(frozen.net, 2) == std::vector<double>(15));
  frozen.net.requires_grad(true);
  backward(frozen);
  CHECK(gradients(frozen.net, 2) == gradients(whole.net, 2));
  backward(whole);
  backward(whole);
  for (const std::size_t i : std::vector<std::size_t>{0, 1, 3})
    CHECK(gradients(frozen.net, i) == gradients(whole.net, i));
}

TEST_CASE("a loss of before requires_grad cannot run backward") {
  PartsLesson<Host, float> lesson;
  const auto loss = lesson.criterion(lesson.net(lesson.inputs), lesson.labels);
  lesson.net.parameters("0").requires_grad(false);
  CHECK(error_of([&] {
          loss.backward();
        }).find("gpunet::LossValue::backward: the parameters have changed") == 0);
}

TEST_CASE("groups have rates of their own, and schedules too") {
  PartsLesson<Host, float> lesson;
  auto& net = lesson.net;
  optim::SGD optimizer(net, {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01});
  CHECK(optimizer.groups() == 1);
  CHECK(&optimizer.group(0) == &optimizer);
  optimizer.add_param_group(net.parameters("*.bias"), {.weight_decay = 0});
  optimizer.add_param_group(net.parameters("2.weight"), {.lr = 0.5});
  CHECK(optimizer.groups() == 3);
  CHECK(optimizer.group(1).lr() == 0.1);
  CHECK(optimizer.group(1).momentum() == 0.9);
  CHECK(optimizer.group(1).weight_decay() == 0);
  CHECK(optimizer.group(2).weight_decay() == 0.01);
  CHECK(optimizer.group(2).lr() == 0.5);
  CHECK(optimizer.lr() == 0.1);
  optim::lr_scheduler::StepLR of_last(optimizer.group(2), {.step_size = 1});
  of_last.step();
  CHECK(optimizer.group(2).lr() == doctest::Approx(0.05));
  CHECK(optimizer.group(1).lr() == 0.1);
  optim::lr_scheduler::ExponentialLR of_all(optimizer, {.gamma = 0.5});
  of_all.step();
  CHECK(optimizer.lr() == 0.05);
  CHECK(of_all.get_last_lr() == 0.05);
  CHECK(optimizer.group(1).lr() == 0.05);
  CHECK(optimizer.group(2).lr() == doctest::Approx(0.025));
  const optim::SGD moved(std::move(optimizer));
  CHECK(moved.group(2).lr() == doctest::Approx(0.025));
  of_all.step();
  CHECK(moved.group(1).lr() == 0.025);
}

TEST_CASE("groups that make no sense") {
  PartsLesson<Host, float> lesson, other;
  optim::Adam optimizer(lesson.net, {.lr = 0.1});
  CHECK(error_of([&] {
          optimizer.add_param_group(lesson.net.parameters("fc.*"), {.lr = 0.1});
        }).find("gpunet::Model::parameters: no parameter is called \"fc.*\" (it has 0.weight") ==
        0);
  optimizer.add_param_group(lesson.net.parameters("*.bias"), {.lr = 0.1});
  CHECK(error_of([&] { optimizer.add_param_group(lesson.net.parameters("2.*"), {.lr = 0.1}); }) ==
        "gpunet::optim::Adam::add_param_group: 2.bias appears in more than one parameter group "
        "(group 1 has it), "
        "name it in one");
  CHECK(optimizer.groups() == 2);
  CHECK(error_of([&] { optimizer.add_param_group(other.net.parameters("2.*"), {.lr = 0.1}); }) ==
        "gpunet::optim::Adam::add_param_group: the parameters are those of another model (the "
        "optimizer does not "
        "update it), take them from the optimizer's");
  CHECK(error_of([&] {
          optimizer.add_param_group(lesson.net.parameters("2.weight"), {.lr = -1});
        }) == "gpunet::optim::Adam: invalid learning rate -1 (want 0 or more, and finite)");
  CHECK(error_of([&] {
          optimizer.add_param_group(lesson.net.parameters("2.weight"), {.weight_decay = -1});
        }) == "gpunet::optim::Adam: invalid weight_decay value -1 (want 0 or more, and finite)");
  CHECK(optimizer.groups() == 2);
  CHECK(error_of([&] { optimizer.group(2); }) ==
        "gpunet::optim::Adam::group: group 2 of 2 (want 0 to 1), add it by add_param_group");
  CHECK(error_of([&] { optimizer.group(-1); }) != "");
}
