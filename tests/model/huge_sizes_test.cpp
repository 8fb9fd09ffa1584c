#include <doctest/doctest.h>
#include <limits>
#include <string_view>
#include <vector>

#include <gpunet/datasets.hpp>
#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

// Sizes that no memory holds, all over the library: each is an Error before a product of them
// overflows, which the sanitizer for undefined behavior reports, and before anything is allocated.
namespace {

constexpr index_t huge = index_t{1} << 62, most = std::numeric_limits<index_t>::max();

void refused(std::string_view sentence, auto call) {
  const std::string message = error_of(call);
  CAPTURE(message);
  CHECK(contains(message, sentence));
}

// A dataset that says that it has so many samples.
struct Claims {
  index_t n;
  Sizes sizes{4};
  index_t size() const { return n; }
  Sizes sample_sizes() const { return sizes; }
  label_t read(index_t, float*) const { return 0; }
};

}  // namespace

TEST_CASE("layers refuse sizes that no memory holds") {
  const auto padded = [](index_t kernel, index_t stride, index_t padding) {
    return [=] {
      nn::Conv2d(1, kernel, stride, padding).output(Shape<1, 1, 1>{});
    };
  };
  CHECK(error_of(padded(1, 1, huge)) ==
        "gpunet::nn::Conv2d: an image of shape [1, 1, 1] with padding 4611686018427387904 (want "
        "2^40 numbers or "
        "fewer, no memory holds more), give smaller sizes");
  for (const index_t padding : {index_t{1} << 20, index_t{1} << 40, huge / 2, huge, most}) {
    refused("gpunet::nn::Conv2d: an image of shape", padded(1, 1, padding));
    refused("gpunet::nn::Conv2d: an image of shape", padded(1, padding, padding));
    refused("gpunet::nn::Conv2d: an image of shape", padded(padding, 1, padding));
  }
  const Shape image(Dim<1>{}, Dim{huge}, Dim{huge});
  refused("gpunet::nn::Conv2d: an image of shape", [&] { nn::Conv2d(1, 1).output(image); });
  refused("gpunet::nn::MaxPool2d: an image of shape", [&] { nn::MaxPool2d<2>().output(image); });
  refused(
      "gpunet::Dim: the sizes 4611686018427387904 and 4611686018427387904 make a number over 2^63",
      [&] { nn::Flatten().output(image); });
  for (const index_t n : {huge, most}) {
    refused("makes outputs of shape", [&] {
      Host host;
      Model(host, nn::Sequential{nn::Input<4>{}, nn::Linear{n}});
    });
    refused("makes outputs of shape", [&] {
      Host host;
      Model(host, nn::Sequential{nn::Input<1, 1, 1>{}, nn::Conv2d{n, 1}});
    });
  }
}

TEST_CASE_TEMPLATE("a model refuses a batch that no memory holds", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  constexpr index_t batch = 1 << 20;
  Model net(device, nn::Sequential{nn::Input<1, 1, 1>{}, nn::Conv2d{1, 1, 1, 1 << 18}});
  const Tensor<float, D> inputs(device, {batch, 1, 1, 1});
  refused("gpunet::Model: a batch of 1048576 samples (want ", [&] { net(inputs); });
  Model empty(device, nn::Sequential{nn::Input<dyn>{Shape(Dim{index_t{0}})}, nn::Linear{2}});
  const Tensor<float, D> nothing(device, {huge, 0});
  refused("gpunet::Model: a batch of 4611686018427387904 samples (want ", [&] { empty(nothing); });
}

TEST_CASE("a summary refuses a batch that no memory holds") {
  const auto linear = nn::Sequential{nn::Input<4>{}, nn::Linear{3}};
  for (const index_t batch : {huge / 4, huge, most})
    refused("gpunet::summary: a batch of ", [&] { summary(linear, batch); });
  refused("gpunet::nn::Conv2d: an image of shape", [] {
    summary(nn::Sequential{nn::Input<1, 1, 1>{}, nn::Conv2d{1, 1, 1, huge / 4}});
  });
}

TEST_CASE_TEMPLATE("tensors refuse sizes that no memory holds", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (const index_t n : {huge, most}) {
    refused("gpunet::Tensor: the shape", [&] { rand(device, {n}); });
    refused("gpunet::Tensor: the shape", [&] { randn(device, {n, n}); });
    refused("gpunet::Buffer: ", [&] { Buffer<float, D>(device, n); });
    refused("gpunet::train::Accuracy: ", [&] { train::Accuracy(device, n); });
  }
  refused("gpunet::Buffer: -1 elements of 4 bytes (want 0 to 1152921504606846976",
          [&] { Buffer<float, D>(device, -1); });
  const Tensor<float, D> nothing(device, {0, huge, huge}), none(device, {huge, huge, 0});
  CHECK(nothing.numel() == 0);
  CHECK(none.numel() == 0);
  CHECK(none.view().flatten().sizes() == Sizes{0});
  refused("gpunet::View::flatten: the dimensions from 1 of shape [0, ",
          [&] { nothing.view().flatten(1); });
}

TEST_CASE("samplers and loaders refuse datasets that no memory has an order of") {
  Host host({.threads = 1});
  for (const index_t n : {huge, most}) {
    CAPTURE(n);
    refused("gpunet::data::RandomSampler: ", [&] { data::RandomSampler{n}; });
    refused("gpunet::data::RandomSampler: ",
            [&] { data::RandomSampler(n, {.replacement = true}); });
    refused("gpunet::data::RandomSampler: num_samples ",
            [&] { data::RandomSampler(4, {.num_samples = n}); });
    const Claims set{n};
    for (const index_t batch_size : {index_t{1}, n / 2, n})
      for (const bool shuffle : {false, true})
        refused("gpunet::data::DataLoader: the dataset has ",
                [&] { data::DataLoader(set, {.batch_size = batch_size, .shuffle = shuffle}); });
    refused("gpunet::data::random_split: a dataset of ", [&] {
      data::random_split(set, {0.5, 0.5});
    });
    refused("gpunet::data::random_split: a dataset of ", [&] { data::random_split(set, {1, 2}); });
    refused("gpunet::data::Subset: the index ", [&] { data::Subset(set, {n}); });
    refused("gpunet::data::ConcatDataset: the datasets have ",
            [&] { data::ConcatDataset(set, set); });
    refused("gpunet::data::train_test_split: ", [&] { data::train_test_split(n); });
    refused("gpunet::data::make_spiral: ", [&] { data::make_spiral(n); });
    refused("gpunet::data::RandomCrop: ", [&] { data::RandomCrop(8, {.padding = n}); });
    const Claims wide{4, {n, 2}};
    refused("gpunet::data::DataLoader: batches of shape [2, ",
            [&] { data::DataLoader(wide, {.batch_size = 2}); });
  }
  refused(
      "gpunet::data::RandomSampler: 214748364 samples (want 214748363 or fewer without "
      "replacement)",
      [] { data::RandomSampler{214748364}; });
  const Claims many{huge};
  const auto parts = data::ConcatDataset(std::vector<data::DatasetView>{many});
  CHECK(parts.size() == huge);
}
