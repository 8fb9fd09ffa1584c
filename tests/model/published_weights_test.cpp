#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/create.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"
#include "support/networks.hpp"

using namespace gpunet;

namespace {

constexpr Storage storages[] = {Storage::full, Storage::bfloat16, Storage::float16};

// Several layers, so that a mixture of two versions of the weights is neither.
nn::Value three_layers(nn::Value x) {
  return nn::linear(nn::relu(nn::batch_norm(nn::linear(nn::relu(nn::linear(x, 16)), 16))), 1);
}

// Sets all parameters to a number, exact in 16 bits: the outputs then say which weights they are
// of.
template <class D>
void set_all(Network<D, float>& net, int number) {
  fill(net.device(), net.parameters().numel(), static_cast<float>(number), net.parameters().data());
  net.note_update();
}

template <class D>
std::vector<float> outputs_of(Network<D, float>& net, const Tensor<float, D>& x, Storage storage) {
  net.autocast(storage);
  net.eval();
  std::vector<float> outputs = net(x).to_vector();
  net.autocast(Storage::full);
  return outputs;
}

// A device for another thread.
template <class D>
std::unique_ptr<D> new_device() {
  if constexpr (DeviceTraits<D>::has_host_memory)
    return std::make_unique<D>(HostOptions{.threads = 1});
  else
    return std::make_unique<D>(0);
}

}  // namespace

TEST_CASE_TEMPLATE("predictions are of the weights that were published last", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  manual_seed(1);
  const Tensor<float, D> x = rand(device, {3, 8});
  for (const Storage storage : storages) {
    std::optional<Network<D, float>> net(std::in_place, device, three_layers, Sizes{8});
    const std::vector<float> first = outputs_of(*net, x, storage);
    PublishedWeights weights(*net, {.storage = storage});
    Predictor predict(weights);
    CHECK(predict.storage() == storage);
    CHECK(weights.version() == 1);
    CHECK(same_bits(predict(x).to_vector(), first));

    set_all(*net, 2);
    const std::vector<float> second = outputs_of(*net, x, storage);
    CHECK(second != first);
    CHECK(same_bits(predict(x).to_vector(), first));
    weights.publish(*net);
    CHECK(weights.version() == 2);
    CHECK(same_bits(predict(x).to_vector(), second));
    Predictor later(weights);
    CHECK(same_bits(later(x).to_vector(), second));

    // Another network with the same parameters.
    Network other(device, three_layers, {8});
    set_all(other, 3);
    weights.publish(other);
    net.reset();
    CHECK(same_bits(predict(x).to_vector(), outputs_of(other, x, storage)));
    {
      const ModelUse::Exclusive use = other.exclusive_use();  // as during a step
      predict(x);
    }
  }
}

TEST_CASE_TEMPLATE("threads predict while another one trains and publishes", D,
                   GPUNET_TEST_DEVICES) {
  constexpr int versions = DeviceTraits<D>::has_host_memory ? 100 : 10, readers = 4;
  D& device = test_device<D>();
  manual_seed(2);
  const std::vector<float> inputs = rand(test_device<Host>(), {5, 8}).to_vector();
  const Tensor<float, D> x(device, {5, 8}, inputs);
  for (const Storage storage : {Storage::full, Storage::bfloat16}) {
    Network net(device, three_layers, {8});
    std::vector<std::vector<float>> expected;
    for (int version = 0; version <= versions; ++version) {
      set_all(net, version);
      expected.push_back(outputs_of(net, x, storage));
    }
    set_all(net, 0);
    PublishedWeights weights(net, {.storage = storage});
    std::atomic<bool> done{false};
    std::atomic<int> predictions{0};
    std::vector<int> wrong(readers), last(readers);
    std::vector<std::thread> threads;
    for (int r = 0; r < readers; ++r)
      threads.emplace_back([&, r] {
        const std::unique_ptr<D> device_of_thread = new_device<D>();
        D& own = *device_of_thread;
        const Tensor<float, D> own_x(own, {5, 8}, inputs);
        Predictor<D, float> predict(own, weights);
        int version = 0;
        for (bool is_last = false; !is_last;) {
          is_last = done;
          const std::vector<float> outputs = predict(own_x).to_vector();
          predictions.fetch_add(1);
          while (version <= versions &&
                 !same_bits(outputs, expected[static_cast<std::size_t>(version)]))
            ++version;  // never an older one than before
          wrong[static_cast<std::size_t>(r)] += version > versions;
        }
        last[static_cast<std::size_t>(r)] = version;
      });
    for (int version = 1; version <= versions; ++version) {
      const int before = predictions;
      set_all(net, version);
      weights.publish(net);
      while (predictions == before)
        std::this_thread::yield();
    }
    done = true;
    for (std::thread& thread : threads)
      thread.join();
    CHECK(wrong == std::vector<int>(readers, 0));
    CHECK(last == std::vector<int>(readers, versions));
  }
}

