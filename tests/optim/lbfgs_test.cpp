#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/optim/lbfgs.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

using Net = nn::Sequential<nn::Input<4>, nn::Linear<3>, nn::Tanh, nn::Linear<2>>;

// As in reference/lbfgs.py.
const OptimizerRun<optim::LBFGSOptions> runs[] = {
    {"defaults", {.lr = 0.1}},
    {"few iterations", {.lr = 0.5, .max_iter = 3}},
    {"a short history", {.lr = 0.3, .max_iter = 6, .history_size = 2}},
    {"strong Wolfe", {.line_search_fn = optim::LineSearch::strong_wolfe}},
    {"strong Wolfe, few iterations",
     {.lr = 0.2,
      .max_iter = 4,
      .history_size = 3,
      .line_search_fn = optim::LineSearch::strong_wolfe}},
    {"strong Wolfe, a large rate",
     {.lr = 50, .max_iter = 5, .line_search_fn = optim::LineSearch::strong_wolfe}},
    {"strong Wolfe, few evaluations",
     {.max_iter = 5, .max_eval = 3, .line_search_fn = optim::LineSearch::strong_wolfe}},
    {"tolerances", {.lr = 0.5, .tolerance_grad = 0.01, .tolerance_change = 0.001}},
};

// The regression of the reference.
template <class D, class T>
struct Regression {
  Regression() {
    int i = 0;
    for (const auto& parameter : net.named_parameters()) {
      const std::vector<T> values = pattern<T>(parameter.sizes.numel(), 5, i++, 17);
      device.upload(net.parameters().data() + parameter.offset, values.data(),
                    values.size() * sizeof(T));
    }
  }
  template <class Optimizer>
  double step(Optimizer& optimizer) {
    return optimizer.step([&] {
      ++evaluations;
      optimizer.zero_grad();
      auto loss = criterion(net(inputs), targets);
      loss.backward();
      return loss;
    });
  }
  std::vector<T> parameters() const {
    const std::vector<T> arena = parameters_of(net);
    std::vector<T> values;
    for (const auto& parameter : net.named_parameters())
      values.insert(values.end(), arena.begin() + parameter.offset,
                    arena.begin() + parameter.offset + parameter.sizes.numel());
    return values;
  }

  D& device = test_device<D>();
  Model<Net, D, T> net{device};
  nn::MSELoss criterion;
  Tensor<T, D> inputs{device, {5, 4}, pattern<T>(20, 7, 3, 23)},
      targets{device, {5, 2}, pattern<T>(10, 3, 1, 11)};
  int evaluations = 0;
};

std::string error_of_lbfgs(const optim::LBFGSOptions& options) {
  return error_of<optim::LBFGS>(options);
}

}  // namespace

// Rounding grows from iteration to iteration. PyTorch's numbers move by the spread if one input is
// rounded once; here every operation of every iteration may be rounded differently.
TEST_CASE_TEMPLATE("steps of LBFGS are PyTorch's", D, GPUNET_TEST_DEVICES) {
  const ReferenceFile file("lbfgs");
  CHECK(file.names().size() == 4 * std::size(runs));
  for (const auto& run : runs) {
    CAPTURE(run.name);
    const std::vector<double> expected = file.values(run.name + ".losses");
    Regression<D, double> regression;
    optim::LBFGS optimizer(regression.net, run.options);
    std::vector<double> losses;
    for (std::size_t i = 0; i < expected.size(); ++i)
      losses.push_back(regression.step(optimizer));
    CHECK(regression.evaluations == file.values<index_t>(run.name + ".evaluations")[0]);
    const std::vector<double> spread = file.values(run.name + ".spread");
    CHECK(relative_error(losses, expected) < 8 * spread[0]);
    CHECK(relative_error(regression.parameters(), file.values(run.name + ".parameters")) <
          8 * spread[1]);
  }
}

TEST_CASE_TEMPLATE("LBFGS finds the minimum of a linear regression, in float", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(4);
  Model<nn::Sequential<nn::Input<2>, nn::Linear<1>>, D> net(device);
  // y = 3 a - 2 b + 0.5
  const Tensor<float, D> x(device, {4, 2}, {0, 0, 1, 0, 0, 1, 1, 1}),
      y(device, {4, 1}, {0.5f, 3.5f, -1.5f, 1.5f});
  optim::LBFGS optimizer(net, {.line_search_fn = optim::LineSearch::strong_wolfe});
  const nn::MSELoss criterion;
  for (int i = 0; i < 2; ++i)
    optimizer.step([&] {
      optimizer.zero_grad();
      auto loss = criterion(net(x), y);
      loss.backward();
      return loss.item();
    });
  const std::vector<float> found = parameters_of(net);
  const double expected[] = {3, -2, 0.5};
  const auto& named = net.named_parameters();
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(found[i < 2 ? i : static_cast<std::size_t>(named[1].offset)] ==
          doctest::Approx(expected[i]).epsilon(1e-4));
}

TEST_CASE("a schedule changes the rate of LBFGS") {
  Regression<Host, double> regression;
  optim::LBFGS optimizer(regression.net, {.lr = 0.5});
  optim::lr_scheduler::StepLR schedule(optimizer, {.step_size = 1, .gamma = 0});
  schedule.step();
  const std::vector<double> before = regression.parameters();
  regression.step(optimizer);
  CHECK(regression.parameters() == before);
}

TEST_CASE("LBFGS refuses what makes no sense") {
  CHECK(error_of_lbfgs({.lr = -1}) ==
        "gpunet::optim::LBFGS: invalid learning rate -1 (want 0 or more, and finite)");
  CHECK(error_of_lbfgs({.max_iter = 0}) ==
        "gpunet::optim::LBFGS: invalid max_iter 0 (want 1 or more)");
  CHECK(error_of_lbfgs({.max_eval = 0}) ==
        "gpunet::optim::LBFGS: invalid max_eval 0 (want 1 or more)");
  CHECK(error_of_lbfgs({.history_size = 0}) ==
        "gpunet::optim::LBFGS: invalid history_size 0 (want 1 or more)");
  CHECK(error_of_lbfgs({.tolerance_grad = -1}) ==
        "gpunet::optim::LBFGS: invalid tolerance_grad -1 (want 0 or more, and finite)");
  CHECK(error_of_lbfgs({.tolerance_change = std::nan("")}) ==
        "gpunet::optim::LBFGS: invalid tolerance_change nan (want 0 or more, and finite)");
  Regression<Host, float> regression;
  optim::LBFGS optimizer(regression.net, {});
  CHECK(contains(error_of([&] {
                   optimizer.step([&] {
                     return regression.criterion(regression.net(regression.inputs),
                                                 regression.targets);
                   });
                 }),
                 "gpunet::optim::LBFGS::step: the function has computed no gradients"));
}
