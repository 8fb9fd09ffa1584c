#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/optim/swa_utils.hpp>

#include "support/errors.hpp"
#include "support/reference_file.hpp"
#include "support/schedule_reference.hpp"
#include "support/small_training.hpp"

using namespace gpunet;
using namespace gpunet::optim::swa_utils;

namespace {

using Net = nn::Sequential<nn::Input<4>, nn::Linear<3>, nn::BatchNorm1d>;

// Copies the numbers of update k of the reference into an array of the model.
template <class D, class T>
void set_pattern(D& device, T* at, index_t n, int k, int start) {
  std::vector<T> values = pattern<T>(n, 5 + k, start, 17);
  for (T& value : values)
    value = value / static_cast<T>(3 + k);
  device.upload(at, values.data(), values.size() * sizeof(T));
}

template <class M>
void set_update(M& net, int k) {
  for (index_t i : {0, 1}) {
    const auto& parameter = net.named_parameters()[static_cast<std::size_t>(i)];
    set_pattern(net.device(), net.parameters().data() + parameter.offset, parameter.sizes.numel(),
                k, static_cast<int>(i));
    const auto& buffer = net.named_buffers()[static_cast<std::size_t>(i)];
    set_pattern(net.device(), net.buffers().data() + buffer.offset, 3, k, static_cast<int>(i) + 2);
  }
}

template <class M>
std::vector<double> numbers_of(const M& net) {
  using T = typename M::value_type;
  std::vector<double> all;
  const auto add = [&](const T* at, index_t n) {
    std::vector<T> values(static_cast<std::size_t>(n));
    net.device().download(values.data(), at, values.size() * sizeof(T));
    all.insert(all.end(), values.begin(), values.end());
  };
  for (std::size_t i : {0u, 1u})
    add(net.parameters().data() + net.named_parameters()[i].offset,
        net.named_parameters()[i].sizes.numel());
  for (std::size_t i : {0u, 1u})
    add(net.buffers().data() + net.named_buffers()[i].offset, 3);
  return all;
}

template <class T, class D>
std::vector<double> averages(const AveragedModelOptions& options) {
  Model<Net, D, T> net(test_device<D>());
  AveragedModel average(net, options);
  for (int k = 0; k < 6; ++k) {
    set_update(net, k);
    average.update_parameters(net);
  }
  CHECK(average.n_averaged() == 6);
  return numbers_of(average.module());
}

template <class D>
void check_averages(const std::optional<MultiAvgFn>& avg_fn, const std::string& name,
                    bool use_buffers = true) {
  static const ReferenceFile file("averaged_models");
  const AveragedModelOptions options{avg_fn, use_buffers};
  CHECK(averages<double, D>(options) == file.values(name + ".double"));
  CHECK(averages<float, D>(options) == file.values(name + ".float"));
}

}  // namespace

TEST_CASE_TEMPLATE("averages of weights are bitwise PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_averages<D>(get_ema_multi_avg_fn(), "ema_slow");
  check_averages<D>(get_ema_multi_avg_fn(0.9), "ema");
  check_averages<D>(get_ema_multi_avg_fn(0.3), "ema_fast");
  check_averages<D>(get_ema_multi_avg_fn(0), "ema_of_last");
  check_averages<D>(get_ema_multi_avg_fn(1), "ema_of_first");
  check_averages<D>(std::nullopt, "swa");
  check_averages<D>(get_swa_multi_avg_fn(), "swa_by_lerp", false);
  check_averages<D>(get_ema_multi_avg_fn(0.9), "buffers_copied", false);
}

TEST_CASE_TEMPLATE("an average is a model of its own, with the counters of the other", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<Net, D> net(device);
  AveragedModel ema(net, {.multi_avg_fn = get_ema_multi_avg_fn(0.5), .use_buffers = true});
  const auto inputs = randn(device, {5, 4});
  for (int i = 0; i < 3; ++i) {
    net(inputs);
    ema.update_parameters(net);
  }
  index_t batches = 0;
  device.download(&batches, ema.module().buffers().data() + net.named_buffers()[2].offset,
                  sizeof batches);
  CHECK(batches == 3);
  ema.module().eval();
  CHECK(net.mode() == nn::Mode::train);
  CHECK(ema(inputs).sizes() == Sizes{5, 3});
  auto loss = nn::CrossEntropyLoss()(ema(inputs), Tensor<label_t, D>(device, {5}, {0, 1, 2, 0, 1}));
  ema.update_parameters(net);
  CHECK(
      contains(error_of([&] { loss.backward(); }), "the parameters have changed since this loss"));
}

