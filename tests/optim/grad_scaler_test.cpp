#include <cmath>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "io/temp_folder.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"
#include "support/small_training.hpp"

using namespace gpunet;

namespace {

using Net = nn::Sequential<nn::Input<2>, nn::Linear<1, nn::Bias<false>>>;

// y = x w, whose gradient is x.
template <class D>
struct ProductLesson {
  explicit ProductLesson(Storage storage = Storage::float16) {
    net.autocast(storage);
    set({0.5f, -0.25f});
  }
  void set(const std::vector<float>& weights) {
    device.upload(net.parameters().data(), weights.data(), weights.size() * sizeof(float));
    net.note_update();
  }
  std::vector<float> weights() const {
    std::vector<float> all = parameters_of(net);
    return {all[0], all[1]};
  }
  Tensor<float, D> batch(const std::vector<float>& x) const { return {device, {1, 2}, x}; }
  // A backward pass of the scaled loss.
  void backward(const amp::GradScaler& scaler, const std::vector<float>& x) {
    net.zero_grad();
    scaler.scale(mean(net(batch(x)))).backward();
  }

  D& device = test_device<D>();
  Model<Net, D> net{device};
};

constexpr float infinity = std::numeric_limits<float>::infinity();

// Returns the text that f writes to stderr.
template <class F>
std::string stderr_of(F f) {
  const TempFolder folder;
  const std::string path = folder / "stderr";
  std::fflush(stderr);
  const int before = ::dup(2), file = ::open(path.c_str(), O_CREAT | O_RDWR, 0600);
  REQUIRE(::dup2(file, 2) == 2);
  f();
  std::fflush(stderr);
  REQUIRE(::dup2(before, 2) == 2);
  ::close(before), ::close(file);
  std::ifstream text(path);
  return {std::istreambuf_iterator<char>(text), {}};
}

}  // namespace

TEST_CASE_TEMPLATE("scales and skipped steps are PyTorch's", D, GPUNET_TEST_DEVICES) {
  const ReferenceFile file("grad_scaler");
  for (const std::string run : {"0", "1", "2"}) {
    const std::vector<double> numbers = file.values(run + ".options");
    const amp::GradScalerOptions options{numbers[0], numbers[1], numbers[2],
                                         static_cast<int>(numbers[3])};
    CAPTURE(options.init_scale);
    const auto inputs = file.rows<float>(run + ".inputs");
    const std::vector<double> scales = file.values(run + ".scales");
    const auto weights = file.rows(run + ".weights");
    ProductLesson<D> eager, stepped;
    optim::Adam optimizer(eager.net, {.lr = 0.1}), step_optimizer(stepped.net, {.lr = 0.1});
    amp::GradScaler scaler(options), step_scaler(options);
    train::Step step(stepped.net, nn::OutputLoss{}, step_optimizer, {.scaler = &step_scaler});
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      CAPTURE(i);
      const std::vector<float> before = eager.weights();
      eager.backward(scaler, inputs[i]);
      const bool has_stepped = scaler.step(optimizer);
      scaler.update();
      CHECK(scaler.get_scale() == scales[i]);
      // Each step rounds some ten times numbers of up to lr, and the weight once.
      for (std::size_t k = 0; k < 2; ++k)
        CHECK(std::abs(eager.weights()[k] - weights[i][k]) <=
              static_cast<double>(i + 1) * (10 * 0.1 + 1) * 0x1p-24);
      CHECK(has_stepped == (i == 0 ? std::isfinite(inputs[0][0]) : weights[i] != weights[i - 1]));
      CHECK(has_stepped == !same_bits(eager.weights(), before));
      CHECK(scaler.skipped() == !has_stepped);

      step({stepped.batch(inputs[i])});
      CHECK(step_scaler.state_dict() == scaler.state_dict());
      CHECK(step_scaler.skipped() == scaler.skipped());
      CHECK(same_bits(stepped.weights(), eager.weights()));
    }
  }
}

