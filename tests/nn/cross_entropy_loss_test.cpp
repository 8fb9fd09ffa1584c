#include <limits>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/mean.hpp>

#include "support/check_gradients.hpp"
#include "support/isas.hpp"
#include "support/loss_reference.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

// Returns what PyTorch made of the batch of reference/layers.py.
std::vector<double> reference_of(const std::string& name) {
  return ReferenceFile("layers").values("cross_entropy." + name);
}

struct LossRun {
  std::vector<float> losses, dx;
};

// The losses of samples and their gradient on one slice; dx for all samples, padding included.
template <class D>
LossRun run_plain(D& device, const Slice& slice, index_t classes, const std::vector<float>& rows,
                  const std::vector<label_t>& labels, float scale) {
  const Tensor<label_t, D> targets(device, {slice.count}, labels);
  GuardedBuffer<float, D> x(device, slice.samples() * classes),
      dx(device, slice.samples() * classes);
  GuardedBuffer<float, D> losses(device, slice.count);
  x.upload(to_slice_order(slice, classes, rows));
  nn::CrossEntropyLoss{}.evaluate(
      device, nn::LossPass<float, label_t>{slice, classes, x.data(), targets.data(), scale,
                                           losses.data(), dx.data()});
  const Slice all{slice.samples(), slice.outer, slice.inner};
  return {losses.download(), to_rows(all, classes, dx.download().data())};
}

}  // namespace

TEST_CASE_TEMPLATE("gradients of CrossEntropyLoss", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (index_t classes : {1, 2, 10})
    check_loss_gradients(device, nn::CrossEntropyLoss{}, {classes});
  for (const Sizes& output : {Sizes{3}, Sizes{3, 2}, Sizes{3, 1, 4}}) {
    CAPTURE(to_string(output));
    check_loss_gradients(device, nn::CrossEntropyLoss{}, output);
    check_loss_gradients(device, nn::CrossEntropyLoss({.weight = {1, 0.5, 3}}), output);
    check_loss_gradients(device, nn::CrossEntropyLoss({.ignore_index = 1, .label_smoothing = 0.2}),
                         output);
    check_loss_gradients(device, nn::NLLLoss({.weight = {1, 0.5, 3}}), output);
    check_loss_gradients(
        device, nn::SoftCrossEntropyLoss({.weight = {1, 0.5, 3}, .label_smoothing = 0.2}), output);
  }
}

TEST_CASE_TEMPLATE("CrossEntropyLoss is PyTorch's", D, GPUNET_TEST_DEVICES) {
  std::vector<Slice> slices{{4, 4, 1}};
  if constexpr (std::same_as<D, Host>) slices = {{4, 4, 1}, {4, 1, 4}, {4, 1, 16}, {4, 2, 4}};
  std::vector<float> rows = pattern<float>(20, 7, 3, 23);
  for (float& x : rows)
    x *= 3;
  for (const Slice& slice : slices) {
    CAPTURE(slice.inner);
    auto [losses, dx] = run_plain(test_device<D>(), slice, 5, rows, {3, 0, 4, 3}, 0.25f);
    CHECK(relative_error(losses, reference_of("losses")) < 1e-6);
    for (std::size_t i = rows.size(); i < dx.size(); ++i)
      CHECK(dx[i] == 0);
    dx.resize(rows.size());
    CHECK(relative_error(dx, reference_of("dx")) < 1e-6);
  }
}

TEST_CASE_TEMPLATE("the mean of CrossEntropyLoss is PyTorch's", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::vector<double> reference = reference_of("losses");
  const std::vector<float> losses(reference.begin(), reference.end());
  const Tensor<float, D> all(device, {4}, losses);
  Tensor<float, D> result(device, {1}, {0.0f});
  mean(device, 4, all.data(), result.data());
  CHECK(relative_error(result.to_vector(), reference_of("mean")) < 1e-6);
}

TEST_CASE_TEMPLATE("CrossEntropyLoss of large logits does not overflow", D, GPUNET_TEST_DEVICES) {
  const auto [losses, dx] =
      run_plain(test_device<D>(), {2, 2, 1}, 2, {1000, -1000, -1e30f, -1e30f}, {1, 0}, 1);
  CHECK(losses == std::vector<float>{2000, std::log(2.0f)});
  CHECK(dx == std::vector<float>{1, -1, -0.5f, 0.5f});
  // A class that is excluded, as by a mask; where it is the label, PyTorch's loss is infinite too,
  // and its gradient this one.
  constexpr float inf = std::numeric_limits<float>::infinity();
  const auto [masked, of_masked] =
      run_plain(test_device<D>(), {2, 2, 1}, 2, {-inf, 5, 5, -inf}, {1, 1}, 1);
  CHECK(masked == std::vector<float>{0, inf});
  CHECK(of_masked == std::vector<float>{0, 0, 1, -1});
}

TEST_CASE("labels that are no class") {
  Host& device = test_device<Host>();
  const std::vector<label_t> labels{0, 9, 10};
  const View<const label_t, Host> view(labels.data(), {3});
  CHECK_NOTHROW(nn::CrossEntropyLoss{}.check(device, view, 11));
  CHECK_THROWS_WITH_AS(
      nn::CrossEntropyLoss{}.check(device, view, 10),
      "gpunet::nn::CrossEntropyLoss: label 10 of sample 2 of the batch is no class (want 0 to 9): "
      "check the labels, "
      "or give the network as many outputs as there are classes",
      Error);
  const std::vector<label_t> negative{-1};
  CHECK_THROWS_AS(
      nn::CrossEntropyLoss{}.check(device, View<const label_t, Host>(negative.data(), {1}), 10),
      Error);
}

