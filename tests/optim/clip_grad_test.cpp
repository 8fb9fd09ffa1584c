#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/ops/norm.hpp>
#include <gpunet/optim/clip_grad.hpp>

#include "support/classifier_lesson.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

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

// Clips what parameters_of_net(net) returns, for several norms and by value.
template <class D, class T, class F>
void check_reference(const std::string& name, F parameters_of_net, double tolerance) {
  static const ReferenceFile file("clip_grad");
  for (const auto& row : file.rows(name + ".norm")) {
    const double max_norm = row[0], norm_type = row[1], norm = row[2];
    const std::vector<double> gradients(row.begin() + 3, row.end());
    CAPTURE(max_norm);
    CAPTURE(norm_type);
    ClassifierLesson<D, T> lesson;
    lesson.backward();
    const auto total =
        nn::utils::clip_grad_norm_(parameters_of_net(lesson.net), max_norm, norm_type, true);
    CHECK(std::abs(total.item() / norm - 1) < tolerance);
    CHECK(relative_error(gradients_of_lesson(lesson), gradients) < tolerance);
  }
  ClassifierLesson<D, T> lesson;
  lesson.backward();
  nn::utils::clip_grad_value_(parameters_of_net(lesson.net), 0.125);
  CHECK(relative_error(gradients_of_lesson(lesson), file.values(name + ".value")) < tolerance);
}
template <class D, class T>
void check_reference(double tolerance) {
  check_reference<D, T>(
      "all", [](auto& net) -> auto& { return net; }, tolerance);
  check_reference<D, T>(
      "weight", [](auto& net) { return net.parameters("*weight"); }, tolerance);
}

// So many blocks of the norm that threads share them, the last one not full.
using Wide = nn::Sequential<nn::Input<520>, nn::Linear<521>>;

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
  const Tensor<float, D> inputs(device, {1, 520}, std::vector<float>(520));
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
  const std::vector<float> gradients = random_values<float>(520 * 521, generator, -1, 2);
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
  const std::vector<float> gradients = random_values<float>(520 * 521, generator);
  Backwards executor;
  Host one({.threads = 1}), four({.threads = 4}), backwards({.executor = &executor});
  const std::vector<float> expected = clip_wide(one, gradients);
  CHECK(same_bits(clip_wide(four, gradients), expected));
  CHECK(same_bits(clip_wide(backwards, gradients), expected));
  // Three norms, and what a step shares.
  CHECK(executor.count > 3 * ceil_div(index_t{520 * 521}, norm_block));
}

