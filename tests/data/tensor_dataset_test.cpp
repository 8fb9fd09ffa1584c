#include <doctest/doctest.h>
#include <type_traits>
#include <vector>

#include <gpunet/data/dataloader.hpp>
#include <gpunet/data/tensor_dataset.hpp>

#include "support/errors.hpp"

using namespace gpunet;
using data::TensorDataset;

static_assert(data::Dataset<TensorDataset<>>);
using Samples = Tensor<float, Host>;
using Labels = Tensor<label_t, Host>;
static_assert(std::is_constructible_v<TensorDataset<>, Samples, Labels&>);
static_assert(std::is_constructible_v<TensorDataset<>, Samples&, Labels>);
static_assert(std::is_constructible_v<TensorDataset<>, const Samples, Labels>);

TEST_CASE("rows of a tensor are samples") {
  Host host;
  const Samples x(host, {3, 1, 2}, {0, 1, 2, 3, 4, 5});
  const Labels y(host, {3}, {7, 8, 9});
  const TensorDataset set(x, y);
  CHECK(set.size() == 3);
  CHECK(set.sample_sizes() == Sizes{1, 2});
  std::vector<float> sample(2);
  label_t label = 0;
  set.read(1, sample.data(), &label);
  CHECK(label == 8);
  CHECK(sample == std::vector<float>{2, 3});
  for (auto [inputs, labels] : data::DataLoader(set, {.batch_size = 3}).to(host)) {
    CHECK(inputs.sizes() == Sizes{3, 1, 2});
    CHECK(std::vector<float>(inputs.data(), inputs.data() + 6) == x.to_vector());
    CHECK(labels.data()[2] == 9);
  }
}

TEST_CASE("tensors that do not belong together are refused") {
  Host host;
  const Samples x(host, {3, 2}), flat(host, {3});
  const Labels y(host, {2}), column(host, {3, 1});
  CHECK(error_of([&] { TensorDataset set(x, y); }) ==
        "gpunet::data::TensorDataset: 3 samples (shape [3, 2]) and 2 labels (want one for each "
        "sample)");
  CHECK(error_of([&] { TensorDataset set(flat, y); }) ==
        "gpunet::data::TensorDataset: samples of shape [3] (want [n, features...]), give the "
        "tensor a shape with the "
        "number of samples in front");
  CHECK(error_of([&] { TensorDataset set(x, column); }) ==
        "gpunet::data::TensorDataset: labels of shape [3, 1] (want [n], a class for each sample)");
}
