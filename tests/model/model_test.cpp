#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

const nn::CrossEntropyLoss criterion;

template <class D>
using Small = Model<SmallNet, D, double>;

// SmallNet with every size given at run time.
auto dynamic_small_net() {
  return nn::Sequential(
      nn::Input<dyn, dyn, dyn>(Shape(Dim(index_t{2}), Dim(index_t{7}), Dim(index_t{6}))),
      nn::Named<"conv", nn::Conv2d<dyn, dyn, nn::Stride<dyn>, nn::Padding<dyn>>>(
          nn::Conv2d(3, 3, 1, 1)),
      nn::ReLU{}, nn::MaxPool2d<2>{}, nn::Flatten{}, nn::Linear(5), nn::ReLU{},
      nn::Named<"out", nn::Linear<>>(nn::Linear(4)));
}

}  // namespace

TEST_CASE_TEMPLATE("the gradient of a batch is the mean of its samples' gradients", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(1);
  Small<D> model(device);
  for (index_t batch : {2, 3, 5, 17, 37}) {
    if (batch > 5 && !std::same_as<D, Host>) continue;  // one slice at any batch size
    CAPTURE(batch);
    Generator generator(batch);
    const TestBatch<double, D> all(device, SmallNet{}, batch, generator);
    criterion(model(all.inputs), all.labels).backward();
    const std::vector<double> gradient = gradients_of(model);
    model.zero_grad();

    const std::vector<double> inputs = all.inputs.to_vector();
    const std::vector<label_t> labels = all.labels.to_vector();
    const auto features = static_cast<std::ptrdiff_t>(inputs.size()) / batch;
    for (index_t n = 0; n < batch; ++n) {
      const std::vector<double> one(inputs.begin() + n * features,
                                    inputs.begin() + (n + 1) * features);
      const Tensor<double, D> input(device, SmallNet{}.input().sizes().with_front(1), one);
      const Tensor<label_t, D> label(device, {1}, {labels.data()[n]});
      criterion(model(input), label).backward();  // adds up
    }
    std::vector<double> sum = gradients_of(model);
    for (double& g : sum)
      g /= static_cast<double>(batch);
    CHECK(relative_error(gradient, sum) < 1e-13);
    model.zero_grad();
  }
}

TEST_CASE_TEMPLATE("gradients add up over backward passes until zero_grad", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(2);
  Small<D> model(device);
  for (index_t batch : {1, 4, 40}) {
    if (batch > 4 && !std::same_as<D, Host>) continue;
    CAPTURE(batch);
    Generator generator(batch);
    const TestBatch<double, D> a(device, SmallNet{}, batch, generator),
        b(device, SmallNet{}, batch, generator);
    const auto gradient_of = [&](const TestBatch<double, D>& x) {
      model.zero_grad();
      criterion(model(x.inputs), x.labels).backward();
      return gradients_of(model);
    };
    const std::vector<double> of_a = gradient_of(a), of_b = gradient_of(b);
    std::vector<double> sum = of_a;
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += of_b[i];

    CHECK(gradient_of(a) == of_a);  // zero_grad makes the next pass replace
    criterion(model(b.inputs), b.labels).backward();
    CHECK(relative_error(gradients_of(model), sum) < 1e-14);

    gradient_of(a);
    model.forward_backward(b.inputs, criterion, b.labels.view());  // the other way to do the same
    CHECK(relative_error(gradients_of(model), sum) < 1e-14);

    gradient_of(a);
    const auto output = model(b.inputs);
    criterion(output, b.labels).backward();
    criterion(output, b.labels).backward();  // once more for the same batch
    for (std::size_t i = 0; i < sum.size(); ++i)
      sum[i] += of_b[i];
    CHECK(relative_error(gradients_of(model), sum) < 1e-14);
  }
}