TEST_CASE("networks that are functions have averages too") {
  Network net(test_device<Host>(), [](nn::Value x) { return linear(x, 3); }, {4});
  AveragedModel swa(net);
  swa.update_parameters(net);
  CHECK(same_bits(parameters_of(swa.module()), parameters_of(net)));
}

TEST_CASE_TEMPLATE("fit averages after every update or epoch, as the loop", D,
                   GPUNET_TEST_DEVICES) {
  Lesson<D> looped(0.1, false), fitted(0.1, false);
  const AveragedModelOptions options{.multi_avg_fn = get_ema_multi_avg_fn(0.75)};
  AveragedModel ema(looped.net, options), fit_ema(fitted.net, options);
  AveragedModel swa(looped.net), fit_swa(fitted.net);
  for (int epoch = 0; epoch < 2; ++epoch) {
    int i = 0;
    for (auto [inputs, labels] : looped.loader.to(looped.device)) {
      if (i % 2 == 0) looped.optimizer.zero_grad();
      looped.criterion(looped.net(inputs), labels).backward(0.5);
      if (++i % 2 == 1 && i != 3) continue;
      looped.optimizer.step();
      ema.update_parameters(looped.net);
    }
    swa.update_parameters(looped.net);
  }
  fitted.fit({.epochs = 2, .accumulate = 2}, train::EachStep(fit_ema), train::EachEpoch(fit_swa));
  CHECK(fit_ema.n_averaged() == 4);
  CHECK(fit_swa.n_averaged() == 2);
  CHECK(same_bits(parameters_of(fit_ema.module()), parameters_of(ema.module())));
  CHECK(same_bits(parameters_of(fit_swa.module()), parameters_of(swa.module())));
  CHECK(!same_bits(parameters_of(swa.module()), parameters_of(ema.module())));
}

TEST_CASE("fit validates an average") {
  Lesson<Host> lesson;
  AveragedModel ema(lesson.net, {.multi_avg_fn = get_ema_multi_avg_fn(0.5)});
  const auto history = lesson.fit({.epochs = 2}, train::EachStep(ema),
                                  train::Validation(lesson.test_loader, ema.module()));
  const auto of_average = train::evaluate(ema.module(), lesson.criterion, lesson.test_loader);
  CHECK(history.epochs.back().val_loss == of_average.loss);
  CHECK(of_average.loss != train::evaluate(lesson.net, lesson.criterion, lesson.test_loader).loss);
  CHECK(ema.module().mode() == nn::Mode::train);
}

TEST_CASE("averages that make no sense") {
  Model<Net, Host> net(test_device<Host>());
  for (double decay : {-0.1, 1.1, std::nan("")})
    CHECK(error_of([&] { get_ema_multi_avg_fn(decay); }) ==
          concat("gpunet::optim::swa_utils::get_ema_multi_avg_fn: invalid decay value ", decay,
                 " (want 0 to 1)"));
  CHECK(
      contains(error_of([&] { AveragedModel ema(net, {.multi_avg_fn = MultiAvgFn{.decay = 2}}); }),
               "invalid decay value 2"));
  AveragedModel swa(net);
  Model<nn::Sequential<nn::Input<4>, nn::Linear<2>>, Host> other(test_device<Host>());
  CHECK(contains(error_of([&] { swa.update_parameters(other); }),
                 "update_parameters: 0.weight has shape"));
  Host second({.threads = 1});
  const auto elsewhere = net.to(second);
  CHECK(contains(error_of([&] { swa.update_parameters(elsewhere); }),
                 "the model is on another device than the one that was copied"));
}

TEST_CASE("the learning rates of SWALR are PyTorch's") {
  const auto check = [](const SWALROptions& options, const std::string& name) {
    Lesson<Host> lesson(0.1);
    SWALR schedule(lesson.optimizer, options);
    const std::vector<double> rates = schedule_reference(name).lr;
    for (double lr : rates) {
      CHECK(std::abs(lesson.optimizer.lr() - lr) <= 1e-15 * lr);
      schedule.step();
    }
  };
  check({}, "swa_lr");
  check(
      {.swa_lr = 0.02, .anneal_epochs = 7, .anneal_strategy = optim::lr_scheduler::Anneal::linear},
      "swa_lr_linear");
  check({.swa_lr = 0.02, .anneal_epochs = 0}, "swa_lr_at_once");
  Lesson<Host> lesson;
  CHECK(error_of([&] { SWALR(lesson.optimizer, {.swa_lr = -1}); }) ==
        "gpunet::optim::swa_utils::SWALR: invalid swa_lr -1 (want 0 or more, and finite)");
  CHECK(error_of([&] { SWALR(lesson.optimizer, {.anneal_epochs = -1}); }) ==
        "gpunet::optim::swa_utils::SWALR: invalid anneal_epochs -1 (want 0 or more)");
}