// Two parts of the arena, with a gap and the gradients of another layer between. Of all parameters:
// bitwise the network's.
TEST_CASE_TEMPLATE("norms of the gradients of some parameters", D, GPUNET_TEST_DEVICES) {
  using Three = nn::Sequential<nn::Input<5>, nn::Named<"a", nn::Linear<70>>,
                               nn::Named<"b", nn::Linear<71>>, nn::Named<"a2", nn::Linear<80>>>;
  Model<Three, D> net(test_device<D>());
  Generator generator(7);
  const Tensor<float, D> inputs(net.device(), {3, 5}, random_values<float>(15, generator));
  const Tensor<label_t, D> labels(net.device(), {3}, {0, 7, 79});
  nn::CrossEntropyLoss criterion;
  const auto pass = [&] {
    net.zero_grad();
    criterion(net(inputs), labels).backward();
    return gradients_of(net);
  };
  const auto before = pass();
  const auto norm_of = [&](auto is_counted) {
    double squares = 0;
    for (const auto& parameter : net.named_parameters())
      for (index_t i = parameter.offset; is_counted(parameter) && i < parameter.end(); ++i)
        squares += std::pow(double{before[static_cast<std::size_t>(i)]}, 2);
    return std::sqrt(squares);
  };
  const auto in_a = [](const ParameterInfo& parameter) {
    return parameter.name[0] == 'a';
  };
  const auto is_weight_of_a = [&](const ParameterInfo& parameter) {
    return in_a(parameter) && parameter.name.back() == 't';
  };
  // float has 24 bits; the sum of squares has more.
  const double norm = norm_of(in_a);
  CHECK(nn::utils::clip_grad_norm_(net.parameters("a*"), norm / 2).item() ==
        doctest::Approx(norm).epsilon(1e-7));
  const auto after = gradients_of(net);
  for (const auto& parameter : net.named_parameters())
    for (index_t i = parameter.offset; i < parameter.end(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(after[at] ==
            doctest::Approx(in_a(parameter) ? before[at] / 2 : before[at]).epsilon(1e-5));
    }
  pass();
  nn::utils::clip_grad_value_(net.parameters("b*"), 1e-3);
  const auto of_b = gradients_of(net);
  for (const auto& parameter : net.named_parameters())
    for (index_t i = parameter.offset; i < parameter.end(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      CHECK(of_b[at] == (in_a(parameter) ? before[at] : std::clamp(before[at], -1e-3f, 1e-3f)));
    }

  pass();
  const float whole = nn::utils::clip_grad_norm_(net, 0.1).item();
  const auto clipped = gradients_of(net);
  pass();
  CHECK(nn::utils::clip_grad_norm_(net.parameters("*"), 0.1).item() == whole);
  CHECK(same_bits(gradients_of(net), clipped));

  // Frozen parameters have no gradient.
  net.parameters("a*.bias").requires_grad(false);
  pass();
  CHECK(nn::utils::clip_grad_norm_(net.parameters("a*"), 1e9).item() ==
        doctest::Approx(norm_of(is_weight_of_a)).epsilon(1e-7));
  CHECK(nn::utils::clip_grad_norm_(net.parameters("a*.bias"), 1e-9, infinity, true).item() == 0);
  net.zero_grad();
  CHECK(nn::utils::clip_grad_norm_(net.parameters("a*"), 1).item() == 0);
  nn::utils::clip_grad_value_(net.parameters("a*"), 0);
}

// The optimizer of a part has its parameters: the gradients of others have no influence.
TEST_CASE_TEMPLATE("fit clips the gradients that its optimizer uses", D, GPUNET_TEST_DEVICES) {
  using Two = nn::Sequential<nn::Input<4>, nn::Named<"body", nn::Linear<8>>, nn::ReLU,
                             nn::Named<"head", nn::Linear<3>>>;
  Generator generator(5);
  const Tensor<float, Host> inputs(test_device<Host>(), {8, 4},
                                   random_values<float>(32, generator));
  const Tensor<label_t, Host> labels(test_device<Host>(), {8}, {0, 1, 2, 0, 1, 2, 0, 1});
  data::TensorDataset set(inputs, labels);
  data::DataLoader loader(set, {.batch_size = 4});
  nn::CrossEntropyLoss criterion;
  const auto train = [&](auto change, auto clip) {
    manual_seed(1);
    Model<Two, D> net(test_device<D>());
    change(net);
    optim::SGD head(net.parameters("head"), {.lr = 0.5});
    CHECK(head.parameters().size() == 2);
    clip(net, head);
    return parameters_of(net);
  };
  const auto fit = [&](auto part) {
    return [&, part](auto& net, auto& head) {
      train::fit(net, criterion, head, loader, {.epochs = 2}, part);
    };
  };
  const auto keep = [](auto&) {
  };
  const auto freeze = [](auto& net) {
    net.parameters("body").requires_grad(false);
  };
  const auto by_norm = train(keep, fit(train::ClipGradNorm{0.05}));
  const auto loop = train(keep, [&](auto& net, auto& head) {
    for (int epoch = 0; epoch < 2; ++epoch)
      for (auto [x, y] : loader.to(net.device())) {
        head.zero_grad();
        criterion(net(x), y).backward();
        nn::utils::clip_grad_norm_(head.parameters(), 0.05);
        head.step();
      }
  });
  CHECK(same_bits(by_norm, loop));
  CHECK(same_bits(by_norm, train(freeze, fit(train::ClipGradNorm{0.05}))));
  CHECK(!same_bits(by_norm, train(keep, fit(train::ClipGradNorm{1e9}))));
  CHECK(same_bits(train(keep, fit(train::ClipGradValue{0.01})),
                  train(freeze, fit(train::ClipGradValue{0.01}))));
}

TEST_CASE_TEMPLATE("gradients that are no numbers are seen by their norm", D, GPUNET_TEST_DEVICES) {
  for (double bad : {std::nan(""), infinity, -infinity})
    for (double type : {2.0, 1.0, infinity}) {
      ClassifierLesson<D, double> lesson;
      lesson.backward();
      lesson.device.upload(lesson.net.gradients().data() + 1, &bad, sizeof(double));
      const auto before = gradients_of_lesson(lesson);
      CHECK(contains(error_of([&] { nn::utils::clip_grad_norm_(lesson.net, 1, type, true); }),
                     "is non-finite"));
      CHECK(same_bits(gradients_of_lesson(lesson), before));
      const double total = nn::utils::clip_grad_norm_(lesson.net, 1, type).item();
      CHECK((std::isnan(bad) ? std::isnan(total) : total == infinity));
      CHECK((std::isnan(bad) ? std::isnan(gradients_of_lesson(lesson)[0])
                             : gradients_of_lesson(lesson)[0] == 0));
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

TEST_CASE_TEMPLATE("a norm that was measured before is not mixed up with the next", D,
                   GPUNET_TEST_DEVICES) {
  ClassifierLesson<D, float> lesson;
  lesson.backward();
  const auto first = nn::utils::clip_grad_norm_(lesson.net, 1);
  CHECK(first.item() > 1);
  const auto second = nn::utils::clip_grad_norm_(lesson.net, 1);
  CHECK(error_of([&] { first.item(); }) ==
        "gpunet::nn::utils::TotalNorm::item: the gradients were measured again since, call it "
        "before");
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