TEST_CASE_TEMPLATE("sizes given at run time make the same model as static ones", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto net = dynamic_small_net();
  manual_seed(3);
  Model<SmallNet, D> fixed(device);
  manual_seed(3);
  Model dynamic(device, net);
  CHECK(same_bits(parameters_of(fixed), parameters_of(dynamic)));
  REQUIRE(fixed.named_parameters().size() == dynamic.named_parameters().size());
  for (std::size_t i = 0; i < fixed.named_parameters().size(); ++i) {
    CHECK(fixed.named_parameters()[i].name == dynamic.named_parameters()[i].name);
    CHECK(fixed.named_parameters()[i].sizes == dynamic.named_parameters()[i].sizes);
  }
  Generator generator(3);
  const TestBatch<float, D> batch(device, net, 5, generator);
  auto fixed_loss = criterion(fixed(batch.inputs), batch.labels);
  auto dynamic_loss = criterion(dynamic(batch.inputs), batch.labels);
  CHECK(fixed_loss.item() == dynamic_loss.item());
  fixed_loss.backward();
  dynamic_loss.backward();
  CHECK(same_bits(gradients_of(fixed), gradients_of(dynamic)));
}

TEST_CASE_TEMPLATE("to(device) is a copy with the same parameters", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Host host({.threads = 1});
  Model<SmallNet, D> model(device);
  const std::vector<float> parameters = parameters_of(model);
  Model<SmallNet, Host> on_host = model.to(host);
  Model<SmallNet, D> back = on_host.to(device);
  CHECK(same_bits(parameters_of(on_host), parameters));
  CHECK(same_bits(parameters_of(back), parameters));
  CHECK(&on_host.device() == &host);

  Generator generator(4);
  const TestBatch<float, D> batch(device, SmallNet{}, 4, generator);
  optim::SGD optimizer(model, {.lr = 0.1f});
  criterion(model(batch.inputs), batch.labels).backward();
  optimizer.step();
  CHECK_FALSE(same_bits(parameters_of(model), parameters));
  CHECK(same_bits(parameters_of(back), parameters));  // of its own
}

TEST_CASE_TEMPLATE("inputs of a wrong shape", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> model(device);
  const auto message = [&](const Sizes& sizes) {
    const Tensor<float, D> inputs(device, sizes,
                                  std::vector<float>(static_cast<std::size_t>(sizes.numel())));
    return error_of([&] { model(inputs); });
  };
  CHECK(message({3, 2, 7, 5}) ==
        "gpunet::Model: the input has shape [3, 2, 7, 5] (want [batch, 2, 7, 6] with a batch of 1 "
        "or more): check "
        "the "
        "dataset's samples and the network's Input");
  CHECK(message({2, 7, 6}).find("the input has shape [2, 7, 6]") != std::string::npos);
  CHECK(message({1, 3, 2, 7, 6}) != "");
  CHECK(message({84}) != "");
  CHECK(message({0, 2, 7, 6}) != "");
  CHECK(message({1, 2, 7, 6}) == "");
}

TEST_CASE_TEMPLATE("targets of a wrong number", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> model(device);
  Generator generator(5);
  const TestBatch<float, D> batch(device, SmallNet{}, 3, generator);
  const Tensor<label_t, D> two(device, {2}, {0, 1}), four(device, {4}, {0, 1, 2, 3});
  const std::string wanted =
      " targets for a batch of 3 (want one for each sample), give the labels of the same batch";
  CHECK(error_of([&] { criterion(model(batch.inputs), two); }) == "gpunet::Model: 2" + wanted);
  CHECK(error_of([&] { model.forward_backward(batch.inputs, criterion, four.view()); }) ==
        "gpunet::Model: 4" + wanted);
}