TEST_CASE_TEMPLATE("threads predict on one const network, each on a device of its own", D,
                   GPUNET_TEST_DEVICES) {
  manual_seed(3);
  D& device = test_device<D>();
  Network made(device, three_layers, {8});
  const std::vector<float> inputs = rand(test_device<Host>(), {7, 8}).to_vector();
  const Tensor<float, D> x(device, {7, 8}, inputs);
  for (const Storage storage : storages) {
    const std::vector<float> expected = outputs_of(made, x, storage);
    const Network<D, float>& net = made;
    // Made by this thread, since a Predictor waits for the network's device.
    std::vector<std::unique_ptr<D>> devices;
    std::vector<std::unique_ptr<Predictor<D, float>>> predictors;
    std::vector<int> right(3);
    for (std::size_t i = 0; i < right.size(); ++i) {
      devices.push_back(new_device<D>());
      predictors.push_back(
          std::make_unique<Predictor<D, float>>(*devices[i], net, PredictorOptions{storage}));
    }
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < right.size(); ++i)
      threads.emplace_back([&, i] {
        const Tensor<float, D> own_x(*devices[i], {7, 8}, inputs);
        Tensor<float, D> outputs(*devices[i], {7, 1});
        for (int repeat = 0; repeat < 3; ++repeat) {
          predictors[i]->into(outputs, own_x);
          right[i] += same_bits(outputs.to_vector(), expected);
        }
      });
    for (std::thread& thread : threads)
      thread.join();
    CHECK(right == std::vector<int>(3, 3));
  }
}

TEST_CASE("outputs go where they are wanted") {
  Host& host = test_device<Host>();
  manual_seed(4);
  Network net(host, [](nn::Value a, nn::Value b) { return nn::linear(a, 3) + nn::linear(b, 3); },
              {2}, {4});
  Predictor predict(net);
  const Tensor<float, Host> a = rand(host, {5, 2}), b = rand(host, {5, 4});
  const std::vector<float> expected = predict({a, b}).to_vector();
  CHECK(predict.output_sizes() == Sizes{3});
  std::vector<float> outputs(15);
  predict.into(View<float, Host>(outputs.data(), Sizes{5, 3}), {a, b});
  CHECK(same_bits(outputs, expected));
  const auto refused = [&](const Sizes& sizes) {
    std::vector<float> untouched(60, 7);
    const std::string error = error_of([&] {
      predict.into(View<float, Host>(untouched.data(), sizes), {a, b});
    });
    CHECK(untouched == std::vector<float>(60, 7));
    return error;
  };
  CHECK(refused({5, 4}) ==
        "gpunet::Predictor::into: outputs of shape [5, 4] (want [5, 3], one row for each input), "
        "make them of that "
        "shape");
  CHECK(contains(refused({15, 1}), "of shape [15, 1] (want [5, 3]"));
  CHECK(contains(refused({}), "of shape [] (want [5, 3]"));
}

TEST_CASE("weights that cannot be published") {
  Host& host = test_device<Host>();
  Network net(host, three_layers, {8}), wider(host, three_layers, {9});
  Network fewer(host, [](nn::Value x) { return nn::linear(x, 16); }, {8});
  PublishedWeights weights(net);
  Predictor predict(weights);
  const Tensor<float, Host> x = rand(host, {1, 8});
  const std::vector<float> before = predict(x).to_vector();
  CHECK(contains(error_of([&] { weights.publish(wider); }),
                 "gpunet::PublishedWeights::publish: 0.weight has shape [16, 8] here and [16, 9] "
                 "in the other network"));
  CHECK(contains(error_of([&] { weights.publish(fewer); }), "the other network has no "));
  set_all(net, 1);
  {
    const ModelUse::Exclusive use = net.exclusive_use();
    CHECK(contains(error_of([&] { weights.publish(net); }), "another call uses this model"));
    CHECK(contains(error_of([&] { PublishedWeights late(net); }), "another call uses this model"));
  }
  CHECK(weights.version() == 1);
  CHECK(same_bits(predict(x).to_vector(), before));

  Model<nn::Sequential<nn::Input<3>, nn::Linear<2>>, Host, double> exact(host);
  CHECK(error_of([&] { PublishedWeights(exact, {.storage = Storage::float16}); }) ==
        "gpunet::PublishedWeights: a network of double with a storage of 16 bits (which would lose "
        "all that double "
        "adds), use one of float");
}

#if GPUNET_CUDA
TEST_CASE("weights trained on Cuda are published on Host, and back") {
  Host& host = test_device<Host>();
  Cuda& cuda = test_device<Cuda>();
  manual_seed(5);
  Network here(host, three_layers, {8});
  Network there(cuda, three_layers, {8});
  const std::vector<float> inputs = rand(host, {2, 8}).to_vector();
  const Tensor<float, Host> x(host, {2, 8}, inputs);
  const Tensor<float, Cuda> x_there(cuda, {2, 8}, inputs);
  PublishedWeights weights(here);
  PublishedWeights weights_there(there);
  Predictor predict(weights);
  Predictor predict_there(weights_there);
  set_all(there, 2);
  weights.publish(there);
  set_all(here, 2);
  CHECK(same_bits(predict(x).to_vector(), outputs_of(here, x, Storage::full)));
  set_all(here, 3);
  weights_there.publish(here);
  set_all(there, 3);
  CHECK(same_bits(predict_there(x_there).to_vector(), outputs_of(there, x_there, Storage::full)));
}
#endif
