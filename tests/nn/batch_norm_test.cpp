#include <cstring>

#include <gpunet/gpunet.hpp>

#include "support/check_gradients.hpp"
#include "support/errors.hpp"
#include "support/isas.hpp"
#include "support/layer_reference.hpp"

using namespace gpunet;

namespace {

// Slices of 3 samples, and how they lie.
template <class D>
std::vector<Slice> slices_of_3() {
  if constexpr (std::same_as<D, Host>)
    return {{3, 3, 1}, {3, 1, 4}, {3, 1, 16}, {3, 2, 4}};
  else
    return {{3, 3, 1}};
}

template <class T, class D>
void check_pass(LayerRun<T, D>& run, const LayerReference& expected, double tolerance) {
  const auto y = run.forward(pattern<T>(3 * run.in_features(), 7, 3, 23));
  const auto gradients = run.backward(pattern<T>(3 * run.out_features(), 11, 5, 19));
  CHECK(relative_error(y, expected.y) <= tolerance);
  CHECK(relative_error(gradients.dx, expected.dx) <= tolerance);
  CHECK(relative_error(gradients.parameters, expected.parameters) <= tolerance);
  CHECK(gradients.padding == std::vector<T>(gradients.padding.size()));
}

// The first two batches train, the third is compared, then the same batch in eval mode.
template <class T, class D, class L, class In>
void check_against_reference(D& device, const L& layer, In in, const std::string& name,
                             double tolerance) {
  const ReferenceFile file("batch_norm");
  const LayerReference train = layer_reference(file, name + ".train"),
                       eval = layer_reference(file, name + ".eval");
  const std::vector<double> running_mean = file.values(name + ".running_mean"),
                            running_var = file.values(name + ".running_var");
  const KeepIsa keep;
  const index_t channels = in.template at<0>();
  for (const Slice& slice : slices_of_3<D>())
    for (Isa path : isas()) {
      CAPTURE(slice.outer);
      CAPTURE(slice.inner);
      CAPTURE(static_cast<int>(path));
      set_isa(path);
      LayerRun<T, D> run(device, layer, in, slice);
      std::vector<T> parameters = pattern<T>(channels, 5, 1, 17);
      for (T bias : pattern<T>(channels, 3, 2, 7))
        parameters.push_back(bias);
      run.set_parameters(parameters);
      for (index_t i = 0; i < 2; ++i)
        run.forward(pattern<T>(3 * run.in_features(), 7, i, 23));
      check_pass(run, train, tolerance);
      CHECK(relative_error(run.buffer(0, channels), running_mean) <= tolerance);
      CHECK(relative_error(run.buffer(1, channels), running_var) <= tolerance);
      run.set_mode(nn::Mode::eval);
      check_pass(run, eval, tolerance);
      CHECK(relative_error(run.buffer(0, channels), running_mean) <= tolerance);
    }
}

template <class T, class D>
void check_all(D& device, double tolerance) {
  check_against_reference<T>(device, nn::BatchNorm1d{}, Shape<5>{}, "batch_norm_1d", tolerance);
  check_against_reference<T>(device, nn::BatchNorm1d{{.eps = 1e-3, .momentum = 0.3}}, Shape<2, 4>{},
                             "batch_norm_1d_length", tolerance);
  check_against_reference<T>(device, nn::BatchNorm2d{}, Shape<3, 2, 5>{}, "batch_norm_2d",
                             tolerance);
  check_against_reference<T>(device, nn::BatchNorm2d{{.momentum = std::nullopt}}, Shape<4, 3, 1>{},
                             "batch_norm_2d_mean_of_all", tolerance);
}

using Net =
    nn::Sequential<nn::Input<2, 4, 4>, nn::Conv2d<3, 3>, nn::Named<"norm1", nn::BatchNorm2d>,
                   nn::ReLU, nn::Flatten, nn::Linear<4>, nn::BatchNorm1d>;

}  // namespace

TEST_CASE_TEMPLATE("BatchNorm is PyTorch's", D, GPUNET_TEST_DEVICES) {
  check_all<double>(test_device<D>(), 1e-13);
  check_all<float>(test_device<D>(), 1e-6);
}