TEST_CASE_TEMPLATE("unscaled gradients can be clipped", D, GPUNET_TEST_DEVICES) {
  ProductLesson<D> product;
  optim::SGD optimizer(product.net, {.lr = 1});
  amp::GradScaler scaler({.init_scale = 256});
  product.backward(scaler, {3, -4});
  CHECK(gradients_of(product.net)[0] == 3 * 256);
  scaler.unscale_(optimizer);
  CHECK(gradients_of(product.net)[0] == 3);
  CHECK(nn::utils::clip_grad_norm_(product.net, 0.5).item() == 5);
  scaler.step(optimizer);
  scaler.update();
  CHECK(product.weights()[0] == doctest::Approx(0.5 - 0.3).epsilon(1e-6));
  CHECK(product.weights()[1] == doctest::Approx(-0.25 + 0.4).epsilon(1e-6));
}

TEST_CASE_TEMPLATE("a scale that falls ten times in a row is reported once", D,
                   GPUNET_TEST_DEVICES) {
  ProductLesson<D> product;
  optim::SGD optimizer(product.net, {.lr = 0.1});
  amp::GradScaler scaler({.init_scale = 65536});
  const auto steps = [&](int count, float x) {
    return stderr_of([&] {
      for (int i = 0; i < count; ++i) {
        product.backward(scaler, {x, 0.5f});
        scaler.step(optimizer);
        scaler.update();
      }
    });
  };
  const auto message = [](const char* scale) {
    return std::string(
               "gpunet::amp::GradScaler: the gradients of 10 steps in a row were infinite or NaN "
               "(none has "
               "changed the parameters, and the scale has fallen to ") +
           scale +
           "), look for the first such output by net.detect_anomaly(), at the learning rate, and "
           "at numbers over "
           "65504, the largest of float16\n";
  };
  CHECK(steps(9, infinity).empty());
  CHECK(scaler.get_scale() == 128);
  CHECK(steps(1, 0.25f).empty());  // ends the run
  CHECK(steps(9, infinity).empty());
  CHECK(steps(1, infinity) == message("0.125"));
  CHECK(steps(25, infinity).empty());  // the same run
  CHECK(steps(1, 0.25f).empty());
  scaler.update(1024);
  CHECK(steps(10, infinity) == message("1"));
  scaler.update(1024);  // begins another
  CHECK(steps(9, infinity).empty());
  scaler.load_state_dict(scaler.state_dict());
  CHECK(steps(9, infinity).empty());
}

TEST_CASE("each optimizer checks the gradients that it uses, and all of them the scale") {
  Host& host = test_device<Host>();
  using Two = nn::Sequential<nn::Input<1>, nn::Named<"a", nn::Linear<1, nn::Bias<false>>>,
                             nn::Named<"b", nn::Linear<1, nn::Bias<false>>>>;
  Model<Two, Host> net(host);
  net.autocast(Storage::float16);
  const auto at_a = static_cast<std::size_t>(net.named_parameters()[0].offset),
             at_b = static_cast<std::size_t>(net.named_parameters()[1].offset);
  const auto set = [&](float a, float b) {
    host.upload(net.parameters().data() + at_a, &a, sizeof a);
    host.upload(net.parameters().data() + at_b, &b, sizeof b);
    net.note_update();
  };
  optim::SGD a(net.parameters("a.*"), {.lr = 0.5}), b(net.parameters("b.*"), {.lr = 0.5});
  amp::GradScaler scaler({.init_scale = 64, .growth_interval = 1});
  const Tensor<float, Host> one(host, {1, 1}, {1.0f});
  const auto pass = [&] {
    net.zero_grad();
    scaler.scale(mean(net(one))).backward();
  };
  set(3, 2000);
  pass();  // the gradient of a's output, 64 * 2000, is infinite in float16, that of b is 64 * 3
  CHECK(!scaler.step(a));
  CHECK(scaler.step(b));
  CHECK(!scaler.skipped());
  scaler.update();
  CHECK(scaler.get_scale() == 32);
  CHECK(parameters_of(net)[at_a] == 3);
  CHECK(parameters_of(net)[at_b] == 2000 - 1.5f);
  set(3, 2);
  pass();
  CHECK(scaler.step(a));
  scaler.update();
  CHECK(scaler.get_scale() == 64);
  CHECK(parameters_of(net)[at_a] == 2);
}

