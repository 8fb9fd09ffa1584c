#include <cstddef>
#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

#include <gpunet/data/dataloader.hpp>
#include <gpunet/data/random_transforms.hpp>
#include <gpunet/data/tensor_dataset.hpp>
#include <gpunet/extras/data/painted_shapes.hpp>

#include "support/batches.hpp"
#include "support/byte_set.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using data::DataLoader;
using data::DataLoaderOptions;
using data::Random;

namespace {

// Mixup (Zhang et al., 2017) with the label of the larger part: each sample is blended with the one
// behind it.
void mix(View<float, Host> inputs, View<label_t, Host> labels, Random& random) {
  const index_t n = labels.numel(), features = inputs.numel() / n;
  const std::vector<float> before(inputs.data(), inputs.data() + inputs.numel());
  const std::vector<label_t> old(labels.data(), labels.data() + n);
  const auto part = static_cast<float>(random.uniform(0, 1));
  for (index_t i = 0; i < n; ++i) {
    const index_t other = (i + 1) % n;
    for (index_t k = 0; k < features; ++k)
      inputs.data()[i * features + k] =
          part * before[static_cast<std::size_t>(i * features + k)] +
          (1 - part) * before[static_cast<std::size_t>(other * features + k)];
    if (part < 0.5f) labels.data()[i] = old[static_cast<std::size_t>(other)];
  }
}

// All that two epochs give.
template <class D>
std::vector<float> all_numbers(D& device, const auto& set, const DataLoaderOptions& options) {
  std::vector<float> all;
  manual_seed(2);
  const DataLoader loader(set, options);
  auto batches = loader.to(device);
  for (int epochs = 0; epochs < 2; ++epochs)
    for (auto [inputs, labels] : batches) {
      for (float x : to_vector(device, inputs))
        all.push_back(x);
      for (label_t label : to_vector(device, labels))
        all.push_back(static_cast<float>(label));
    }
  return all;
}

}  // namespace

TEST_CASE_TEMPLATE("collate_fn changes batches, and any number of workers gives the same ones", D,
                   GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  Host host;
  const ByteSet bytes(10);
  const data::Shapes drawn(10, 1,
                           data::Compose(data::RandomCrop{32, {.padding = 4}}, data::ToTensor{}));
  const auto check = [&](const auto& set) {
    const std::vector<float> plain = all_numbers(device, set, {.batch_size = 4, .shuffle = true});
    const std::vector<float> mixed =
        all_numbers(device, set, {.batch_size = 4, .shuffle = true, .collate_fn = mix});
    CHECK(mixed.size() == plain.size());
    CHECK(mixed != plain);
    CHECK(all_numbers(host, set, {.batch_size = 4, .shuffle = true, .collate_fn = mix}) == mixed);
    for (int workers : {1, 2, 5, 16}) {
      CAPTURE(workers);
      CHECK(all_numbers(
                device, set,
                {.batch_size = 4, .shuffle = true, .num_workers = workers, .collate_fn = mix}) ==
            mixed);
    }
  };
  check(bytes);
  check(drawn);
}

TEST_CASE_TEMPLATE(
    "collate_fn sees each batch as it was read, the last one too, and draws anew for it", D,
    GPUNET_TEST_DEVICES) {
  auto& device = test_device<D>();
  Host host;
  const Tensor<float, Host> x(host, {5, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor<label_t, Host> y(host, {5}, {0, 1, 2, 3, 4});
  const data::TensorDataset set(x, y);
  std::vector<Sizes> shapes;
  std::vector<std::uint64_t> numbers;
  const DataLoader loader(
      set,
      {.batch_size = 2,
       .collate_fn = [&](View<float, Host> inputs, View<label_t, Host> labels, Random& random) {
         shapes.push_back(inputs.sizes());
         CHECK(labels.sizes() == Sizes{inputs.size(0)});
         CHECK(inputs.data()[1] == 2 * static_cast<float>(labels.data()[0]) + 1);
         inputs.data()[0] = 100;
         labels.data()[0] = 7;
         numbers.push_back(random.next());
       }});
  std::vector<float> first;
  for (auto [inputs, labels] : loader.to(device)) {
    first.push_back(to_vector(device, inputs)[0]);
    CHECK(to_vector(device, labels)[0] == 7);
  }
  CHECK(first == std::vector<float>{100, 100, 100});
  CHECK(shapes == std::vector<Sizes>{{2, 2}, {2, 2}, {1, 2}});
  CHECK(numbers[0] != numbers[1]);
  CHECK(numbers[1] != numbers[2]);
}

TEST_CASE("what collate_fn throws reaches the loop") {
  Host host;
  const ByteSet set(6);
  for (int workers : {0, 3}) {
    const DataLoader loader(
        set, {.batch_size = 2,
              .num_workers = workers,
              .collate_fn = [](View<float, Host>, View<label_t, Host> labels, Random&) {
                if (labels.data()[0] == 4) throw std::runtime_error("no batch of mine");
              }});
    int arrived = 0;
    CHECK_THROWS_WITH_AS(
        [&] {
          for (const auto& batch : loader.to(host))
            arrived += batch.targets.numel() == 2;
        }(),
        "no batch of mine", std::runtime_error);
    CHECK(arrived == 2);
  }
  CHECK(error_of([&] { DataLoader(set, {.collate_fn = mix}).resident_on(host); }) ==
        "gpunet::data::DataLoader::resident_on: there is a collate_fn (it works on batches in host "
        "memory, and these "
        "are made on the device), use to(device), or leave it out");
}
