// Functions of tensors on the batches of a loader, which know their device.
#include <doctest/doctest.h>
#include <sstream>
#include <type_traits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

using Values = std::vector<float>;

// The elements of a result, for comparison.
template <class R>
auto elements(R&& result) {
  if constexpr (requires { std::forward<R>(result).to_vector(); })
    return std::forward<R>(result).to_vector();
  else
    return result;
}

}  // namespace

TEST_CASE_TEMPLATE("batches compute as tensors do", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Host& host = test_device<Host>();
  const data::TensorDataset set(Tensor<float, Host>(host, {3, 2}, {5, 1, 2, 3, 4, 0}),
                                Tensor<label_t, Host>(host, {3}, {2, 0, 1}));
  const data::DataLoader loader(set, {.batch_size = 3});
  const auto check = [&](const auto& inputs, const auto& labels) {
    CHECK(&inputs.device() == &device);
    CHECK((2.0f * inputs).to_vector() == Values{10, 2, 4, 6, 8, 0});
    CHECK(mean(inputs).item() == 2.5f);
    CHECK(mean(inputs, 0).to_vector() == Values{11.0f / 3, 4.0f / 3});
    CHECK(select(inputs, 0, 1).to_vector() == Values{2, 3});
    CHECK(inputs[1].to_vector() == Values{2, 3});
    CHECK(inputs[-1][0].item() == 4);
    CHECK(labels[0].item() == 2);
    CHECK(one_hot(labels, 3).to_vector() == std::vector<index_t>{0, 0, 1, 1, 0, 0, 0, 1, 0});
    CHECK(matmul(inputs, t(inputs)).to_vector() == Values{26, 13, 20, 13, 13, 8, 20, 8, 16});
    Values rows;
    for (auto row : inputs)
      rows.push_back(sum(row).item());
    CHECK(rows == Values{6, 5, 4});
    std::ostringstream text;
    text << inputs << labels;
    CHECK(text.str() ==
          "tensor([[5., 1.],\n        [2., 3.],\n        [4., 0.]])tensor([2, 0, 1])");

    const Tensor x = inputs;  // a copy
    const Tensor<label_t, D> y = labels;
    CHECK(x.to_vector() == Values{5, 1, 2, 3, 4, 0});
    CHECK(inputs.to_vector() == x.to_vector());
    CHECK(inputs.clone().sizes() == Sizes{3, 2});
    CHECK(inputs.to(host).to_vector() == x.to_vector());
    CHECK(inputs.flatten(1).clone().to_vector() == x.to_vector());
    const auto same = [&](auto f) {
      CHECK(elements(f(inputs)) == elements(f(x)));
    };
    same([](const auto& v) { return exp(v); });
    same([](const auto& v) { return -abs(v) + v * v / (v + 1) - pow(v, 2); });
    same([](const auto& v) { return where(v > 2, v, 0.0f); });
    same([](const auto& v) { return clamp(v, 1, 3); });
    same([](const auto& v) { return cast<index_t>(v); });
    same([](const auto& v) { return v - mean(v, 0); });
    same([](const auto& v) { return var(v, 0); });
    same([](const auto& v) { return norm(v); });
    same([](const auto& v) { return max(v); });
    same([](const auto& v) { return max(v, 1).values; });
    same([](const auto& v) { return argmax(v, 1); });
    same([](const auto& v) { return softmax(v, 1); });
    same([](const auto& v) { return logsumexp(v, 1); });
    same([](const auto& v) { return cumsum(v, 0); });
    same([](const auto& v) { return sort(v, 0).values; });
    same([](const auto& v) { return topk(v, 1).indices; });
    same([](const auto& v) { return cat({v, v}, 1); });
    same([](const auto& v) { return stack({v, v}); });
    same([](const auto& v) { return roll(v, 1, 0); });
    same([](const auto& v) { return flip(v, {0}); });
    same([](const auto& v) { return reshape(v, {-1}); });
    same([](const auto& v) { return flatten(v); });
    same([](const auto& v) { return narrow(v, 0, 1, 2); });
    same([](const auto& v) { return split(v, 2)[1]; });
    same([](const auto& v) { return permute(v, {1, 0}); });
    same([](const auto& v) { return unsqueeze(v, 0); });
    same([](const auto& v) { return zeros_like(v); });
    same([](const auto& v) { return outer(v[0], v[1]); });
    same([](const auto& v) { return masked_select(v, v > 2); });
    same([](const auto& v) { return nonzero(v); });
    same([](const auto& v) { return allclose(v, v + 1e-9f); });
    same([&](const auto& v) { return index_select(v, 0, labels); });
    same([&](const auto& v) { return gather(v, 0, cast<index_t>(unsqueeze(labels, 1))); });
    CHECK((labels == y).to_vector() == std::vector<bool>(3, true));
    CHECK(unique(labels).values.to_vector() == std::vector<label_t>{0, 1, 2});
  };
  auto batches = loader.to(device);
  auto resident = loader.resident_on(device);
  for (auto [inputs, labels] : batches)
    check(inputs, labels);
  for (auto [inputs, labels] : resident)
    check(inputs, labels);
}

TEST_CASE("collate_fn computes with functions of tensors") {
  Host& host = test_device<Host>();
  const data::TensorDataset set(Tensor<float, Host>(host, {4, 1}, {1, 2, 3, 4}),
                                Tensor<label_t, Host>(host, {4}, {0, 1, 2, 3}));
  for (int workers : {0, 2}) {
    const data::DataLoader loader(
        set,
        {.batch_size = 2,
         .num_workers = workers,
         .collate_fn = [](View<float, Host> inputs, View<label_t, Host> labels, data::Random&) {
           inputs *= 10;
           inputs += flip(inputs, {0});
           labels[0] = 7;
         }});
    std::vector<float> all;
    for (auto [inputs, labels] : loader.to(host)) {
      for (const float x : inputs.to_vector())
        all.push_back(x);
      CHECK(labels[0].item() == 7);
    }
    CHECK(all == Values{30, 30, 70, 70});
  }
}

TEST_CASE("a view without a device says so") {
  float data[2] = {1, 2};
  const View<float, Host> view(data, {2});
  CHECK(error_of([&] { view.to_vector(); }) ==
        "gpunet::View: a view without a device (functions of tensors run there), give the tensor, "
        "or View(data, "
        "sizes, &device)");
  CHECK(contains(error_of([&] { Tensor y = view + 1; }), "no device"));
  CHECK(contains(error_of([&] { mean(view); }), "device"));
  Host& host = test_device<Host>();
  CHECK(Tensor(View<float, Host>(data, {2}, &host) + 1).to_vector() == Values{2, 3});
  CHECK(Tensor(view + zeros(host, {2})).to_vector() == Values{1, 2});
}