// The body's gradients are scaled and overflow: neither keeps the head from learning as in float.
TEST_CASE_TEMPLATE("the optimizer of a part, clipped and scaled", D, GPUNET_TEST_DEVICES) {
  using Two = nn::Sequential<nn::Input<1>, nn::Named<"body", nn::Linear<1, nn::Bias<false>>>,
                             nn::Named<"head", nn::Linear<1, nn::Bias<false>>>>;
  D& device = test_device<D>();
  const Tensor<float, D> one(device, {1, 1}, {1.0f});
  for (const float head_weight : {2.0f, 2000.0f}) {
    CAPTURE(head_weight);
    Model<Two, D> net(device);
    net.autocast(Storage::float16);
    const auto at = [&](std::size_t i) {
      return static_cast<std::size_t>(net.named_parameters()[i].offset);
    };
    std::vector<float> weights = parameters_of(net);
    weights[at(0)] = 3, weights[at(1)] = head_weight;
    device.upload(net.parameters().data(), weights.data(), weights.size() * sizeof(float));
    net.note_update();
    optim::SGD head(net.parameters("head"), {.lr = 0.5});
    amp::GradScaler scaler({.init_scale = 64});
    net.zero_grad();
    scaler.scale(mean(net(one))).backward();
    scaler.unscale_(head);
    CHECK(std::isinf(gradients_of(net)[at(0)]) == (head_weight == 2000));
    CHECK(nn::utils::clip_grad_norm_(head.parameters(), 1).item() == 3);
    CHECK(scaler.step(head));
    scaler.update();
    CHECK(scaler.get_scale() == 64);
    CHECK(parameters_of(net)[at(1)] == doctest::Approx(head_weight - 0.5).epsilon(1e-6));
    CHECK(parameters_of(net)[at(0)] == 3);
  }
}

TEST_CASE("accumulated gradients are scaled alike") {
  ProductLesson<Host> product;
  optim::SGD optimizer(product.net, {.lr = 1});
  amp::GradScaler scaler({.init_scale = 8});
  train::Step step(product.net, nn::OutputLoss{}, optimizer, {.accumulate = 2, .scaler = &scaler});
  step({product.batch({1, 2})});
  CHECK(step.accumulated() == 1);
  CHECK(gradients_of(product.net)[0] == 4);
  step({product.batch({3, 2})});
  CHECK(product.weights() == std::vector<float>{0.5f - 2, -0.25f - 2});
  step({product.batch({1, infinity})});
  step.update();  // an incomplete group
  CHECK(scaler.skipped());
  CHECK(product.weights() == std::vector<float>{0.5f - 2, -0.25f - 2});
}

TEST_CASE_TEMPLATE("fit scales as the loop does, with and without parts that see gradients", D,
                   GPUNET_TEST_DEVICES) {
  const auto options = [](amp::GradScaler& scaler) -> train::FitOptions {
    return {.epochs = 2, .max_steps = 5, .scaler = &scaler};
  };
  const amp::GradScalerOptions overflowing{.init_scale = 0x1p40, .growth_interval = 2};
  Lesson<D> plain(0.05, false), clipped(0.05, false), counted(0.05, false), loop(0.05, false);
  for (Lesson<D>* lesson : {&plain, &clipped, &counted, &loop})
    lesson->net.autocast(Storage::float16);
  amp::GradScaler a(overflowing), b(overflowing), c(overflowing), d(overflowing);
  std::vector<bool> updated;
  struct Note {
    std::vector<bool>& updated;
    void on_step_end(train::Training& run) { updated.push_back(run.updated); }
  } note{updated};
  plain.fit(options(a), note);
  clipped.fit(options(b), train::ClipGradNorm{1e9});
  train::Accuracy accuracy(counted.device, 4);
  counted.fit(options(c), accuracy);
  std::vector<bool> expected;
  for (int step = 0; step < 5;)
    for (auto [inputs, labels] : loop.loader.to(loop.device)) {
      if (step++ == 5) break;
      loop.optimizer.zero_grad();
      d.scale(loop.criterion(loop.net(inputs), labels)).backward();
      expected.push_back(d.step(loop.optimizer));
      d.update();
    }
  CHECK(same_parameters(plain, loop));
  CHECK(same_parameters(clipped, loop));
  CHECK(same_parameters(counted, loop));
  CHECK(a.state_dict() == d.state_dict());
  CHECK(b.state_dict() == d.state_dict());
  CHECK(c.state_dict() == d.state_dict());
  CHECK(updated == expected);
  CHECK(!updated[0]);  // 2^40 overflows
}