TEST_CASE_TEMPLATE("gradients of BatchNorm", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const Slice& slice : test_slices<D>()) {
    LayerRun<double, D> run(device, nn::BatchNorm2d{}, Shape<2, 1, 3>{}, slice);
    check_gradients(run);
    run.set_mode(nn::Mode::eval);
    check_gradients(run, {.seed = 2});
  }
}

TEST_CASE_TEMPLATE("gradients of a network with BatchNorm", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (index_t batch : {2, 3, 20})
    check_network_gradients(device, Net{}, batch, nn::CrossEntropyLoss{});
}

TEST_CASE_TEMPLATE("a frozen BatchNorm gets no gradients, and gives those below the same", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Generator generator(11);
  const Tensor<float, D> x(device, {7, 2, 4, 4}, random_values<float>(7 * 32, generator));
  const Tensor<label_t, D> labels(device, {7}, {0, 1, 2, 3, 0, 1, 2});
  for (const nn::Mode mode : {nn::Mode::train, nn::Mode::eval}) {
    const auto gradients = [&](bool is_frozen) {
      manual_seed(4);
      Model<Net, D> net(device);
      for (int i = 0; i < 2; ++i)
        net(x);  // moves the running statistics
      if (mode == nn::Mode::eval) net.eval();
      if (is_frozen) net.parameters("norm1").requires_grad(false);
      auto loss = nn::CrossEntropyLoss{}(net(x), labels);
      loss.backward();
      std::vector<std::vector<float>> all;
      for (const auto& parameter : net.named_parameters()) {
        std::vector<float> values(static_cast<std::size_t>(parameter.sizes.numel()));
        device.download(values.data(), net.gradients().data() + parameter.offset,
                        values.size() * sizeof(float));
        all.push_back(values);
      }
      return all;
    };
    auto frozen = gradients(true), all = gradients(false);
    REQUIRE(all.size() == 8);  // 0.weight, 0.bias, norm1.weight, norm1.bias, ...
    for (const std::size_t i : std::initializer_list<std::size_t>{2, 3}) {
      CHECK(frozen[i] == std::vector<float>(3));
      CHECK(all[i] != frozen[i]);
      frozen[i] = all[i];
    }
    CHECK(frozen == all);
  }
}

TEST_CASE_TEMPLATE(
    "a batch goes through BatchNorm in one slice when it trains, and samples alone when it does "
    "not",
    D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Generator generator(5);
  const Tensor<float, D> x(device, {50, 2, 4, 4}, random_values<float>(50 * 32, generator));
  // The running statistics are the last batch's.
  const nn::BatchNormOptions follow{.momentum = 1.0};
  const nn::Sequential layers(nn::Input<2, 4, 4>{}, nn::Conv2d<3, 3>{}, nn::BatchNorm2d{follow},
                              nn::ReLU{}, nn::Flatten{}, nn::Linear<4>{}, nn::BatchNorm1d{follow});
  Model<std::remove_const_t<decltype(layers)>, D> net(device, layers);
  CHECK(net.mode() == nn::Mode::train);
  const std::vector<float> trained = net(x).tensor().to_vector();
  net.eval();
  const std::vector<float> used = net(x).tensor().to_vector();
  CHECK(relative_error(trained, used) <
        0.02);  // the running variance is the unbiased one: a factor of 50 / 49 in it
  CHECK(relative_error(trained, used) > 0);
  for (index_t n : {0, 17, 49}) {
    const Tensor<float, D> one(device, {1, 2, 4, 4}, [&] {
      const std::vector<float> all = x.to_vector();
      return std::vector<float>(all.begin() + n * 32, all.begin() + (n + 1) * 32);
    }());
    const std::vector<float> alone = net(one).tensor().to_vector();
    CHECK(relative_error(
              alone, std::vector<float>(used.begin() + n * 4, used.begin() + (n + 1) * 4)) < 1e-6);
  }
}

