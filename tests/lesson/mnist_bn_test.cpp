// A network with batch normalization and its weights, as PyTorch saved them. Skipped without data,
// or without zlib, which unpacks the images.
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <string>

#include <gpunet/gpunet.hpp>
#include <gpunet/io/deflate.hpp>

#include "support/sanitizers.hpp"
#include "test_config.hpp"

#if GPUNET_TEST_ZLIB
#include <gpunet/io/zlib.hpp>
#endif

using namespace gpunet;

namespace {

using Net = nn::Sequential<nn::Input<1, 28, 28>,                             //
                           nn::Named<"conv1", nn::Conv2d<8, 3>>, nn::ReLU,   //
                           nn::Named<"conv2", nn::Conv2d<16, 3>>, nn::ReLU,  //
                           nn::Named<"conv3", nn::Conv2d<24, 3>>, nn::ReLU,
                           nn::Named<"norm1", nn::BatchNorm2d>, nn::Flatten,
                           nn::Named<"fc1", nn::Linear<32>>, nn::ReLU,  //
                           nn::Named<"fc2", nn::Linear<10>>, nn::Named<"norm2", nn::BatchNorm1d>>;

}  // namespace

TEST_CASE("a network with batch normalization is right on MNIST as often as in PyTorch") {
  const char* data = std::getenv("GPUNET_TEST_DATA");
  const std::string folder = data ? data : "nowhere",
                    weights = folder + "/weights/mnist_bn.safetensors";
  if (!std::filesystem::exists(weights) || !std::filesystem::exists(folder + "/mnist")) {
    MESSAGE(
        "skipped: GPUNET_TEST_DATA names no folder with weights/mnist_bn.safetensors and mnist/");
    return;
  }
  if (under_sanitizers) {
    MESSAGE("skipped: ten thousand images take minutes under sanitizers");
    return;
  }
  if (!io::deflate_codec()) {
    MESSAGE("skipped: no zlib to unpack the images");
    return;
  }
  const data::Compose transform(data::ToTensor{}, data::Normalize{{0.1307f}, {0.3081f}});
  const auto digits = data::MNIST::test(folder + "/mnist", transform);
  Host host;
  Model<Net, Host> net(host);
  io::load(net, weights);
  net.eval();
  train::Accuracy<Host> accuracy(host, 10);
  for (auto [inputs, labels] : data::DataLoader(digits, {.batch_size = 500}).to(host))
    accuracy.update(net(inputs), labels);
  CHECK(accuracy.result().total() == 10000);
  CHECK(accuracy.result().correct() == 9917);
}