// An exception between unscale_() and update() leaves a scaler in the middle of a step.
TEST_CASE("fit and Step begin a step of the scaler anew") {
  const auto leave = [](Lesson<Host>& lesson, amp::GradScaler& scaler, bool by_fit) {
    struct Thrower {
      void before_update(train::Training&) { throw std::runtime_error("in a part"); }
    } thrower;
    if (by_fit) {
      CHECK_THROWS(lesson.fit({.scaler = &scaler}, thrower));
      return;
    }
    // Of an optimizer that is no more.
    optim::SGD other(lesson.net, {.lr = 0.1});
    for (auto [inputs, labels] : lesson.loader.to(lesson.device)) {
      other.zero_grad();
      scaler.scale(lesson.criterion(lesson.net(inputs), labels)).backward();
      break;
    }
    scaler.unscale_(other);
    scaler.unscale_(lesson.optimizer);
    CHECK(contains(error_of([&] { scaler.unscale_(other); }),
                   "unscale_() has already been called on this optimizer"));
  };
  const auto run = [](Lesson<Host>& lesson, amp::GradScaler& scaler, int way) {
    manual_seed(5);
    if (way == 0) return (void)lesson.fit({.epochs = 2, .scaler = &scaler});
    if (way == 1)
      return (void)lesson.fit({.epochs = 2, .scaler = &scaler}, train::ClipGradNorm{1e9});
    train::Step step(lesson.net, lesson.criterion, lesson.optimizer, {.scaler = &scaler});
    for (int epoch = 0; epoch < 2; ++epoch)
      for (auto [inputs, labels] : lesson.loader.to(lesson.device))
        step(inputs, labels);
  };
  for (int way : {0, 1, 2})
    for (bool by_fit : {false, true}) {
      CAPTURE(way);
      CAPTURE(by_fit);
      Lesson<Host> expected(0.05, false), lesson(0.05, false);
      amp::GradScaler clean({.init_scale = 512, .growth_interval = 4}), left = clean;
      expected.net.autocast(Storage::float16);
      lesson.net.autocast(Storage::float16);
      leave(lesson, left, by_fit);
      CHECK(left.state_dict() == clean.state_dict());
      run(lesson, left, way);
      run(expected, clean, way);
      CHECK(same_parameters(lesson, expected));
      CHECK(left.state_dict() == clean.state_dict());
    }
}

TEST_CASE("a disabled scaler does nothing") {
  ProductLesson<Host> product(Storage::full);
  optim::SGD optimizer(product.net, {.lr = 1});
  amp::GradScaler scaler({.enabled = false});
  CHECK(!scaler.is_enabled());
  CHECK(scaler.get_scale() == 1);
  product.backward(scaler, {1, 2});
  scaler.unscale_(optimizer);
  CHECK(scaler.step(optimizer));
  scaler.update();
  scaler.update(3);
  CHECK(product.weights() == std::vector<float>{-0.5f, -2.25f});
}

TEST_CASE("the state of a scaler") {
  ProductLesson<Host> product;
  optim::SGD optimizer(product.net, {.lr = 0});
  amp::GradScaler scaler({.init_scale = 16, .growth_interval = 3}), other;
  CHECK(other.state_dict() == amp::GradScalerState{65536, 2, 0.5, 2000, 0});
  product.backward(scaler, {1, 1});
  scaler.step(optimizer);
  scaler.update();
  CHECK(scaler.state_dict() == amp::GradScalerState{16, 2, 0.5, 3, 1});
  other.load_state_dict(scaler.state_dict());
  CHECK(other.state_dict() == scaler.state_dict());
  other.set_growth_factor(4);
  other.set_backoff_factor(0.25);
  other.set_growth_interval(2);
  CHECK(other.get_growth_factor() == 4);
  CHECK(other.get_backoff_factor() == 0.25);
  CHECK(other.get_growth_interval() == 2);
  product.backward(other, {1, 1});
  other.step(optimizer);
  other.update();
  CHECK(other.get_scale() == 64);
  other.update(0.5);
  CHECK(other.get_scale() == 0.5);
  CHECK(scaler.scale(mean(product.net(product.batch({1, 1})))).item() == 16 * 0.25f);
}