TEST_CASE_TEMPLATE(
    "training steps with BatchNorm, also in eval mode, are those of the loop written out", D,
    GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Generator generator(7);
  manual_seed(2);
  Model<Net, D> by_step(device);
  auto by_loop = by_step.to(device);
  const nn::CrossEntropyLoss criterion;
  optim::SGD step_optimizer(by_step, {.lr = 0.1}), loop_optimizer(by_loop, {.lr = 0.1});
  train::Step step(by_step, criterion, step_optimizer);
  for (int i = 0; i < 6; ++i) {  // Cuda records the second step of each mode and replays the third
    const Tensor<float, D> x(device, {7, 2, 4, 4}, random_values<float>(7 * 32, generator));
    const Tensor<label_t, D> labels(device, {7}, {0, 1, 2, 3, 2, 1, 0});
    by_step.train(i < 3);
    by_loop.train(i < 3);
    step(x, labels);
    loop_optimizer.zero_grad();
    criterion(by_loop(x), labels).backward();
    loop_optimizer.step();
  }
  const auto values = [&](const auto& view) {
    std::vector<float> all(static_cast<std::size_t>(view.numel()));
    device.download(all.data(), view.data(), all.size() * sizeof(float));
    return all;
  };
  CHECK(values(by_step.parameters()) == values(by_loop.parameters()));
  for (const BufferInfo& buffer : by_step.named_buffers()) {
    if (!buffer.persistent) continue;
    CAPTURE(buffer.name);
    const auto size =
        static_cast<std::size_t>(buffer.kind == nn::BufferKind::count ? 2 : buffer.sizes.numel());
    const auto at = static_cast<std::size_t>(buffer.offset);
    const std::vector<float> stepped = values(by_step.buffers()),
                             looped = values(by_loop.buffers());
    CHECK(std::memcmp(stepped.data() + at, looped.data() + at, size * sizeof(float)) == 0);
  }
}

TEST_CASE("the state of BatchNorm has PyTorch's keys") {
  Model<Net, Host> net(test_device<Host>());
  std::vector<std::string> names;
  for (const ParameterInfo& parameter : net.named_parameters())
    names.push_back(parameter.name);
  CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "norm1.weight", "norm1.bias",
                                          "4.weight", "4.bias", "5.weight", "5.bias"});
  names.clear();
  for (const BufferInfo& buffer : net.named_buffers())
    if (buffer.persistent) names.push_back(buffer.name);
  CHECK(names == std::vector<std::string>{"norm1.running_mean", "norm1.running_var",
                                          "norm1.num_batches_tracked", "5.running_mean",
                                          "5.running_var", "5.num_batches_tracked"});
}

TEST_CASE("parameters of BatchNorm begin with 1 and 0 and take nothing from the generator") {
  using Plain = nn::Sequential<nn::Input<2>, nn::Linear<3>, nn::Linear<2>>;
  using Normed = nn::Sequential<nn::Input<2>, nn::Linear<3>, nn::BatchNorm1d, nn::Linear<2>>;
  const auto parameters = [](const auto& model, const std::string& name) {
    for (const ParameterInfo& parameter : model.named_parameters())
      if (parameter.name == name)
        return std::vector<float>(
            model.parameters().data() + parameter.offset,
            model.parameters().data() + parameter.offset + parameter.sizes.numel());
    return std::vector<float>();
  };
  manual_seed(3);
  const Model<Plain, Host> plain(test_device<Host>());
  manual_seed(3);
  const Model<Normed, Host> normed(test_device<Host>());
  CHECK(parameters(normed, "2.weight") == parameters(plain, "1.weight"));
  CHECK(parameters(normed, "1.weight") == std::vector<float>{1, 1, 1});
  CHECK(parameters(normed, "1.bias") == std::vector<float>{0, 0, 0});
}

TEST_CASE_TEMPLATE("a copy of a model has its running statistics and its mode", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Host& host = test_device<Host>();
  Generator generator(5);
  const std::vector<float> values = random_values<float>(7 * 32, generator);
  Model<Net, D> net(device);
  for (int i = 0; i < 3; ++i)
    net(Tensor<float, D>(device, {7, 2, 4, 4}, values));
  net.eval();
  auto copy = net.to(host);
  CHECK(copy.mode() == nn::Mode::eval);
  CHECK(*reinterpret_cast<const index_t*>(copy.buffers().data() + copy.named_buffers()[2].offset) ==
        3);
  CHECK(relative_error(copy(Tensor<float, Host>(host, {7, 2, 4, 4}, values)).tensor().to_vector(),
                       net(Tensor<float, D>(device, {7, 2, 4, 4}, values)).tensor().to_vector()) <
        1e-6);
}

