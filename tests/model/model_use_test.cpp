#include <atomic>
#include <doctest/doctest.h>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "io/temp_folder.hpp"
#include "support/cross_entropy_with.hpp"
#include "support/eager_step.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

const std::string refusal =
    "gpunet::Model: another call uses this model, in another thread or around this one (its memory "
    "holds one "
    "pass), "
    "make a model for each thread, guard this one by a mutex, or predict from PublishedWeights";

// Where a layer or a loss stops until the test lets it go on.
struct Gate {
  std::promise<void> entered, opened;
  bool throws = false;

  void pass() {
    entered.set_value();
    opened.get_future().wait();
    if (throws) throw Error("the gate");
  }
};
Gate* forward_gate = nullptr;
Gate* backward_gate = nullptr;
Gate* loss_gate = nullptr;

// y = x; stops at the gates.
struct GateLayer {
  template <class In>
  constexpr auto output(In in) const {
    return in;
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const {
    if (forward_gate) forward_gate->pass();
    device.copy(pass.y, pass.x, static_cast<std::size_t>(pass.in_elements()) * sizeof(T));
  }
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const {
    if (backward_gate) backward_gate->pass();
    if (pass.dx)
      device.copy(pass.dx, pass.dy, static_cast<std::size_t>(pass.in_elements()) * sizeof(T));
  }
};

struct GateLoss : CrossEntropyWith<GateLoss> {
  template <class D, class T>
  void evaluate(D& device, const nn::LossPass<T, label_t>& pass) const {
    if (loss_gate) loss_gate->pass();
    inner.evaluate(device, pass);
  }
};

using Net = nn::Sequential<nn::Input<3>, nn::Linear<4>, GateLayer, nn::Linear<2>>;

// A model and everything that uses one.
struct Fixture {
  Host device{{.threads = 1}};
  Model<Net, Host> net{device};
  nn::CrossEntropyLoss criterion;
  optim::SGD<Host, float> optimizer{net, {.lr = 0.1}};
  train::Step<Host, float, nn::CrossEntropyLoss, optim::SGD<Host, float>> step{net, criterion,
                                                                               optimizer};
  Tensor<float, Host> x{device, {2, 3}, {1, 2, 3, 4, 5, 6}};
  Tensor<label_t, Host> y{device, {2}, {0, 1}};
  TempFolder folder;
};

// The refusals of all calls while `running` is stopped at a gate in another thread.
template <class Running>
void check_refused(Fixture& f, Gate*& gate, Running running) {
  const auto output = f.net(f.x);
  auto loss = f.criterion(output, f.y);
  const std::string path = (f.folder / "net.safetensors");
  io::save(f.net, path);
  train::RunningLoss<Host> mean(f.device);
  train::Accuracy accuracy(f.device, 2);
  struct Two {
    index_t size() const { return 2; }
    Sizes sample_sizes() const { return {3}; }
    label_t read(index_t i, float* sample) const {
      for (int k = 0; k < 3; ++k)
        sample[k] = 1;
      return static_cast<label_t>(i);
    }
  };
  const Two set;
  const data::DataLoader loader(set, {.batch_size = 2});

  Gate stop;
  gate = &stop;
  auto done = std::async(std::launch::async, [&] { running(loss); });
  stop.entered.get_future().wait();
  gate = nullptr;
  const auto refuses = [&](const char* what, auto call) {
    CAPTURE(what);
    CHECK(error_of(call) == refusal);
  };
  refuses("forward", [&] { f.net(f.x); });
  refuses("forward_backward", [&] { f.net.forward_backward(f.x, f.criterion, f.y); });
  refuses("step", [&] { f.step(f.x, f.y); });
  refuses("repeat", [&] { f.step.repeat(2, f.x, f.y); });
  refuses("loss", [&] { f.criterion(output, f.y); });
  refuses("backward", [&] { loss.backward(); });
  refuses("item", [&] { loss.item(); });
  refuses("running loss", [&] { mean += loss; });
  refuses("output", [&] { output.tensor(); });
  refuses("accuracy", [&] { accuracy.update(output, f.y); });
  refuses("optimizer", [&] { f.optimizer.step(); });
  refuses("clip_grad_norm_", [&] { nn::utils::clip_grad_norm_(f.net, 1); });
  refuses("clip_grad_value_", [&] { nn::utils::clip_grad_value_(f.net, 1); });
  refuses("add_weight_penalty_", [&] { nn::utils::add_weight_penalty_(f.net, {.l2 = 1}); });
  refuses("evaluate", [&] { train::evaluate(f.net, f.criterion, loader); });
  refuses("fit", [&] { train::fit(f.net, f.criterion, f.optimizer, loader, {.epochs = 1}); });
  refuses("save", [&] { io::save(f.net, path); });
  refuses("load", [&] { io::load(f.net, path); });
  refuses("to", [&] { f.net.to(f.device); });
  stop.opened.set_value();
  CHECK_NOTHROW(done.get());
  CHECK(f.net(f.x).sizes() == Sizes{2, 2});  // the model is free again
}

}  // namespace