TEST_CASE("a label that is no class is an error on Host, and the model can be used on") {
  Host& host = test_device<Host>();
  Model<SmallNet, Host> model(host);
  Generator generator(6);
  const TestBatch<float, Host> batch(host, SmallNet{}, 5, generator);
  const Tensor<label_t, Host> wrong(host, {5}, {0, 1, 3, 4, 2});
  const std::string message =
      "gpunet::nn::CrossEntropyLoss: label 4 of sample 3 of the batch is no class (want 0 to 3): "
      "check the labels, "
      "or "
      "give the network as many outputs as there are classes";
  CHECK(error_of([&] { criterion(model(batch.inputs), wrong); }) == message);
  CHECK(error_of([&] { model.forward_backward(batch.inputs, criterion, wrong.view()); }) ==
        message);
  const auto loss = criterion(model(batch.inputs), batch.labels);
  CHECK(loss.item() > 0);
}

#if GPUNET_CUDA
TEST_CASE("a label that is no class makes the loss not a number on Cuda") {
  Cuda& device = test_device<Cuda>();
  Model<SmallNet, Cuda> model(device);
  Generator generator(6);
  const TestBatch<float, Cuda> batch(device, SmallNet{}, 2, generator);
  const Tensor<label_t, Cuda> wrong(device, {2}, {0, 4});
  CHECK(std::isnan(criterion(model(batch.inputs), wrong).item()));
}
#endif

TEST_CASE_TEMPLATE("working memory grows with the batch and is kept", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> model(device);
  CHECK(model.workspace_bytes() == 0);
  Generator generator(7);
  const TestBatch<float, D> one(device, SmallNet{}, 1, generator),
      many(device, SmallNet{}, 40, generator);
  const float before = criterion(model(one.inputs), one.labels).item();
  const std::size_t little = model.workspace_bytes();
  model(many.inputs);
  const std::size_t much = model.workspace_bytes();
  CHECK(much > little);
  CHECK(criterion(model(one.inputs), one.labels).item() == before);
  CHECK(model.workspace_bytes() == much);
}

TEST_CASE_TEMPLATE("a network without parameters", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<nn::Sequential<nn::Input<3>, nn::ReLU>, D> model(device);
  const Tensor<float, D> x(device, {2, 3}, {1, 1, 1, -5, 0, 0});
  const Tensor<label_t, D> labels(device, {2}, {0, 2});
  auto loss = criterion(model(x), labels);
  CHECK(loss.item() == doctest::Approx(std::log(3.0)));
  CHECK_NOTHROW(loss.backward());
  optim::SGD optimizer(model, {.momentum = 0.9f});
  CHECK_NOTHROW(optimizer.step());
}

TEST_CASE("a model is made of a device, an element type and no copies") {
  using M = Model<SmallNet, Host>;
  static_assert(std::is_same_v<M::value_type, float>);
  static_assert(std::is_same_v<Small<Host>::value_type, double>);
  static_assert(!std::is_copy_constructible_v<M>);
  static_assert(!std::is_copy_assignable_v<M>);
}

namespace {

// Loss and parameters after some steps; `move` is called with the model after the first, and
// returns where it is then.
template <class D, class Move>
std::vector<float> trained(D& device, Move move) {
  using Net = nn::Sequential<nn::Input<4>, nn::Linear<8>, nn::ReLU, nn::Linear<3>>;
  manual_seed(3);
  std::vector<Model<Net, D>> models;
  models.emplace_back(device);
  Model<Net, D>* model = &models[0];
  optim::SGD optimizer(*model, {.lr = 0.1, .momentum = 0.9});
  train::Step step(*model, criterion, optimizer);
  const auto inputs = randn(device, {6, 4});
  const Tensor<label_t, D> labels(device, {6}, {0, 1, 2, 0, 1, 2});
  step(inputs, labels);
  auto outputs = (*model)(inputs);
  auto loss = criterion(outputs, labels);
  model = move(models);
  optimizer.zero_grad();
  std::vector<float> numbers = outputs.to_vector();
  numbers.push_back(loss.item());
  loss.backward();
  numbers.push_back(nn::utils::clip_grad_norm_(*model, 0.5).item());
  optimizer.step();
  numbers.push_back(step(inputs, labels).item());
  CHECK(&optimizer.model() == model);
  for (const float parameter : gpunet::to_vector(device, model->parameters()))
    numbers.push_back(parameter);
  return numbers;
}

}  // namespace