TEST_CASE("wrong uses of a scaler") {
  ProductLesson<Host> product;
  optim::SGD optimizer(product.net, {.lr = 1});
  amp::GradScaler scaler({.init_scale = 4});
  CHECK(error_of([&] { scaler.update(); }) ==
        "gpunet::amp::GradScaler::update: no gradients were checked since the last update(), call "
        "scaler.step(optimizer) before");
  CHECK(error_of([&] { scaler.step(optimizer); }) ==
        "gpunet::amp::GradScaler::step: there are no gradients (no backward pass since "
        "zero_grad()), call "
        "scaler.scale(loss).backward() before");
  product.backward(scaler, {1, 2});
  scaler.unscale_(optimizer);
  CHECK(error_of([&] { scaler.unscale_(optimizer); }) ==
        "gpunet::amp::GradScaler::unscale_: unscale_() has already been called on this optimizer "
        "since the last "
        "update() (its gradients would be divided twice), call it once in a step");
  scaler.step(optimizer);
  CHECK(
      error_of([&] { scaler.step(optimizer); }) ==
      "gpunet::amp::GradScaler::step: step() has already been called since the last update(), call "
      "scaler.update() after the steps of all optimizers");
  CHECK(
      error_of([&] { scaler.unscale_(optimizer); }) ==
      "gpunet::amp::GradScaler::unscale_: unscale_() is being called after step(), call it before");
  scaler.update();

  ProductLesson<Host> full(Storage::full), brain(Storage::bfloat16);
  CHECK(error_of([&] {
          full.backward(scaler, {1, 2});
        }) ==
        "gpunet::amp::GradScaler::scale: the model stores floats (want float16: other gradients do "
        "not underflow), "
        "call net.autocast(Storage::float16), or make the scaler with {.enabled = false}");
  CHECK(contains(error_of([&] {
                   brain.backward(scaler, {1, 2});
                 }),
                 "stores bfloat16 (want float16"));
  optim::SGD full_optimizer(full.net, {.lr = 1});
  train::Step step(full.net, nn::OutputLoss{}, full_optimizer, {.scaler = &scaler});
  CHECK(contains(error_of([&] { step({full.batch({1, 2})}); }), "the model stores floats"));

  CHECK(error_of([] { amp::GradScaler({.init_scale = 0}); }) ==
        "gpunet::amp::GradScaler: invalid scale 0 (want more than 0, and finite as a float)");
  CHECK(contains(error_of([] { amp::GradScaler({.init_scale = 1e39}); }), "invalid scale 1e+39"));
  CHECK(contains(error_of([] { amp::GradScaler({.init_scale = std::nan("")}); }), "invalid scale"));
  CHECK(error_of([] { amp::GradScaler({.growth_factor = 1}); }) ==
        "gpunet::amp::GradScaler: invalid growth_factor 1 (want more than 1)");
  CHECK(error_of([] { amp::GradScaler({.backoff_factor = 1}); }) ==
        "gpunet::amp::GradScaler: invalid backoff_factor 1 (want more than 0 and less than 1)");
  CHECK(error_of([] { amp::GradScaler({.growth_interval = 0}); }) ==
        "gpunet::amp::GradScaler: invalid growth_interval 0 (want 1 or more)");
  CHECK(contains(error_of([&] { scaler.set_growth_factor(0.5); }),
                 "GradScaler::set_growth_factor: invalid"));
  CHECK(contains(error_of([&] { scaler.update(-1); }), "GradScaler::update: invalid scale -1"));
  CHECK(contains(error_of([&] {
                   scaler.load_state_dict({1, 2, 0.5, 3, -1});
                 }),
                 "invalid growth_tracker -1"));
  CHECK(scaler.get_scale() == 4);
}
