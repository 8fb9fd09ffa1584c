// Networks that share their parameters.
#include <doctest/doctest.h>
#include <optional>
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
using nn::Value;

namespace {

// The networks of reference/gan.py.
Value generator(const Value& z) {
  return nn::shared(
      "generator", [](const Value& x) { return linear(tanh(linear(x, 6)), 2); }, z);
}
Value discriminator(const Value& x) {
  return nn::shared(
      "discriminator", [](const Value& v) { return linear(leaky_relu(linear(v, 5), 0.2), 1); }, x);
}

const auto of_generator = [](const Value& z) {
  const Value logits = discriminator(generator(z));
  return mean(softplus(-logits));
};
const auto of_discriminator = [](const Value& z, const Value& x) {
  const Value real = discriminator(x), fake = discriminator(detach(generator(z)));
  return mean(softplus(-real)) + mean(softplus(fake));
};

enum class By { loop, step };

template <class D>
void check_gan(By by) {
  D& device = test_device<D>();
  Network<D, double> d_loss(device, of_discriminator, {2}, {2});
  Network<D, double> g_loss(d_loss, of_generator, {2});
  g_loss.parameters("discriminator").requires_grad(false);
  std::vector<double> arena(static_cast<std::size_t>(d_loss.parameters().numel()));
  // In the order of the reference: the generator first.
  index_t number = 0;
  for (const char* part : {"generator", "discriminator"})
    for (const int i : d_loss.parameters(part).indices()) {
      const ParameterInfo& parameter = d_loss.named_parameters()[static_cast<std::size_t>(i)];
      const auto values = pattern<double>(parameter.sizes.numel(), 5 + 2 * number, number, 17);
      std::copy(values.begin(), values.end(), arena.data() + parameter.offset);
      ++number;
    }
  device.upload(d_loss.parameters().data(), arena.data(), arena.size() * sizeof(double));
  optim::Adam d(d_loss, {.lr = 0.02, .betas = {0.5, 0.999}}),
      g(g_loss, {.lr = 0.02, .betas = {0.5, 0.999}});
  train::Step d_step(d_loss, nn::OutputLoss{}, d), g_step(g_loss, nn::OutputLoss{}, g);
  const Tensor<double, D> noise(device, {4, 2}, pattern<double>(8, 7, 3, 23));
  const Tensor<double, D> real(device, {4, 2}, pattern<double>(8, 5, 1, 11));
  std::vector<double> losses;
  for (int i = 0; i < 20; ++i) {
    losses.clear();
    if (by == By::step) {
      losses.push_back(d_step({noise, real}).item());
      losses.push_back(g_step(noise).item());
      continue;
    }
    d.zero_grad();
    const auto loss_d = mean(d_loss(noise, real));
    losses.push_back(loss_d.item());
    loss_d.backward();
    d.step();
    g.zero_grad();
    const auto loss_g = mean(g_loss(noise));
    losses.push_back(loss_g.item());
    loss_g.backward();
    g.step();
  }
  CHECK(relative_error(losses, ReferenceFile("gan").values("losses")) < 1e-12);
  arena = parameters_of(d_loss);
  std::vector<double> values;
  for (const char* part : {"generator", "discriminator"})
    for (const int i : d_loss.parameters(part).indices()) {
      const ParameterInfo& parameter = d_loss.named_parameters()[static_cast<std::size_t>(i)];
      values.insert(values.end(), arena.data() + parameter.offset,
                    arena.data() + parameter.offset + parameter.sizes.numel());
    }
  CHECK(relative_error(values, ReferenceFile("gan").values("parameters")) < 1e-12);
}

}  // namespace

TEST_CASE_TEMPLATE(
    "a generator learns through a discriminator, each with its optimizer, as in PyTorch", D,
    GPUNET_TEST_DEVICES) {
  check_gan<D>(By::loop);
  check_gan<D>(By::step);
}

