#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensorboard.hpp>

#include "io/temp_folder.hpp"
#include "support/allocations.hpp"
#include "support/small_training.hpp"

using namespace gpunet;

namespace {

// The loop as PyTorch's lessons write it; `before_update` is called when the gradients are there.
template <class D, class F>
void loop(Lesson<D>& lesson, int epochs, F before_update) {
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (auto [inputs, labels] : lesson.loader.to(lesson.device)) {
      lesson.optimizer.zero_grad();
      auto loss = lesson.criterion(lesson.net(inputs), labels);
      loss.backward();
      before_update();
      lesson.optimizer.step();
    }
}

// A part that looks at the model.
struct SeesMode {
  int batches = 0;
  template <class Model, class Optimizer>
  void on_validation_step_end(train::Run<Model, Optimizer>& run) {
    ++batches;
    CHECK(run.model.mode() == nn::Mode::eval);
  }
  template <class Model, class Optimizer>
  void on_step_end(train::Run<Model, Optimizer>& run) {
    CHECK(run.model.mode() == nn::Mode::train);
  }
};

}  // namespace

TEST_CASE_TEMPLATE("fit leaves the bits of the loop", D, GPUNET_TEST_DEVICES) {
  Lesson<D> looped, fitted;
  manual_seed(5);
  loop(looped, 2, [] {});
  manual_seed(5);
  const train::History history = fitted.fit({.epochs = 2});
  CHECK(same_parameters(looped, fitted));
  REQUIRE(history.epochs.size() == 2);
  CHECK(history.steps == 6);
  CHECK(history.end == train::End::finished);
  CHECK(history.why.empty());
  CHECK(history.epochs[1].number == 2);
  CHECK(history.epochs[1].steps == 3);
  CHECK(history.epochs[1].lr == 0.1);
  CHECK(std::isnan(history.epochs[1].accuracy));
  CHECK(std::isnan(history.epochs[1].val_loss));
}

TEST_CASE_TEMPLATE("fit leaves the bits of the loop with clipping", D, GPUNET_TEST_DEVICES) {
  Lesson<D> plain, by_norm, fitted_by_norm, by_value, fitted_by_value;
  manual_seed(5);
  loop(plain, 1, [] {});
  manual_seed(5);
  loop(by_norm, 1, [&] { nn::utils::clip_grad_norm_(by_norm.net, 0.1); });
  manual_seed(5);
  fitted_by_norm.fit({}, train::ClipGradNorm{0.1});
  CHECK(same_parameters(by_norm, fitted_by_norm));
  CHECK(!same_parameters(by_norm, plain));
  manual_seed(5);
  loop(by_value, 1, [&] { nn::utils::clip_grad_value_(by_value.net, 0.01); });
  manual_seed(5);
  train::Accuracy accuracy(by_value.device, 4);  // another way through the network, the same bits
  fitted_by_value.fit({}, train::ClipGradValue{0.01}, accuracy);
  CHECK(same_parameters(by_value, fitted_by_value));
  CHECK(!same_parameters(by_value, plain));
  CHECK(accuracy.result().total() == 10);
}

TEST_CASE_TEMPLATE("fit leaves the bits of the loop with a penalty of weights", D,
                   GPUNET_TEST_DEVICES) {
  Lesson<D> plain, looped, fitted;
  manual_seed(5);
  loop(plain, 1, [] {});
  manual_seed(5);
  loop(looped, 1, [&] { nn::utils::add_weight_penalty_(looped.net, {.l1 = 0.01, .l2 = 0.1}); });
  manual_seed(5);
  fitted.fit({}, train::WeightPenalty{.l1 = 0.01, .l2 = 0.1});
  CHECK(same_parameters(looped, fitted));
  CHECK(!same_parameters(looped, plain));
}

