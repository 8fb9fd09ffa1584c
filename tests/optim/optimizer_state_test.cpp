// The states of optimizers in files of PyTorch, against tests/reference/optimizer_states.pth.
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/files.hpp>

#include "io/temp_folder.hpp"
#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "test_config.hpp"

using namespace gpunet;

namespace {

const std::string states = GPUNET_TEST_REFERENCE "/optimizer_states.pth";

template <class D>
Network<D, double> new_net(D& device) {
  return Network<D, double>(device, [](nn::Value x) { return linear(x, 2); }, {3});
}

// Calls f(name, optimizer_of), which makes the optimizer of a case for a network.
template <class D, class F>
void each_case(F f) {
  using Net = Network<D, double>;
  f("SGD", [](Net& net) {
    return optim::SGD(net, {.lr = 0.5, .momentum = 0.1, .dampening = 0.25, .weight_decay = 0.5});
  });
  f("Nesterov",
    [](Net& net) { return optim::SGD(net, {.lr = 0.5, .momentum = 0.1, .nesterov = true}); });
  f("Plain", [](Net& net) { return optim::SGD(net, {.lr = 0.5}); });
  f("Adam", [](Net& net) {
    return optim::Adam(net, {.lr = 0.5, .betas = {0.5, 0.99}, .amsgrad = true});
  });
  f("AdamW",
    [](Net& net) { return optim::AdamW(net, {.lr = 0.5, .eps = 1e-7, .weight_decay = 0.5}); });
  f("RMSprop",
    [](Net& net) { return optim::RMSprop(net, {.lr = 0.5, .momentum = 0.1, .centered = true}); });
  f("Adagrad", [](Net& net) {
    return optim::Adagrad(net, {.lr = 0.5, .lr_decay = 0.1, .initial_accumulator_value = 0.5});
  });
  f("Adadelta", [](Net& net) { return optim::Adadelta(net, {.lr = 0.5, .rho = 0.8}); });
  f("NAdam", [](Net& net) { return optim::NAdam(net, {.lr = 0.5}); });
  f("RAdam",
    [](Net& net) { return optim::RAdam(net, {.lr = 0.5, .decoupled_weight_decay = true}); });
  f("Groups", [](Net& net) {
    optim::Adam optimizer(net, {.lr = 0.5});
    optimizer.add_param_group(net.parameters("*.bias"), {});
    return optimizer;
  });
}

// The numbers and tensors of an optimizer's state that gpunet has too, by name.
std::map<std::string, std::vector<double>> values_of(const std::string& path,
                                                     const std::string& key) {
  std::map<std::string, std::vector<double>> out;
  const io::TensorFile file = io::read_tensors(path, {.numbers = true});
  for (const io::TensorEntry& entry : file.entries()) {
    if (!entry.name.starts_with(key)) continue;
    const std::string name = entry.name.substr(key.size());
    if (name.ends_with(".maximize") || name.ends_with(".capturable") ||
        name.ends_with(".differentiable"))
      continue;
    std::vector<double>& values = out[name];
    values.resize(static_cast<std::size_t>(entry.sizes.numel()));
    io::copy_as(entry, std::span(values));
  }
  return out;
}

}  // namespace

TEST_CASE_TEMPLATE("an optimizer goes on from the state that PyTorch saved, and writes it again", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto x = io::read_tensor<double>(device, states, "x"),
             y = io::read_tensor<double>(device, states, "y");
  const TempFolder own;
  const char* keep = std::getenv("GPUNET_KEEP_STATES");
  const std::string folder = keep ? std::string(keep) + "/" : own / "";
  each_case<D>([&](const std::string& name, auto optimizer_of) {
    CAPTURE(name);
    Network<D, double> net = new_net(device);
    auto optimizer = optimizer_of(net);
    io::load(net, states, {.key = name + ".model", .match = io::by_order});
    io::load(optimizer, states, {.key = name + ".optimizer"});

    const std::string path = folder + name + ".pth";
    io::save(optimizer, path);
    const auto written = values_of(path, ""), read = values_of(states, name + ".optimizer.");
    CHECK(written.size() == read.size());
    for (const auto& entry : read) {
      const std::string& key = entry.first;
      const std::vector<double>& values = entry.second;
      CAPTURE(key);
      const auto found = written.find(key);
      REQUIRE(found != written.end());
      CHECK(same_bits(found->second, values));
    }

    const nn::MSELoss loss;
    for (int i = 0; i < 3; ++i) {
      optimizer.zero_grad();
      auto of_step = loss(net(x), y);
      of_step.backward();
      optimizer.step();
    }
    Network<D, double> after = new_net(device);
    io::load(after, states, {.key = name + ".after", .match = io::by_order});
    const std::vector<double> ours = parameters_of(net), theirs = parameters_of(after);
    // Rounding of three steps; PyTorch stores NAdam's product as a float.
    const double bound = name == "NAdam" ? 1e-7 : 1e-14;
    for (std::size_t i = 0; i < ours.size(); ++i)
      CHECK(std::abs(ours[i] - theirs[i]) <= bound);
  });
}