TEST_CASE_TEMPLATE("networks that share parameters read and write the same", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  std::optional<Network<D, double>> both;
  both.emplace(device, of_discriminator, Sizes{2}, Sizes{2});
  Network<D, double> alone(*both, [](Value z) { return generator(z); }, {2});
  CHECK(alone.named_parameters().size() == 4);
  CHECK(alone.parameters().data() == both->parameters().data());
  const Tensor<double, D> z(device, {3, 2}, pattern<double>(6, 7, 3, 23));
  const auto before = alone(z).to_vector();
  nn::init::zeros_(get_parameter(*both, "generator.1.weight"));
  nn::init::constant_(get_parameter(*both, "generator.1.bias"), 3);
  CHECK(alone(z).to_vector() == std::vector<double>(6, 3.0));
  CHECK(before != alone(z).to_vector());
  Network<D, double> moved(std::move(*both));
  both.reset();
  CHECK(alone(z).to_vector() == std::vector<double>(6, 3.0));
  // A copy has parameters of its own, in an arena of its own.
  Network<D, double> copy(device, [](Value z_) { return generator(z_); }, {2});
  copy.copy_state(alone);
  CHECK(copy(z).to_vector() == std::vector<double>(6, 3.0));
  lerp(copy, alone, 0.5);
  CHECK(copy(z).to_vector() == std::vector<double>(6, 3.0));
}

TEST_CASE("an update of shared parameters makes the losses of all networks stale") {
  Host& host = test_device<Host>();
  Network<Host, double> d_loss(host, of_discriminator, {2}, {2});
  Network<Host, double> g_loss(d_loss, of_generator, {2});
  optim::SGD d(d_loss, {.lr = 0.1});
  const Tensor<double, Host> z(host, {3, 2}, pattern<double>(6, 7, 3, 23));
  const auto loss = mean(g_loss(z));
  mean(d_loss(z, z)).backward();
  d.step();
  CHECK(error_of([&] {
          loss.backward();
        }).find("gpunet::LossValue::backward: the parameters have changed") == 0);
}

TEST_CASE("networks that cannot share parameters") {
  Host& host = test_device<Host>();
  Network<Host, double> one(host, [](Value x) { return linear(x, 3, {.name = "fc"}); }, {2});
  CHECK(error_of([&] {
          Network<Host, double>(one, [](Value x) { return linear(x, 3, {.name = "head"}); }, {2});
        }) ==
        "gpunet::Model: the other network has no head.weight to share, give the parts that are "
        "shared the same "
        "names");
  CHECK(error_of([&] {
          Network<Host, double>(one, [](Value x) { return linear(x, 4, {.name = "fc"}); }, {2});
        }) ==
        "gpunet::Model: fc.weight has shape [4, 2] here and [3, 2] in the other network (want the "
        "same to share it), "
        "use the same layer, or another name");
}

TEST_CASE_TEMPLATE("averages of networks that share their parameters are those of their own", D,
                   GPUNET_TEST_DEVICES) {
  using namespace optim::swa_utils;
  D& device = test_device<D>();
  manual_seed(6);
  Network<D, double> d_loss(device, of_discriminator, {2}, {2});
  Network<D, double> sample(d_loss, generator, {2}), alone(device, generator, {2});
  AveragedModel ema(sample, {.multi_avg_fn = get_ema_multi_avg_fn(0.75)}),
      own(alone, {.multi_avg_fn = get_ema_multi_avg_fn(0.75)});
  for (int i = 0; i < 3; ++i) {
    const std::vector<double> values =
        pattern<double>(d_loss.parameters().numel(), 5 + 2 * i, i, 17);
    device.upload(d_loss.parameters().data(), values.data(), values.size() * sizeof(double));
    alone.copy_state(sample);
    ema.update_parameters(sample);
    own.update_parameters(i % 2 == 0 ? alone : sample);  // in another arena, at another place
  }
  const Tensor<double, D> z(device, {4, 2}, pattern<double>(8, 3, 1, 11));
  const auto of_average = ema(z).to_vector();
  CHECK(of_average == own(z).to_vector());
  CHECK(of_average != sample(z).tensor().to_vector());
  CHECK(error_of([&] { ema.update_parameters(d_loss); })
            .find("gpunet::optim::swa_utils::AveragedModel::update_parameters: the other network "
                  "has discriminator") == 0);
}