TEST_CASE("calls of a model while a pass of it runs are refused") {
  Fixture f;
  SUBCASE("forward") {
    check_refused(f, forward_gate, [&](auto&) { f.net(f.x); });
  }
  SUBCASE("backward") {
    check_refused(f, backward_gate, [&](auto& loss) { loss.backward(); });
  }
  SUBCASE("forward_backward") {
    check_refused(f, backward_gate, [&](auto&) { f.net.forward_backward(f.x, f.criterion, f.y); });
  }
  SUBCASE("step") {
    check_refused(f, backward_gate, [&](auto&) { f.step(f.x, f.y); });
  }
  SUBCASE("repeat") {
    check_refused(f, forward_gate, [&](auto&) { f.step.repeat(1, f.x, f.y); });
  }
  SUBCASE("loss") {
    check_refused(f, loss_gate, [&](auto&) { GateLoss{}(f.net(f.x), f.y); });
  }
}

TEST_CASE("a pass that throws leaves the model free") {
  Fixture f;
  const auto throws_in = [&](Gate*& gate, auto call) {
    Gate stop;
    stop.throws = true;
    stop.opened.set_value();
    gate = &stop;
    CHECK(error_of(call) == "the gate");
    gate = nullptr;
    CHECK_NOTHROW(f.net(f.x).to_vector());
  };
  throws_in(forward_gate, [&] { f.net(f.x); });
  throws_in(forward_gate, [&] { f.step(f.x, f.y); });
  throws_in(backward_gate, [&] { f.net.forward_backward(f.x, f.criterion, f.y); });
  throws_in(backward_gate, [&] { f.criterion(f.net(f.x), f.y).backward(); });
  throws_in(loss_gate, [&] { GateLoss{}(f.net(f.x), f.y); });
  const Tensor<float, Host> wrong(f.device, {2, 4}, std::vector<float>(8));
  CHECK_THROWS_AS(f.net(wrong), Error);
  CHECK_NOTHROW(f.net(f.x).to_vector());
}

TEST_CASE("several threads may read an output, and none may run a pass meanwhile") {
  Fixture f;
  const auto output = f.net(f.x);
  const auto loss = f.criterion(output, f.y);
  const std::vector<float> values = output.to_vector();
  Gate reading;
  auto done = std::async(std::launch::async, [&] {
    output.each_slice([&](const Slice&, index_t first, const float*) {
      if (first == 0) reading.pass();
    });
  });
  reading.entered.get_future().wait();
  CHECK(output.to_vector() == values);
  CHECK_NOTHROW(loss.item());
  CHECK_NOTHROW(io::save(f.net, f.folder / "net.pth"));
  CHECK(error_of([&] { f.net(f.x); }) == refusal);
  CHECK(error_of([&] { f.step(f.x, f.y); }) == refusal);
  reading.opened.set_value();
  done.get();
  CHECK(f.net(f.x).to_vector() == values);
}

// Under ThreadSanitizer this shows that whatever is not refused is ordered.
TEST_CASE("a predictor that another thread calls refuses") {
  Fixture f;
  Predictor predict(f.net), own(f.net);
  const std::vector<float> expected = predict(f.x).to_vector();
  Tensor<float, Host> outputs(f.device, {2, 2});
  Gate stop;
  forward_gate = &stop;
  auto done = std::async(std::launch::async, [&] { return predict(f.x).to_vector(); });
  stop.entered.get_future().wait();
  forward_gate = nullptr;
  const std::string refused =
      "gpunet::Predictor: another call uses this predictor, in another thread (its memory holds "
      "one pass), make "
      "one "
      "for each thread, which may share the network or PublishedWeights";
  CHECK(error_of([&] { predict(f.x); }) == refused);
  CHECK(error_of([&] { predict({f.x}); }) == refused);
  CHECK(error_of([&] { predict.into(outputs, f.x); }) == refused);
  CHECK(error_of([&] { predict.into(outputs, {f.x}); }) == refused);
  CHECK(own(f.x).to_vector() == expected);
  stop.opened.set_value();
  CHECK(done.get() == expected);
  CHECK(predict(f.x).to_vector() == expected);
}

TEST_CASE("what is not refused has the numbers of a thread alone") {
  Fixture f;
  const auto gradients = [&] {
    f.net.zero_grad();
    f.criterion(f.net(f.x), f.y).backward();
    return gradients_of(f.net);
  }();
  std::atomic<int> right{0}, wrong{0}, refused{0};
  std::vector<Tensor<float, Host>> inputs;  // of each thread
  std::vector<std::vector<float>> expected;
  for (int thread = 0; thread < 4; ++thread) {
    inputs.emplace_back(f.device, Sizes{2, 3}, std::vector<float>(6, static_cast<float>(thread)));
    expected.push_back(f.net(inputs.back()).to_vector());
  }
  const auto use = [&](std::size_t thread) {
    for (int i = 0; i < 2000; ++i)
      try {
        const auto output = f.net(inputs[thread]);
        ++(output.to_vector() == expected[thread] ? right : wrong);
      } catch (const Error&) {
        ++refused;
      }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < inputs.size(); ++thread)
      threads.emplace_back(use, thread);
  }
  CHECK(wrong == 0);
  CHECK(right + refused == 8000);
  f.net.zero_grad();
  f.criterion(f.net(f.x), f.y).backward();
  CHECK(same_bits(gradients_of(f.net), gradients));
}