TEST_CASE("a state that is not the optimizer's changes nothing") {
  Host& device = test_device<Host>();
  const TempFolder folder;
  Network<Host, double> net = new_net(device);
  optim::Adam adam(net, {.lr = 0.25});
  const auto refused = [&](auto& optimizer, const std::string& path, const std::string& key) {
    const double lr = optimizer.lr();
    const std::string error = error_of([&] { io::load(optimizer, path, {.key = key}); });
    CHECK(optimizer.lr() == lr);
    return error;
  };
  CHECK(contains(refused(adam, states, "Adam.optimizer"),
                 "has param_groups.0.betas.1 = 0.99 (the optimizer has 0.999), "
                 "construct it with the options that were saved"));
  CHECK(contains(
      refused(adam, states, "SGD.optimizer"),
      "has no param_groups.0.betas.1 (it was saved by another optimizer), construct that one"));
  CHECK(contains(refused(adam, states, "RAdam.optimizer"), "has no param_groups.0.amsgrad"));
  CHECK(contains(refused(adam, states, "Groups.optimizer"),
                 "has 1 parameters in param_groups.0.params (the optimizer has 2 there)"));
  CHECK(contains(refused(adam, states, "Adam"), "has no state of an optimizer under \"Adam\""));
  CHECK(contains(refused(adam, states, ""),
                 "has no state of an optimizer (param_groups is missing)"));
  optim::SGD sgd(net, {.lr = 0.25, .momentum = 0.5});
  CHECK(contains(refused(sgd, states, "RMSprop.optimizer"), "has no param_groups.0.dampening"));
  optim::SGD plain(net, {.lr = 0.25});
  CHECK(contains(refused(plain, states, "Nesterov.optimizer"), "has param_groups.0.nesterov = 1"));
  optim::Adagrad adagrad(net, {.lr_decay = 0.1, .initial_accumulator_value = 0.5});
  CHECK(contains(refused(adagrad, states, "RMSprop.optimizer"), "has no param_groups.0.lr_decay"));
  Network<Host, double> wide(device, [](nn::Value x) { return linear(x, 3); }, {3});
  optim::AdamW other(wide, {.eps = 1e-7});
  CHECK(contains(refused(other, states, "AdamW.optimizer"),
                 "has state.0.exp_avg of shape [2, 3] (want [3, 3])"));
  CHECK(contains(error_of([&] { io::save(adam, folder / "adam.safetensors"); }),
                 "name it .pth or .pt"));
  CHECK(contains(error_of([&] { io::load(adam, folder / "none.pth"); }), "none.pth"));
}

TEST_CASE("a state of another kind of optimizer is refused although it has the same arrays") {
  Host& device = test_device<Host>();
  const TempFolder folder;
  Network<Host, double> net = new_net(device);
  optim::Adam adam(net);
  optim::RAdam radam(net);
  optim::NAdam nadam(net);
  optim::SGD sgd(net, {.momentum = 0.5});
  optim::RMSprop rmsprop(net);
  const auto refused = [&](auto& from, auto& to) {
    io::save(from, folder / "optimizer.pth");
    return error_of([&] { io::load(to, folder / "optimizer.pth"); });
  };
  CHECK(contains(refused(radam, adam),
                 "has no param_groups.0.amsgrad (it was saved by another optimizer)"));
  CHECK(contains(refused(nadam, adam), "has no param_groups.0.amsgrad"));
  CHECK(
      contains(refused(adam, radam), "has param_groups.0.amsgrad, which this optimizer does not"));
  CHECK(contains(refused(nadam, radam),
                 "has param_groups.0.momentum_decay, which this optimizer does not"));
  CHECK(contains(refused(adam, nadam), "has no param_groups.0.momentum_decay"));
  CHECK(contains(refused(sgd, rmsprop), "has no param_groups.0.alpha"));
  CHECK(contains(refused(rmsprop, sgd), "has no param_groups.0.dampening"));
  CHECK(refused(adam, adam) == "");
}

TEST_CASE("a state of an optimizer that maximizes is refused") {
  Network<Host, double> net = new_net(test_device<Host>());
  optim::SGD sgd(net, {.lr = 0.5});
  CHECK(contains(error_of([&] { io::load(sgd, GPUNET_TEST_REFERENCE "/optimizer_maximize.pth"); }),
                 "has param_groups.0.maximize = 1 (the optimizers of gpunet minimize), train on "
                 "the negative loss"));
  CHECK(sgd.lr() == 0.5);
}

TEST_CASE("a checkpoint of an optimizer with other options is refused") {
  Host& device = test_device<Host>();
  const TempFolder folder;
  Network<Host, double> net = new_net(device);
  optim::Adam adam(net, {.eps = 1e-6}), other(net, {.eps = 1e-8});
  io::Checkpoint saved(folder / "run.safetensors"), read(folder / "run.safetensors");
  saved.add("optimizer", adam).save();
  read.add("optimizer", other);
  CHECK(contains(error_of([&] { read.load(); }),
                 "has the option optimizer.param_groups.0.eps = 1e-06 (here it is 1e-08), "
                 "construct the object with the options that it had"));
}