namespace {

// The loop of PyTorch's lessons that makes an update of two batches, and at the end of an epoch, of
// three batches here.
template <class D, class F>
void accumulating_loop(Lesson<D>& lesson, int epochs, int max_steps, F before_update) {
  int total = 0;
  for (int epoch = 0; epoch < epochs && total != max_steps; ++epoch) {
    int i = 0;
    for (auto [inputs, labels] : lesson.loader.to(lesson.device)) {
      if (i % 2 == 0) lesson.optimizer.zero_grad();
      lesson.criterion(lesson.net(inputs), labels).backward(0.5);
      ++total;
      if (++i % 2 == 0 || i == 3 || total == max_steps) {
        before_update();
        lesson.optimizer.step();
      }
      if (total == max_steps) break;
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("fit that accumulates gradients leaves the bits of the loop", D,
                   GPUNET_TEST_DEVICES) {
  Lesson<D> looped, fitted, clipped, fitted_clipped, counted;
  manual_seed(5);
  accumulating_loop(looped, 2, -1, [] {});
  manual_seed(5);
  int updates = 0;
  fitted.fit({.epochs = 2, .accumulate = 2}, train::EachStep([&](train::Training& run) {
               CHECK(run.updated == (run.step >= 2));
               updates += run.updated;
             }));
  CHECK(updates == 4);
  CHECK(same_parameters(looped, fitted));
  manual_seed(5);
  accumulating_loop(clipped, 2, -1, [&] { nn::utils::clip_grad_norm_(clipped.net, 0.1); });
  manual_seed(5);
  fitted_clipped.fit({.epochs = 2, .accumulate = 2}, train::ClipGradNorm{0.1});
  CHECK(same_parameters(clipped, fitted_clipped));
  CHECK(!same_parameters(clipped, looped));
  manual_seed(5);
  train::Accuracy accuracy(counted.device, 4);
  counted.fit({.epochs = 2, .accumulate = 2}, accuracy);
  CHECK(same_parameters(looped, counted));
}

TEST_CASE("fit updates by the gradients that are left when it ends within a group") {
  Lesson<Host> looped, limited, stopped, many, one;
  manual_seed(5);
  accumulating_loop(looped, 2, 4, [] {});
  manual_seed(5);
  CHECK(limited.fit({.epochs = 9, .max_steps = 4, .accumulate = 2}).steps == 4);
  CHECK(same_parameters(looped, limited));
  manual_seed(5);
  stopped.fit({.epochs = 9, .accumulate = 2}, train::EachStep([](train::Training& run) {
                if (run.total_steps == 4) run.stop("enough");
              }));
  CHECK(same_parameters(looped, stopped));
  many.fit({.accumulate = 100});  // one update per epoch, by a third of its gradients
  CHECK(!same_parameters(many, one));
}

TEST_CASE("with accumulated gradients, fit steps schedules after every update") {
  Lesson<Host> lesson(1e-3);
  optim::lr_scheduler::StepLR by_update(lesson.optimizer, {.step_size = 1, .gamma = 0.5});
  lesson.fit({.epochs = 2, .accumulate = 2}, train::EachStep(by_update));
  CHECK(by_update.last_epoch() == 4);
}

TEST_CASE_TEMPLATE("fit measures", D, GPUNET_TEST_DEVICES) {
  Lesson<D> lesson(0);  // nothing is learned, so that all epochs are the same
  lesson.net.eval();
  train::Accuracy accuracy(lesson.device, 4);
  train::ConfusionMatrix confusion(lesson.device, 4);
  const train::Evaluation expected =
      train::evaluate(lesson.net, lesson.criterion, lesson.test_loader);
  CHECK(expected.samples == 10);
  int asked = 0;
  auto resident = lesson.test_loader.resident_on(lesson.device);
  const auto history = lesson.fit(
      {.epochs = 2}, accuracy, confusion, train::Validation(resident), [&](train::Training& run) {
        ++asked;
        CHECK(run.history.epochs.size() == static_cast<std::size_t>(run.epoch));
      });
  CHECK(asked == 2);
  CHECK(lesson.net.mode() == nn::Mode::eval);
  for (const train::Epoch& epoch : history.epochs) {
    // Means of ten numbers of about 1 in another order: each of the 10 additions, and each mean of
    // a batch of floats, errs by a unit of the last place at most.
    CHECK(std::abs(epoch.loss - expected.loss) <= 10 * 1.2e-7 * expected.loss);
    CHECK(epoch.val_loss == expected.loss);
    CHECK(epoch.accuracy == expected.accuracy);
    CHECK(epoch.val_accuracy == expected.accuracy);
    CHECK(epoch.seconds > 0);
  }
  CHECK(accuracy.result().total() == 10);
  CHECK(confusion.result().accuracy() == expected.accuracy);
}

TEST_CASE("a Validation stores a loader that is a temporary") {
  Lesson<Host> lesson(0.05, false), other(0.05, false);
  const auto kept = lesson.fit({}, train::Validation(lesson.test_loader));
  const auto stored =
      other.fit({}, train::Validation(data::DataLoader(other.set, {.batch_size = 5})));
  CHECK(stored.epochs[0].val_loss == kept.epochs[0].val_loss);
  const data::DataLoader<> constant(other.set, {.batch_size = 5});
  train::Validation of_other(data::DataLoader(other.set, {.batch_size = 5}), lesson.net);
  train::Validation of_constant(constant);
  CHECK(other.fit({}, of_other).epochs[0].val_loss == kept.epochs[0].val_loss);
  CHECK(other.fit({}, of_constant).epochs[0].val_loss < 2);
}

TEST_CASE("fit learns, and its validation changes nothing but the generator") {
  Lesson<Host> lesson(0.05);
  SeesMode sees;
  const auto history = lesson.fit({.epochs = 60}, train::Validation(lesson.test_loader), sees);
  CHECK(sees.batches == 120);
  CHECK(history.epochs.front().val_loss > 1);
  CHECK(history.epochs.back().val_loss < 0.1);  // ten samples learned by heart
  CHECK(history.epochs.back().val_accuracy == 1);
}

TEST_CASE("fit without options is one epoch") {
  Lesson<Host> with, without;
  manual_seed(5);
  with.fit({.epochs = 1});
  manual_seed(5);
  CHECK(
      train::fit(without.net, without.criterion, without.optimizer, without.loader).epochs.size() ==
      1);
  CHECK(same_parameters(with, without));
}

TEST_CASE("fit ends when it is told to") {
  Lesson<Host> lesson;
  CHECK(lesson.fit({.epochs = 3, .max_steps = 4}).steps == 4);
  const auto history = lesson.fit(
      {.epochs = 3}, [](train::Training& run) { run.stop(concat("enough of epoch ", run.epoch)); });
  CHECK(history.epochs.size() == 1);
  CHECK(history.end == train::End::stopped);
  CHECK(history.why == "enough of epoch 1");
}

TEST_CASE("no step of fit allocates but the first ones") {
  Lesson<Host> lesson;
  train::Accuracy accuracy(lesson.device, 4);
  int first = 0, last = 0;
  {
    const Count count;
    lesson.fit({.epochs = 1}, accuracy, train::ClipGradNorm{1}, train::StopOnInterrupt(),
               train::EachStep(
                   [&](train::Training& run) { (run.step == 1 ? first : last) = count.so_far(); }));
  }
  CHECK(first == last);
}

TEST_CASE("fit says what makes no training, before it begins") {
  const TempFolder folder;
  Lesson<Host> lesson, other;
  const auto says = [](auto action, const char* text) {
    CAPTURE(text);
    CHECK(contains(error_of(action), text));
  };
  const std::vector<float> before = parameters_of(lesson.net);
  says([&] { lesson.fit({.epochs = 0}); }, "gpunet::train::fit: 0 epochs (want 1 or more)");
  says([&] { lesson.fit({.max_steps = -1}); }, "max_steps -1");
  says([&] { lesson.fit({.accumulate = 0}); },
       "gpunet::train::fit: accumulate 0 (want 1, an update for every batch");
  says([&] { train::fit(lesson.net, lesson.criterion, other.optimizer, lesson.loader, {}); },
       "to another model");
  says([&] { train::EarlyStopping({.patience = -1}); }, "EarlyStopping: a patience of -1");
  says([&] { train::EarlyStopping({.min_delta = std::nan("")}); }, "EarlyStopping: min_delta");
  says([&] { train::StopOnNaN(0); }, "StopOnNaN: every 0 steps");
  says([&] { train::ModelCheckpoint(folder / "no/such/folder.pth"); }, "no/such/folder.pth");
  says([&] { train::TensorBoard(folder / "run", {.every = -1}); },
       "TensorBoard: a point every -1 steps");
  says([&] { lesson.fit({}, train::EarlyStopping({.monitor = train::Metric::val_loss})); },
       "val_loss is monitored but not measured, give fit a train::Validation(loader)");
  says(
      [&] {
        lesson.fit({},
                   train::ModelCheckpoint(folder / "a.pth", {.monitor = train::Metric::accuracy}));
      },
      "accuracy is monitored but not measured");
  CHECK(same_bits(parameters_of(lesson.net), before));

  // A loader may be any range that knows its size.
  const struct Empty {
    index_t size() const { return 0; }
    const data::Batch<Host>* begin() const { return nullptr; }
    const data::Batch<Host>* end() const { return nullptr; }
  } empty;
  says([&] { train::fit(lesson.net, lesson.criterion, lesson.optimizer, empty, {}); },
       "the loader has no batches");
}