TEST_CASE("BatchNorm in training refuses a batch of which it cannot tell the variance") {
  Model<nn::Sequential<nn::Input<3>, nn::BatchNorm1d>, Host> net(test_device<Host>());
  const Tensor<float, Host> one(test_device<Host>(), {1, 3}, {1, 2, 3});
  CHECK(contains(error_of([&] { net(one); }),
                 "gpunet::nn::BatchNorm: one value per channel in training"));
  net.eval();
  CHECK(relative_error(net(one).tensor().to_vector(), std::vector<float>{1, 2, 3}) < 1e-5);
  CHECK(
      contains(error_of([] { nn::BatchNorm2d{{.momentum = 1.5}}; }), "momentum 1.5 (want 0 to 1)"));
  CHECK(contains(error_of([] { nn::BatchNorm2d{{.eps = -1}}; }), "eps -1 (want 0 or more)"));
}

TEST_CASE_TEMPLATE("the number of batches of a normalization is read and set as a count", D,
                   GPUNET_TEST_DEVICES) {
  const auto check = [](auto number) {
    using T = decltype(number);
    D& device = test_device<D>();
    Model<nn::Sequential<nn::Input<2>, nn::BatchNorm1d, nn::Linear<2>>, D, T> net(device);
    const Tensor<T, D> x(device, {3, 2}, std::vector<T>{1, 2, 3, 4, 5, 7});
    for (int i = 0; i < 3; ++i)
      static_cast<void>(net(x));
    CHECK(get_count(net, "0.num_batches_tracked") == 3);
    set_count(net, "0.num_batches_tracked", index_t{1} << 40);
    CHECK(get_count(std::as_const(net), "0.num_batches_tracked") == index_t{1} << 40);
    CHECK(get_buffer(net, "0.running_mean").to_vector().size() == 2);
    CHECK_THROWS_WITH_AS(
        get_buffer(net, "0.num_batches_tracked"),
        "gpunet::get_buffer: 0.num_batches_tracked counts in whole numbers (a view of the "
        "network's "
        "type would show other ones), call get_count(net, \"0.num_batches_tracked\")",
        Error);
    CHECK_THROWS_WITH_AS(
        get_count(net, "0.running_mean"),
        "gpunet::get_count: 0.running_mean has numbers of the network's type, call "
        "get_buffer(net, \"0.running_mean\")",
        Error);
    CHECK_THROWS_AS(set_count(net, "0.num_batches_tracked", -1), Error);
    CHECK_THROWS_AS(get_count(net, "1.num_batches_tracked"), Error);
  };
  check(float{});
  check(double{});
}

TEST_CASE_TEMPLATE("batch normalization does not hide an overflow, infinity or NaN", D,
                   GPUNET_TEST_DEVICES) {
  constexpr float inf = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  D& device = test_device<D>();
  for (const std::vector<float>& of :
       {std::vector<float>{3e38f, 3e38f, -3e38f, -3e38f}, {1, inf, 2, 3}, {1, 2, 3, nan}})
    for (const index_t batch : {4, 20, 64}) {
      CAPTURE(batch);
      Model<nn::Sequential<nn::Input<2>, nn::BatchNorm1d>, D> net(device);
      std::vector<float> x;  // the second channel is fine
      for (index_t n = 0; n < batch; ++n) {
        x.push_back(of[static_cast<std::size_t>(n % 4)]);
        x.push_back(static_cast<float>(n % 3));
      }
      const std::vector<float> y = net(Tensor<float, D>(device, {batch, 2}, x)).to_vector();
      for (std::size_t i = 0; i < y.size(); ++i)
        CHECK(std::isfinite(y[i]) == (i % 2 == 1));
    }
}
