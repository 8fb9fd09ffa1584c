#include <algorithm>
#include <cmath>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/loss_reference.hpp"

using namespace gpunet;

namespace {

struct Range {
  float low, high;
};

// Compares ten shapes of a loss with PyTorch's `kind`: see reference/losses.py. make(reduction)
// returns the loss.
template <class D, class Make>
void check(const std::string& kind, Range of_x, Range of_t, Make make, bool pairs = false) {
  const std::vector<Sizes> shapes{{1, 1},    {2, 7},  {17, 3},      {3, 33}, {16, 16},
                                  {5, 2, 3}, {33, 2}, {4, 1, 3, 2}, {48, 1}, {7, 19}};
  for (std::size_t number = 0; number < shapes.size(); ++number) {
    const Sizes& shape = shapes[number];
    Generator generator(static_cast<std::uint64_t>(number));
    const std::vector<double> x = doubles(shape.numel(), generator, of_x.low, of_x.high);
    std::vector<double> t = doubles(shape.numel(), generator, of_t.low, of_t.high);
    if (pairs)
      for (double& target : t)
        target = target > 0 ? 1 : -1;
    check_loss<D>(kind + "." + std::to_string(number), shape, make, x, t);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("ten shapes of losses of two arrays are PyTorch's", D, GPUNET_TEST_DEVICES) {
  const Range any{-4, 4}, probabilities{0, 1}, logarithms{-3, 0};
  using R = nn::Reduction;
  check<D>("mse", any, any, [](R r) { return nn::MSELoss({.reduction = r}); });
  check<D>("l1", any, any, [](R r) { return nn::L1Loss({.reduction = r}); });
  check<D>("smooth_l1", any, any,
           [](R r) { return nn::SmoothL1Loss({.reduction = r, .beta = 0.7}); });
  check<D>("smooth_l1_0", any, any,
           [](R r) { return nn::SmoothL1Loss({.reduction = r, .beta = 0}); });
  check<D>("huber", any, any, [](R r) { return nn::HuberLoss({.reduction = r, .delta = 1.3}); });
  check<D>("bce", probabilities, probabilities, [](R r) { return nn::BCELoss({.reduction = r}); });
  check<D>("bce_with_logits", any, probabilities,
           [](R r) { return nn::BCEWithLogitsLoss({.reduction = r}); });
  check<D>("bce_pos_weight", any, probabilities,
           [](R r) { return nn::BCEWithLogitsLoss({.reduction = r, .pos_weight = 2.5}); });
  check<D>("kl_div", logarithms, probabilities,
           [](R r) { return nn::KLDivLoss({.reduction = r}); });
  check<D>("kl_div_log", logarithms, logarithms,
           [](R r) { return nn::KLDivLoss({.reduction = r, .log_target = true}); });
  check<D>(
      "hinge", any, any,
      [](R r) { return nn::HingeEmbeddingLoss({.reduction = r, .margin = 1.5}); }, true);
  const Range counts{0, 9}, rates{0, 4};
  check<D>("poisson", any, counts, [](R r) { return nn::PoissonNLLLoss({.reduction = r}); });
  check<D>("poisson_full", any, counts,
           [](R r) { return nn::PoissonNLLLoss({.full = true, .reduction = r}); });
  check<D>("poisson_rate", rates, counts, [](R r) {
    return nn::PoissonNLLLoss({.log_input = false, .full = true, .eps = 1e-3, .reduction = r});
  });
}

TEST_CASE_TEMPLATE("gradients of losses of two arrays", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const nn::LossRange any{-3, 3, -3, 3}, probabilities{0.1, 0.9, 0, 1}, logarithms{-3, 0, -3, 0};
  for (const Sizes& output : {Sizes{1}, Sizes{7}, Sizes{2, 3}}) {
    CAPTURE(to_string(output));
    check_loss_gradients(device, nn::MSELoss{}, output, any);
    check_loss_gradients(device, nn::BCELoss({.reduction = nn::Reduction::sum}), output,
                         probabilities);
    check_loss_gradients(device, nn::BCEWithLogitsLoss({.pos_weight = 3}), output, {-3, 3, 0, 1});
    if (output[0] == 2)
      check_loss_gradients(device, nn::BCEWithLogitsLoss({.pos_weight = {3, 0.5}}), output,
                           {-3, 3, 0, 1});
    check_loss_gradients(device, nn::KLDivLoss({.reduction = nn::Reduction::batchmean}), output,
                         {-3, 0, 0, 1});
    check_loss_gradients(device, nn::KLDivLoss({.log_target = true}), output, logarithms);
    check_loss_gradients(device, nn::PoissonNLLLoss({.full = true}), output, {-3, 3, 0, 9});
    check_loss_gradients(device, nn::PoissonNLLLoss({.log_input = false}), output, {1, 3, 0, 9});
    // Without kinks between outputs and targets.
    check_loss_gradients(device, nn::L1Loss{}, output, {1, 3, -3, 0});
    check_loss_gradients(device, nn::SmoothL1Loss({.beta = 0.5}), output, {1, 3, -3, 0});
    check_loss_gradients(device, nn::SmoothL1Loss({.beta = 9}), output, any);
    check_loss_gradients(device, nn::HuberLoss({.delta = 0.5}), output, {1, 3, -3, 0});
    check_loss_gradients(device, nn::HuberLoss({.delta = 9}), output, any);
  }
}

TEST_CASE("the batchmean of KLDivLoss is PyTorch's") {
  Generator generator(1);
  const std::vector<double> x = doubles(14, generator, -3, 0), t = doubles(14, generator, 0, 1);
  const nn::KLDivLoss criterion({.reduction = nn::Reduction::batchmean});
  const LossResult result = run_loss(test_device<Host>(), criterion, {2, 2, 1}, {7}, x, t);
  CHECK(nn::relative_error(result.loss, loss_reference("kl_div.1.batchmean")) <= 1e-6);
}

namespace {

using Regression = nn::Sequential<nn::Input<3>, nn::Linear<8>, nn::Tanh, nn::Linear<2>>;

// Losses and parameters of a few training steps with any loss, by Step or by a loop.
template <class D, class Loss, class Targets>
std::vector<float> train_on(D& device, const Loss& criterion, const Tensor<float, D>& inputs,
                            const Targets& targets, bool by_step) {
  manual_seed(3);
  Model<Regression, D> net(device);
  optim::SGD optimizer(net, {.lr = 0.05f, .momentum = 0.9f});
  train::Step step(net, criterion, optimizer);
  std::vector<float> results;
  for (int i = 0; i < 5; ++i) {
    if (by_step) {
      results.push_back(step(inputs, targets).item());
      continue;
    }
    optimizer.zero_grad();
    auto loss = criterion(net(inputs), targets);
    loss.backward();
    optimizer.step();
    results.push_back(loss.item());
  }
  const std::vector<float> weights = parameters_of(net);
  results.insert(results.end(), weights.begin(), weights.end());
  return results;
}

}  // namespace

TEST_CASE_TEMPLATE("a step with any loss leaves the bits of the loop", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (index_t batch : {1, 5, 16, 37}) {
    CAPTURE(batch);
    Generator generator(static_cast<std::uint64_t>(batch));
    const Tensor<float, D> x(device, {batch, 3}, random_values<float>(3 * batch, generator, -1, 1));
    const Tensor<float, D> t(device, {batch, 2}, random_values<float>(2 * batch, generator, 0, 1));
    std::vector<label_t> labels;
    for (index_t n = 0; n < batch; ++n)
      labels.push_back(static_cast<label_t>(n % 2));
    const Tensor<label_t, D> classes(device, {batch}, labels);
    const auto check = [&](const auto& criterion, const auto& targets) {
      CHECK(train_on(device, criterion, x, targets, true) ==
            train_on(device, criterion, x, targets, false));
    };
    check(nn::MSELoss{}, t);
    check(nn::HuberLoss({.reduction = nn::Reduction::sum, .delta = 0.1}), t);
    check(nn::BCEWithLogitsLoss{}, t);
    check(nn::SoftCrossEntropyLoss{}, t);
    check(nn::CrossEntropyLoss({.weight = {0.25, 3}}), classes);
    if (batch > 1)
      check(nn::CrossEntropyLoss({.ignore_index = 1, .label_smoothing = 0.1}), classes);
  }
}

TEST_CASE_TEMPLATE("the gradient of the sum is that of the mean times the number of outputs", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(3);
  Model<Regression, D, double> net(device);
  Generator generator(1);
  const Tensor<double, D> x(device, {7, 3}, random_values<double>(21, generator, -1.0, 1.0));
  const Tensor<double, D> t(device, {7, 2}, random_values<double>(14, generator, -1.0, 1.0));
  const auto gradient = [&](nn::Reduction reduction) {
    net.zero_grad();
    nn::MSELoss criterion({.reduction = reduction});
    criterion(net(x), t).backward();
    std::vector<double> all(static_cast<std::size_t>(net.parameters().numel()));
    device.download(all.data(), net.gradients().data(), all.size() * sizeof(double));
    return all;
  };
  std::vector<double> mean = gradient(nn::Reduction::mean),
                      batchmean = gradient(nn::Reduction::batchmean);
  for (double& value : mean)
    value *= 14;
  for (double& value : batchmean)
    value *= 7;
  CHECK(nn::relative_error(mean, gradient(nn::Reduction::sum)) < 1e-14);
  CHECK(nn::relative_error(batchmean, gradient(nn::Reduction::sum)) < 1e-14);
}

// The arrays of: x = torch.tensor([[[0.5, -1, 2], [1, 0, -0.5]], [[1.5, -2, 0.25], [0.75, 3, -1]]])
// t = torch.tensor([[[0, 1, 1], [1, 0, 1]], [[1, 0, 0.5], [0, 1, 1]]]);
// labels = torch.tensor([[0, 1, 1], [1, 0, 1]])
TEST_CASE_TEMPLATE("losses before the reduction are PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<nn::Sequential<nn::Input<2, 3>, nn::Identity>, D> net(device);
  const Tensor<float, D> x(device, {2, 2, 3}, {0.5, -1, 2, 1, 0, -0.5, 1.5, -2, 0.25, 0.75, 3, -1});
  const Tensor<float, D> t(device, {2, 2, 3}, {0, 1, 1, 1, 0, 1, 1, 0, 0.5, 0, 1, 1});
  const Tensor<label_t, D> labels(device, {2, 3}, {0, 1, 1, 1, 0, 1});
  const auto check = [&](const auto& criterion, const auto& targets, const Sizes& sizes,
                         const std::vector<double>& expected) {
    const Tensor<float, D> losses = criterion.each(net(x), targets);
    CHECK(losses.sizes() == sizes);
    const std::vector<float> values = losses.to_vector();
    CHECK(nn::relative_error(std::vector<double>(values.begin(), values.end()), expected) < 1e-6);
  };
  const auto mean = nn::Reduction::mean, sum = nn::Reduction::sum;
  for (const nn::Reduction r : {mean, sum}) {
    check(nn::MSELoss({.reduction = r}), t, {2, 2, 3},
          {0.25, 4, 1, 0, 0, 2.25, 0.25, 4, 0.0625, 0.5625, 4, 4});
    check(nn::BCEWithLogitsLoss({.reduction = r}), t, {2, 2, 3},
          {0.974077, 1.313262, 0.126928, 0.3132617, 0.6931472, 0.974077, 0.2014133, 0.1269281,
           0.7009394, 1.136871, 0.04858735, 1.313262});
    check(nn::BCEWithLogitsLoss({.reduction = r, .pos_weight = {2, 0.5}}), t, {2, 2, 3},
          {0.974077, 2.626523, 0.253856, 0.1566308, 0.6931472, 0.4870385, 0.4028266, 0.1269281,
           0.9889091, 1.136871, 0.02429368, 0.6566309});
    check(nn::CrossEntropyLoss({.reduction = r}), labels, {2, 3},
          {0.974077, 0.3132617, 2.57889, 1.136871, 5.006715, 1.501929});
    check(nn::CrossEntropyLoss(
              {.reduction = r, .weight = {0.25, 3}, .ignore_index = 0, .label_smoothing = 0.1}),
          labels, {2, 3}, {0, 0.9092115, 7.350822, 3.244918, 0, 4.283647});
    check(nn::SoftCrossEntropyLoss({.reduction = r, .weight = {0.25, 3}}), t, {2, 3},
          {1.422231, 0.3283154, 7.756392, 0.09671775, 0.02014605, 4.537278});
  }
  CHECK(nn::L1Loss({.reduction = nn::Reduction::none}).each(net(x), t).sizes() == Sizes{2, 2, 3});
  CHECK(nn::BCEWithLogitsLoss({.pos_weight = {2, 0.5}})(net(x), t).item() ==
        doctest::Approx(0.7106444));
  CHECK(nn::BCEWithLogitsLoss({.reduction = sum, .pos_weight = {2, 0.5}})(net(x), t).item() ==
        doctest::Approx(8.527733));
}

TEST_CASE_TEMPLATE("losses before the reduction leave a loss as it is", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(3);
  Model<Regression, D> net(device);
  for (const index_t batch : {1, 5, 17}) {
    Generator generator(1);
    const Tensor<float, D> x(device, {batch, 3}, random_values<float>(3 * batch, generator, -1, 1));
    const Tensor<float, D> t(device, {batch, 2}, random_values<float>(2 * batch, generator, 0, 1));
    const auto outputs = net(x);
    const auto loss = nn::MSELoss{}(outputs, t);
    const std::vector<float> losses = nn::L1Loss{}.each(outputs, t).to_vector(),
                             y = outputs.to_vector();
    const std::vector<float> targets = t.to_vector();
    for (std::size_t i = 0; i < losses.size(); ++i)
      CHECK(losses[i] == std::abs(y[i] - targets[i]));
    loss.backward();
    CHECK(loss.item() > 0);
  }
}

TEST_CASE("targets of a wrong shape or value") {
  Host& device = test_device<Host>();
  Model<Regression, Host> net(device);
  const Tensor<float, Host> x(device, {4, 3}, std::vector<float>(12));
  const auto message = [&](const auto& criterion, const Sizes& sizes, float value) {
    const Tensor<float, Host> t(device, sizes,
                                std::vector<float>(static_cast<std::size_t>(sizes.numel()), value));
    try {
      criterion(net(x), t);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message(nn::MSELoss{}, {4}, 0) ==
        "gpunet::Model: targets of shape [4] for a batch of 4 (want [4, 2]), give one of that "
        "shape for each output");
  CHECK(message(nn::MSELoss{}, {4, 2}, 0).empty());
  CHECK(message(nn::BCELoss{}, {4, 2}, 2) ==
        "gpunet::nn::BCELoss: target 2 at 0 of sample 0 of the batch is not a probability (want 0 "
        "to 1), give the "
        "probability of the class");
  CHECK(message(nn::HingeEmbeddingLoss{}, {4, 2}, 0) ==
        "gpunet::nn::HingeEmbeddingLoss: target 0 at 0 of sample 0 of the batch is neither 1 nor "
        "-1, give 1 for "
        "similar "
        "pairs and -1 for others");
}

TEST_CASE("BCELoss of logits is an Error that says what to use") {
  Host device({.threads = 2});
  Model<nn::Sequential<nn::Input<1>, nn::PReLU<>>, Host> net(
      device);  // outputs are the inputs, if those are positive
  const nn::BCELoss criterion;
  for (const index_t batch : {1, 5, 33}) {
    std::vector<float> numbers(static_cast<std::size_t>(batch), 0.5f);
    const Tensor<float, Host> targets(device, {batch, 1}, numbers);
    CHECK(criterion(net(targets), targets).item() == doctest::Approx(std::log(2.0)));
    numbers.back() = 1.5f;
    const Tensor<float, Host> x(device, {batch, 1}, numbers);
    CHECK(error_of([&] { criterion(net(x), targets).item(); }) ==
          "gpunet::nn::BCELoss: output 1.5 of the network is not a probability (want 0 to 1), let "
          "the network end in "
          "Sigmoid, or use BCEWithLogitsLoss");
  }
}

TEST_CASE("BCELoss looks at outputs, not at the padding of a batch, also in a training step") {
  Host device({.threads = 2});
  Model<nn::Sequential<nn::Input<1>, nn::Linear<2>>, Host> net(device);
  for (const auto& info :
       net.named_parameters())  // 0.5 of an input 1; of an input 0, as padding has, no probability
    std::fill_n(net.parameters().data() + info.offset, 2, info.name == "0.bias" ? 2.0f : -1.5f);
  optim::SGD sgd(net, {.lr = 0.01});
  const nn::BCELoss criterion;
  for (const index_t batch : {1, 5, 16, 33}) {
    CAPTURE(batch);
    train::Step step(net, criterion, sgd);
    std::vector<float> numbers(static_cast<std::size_t>(batch), 1);
    const Tensor<float, Host> targets(
        device, {batch, 2}, std::vector<float>(static_cast<std::size_t>(2 * batch), 0.5f));
    const auto loss = [&] {
      return step(Tensor<float, Host>(device, {batch, 1}, numbers), targets).item();
    };
    CHECK(loss() == doctest::Approx(std::log(2.0)));
    numbers.back() = 0;
    CHECK(error_of(loss) ==
          "gpunet::nn::BCELoss: output 2 of the network is not a probability (want 0 to 1), let "
          "the network end in "
          "Sigmoid, or use BCEWithLogitsLoss");
  }
}

TEST_CASE("wrong options of losses") {
  const auto message = [](auto make) {
    try {
      make();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(message([] { nn::SmoothL1Loss({.beta = -1}); }) ==
        "gpunet::nn::SmoothL1Loss: beta -1 (want 0 or more)");
  CHECK(message([] { nn::HuberLoss({.delta = 0}); }) ==
        "gpunet::nn::HuberLoss: delta 0 (want more than 0)");
  CHECK(message([] { nn::BCEWithLogitsLoss({.pos_weight = -1}); }) ==
        "gpunet::nn::BCEWithLogitsLoss: pos_weight -1 (want 0 or more)");
  CHECK(message([] {
          nn::BCEWithLogitsLoss({.pos_weight = {1, 2, 3}}).check_sizes({2, 4});
        }) ==
        "gpunet::nn::BCEWithLogitsLoss: pos_weight has 3 numbers for outputs of [2, 4] (want 1, or "
        "2, one for each "
        "class)");
  CHECK(message([] {
          nn::CrossEntropyLoss({.weight = {1, -2}});
        }) == "gpunet::nn::CrossEntropyLoss: the weight -2 of class 1 (want 0 or more)");
  CHECK(message([] { nn::CrossEntropyLoss({.label_smoothing = 1.5}); }) ==
        "gpunet::nn::CrossEntropyLoss: label_smoothing 1.5 (want 0 to 1)");
  CHECK(message([] { nn::NLLLoss({.label_smoothing = 0.5}); }) ==
        "gpunet::nn::NLLLoss: label_smoothing 0.5 (it is for logits), use CrossEntropyLoss");
}