TEST_CASE_TEMPLATE("a model that is moved takes its optimizer, steps, outputs and losses along", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto stays = trained(device, [](auto& models) { return &models[0]; });
  CHECK(stays == trained(device, [&](auto& models) {
          for (int i = 0; i < 9; ++i)
            models.emplace_back(device);  // which moves those that are there
          return &models[0];
        }));
  CHECK(stays == trained(device, [&](auto& models) {
          models.emplace_back(device);
          std::swap(models[0], models[1]);
          models.erase(models.begin());
          return &models[0];
        }));
}

TEST_CASE_TEMPLATE("a model that was moved from, or is gone, is refused in one sentence", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  using Net = nn::Sequential<nn::Input<4>, nn::Linear<3>>;
  const auto inputs = randn(device, {6, 4});
  const Tensor<label_t, D> labels(device, {6}, {0, 1, 2, 0, 1, 2});
  Model<Net, D> old(device), net = std::move(old);
  const std::string moved =
      "gpunet::Model: this object was moved from (its contents are gone), use the one that it was "
      "moved to";
  CHECK(error_of([&] { old(inputs); }) == moved);
  CHECK(error_of([&] { old.forward_backward(inputs, criterion, labels.view()); }) == moved);
  CHECK(error_of([&] { old.parameters(); }) == moved);
  CHECK(error_of([&] { std::as_const(old).buffers(); }) == moved);
  CHECK(error_of([&] { summary(old); }) == moved);
  CHECK(error_of([&] { get_parameter(old, "0.weight"); }) == moved);
  CHECK(error_of([&] { nn::utils::clip_grad_value_(old, 1); }) == moved);
  CHECK(error_of([&] { io::save(old, "model_that_was_moved.pth"); }) == moved);
  CHECK(error_of([&] { optim::SGD optimizer(old); }) == moved);

  optim::SGD optimizer(net);
  train::Step step(net, criterion, optimizer);
  auto outputs = net(inputs);
  auto loss = criterion(outputs, labels);
  net = Model<Net, D>(device);
  const std::string gone =
      "gpunet::Model: the object is gone (destroyed, or another one was assigned to it), but "
      "something made for it "
      "is still used, keep the object as long, or make that anew";
  CHECK(error_of([&] { optimizer.step(); }) == gone);
  CHECK(error_of([&] { step(inputs, labels); }) == gone);
  CHECK(error_of([&] { outputs.to_vector(); }) == gone);
  CHECK(error_of([&] { loss.backward(); }) == gone);
  CHECK(error_of([&] { loss.item(); }) == gone);
  CHECK(net.forward(inputs).to_vector() == net(inputs).to_vector());  // the new one is whole
  // And so is one that is assigned to.
  old = std::move(net);
  CHECK(old(inputs).to_vector().size() == 18);
}

TEST_CASE_TEMPLATE("labels of another shape than [batch] are refused, though there are as many", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Model<SmallNet, D> model(device);
  Generator generator(6);
  const TestBatch<float, D> batch(device, SmallNet{}, 6, generator);
  optim::SGD optimizer(model, {});
  train::Step step(model, criterion, optimizer);
  for (const Sizes& sizes : {Sizes{6, 1}, Sizes{1, 6}, Sizes{2, 3}}) {
    const Tensor<label_t, D> labels(device, sizes, {0, 1, 2, 3, 0, 1});
    const std::string wanted =
        "gpunet::Model: targets of shape " + to_string(sizes) +
        " for a batch of 6 (want [6], one for each sample), give targets.view().flatten()";
    CHECK(error_of([&] { criterion(model(batch.inputs), labels); }) == wanted);
    CHECK(error_of([&] { model.forward_backward(batch.inputs, criterion, labels.view()); }) ==
          wanted);
    CHECK(error_of([&] { step(batch.inputs, labels); }) == wanted);
    CHECK(error_of([&] { step(batch.inputs, labels.view().flatten()); }) == "");
  }
}