TEST_CASE_TEMPLATE(
    "a label that is no class makes the loss not a number where it cannot be checked", D,
    GPUNET_TEST_DEVICES) {
  const auto [losses, dx] = run_plain(test_device<D>(), {2, 2, 1}, 2, {0, 0, 0, 0}, {2, -1}, 1);
  CHECK(std::isnan(losses[0]));
  CHECK(std::isnan(losses[1]));
}

TEST_CASE_TEMPLATE(
    "ten shapes of losses with class weights, ignored labels, smoothing and probabilities are "
    "PyTorch's",
    D, GPUNET_TEST_DEVICES) {
  using R = nn::Reduction;
  const std::vector<Sizes> shapes{{2, 3},    {2, 2},       {17, 5},    {4, 33}, {16, 10},
                                  {3, 4, 5}, {2, 3, 4, 2}, {5, 2, 17}, {33, 7}, {1, 6, 1, 3}};
  for (std::size_t number = 0; number < shapes.size(); ++number) {
    const Sizes& shape = shapes[number];
    const index_t classes = shape[1], places = shape.numel() / shape[0] / classes;
    Generator generator(static_cast<std::uint64_t>(number));
    const std::vector<double> x = doubles(shape.numel(), generator, -4, 4);
    const std::vector<double> soft = doubles(shape.numel(), generator, 0, 1);
    std::vector<label_t> labels;
    for (index_t i = 0; i < shape[0] * places; ++i)
      labels.push_back(static_cast<label_t>((i * i + 1) % classes));
    std::vector<double> weight;
    for (index_t k = 0; k < classes; ++k)
      weight.push_back(0.25 + static_cast<double>(k % 5));
    const auto check = [&]<class T>(const std::string& kind, const std::vector<T>& targets,
                                    auto make) {
      check_loss<D>(kind + "." + std::to_string(number), shape, make, x, targets);
    };
    check("cross_entropy", labels, [](R r) { return nn::CrossEntropyLoss({.reduction = r}); });
    check("weight", labels,
          [&](R r) { return nn::CrossEntropyLoss({.reduction = r, .weight = weight}); });
    check("ignore", labels,
          [](R r) { return nn::CrossEntropyLoss({.reduction = r, .ignore_index = 1}); });
    check("smoothing", labels,
          [](R r) { return nn::CrossEntropyLoss({.reduction = r, .label_smoothing = 0.2}); });
    check("all", labels, [&](R r) {
      return nn::CrossEntropyLoss(
          {.reduction = r, .weight = weight, .ignore_index = 0, .label_smoothing = 0.1});
    });
    check("nll", labels, [&](R r) { return nn::NLLLoss({.reduction = r, .weight = weight}); });
    check("soft", soft, [](R r) { return nn::SoftCrossEntropyLoss({.reduction = r}); });
    check("soft_all", soft, [&](R r) {
      return nn::SoftCrossEntropyLoss({.reduction = r, .weight = weight, .label_smoothing = 0.3});
    });
  }
}

namespace {

// The losses of the samples of a slice and the gradient, in T.
template <class T>
std::vector<double> losses_of_places(const nn::CrossEntropyLoss& loss, const Slice& slice,
                                     index_t classes, index_t places, const std::vector<float>& x,
                                     const std::vector<label_t>& labels) {
  Host& host = test_device<Host>();
  const index_t features = classes * places;
  const std::vector<T> rows(x.begin(), x.end()), input = to_slice_order(slice, features, rows);
  std::vector<T> dx(input.size()), losses(static_cast<std::size_t>(slice.count));
  const std::vector<T> weights{T{0.5}, T{2}, T{0}, T{1}, T{3}};
  const T total = 7;
  const bool is_weighted = !loss.is_plain();
  loss.evaluate(host, nn::LossPass<T, label_t>{slice, features, input.data(), labels.data(),
                                               T{0.25}, losses.data(), dx.data(), classes,
                                               weights.data(), is_weighted ? &total : nullptr});
  std::vector<double> all(losses.begin(), losses.end());
  all.insert(all.end(), dx.begin(), dx.end());
  return all;
}

}  // namespace

TEST_CASE("labels of places in vectors are those in double") {
  const KeepIsa keep;
  const nn::CrossEntropyLoss plain, weighted({.weight = {0.5, 2, 0, 1, 3}, .ignore_index = 1});
  for (const Isa path : isas())
    for (const Slice& slice : nn::test_slices<Host>())
      for (const index_t places : {1, 3, 4, 9, 35}) {
        CAPTURE(slice.inner);
        CAPTURE(places);
        set_isa(path);
        Generator generator(5);
        const std::vector<float> x =
            random_values<float>(slice.count * 5 * places, generator, -9, 9);
        std::vector<label_t> labels;
        for (index_t i = 0; i < slice.count * places; ++i)
          labels.push_back(static_cast<label_t>(generator.random() % 5));
        for (const auto* loss : {&plain, &weighted})
          CHECK(relative_error(losses_of_places<float>(*loss, slice, 5, places, x, labels),
                               losses_of_places<double>(*loss, slice, 5, places, x, labels)) <
                1e-6);
        labels.back() = 5;  // no class
        const std::vector<double> refused =
            losses_of_places<float>(plain, slice, 5, places, x, labels);
        CHECK(std::isnan(refused[static_cast<std::size_t>(slice.count - 1)]));
      }
}
