#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/io/deflate.hpp>
#include <gpunet/tensor/create.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"
#include "support/sanitizers.hpp"
#include "test_config.hpp"

#if GPUNET_TEST_ZLIB
#include <gpunet/io/zlib.hpp>
#endif

using namespace gpunet;

namespace {

constexpr Storage storages[] = {Storage::full, Storage::bfloat16, Storage::float16};

// Branches, normalizations with running statistics, dropout, pooling.
nn::Value many_layers(nn::Value x) {
  nn::Value y = nn::relu(nn::batch_norm(nn::conv2d(x, 4, 3, {.padding = 1})));
  y = y + nn::gelu(nn::conv2d(y, 4, 3, {.padding = 1}));
  y = nn::dropout(nn::max_pool2d(y, 2), 0.5);
  return nn::linear(nn::layer_norm(nn::linear(nn::flatten(y), 9)), 5);
}

template <class D>
Tensor<float, D> images(D& device, index_t batch) {
  Generator generator(batch);
  return {device, {batch, 2, 6, 6}, random_values<float>(batch * 72, generator)};
}

// Trains a little, so that statistics and biases are not those of the beginning.
template <class D>
void train_a_bit(Network<D, float>& net) {
  optim::SGD optimizer(net, {.lr = 0.1});
  for (int i = 0; i < 3; ++i) {
    optimizer.zero_grad();
    mean(net(images(net.device(), 4))).backward();
    optimizer.step();
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a predictor has the bits of the network in evaluation mode", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(1);
  Network net(device, many_layers, {2, 6, 6});
  train_a_bit(net);
  for (const Storage storage : storages) {
    Predictor predict(net, {.storage = storage});
    CHECK(predict.storage() == storage);
    for (const index_t batch : {1, 3, 17, 2}) {
      if (!DeviceTraits<D>::has_host_memory && batch > 3) continue;  // which may be a simulator
      CAPTURE(batch);
      net.autocast(storage);
      net.eval();
      const std::vector<float> expected = net(images(device, batch)).to_vector();
      net.train();  // the mode does not matter
      CHECK(same_bits(predict(images(device, batch)).to_vector(), expected));
    }
    net.autocast(Storage::full);
  }
}

TEST_CASE_TEMPLATE("a predictor of 16 bits has parameters of its own, another one the network's", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(2);
  std::optional<Network<D, float>> net(std::in_place, device, many_layers, Sizes{2, 6, 6});
  const Tensor<float, D> x = images(device, 3);
  Predictor shared(*net), copied(*net, {.storage = Storage::bfloat16});
  const std::vector<float> before = copied(x).to_vector(), first = shared(x).to_vector();
  train_a_bit(*net);
  CHECK(copied(x).to_vector() == before);
  net->eval();
  const std::vector<float> now = (*net)(x).to_vector();
  CHECK(now != first);
  CHECK(shared(x).to_vector() == now);
  net.reset();
  CHECK(copied(x).to_vector() == before);
  CHECK(shared(x).to_vector() == now);
}

TEST_CASE("several inputs and outputs, hooks and frozen parameters") {
  Host& host = test_device<Host>();
  manual_seed(3);
  Network net(host,
              [](nn::Value a, nn::Value b) {
                const nn::Value sum = nn::named(
                    "sum", [](nn::Value x, nn::Value y) { return x + y; }, a, b);
                return std::array{nn::linear(sum, 2), nn::linear(sum, 3)};
              },
              {4}, {4});
  int calls = 0;
  net.register_forward_hook("sum", [&](const auto&) { ++calls; });
  net.requires_grad(false);
  Generator generator(1);
  const Tensor<float, Host> a(host, {5, 4}, random_values<float>(20, generator)),
      b(host, {5, 4}, random_values<float>(20, generator));
  Predictor predict(net, {.storage = Storage::float16});
  net.autocast(Storage::float16);
  net.eval();
  const auto y = net(a, b);
  CHECK(calls == 1);
  CHECK(predict({a, b}).sizes() == Sizes{5, 5});
  CHECK(same_bits(predict({a, b}).to_vector(), y.to_vector()));
  CHECK(calls == 1);
  CHECK(contains(error_of([&] { predict({a}); }), "1 inputs (want 2)"));
  CHECK(contains(error_of([&] { predict(a); }), "1 inputs (want 2)"));
}

TEST_CASE("parameters take half of the memory, and the workspace has no room for all of them") {
  Host host({.threads = 1});
  using Wide = nn::Sequential<nn::Input<256>, nn::Linear<256>, nn::ReLU, nn::Linear<256>, nn::ReLU,
                              nn::Linear<256>, nn::ReLU, nn::Linear<256>, nn::ReLU, nn::Linear<256>,
                              nn::ReLU, nn::Linear<256>, nn::ReLU, nn::Linear<256>, nn::ReLU,
                              nn::Linear<256>>;
  Model<Wide, Host> net(host);
  Predictor full(net), narrow(net, {.storage = Storage::bfloat16});
  const std::size_t parameters = 8 * (256 * 256 + 256) * sizeof(float);
  CHECK(full.parameter_bytes() == parameters);
  CHECK(narrow.parameter_bytes() == parameters / 2);
  const Tensor<float, Host> x = zeros(host, {4, 256});
  full(x), narrow(x), net(x);
  CHECK(full.workspace_bytes() < net.workspace_bytes() / 2);  // two values at a time
  // Twice the parameters of a layer: as floats, and the kernel's own scratch, which full has, too.
  CHECK(narrow.workspace_bytes() < full.workspace_bytes() + parameters / 8 + 16 * 1024);
}

TEST_CASE("threads with a predictor each") {
  Host& host = test_device<Host>();
  manual_seed(4);
  const Model<LeNet, Host> net(host);
  Generator generator(4);
  const TestBatch<float, Host> batch(host, LeNet{}, 7, generator);
  for (const Storage storage : {Storage::full, Storage::float16}) {
    Predictor predict(net, {.storage = storage});
    const std::vector<float> expected = predict(batch.inputs).to_vector();
    std::vector<int> right(4);
    std::vector<std::thread> threads;
    for (int& count : right)
      threads.emplace_back([&] {
        Predictor own(net, {.storage = storage});
        for (int i = 0; i < 5; ++i)
          count += same_bits(own(batch.inputs).to_vector(), expected);
      });
    for (std::thread& thread : threads)
      thread.join();
    CHECK(right == std::vector<int>(4, 5));
  }
}

TEST_CASE("wrong uses of a predictor") {
  Host& host = test_device<Host>();
  Model<nn::Sequential<nn::Input<3>, nn::Linear<2>>, Host> net(host);
  Predictor predict(net), narrow(net, {.storage = Storage::bfloat16});
  CHECK(error_of([&] {
          predict(zeros(host, {2, 4}));
        }) == error_of([&] {
          net(zeros(host, {2, 4}));
        }));
  CHECK(contains(error_of([&] { predict(zeros(host, {0, 3})); }), "a batch of 1 or more"));
  {
    const auto use = net.exclusive_use();  // as during a step
    CHECK(contains(error_of([&] {
                     predict(zeros(host, {1, 3}));
                   }),
                   "another call uses this model"));
    narrow(zeros(host, {1, 3}));
  }
  Model<nn::Sequential<nn::Input<3>, nn::Linear<2>>, Host, double> exact(host);
  CHECK(error_of([&] { Predictor(exact, {.storage = Storage::float16}); }) ==
        "gpunet::Predictor: a network of double with a storage of 16 bits (which would lose all "
        "that double adds), "
        "use "
        "one of float");
  Predictor predict_exactly(exact);
  CHECK(predict_exactly(Tensor<double, Host>(host, {1, 3}, {1, 2, 3})).sizes() == Sizes{1, 2});
}

namespace {

// Returns how many images of a set a network that PyTorch has trained gets right.
template <class Net, class Set>
index_t right_with(Model<Net, Host>& net, const Set& set, Storage storage) {
  Predictor predict(net, {.storage = storage});
  index_t right = 0;
  for (auto [inputs, labels] : data::DataLoader(set, {.batch_size = 500}).to(net.device())) {
    const std::vector<label_t> guesses = argmax(predict(inputs), 1).to_vector();
    const View<const label_t, Host> wanted = labels;
    for (std::size_t i = 0; i < guesses.size(); ++i)
      right += guesses[i] == wanted.data()[i];
  }
  return right;
}

// Compares the accuracy with 16 bits, within 0.1 points.
template <class Net, class Set>
void check_accuracy(const std::string& weights, const Set& set, index_t right) {
  Host& host = test_device<Host>();
  Model<Net, Host> net(host);
  io::load(net, weights);
  CHECK(right_with(net, set, Storage::full) == right);
  for (const Storage storage : {Storage::bfloat16, Storage::float16}) {
    const index_t narrow = right_with(net, set, storage);
    MESSAGE(weights << std::string(storage == Storage::bfloat16 ? ", bfloat16: " : ", float16: ")
                    << narrow << " of " << set.size() << ", float: " << right);
    CHECK(std::abs(narrow - right) <= set.size() / 1000);
  }
}

bool has_data(const std::string& folder, const char* weights, const char* set) {
  if (under_sanitizers || !std::filesystem::exists(folder + weights) ||
      !std::filesystem::exists(folder + set)) {
    MESSAGE("skipped: GPUNET_TEST_DATA names no folder with "
            << std::string(weights) << " and " << std::string(set) << ", or sanitizers are slow");
    return false;
  }
  return true;
}

const std::string folder =
    std::getenv("GPUNET_TEST_DATA") ? std::getenv("GPUNET_TEST_DATA") : "nowhere";

using MnistNet =
    nn::Sequential<nn::Input<1, 28, 28>,                             //
                   nn::Named<"conv1", nn::Conv2d<8, 3>>, nn::ReLU,   //
                   nn::Named<"conv2", nn::Conv2d<16, 3>>, nn::ReLU,  //
                   nn::Named<"conv3", nn::Conv2d<24, 3>>, nn::ReLU,
                   nn::Named<"norm1", nn::BatchNorm2d>, nn::Flatten,
                   nn::Named<"fc1", nn::Linear<32>>, nn::ReLU,  //
                   nn::Named<"fc2", nn::Linear<10>>, nn::Named<"norm2", nn::BatchNorm1d>>;

}  // namespace

TEST_CASE("the lesson's network with 16 bits is right as often, within 0.1 points, on CIFAR-10") {
  if (!has_data(folder, "/weights/cifar_net.pth", "/cifar10")) return;
  const data::Compose transform(data::ToTensor{},
                                data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}});
  check_accuracy<LeNet>(folder + "/weights/cifar_net.pth",
                        data::CIFAR10::test(folder + "/cifar10", transform), 5490);
}

TEST_CASE("the same for a network with batch normalization, on MNIST") {
  if (!has_data(folder, "/weights/mnist_bn.safetensors", "/mnist")) return;
  if (!io::deflate_codec()) {
    MESSAGE("skipped: no zlib to unpack the images");
    return;
  }
  const data::Compose transform(data::ToTensor{}, data::Normalize{{0.1307f}, {0.3081f}});
  check_accuracy<MnistNet>(folder + "/weights/mnist_bn.safetensors",
                           data::MNIST::test(folder + "/mnist", transform), 9917);
}
