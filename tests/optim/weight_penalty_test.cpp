#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

template <class D, class T>
void check_reference(double tolerance) {
  for (const auto& row : ReferenceFile("weight_penalty").rows("penalties")) {
    const double l1 = row[0], l2 = row[1];
    const std::vector<double> expected(row.begin() + 2, row.end());
    CAPTURE(l1);
    ClassifierLesson<D, T> lesson;
    const T zero{};
    lesson.device.upload(lesson.net.parameters().data(), &zero, sizeof zero);
    lesson.backward();
    nn::utils::add_weight_penalty_(lesson.net, {.l1 = l1, .l2 = l2});
    const std::vector<T> arena = gradients_of(lesson.net);
    std::vector<T> gradients;
    for (const auto& parameter : lesson.net.named_parameters())
      gradients.insert(gradients.end(), arena.data() + parameter.offset,
                       arena.data() + parameter.offset + parameter.sizes.numel());
    CHECK(relative_error(gradients, expected) < tolerance);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a penalty of weights adds PyTorch's gradients", D, GPUNET_TEST_DEVICES) {
  check_reference<D, double>(1e-14);
  check_reference<D, float>(1e-6);
}

TEST_CASE_TEMPLATE("without a backward pass, or for nothing, weights have no penalty", D,
                   GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  nn::utils::add_weight_penalty_(lesson.net, {.l1 = 1});
  lesson.backward();
  const auto before = gradients_of(lesson.net);
  nn::utils::add_weight_penalty_(lesson.net, {});
  CHECK(same_bits(gradients_of(lesson.net), before));
  lesson.net.zero_grad();
  nn::utils::add_weight_penalty_(lesson.net, {.l1 = 1});
  CHECK(same_bits(gradients_of(lesson.net), before));
}

TEST_CASE("a penalty that makes no sense") {
  ClassifierLesson<Host, float> lesson;
  CHECK(error_of([&] { nn::utils::add_weight_penalty_(lesson.net, {.l1 = -1}); }) ==
        "gpunet::nn::utils::add_weight_penalty_: l1 -1, l2 0 (want 0 to 1e+30, a negative cost "
        "rewards weights for growing), give 0 for none");
  CHECK(error_of([&] { nn::utils::add_weight_penalty_(lesson.net, {.l2 = std::nan("")}); }) ==
        "gpunet::nn::utils::add_weight_penalty_: l1 0, l2 nan (want 0 to 1e+30, a negative cost "
        "rewards weights for growing), give 0 for none");
}
