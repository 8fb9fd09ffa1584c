#include "reference/clip_grad.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/norm.hpp>
#include <gpunet/optim/clip_grad.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

const double infinity = std::numeric_limits<double>::infinity();

// Without the gaps of the arena.
template <class Lesson>
auto gradients_of_lesson(const Lesson& lesson) {
  const auto arena = gradients_of(lesson.net);
  std::remove_cvref_t<decltype(arena)> values;
  for (const auto& parameter : lesson.net.named_parameters())
    values.insert(values.end(), arena.data() + parameter.offset,
                  arena.data() + parameter.offset + parameter.sizes.numel());
  return values;
}

template <class D, class T>
void check_reference(double tolerance) {
  for (const auto& expected : reference::clip_grad_norms) {
    CAPTURE(expected.max_norm);
    CAPTURE(expected.norm_type);
    ClassifierLesson<D, T> lesson;
    lesson.backward();
    const auto total = nn::utils::clip_grad_norm_(lesson.net, expected.max_norm, expected.norm_type, true);
    CHECK(std::abs(total.item() / expected.total - 1) < tolerance);
    CHECK(relative_error(gradients_of_lesson(lesson), expected.gradients) < tolerance);
  }
  ClassifierLesson<D, T> lesson;
  lesson.backward();
  nn::utils::clip_grad_value_(lesson.net, 0.125);
  CHECK(relative_error(gradients_of_lesson(lesson), reference::clip_grad_value) < tolerance);
}

// So many blocks of the norm that threads share them, the last one not full.
using Wide = nn::Sequential<nn::Input<300>, nn::Linear<301>>;

// Runs tasks one after another, the last one first, each as another worker, and counts them.
struct Backwards : Executor {
  int threads() const override { return 3; }
  void run(index_t tasks, ParallelTask task) override {
    for (index_t i = tasks; i-- > 0; ++count)
      task(i, static_cast<int>(i % 3));
  }
  index_t count = 0;
};

// The norms of some numbers as gradients of a wide layer, and what clipping by the last one leaves.
template <class D>
std::vector<float> clip_wide(D& device, const std::vector<float>& gradients) {
  Model<Wide, D> net(device);
  const Tensor<float, D> inputs(device, {1, 300}, std::vector<float>(300));
  const Tensor<label_t, D> labels(device, {1}, {0});
  nn::CrossEntropyLoss criterion;
  criterion(net(inputs), labels).backward();
  std::vector<float> arena(static_cast<std::size_t>(net.gradients().size()));
  std::copy(gradients.begin(), gradients.end(), arena.begin());
  device.upload(net.gradients().data(), arena.data(), arena.size() * sizeof(float));
  std::vector<float> results;
  for (double type : {1.0, infinity, 2.0})
    results.push_back(nn::utils::clip_grad_norm_(net, type == 2 ? 0.5 : 1e9, type).item());
  arena = gradients_of(net);
  results.insert(results.end(), arena.begin(), arena.end());
  return results;
}

}  // namespace

TEST_CASE_TEMPLATE("gradients are clipped as by torch.nn.utils", D, GPUNET_TEST_DEVICES) {
  check_reference<D, double>(1e-14);
  check_reference<D, float>(1e-6);
}

TEST_CASE_TEMPLATE("norms of many gradients", D, GPUNET_TEST_DEVICES) {
  Generator generator(3);
  const std::vector<float> gradients = random_values<float>(300 * 301, generator, -1, 2);
  double sum = 0, squares = 0, largest = 0;
  for (float g : gradients) {
    sum += std::abs(double{g});
    squares += double{g} * double{g};
    largest = std::max(largest, std::abs(double{g}));
  }
  const std::vector<float> results = clip_wide(test_device<D>(), gradients);
  CHECK(results[0] == doctest::Approx(sum).epsilon(1e-7));
  CHECK(results[1] == static_cast<float>(largest));
  CHECK(results[2] == doctest::Approx(std::sqrt(squares)).epsilon(1e-7));
  CHECK(results[3] == doctest::Approx(gradients[0] * 0.5 / std::sqrt(squares)).epsilon(1e-6));
}

TEST_CASE("clipped gradients have the same bits for any number of threads") {
  Generator generator(4);
  const std::vector<float> gradients = random_values<float>(300 * 301, generator);
  Backwards executor;
  Host one({.threads = 1}), four({.threads = 4}), backwards({.executor = &executor});
  const std::vector<float> expected = clip_wide(one, gradients);
  CHECK(same_bits(clip_wide(four, gradients), expected));
  CHECK(same_bits(clip_wide(backwards, gradients), expected));
  CHECK(executor.count > 3 * ceil_div(index_t{300 * 301}, norm_block));  // three norms, and what a step shares
}

TEST_CASE_TEMPLATE("gradients that are no numbers are seen by their norm", D, GPUNET_TEST_DEVICES) {
  for (double bad : {std::nan(""), infinity, -infinity})
    for (double type : {2.0, 1.0, infinity}) {
      ClassifierLesson<D, double> lesson;
      lesson.backward();
      lesson.device.upload(lesson.net.gradients().data() + 1, &bad, sizeof(double));
      const auto before = gradients_of_lesson(lesson);
      CHECK(contains(error_of([&] { nn::utils::clip_grad_norm_(lesson.net, 1, type, true); }), "is non-finite"));
      CHECK(same_bits(gradients_of_lesson(lesson), before));
      const double total = nn::utils::clip_grad_norm_(lesson.net, 1, type).item();
      CHECK((std::isnan(bad) ? std::isnan(total) : total == infinity));
      CHECK((std::isnan(bad) ? std::isnan(gradients_of_lesson(lesson)[0]) : gradients_of_lesson(lesson)[0] == 0));
    }
}

TEST_CASE_TEMPLATE("without a backward pass there is nothing to clip", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  CHECK(nn::utils::clip_grad_norm_(lesson.net, 1, 2, true).item() == 0);
  nn::utils::clip_grad_value_(lesson.net, 1);
  lesson.backward();
  lesson.net.zero_grad();
  CHECK(nn::utils::clip_grad_norm_(lesson.net, 1, infinity).item() == 0);
}

TEST_CASE_TEMPLATE("a norm that was measured before is not mixed up with the next", D, GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  lesson.backward();
  const auto first = nn::utils::clip_grad_norm_(lesson.net, 1);
  CHECK(first.item() > 1);
  const auto second = nn::utils::clip_grad_norm_(lesson.net, 1);
  CHECK(error_of([&] { first.item(); }) ==
        "gpunet::nn::utils::TotalNorm::item: the gradients were measured again since, call it before");
  CHECK(std::abs(second.item() - 1) < 1e-5f);
}

TEST_CASE("clipping that makes no sense") {
  ClassifierLesson<Host, float> lesson;
  CHECK(error_of([&] { nn::utils::clip_grad_norm_(lesson.net, -1); }) ==
        "gpunet::nn::utils::clip_grad_norm_: a norm of at most -1 (want 0 or more)");
  CHECK(error_of([&] { nn::utils::clip_grad_norm_(lesson.net, 1, 3); }) ==
        "gpunet::nn::utils::clip_grad_norm_: a norm of type 3 (want 1, 2 or infinity)");
  CHECK(error_of([&] { nn::utils::clip_grad_value_(lesson.net, -1); }) ==
        "gpunet::nn::utils::clip_grad_value_: values of at most -1 (want 0 or more)");
}
