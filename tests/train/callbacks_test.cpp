#include <cmath>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensorboard.hpp>

#include "io/temp_folder.hpp"
#include "support/small_training.hpp"

using namespace gpunet;

namespace {

// A file in memory.
class Text {
 public:
  Text() : file_(open_memstream(&text_, &size_)) {}
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text() {
    std::fclose(file_);
    std::free(text_);
  }
  std::FILE* file() { return file_; }
  std::string get() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;
};

double clock_of_terminal = 0;

train::Terminal terminal(Text& lines, Text& bar, bool interactive) {
  return {.lines = lines.file(),
          .bar = bar.file(),
          .interactive = interactive ? [](std::FILE*) { return true; } : [](std::FILE*) { return false; },
          .columns = [](std::FILE*) { return 120; },
          .seconds = [] { return clock_of_terminal += 1; }};
}

}  // namespace

TEST_CASE("fit steps schedules") {
  Lesson<Host> lesson(1e-3);
  optim::lr_scheduler::StepLR by_epoch(lesson.optimizer, {.step_size = 2, .gamma = 0.5});
  auto history = lesson.fit({.epochs = 4}, train::EachEpoch(by_epoch));
  const double halved[] = {1e-3, 1e-3, 5e-4, 5e-4};
  for (std::size_t i = 0; i < 4; ++i)
    CHECK(history.epochs[i].lr == halved[i]);
  Lesson<Host> second(1e-3);
  optim::lr_scheduler::StepLR by_step(second.optimizer, {.step_size = 1, .gamma = 0.5});
  CHECK(second.fit({}, train::EachStep(by_step)).epochs[0].lr == 1e-3 / 4);  // the third step's
  Lesson<Host> third(0, false);
  third.optimizer.set_lr(1e-30);
  optim::lr_scheduler::ReduceLROnPlateau plateau(third.optimizer,
                                                 {.factor = 0.5, .patience = 0, .eps = 0});
  CHECK(third.fit({.epochs = 3}, train::EachEpoch(plateau, train::Metric::loss)).epochs[2].lr ==
        5e-31);
}

TEST_CASE("EarlyStopping waits for an improvement") {
  train::EarlyStopping two({.patience = 2, .min_delta = 0.5});
  CHECK(!two.step(3));
  CHECK(!two.step(2.5));  // not more than min_delta
  CHECK(!two.step(2.4));
  CHECK(!two.step(2));
  CHECK(two.step(std::nan("")));
  train::EarlyStopping none({.patience = 0, .monitor = train::Metric::accuracy});
  CHECK(!none.step(0.5));
  CHECK(!none.step(0.6));
  CHECK(none.step(0.6));

  Lesson<Host> lesson(0, false);
  const auto history = lesson.fit({.epochs = 10}, train::EarlyStopping({.patience = 2}));
  CHECK(history.epochs.size() == 3);
  CHECK(history.end == train::End::no_improvement);
  CHECK(history.why == "loss did not improve in 2 epochs");
}

// A measure whose values are known: better in the second epoch, by which of both is up to the mode.
TEST_CASE("a Measure is monitored by its name") {
  const TempFolder folder;
  const double values[] = {2, 3, 1, 2.5, 2};
  Lesson<Host> lesson(0.05, false);
  std::size_t epoch = 0;
  const auto value = [&](const auto&, const auto&) {
    return values[epoch];
  };
  std::vector<std::vector<float>> weights;
  const auto fit = [&](auto&&... parts) {
    epoch = 0;
    weights.clear();
    return lesson.fit({.epochs = 5}, train::Validation(lesson.test_loader),
                      train::Measure("score", value), parts..., [&](train::Training&) {
                        weights.push_back(parameters_of(lesson.net));
                        ++epoch;
                      });
  };
  const auto highest = fit(train::EarlyStopping({.patience = 2,
                                                 .monitor = "val_score",
                                                 .mode = train::Mode::max,
                                                 .restore_best_weights = true}));
  CHECK(highest.epochs.size() == 4);
  CHECK(highest.why == "val_score did not improve in 2 epochs");
  CHECK(same_bits(parameters_of(lesson.net), weights[1]));
  const std::string name = "score";
  CHECK(fit(train::EarlyStopping({.patience = 2, .monitor = name, .mode = train::Mode::min}))
            .epochs.size() == 5);
  CHECK(fit(train::EarlyStopping(
                {.patience = 1, .monitor = train::Metric::loss, .mode = train::Mode::max}))
            .epochs.size() == 2);  // the loss falls

  Lesson<Host> loaded;
  fit(train::ModelCheckpoint(folder / "best.pth",
                             {.monitor = "val_score", .mode = train::Mode::max}));
  io::load(loaded.net, folder / "best.pth");
  CHECK(same_bits(parameters_of(loaded.net), weights[1]));
  fit(train::ModelCheckpoint(folder / "best.pth",
                             {.monitor = "val_score", .mode = train::Mode::min}));
  io::load(loaded.net, folder / "best.pth");
  CHECK(same_bits(parameters_of(loaded.net), weights[2]));

  // The values that a schedule gets: 2, 3, 1, 2.5, 2.
  optim::lr_scheduler::ReduceLROnPlateau plateau(
      lesson.optimizer, {.mode = optim::lr_scheduler::Mode::max, .factor = 0.5, .patience = 0});
  const auto history = fit(train::EachEpoch(plateau, "val_score"));
  const double rates[] = {0.05, 0.05, 0.05, 0.025, 0.0125};
  for (std::size_t i = 0; i < 5; ++i)
    CHECK(history.epochs[i].lr == rates[i]);

  CHECK(error_of([] { train::EarlyStopping({.monitor = "val_score"}); }) ==
        "gpunet::train::EarlyStopping: val_score is monitored without a mode (whether higher is "
        "better), give "
        ".mode = "
        "train::Mode::max or min");
  CHECK(contains(error_of([&] { train::ModelCheckpoint(folder / "a.pth", {.monitor = "score"}); }),
                 "gpunet::train::ModelCheckpoint: score is monitored"));
  CHECK(error_of([&] {
          fit(train::EarlyStopping({.monitor = "val_scor", .mode = train::Mode::max}));
        }) ==
        "gpunet::train::Epoch: nothing is called val_scor (want one of loss, accuracy, val_loss, "
        "val_accuracy, "
        "score, "
        "val_score), give fit a train::Measure with the name");
  CHECK(weights.empty());  // before the training
  CHECK(error_of([&] {
          lesson.fit({}, train::Measure("score", value),
                     train::EarlyStopping({.monitor = "val_score", .mode = train::Mode::max}));
        }) ==
        "gpunet::train::fit: val_score is monitored but not measured, give fit a "
        "train::Validation(loader)");
}

TEST_CASE("an accuracy that a regression does not have is not monitored") {
  const TempFolder folder;
  Host& host = test_device<Host>();
  Model net(host, nn::Sequential(nn::Input<2>(), nn::Linear<1>()));
  optim::SGD optimizer(net, {.lr = 0.01});
  const Tensor<float, Host> inputs(host, {4, 2}, pattern<float>(8, 7, 3, 23));
  const Tensor<float, Host> targets(host, {4, 1}, pattern<float>(4, 5, 1, 7));
  data::TensorDataset set(inputs, targets);
  data::DataLoader loader(set, {.batch_size = 2});
  const auto error_with = [&](auto part) {
    index_t epochs = 0;
    const auto count = [&](train::Training&) {
      ++epochs;
    };
    const std::string error = error_of([&] {
      train::fit(net, nn::MSELoss(), optimizer, loader, {.epochs = 9}, train::Validation(loader),
                 part, count);
    });
    CHECK(epochs == 0);
    return error;
  };
  const char* expected =
      "gpunet::train::fit: val_accuracy is monitored and is NaN (a Validation measures it where "
      "targets are "
      "labels that are not all ignored), monitor val_loss";
  constexpr auto metric = train::Metric::val_accuracy;
  CHECK(error_with(train::EarlyStopping({.patience = 3, .monitor = metric})) == expected);
  CHECK(error_with(train::ModelCheckpoint(folder / "best.pth", {.monitor = metric})) == expected);
  optim::lr_scheduler::ReduceLROnPlateau plateau(optimizer,
                                                 {.mode = optim::lr_scheduler::Mode::max});
  CHECK(error_with(train::EachEpoch(plateau, metric)) == expected);
}

TEST_CASE_TEMPLATE("EarlyStopping goes back to the best weights", D, GPUNET_TEST_DEVICES) {
  Lesson<D> once(0.1, false), restored(0.1, false), left(0.1, false), by_hand(0.1, false);
  once.fit({.epochs = 1});
  // The second and third epoch ruin what the first one has learned.
  const auto ruin = [](train::Training& run) {
    auto& training = static_cast<train::Run<Network<D, float>, optim::SGD<D, float>>&>(run);
    training.optimizer.set_lr(run.epoch == 1 ? 100 : 0);
  };
  for (Lesson<D>* lesson : {&restored, &left}) {
    const auto history = lesson->fit(
        {.epochs = 10}, train::Validation(lesson->test_loader),
        train::EarlyStopping({.patience = 2, .restore_best_weights = lesson == &restored}), ruin);
    CHECK(history.epochs.size() == 3);
    CHECK(history.why == "val_loss did not improve in 2 epochs");
  }
  CHECK(same_parameters(restored, once));
  CHECK(!same_parameters(left, once));

  train::EarlyStopping stopping({.patience = 1});
  stopping.restore(by_hand.net);  // nothing is stored
  CHECK(!stopping.step(by_hand.net, 2));
  const std::vector<float> best = parameters_of(by_hand.net);
  by_hand.fit({.epochs = 1});
  auto loss = by_hand.criterion(by_hand.net(randn(by_hand.device, {1, 2, 7, 6})),
                                Tensor<label_t, D>(by_hand.device, {1}, {0}));
  CHECK(stopping.step(by_hand.net, 3));
  CHECK(!same_bits(parameters_of(by_hand.net), best));
  stopping.restore(by_hand.net);
  CHECK(same_bits(parameters_of(by_hand.net), best));
  CHECK(
      contains(error_of([&] { loss.backward(); }), "the parameters have changed since this loss"));
  Model<nn::Sequential<nn::Input<3>, nn::Linear<2>>, D> other(by_hand.device);
  CHECK(contains(error_of([&] { stopping.restore(other); }),
                 "the stored weights are those of another model"));
}

TEST_CASE("EarlyStopping restores the buffers too, and at any end") {
  manual_seed(3);
  Model net(test_device<Host>(),
            nn::Sequential(nn::Input<2>(), nn::BatchNorm1d(), nn::Linear<2>()));
  train::EarlyStopping stopping;
  stopping.step(net, 1);
  const std::vector<float> before(net.buffers().data(),
                                  net.buffers().data() + net.buffers().numel());
  net(randn(net.device(), {4, 2}));
  CHECK(!std::equal(before.begin(), before.end(), net.buffers().data()));
  stopping.restore(net);
  CHECK(std::equal(before.begin(), before.end(), net.buffers().data()));

  Lesson<Host> ended(0.1, false), once(0.1, false);  // by the number of epochs
  once.fit({.epochs = 1});
  ended.fit({.epochs = 2}, train::Validation(ended.test_loader),
            train::EarlyStopping({.patience = 9, .restore_best_weights = true}),
            [&](train::Training&) { ended.optimizer.set_lr(100); });
  CHECK(same_parameters(ended, once));
}

// The network that is validated is the one whose weights are stored, and restored; a monitored loss
// is that of the trained one.
TEST_CASE_TEMPLATE("the best weights of an average", D, GPUNET_TEST_DEVICES) {
  const TempFolder folder;
  Lesson<D> lesson(0.05, false), loaded;
  optim::swa_utils::AveragedModel ema(
      lesson.net, {.multi_avg_fn = optim::swa_utils::get_ema_multi_avg_fn(0.5)});
  std::vector<std::vector<float>> averages, trained;
  const auto fit = [&](auto&&... parts) {
    averages.clear(), trained.clear();
    return lesson.fit({.epochs = 4}, train::EachStep(ema),
                      train::Validation(lesson.test_loader, ema.module()), parts...,
                      [&](train::Training& run) {
                        averages.push_back(parameters_of(ema.module()));
                        trained.push_back(parameters_of(lesson.net));
                        lesson.optimizer.set_lr(run.epoch == 2 ? 100 : 0.05);
                      });
  };
  const auto history = fit(train::EarlyStopping({.patience = 9, .restore_best_weights = true}),
                           train::ModelCheckpoint(folder / "best.pth"));
  REQUIRE(history.epochs.size() == 4);
  std::size_t best = 0;
  for (std::size_t i = 0; i < 4; ++i)
    if (history.epochs[i].val_loss < history.epochs[best].val_loss) best = i;
  CHECK(best < 2);
  CHECK(same_bits(parameters_of(ema.module()), averages[best]));
  CHECK(same_bits(parameters_of(lesson.net), trained[3]));
  CHECK(train::evaluate(ema.module(), lesson.criterion, lesson.test_loader).loss ==
        history.epochs[best].val_loss);
  io::load(loaded.net, folder / "best.pth");
  CHECK(same_bits(parameters_of(loaded.net), averages[best]));

  const auto by_loss =
      fit(train::ModelCheckpoint(folder / "loss.pth", {.monitor = train::Metric::loss}));
  best = 0;
  for (std::size_t i = 0; i < 4; ++i)
    if (by_loss.epochs[i].loss < by_loss.epochs[best].loss) best = i;
  io::load(loaded.net, folder / "loss.pth");
  CHECK(same_bits(parameters_of(loaded.net), trained[best]));
}

TEST_CASE("ModelCheckpoint keeps the best") {
  const TempFolder folder;
  Lesson<Host> lesson, loaded;
  train::ModelCheckpoint by_hand(folder / "hand.safetensors",
                                 {.monitor = train::Metric::val_accuracy});
  CHECK(contains(error_of([&] { train::ModelCheckpoint(folder / "best"); }),
                 "none of the extensions"));
  CHECK(folder.count() == 0);
  CHECK(by_hand.step(lesson.net, 0.5));
  CHECK(!by_hand.step(lesson.net, 0.4));
  CHECK(by_hand.step(lesson.net, 0.6));

  // The rate is 0 from the second epoch on: what is best is what the first one left.
  lesson.fit({.epochs = 3}, train::Validation(lesson.test_loader),
             train::ModelCheckpoint(folder / "best.safetensors"), [&](train::Training& run) {
               CHECK(folder.count() == 2);
               lesson.optimizer.set_lr(run.epoch == 1 ? 0 : 10);
             });
  io::load(loaded.net, folder / "best.safetensors");
  CHECK(!same_parameters(loaded, lesson));
  Lesson<Host> once;
  once.fit({}, train::Validation(once.test_loader),
           train::ModelCheckpoint(folder / "all.pth", {.save_best_only = false}));
  io::load(loaded.net, folder / "all.pth");
  CHECK(same_parameters(loaded, once));
}

TEST_CASE_TEMPLATE("StopOnNaN says where", D, GPUNET_TEST_DEVICES) {
  Lesson<D> lesson(1e30);
  const auto history = lesson.fit({.epochs = 3}, train::StopOnNaN(1),
                                  [](train::Training&) { FAIL("no epoch ends"); });
  CHECK(history.end == train::End::not_finite);
  CHECK(
      contains(history.why, concat("the loss of epoch 1, step ", history.steps, " is not finite")));
  REQUIRE(history.epochs.size() == 1);
  CHECK(history.epochs[0].steps == history.steps);
  Lesson<D> rarely(1e30);
  CHECK(rarely.fit({.epochs = 3}, train::StopOnNaN(100)).steps == 3);  // at the end of the epoch
}

TEST_CASE_TEMPLATE("without StopOnNaN fit goes on, and says in the end where a loss was NaN", D,
                   GPUNET_TEST_DEVICES) {
  Text lines, bar;
  Lesson<D> lesson(1e30);
  const auto history =
      lesson.fit({.epochs = 2}, train::ProgressBar({.terminal = terminal(lines, bar, false)}));
  CHECK(history.end == train::End::finished);
  CHECK(history.steps == 6);
  CHECK(contains(history.why, "the loss of epoch 1, step "));
  CHECK(contains(lines.get(), "\n" + history.why + "\n"));
  CHECK(Lesson<D>().fit({}).why == "");
}

TEST_CASE("Ctrl-C ends after the running step") {
  struct sigaction before {
  }, after{};
  sigaction(SIGINT, nullptr, &before);
  Lesson<Host> lesson;
  const auto history = lesson.fit({.epochs = 3}, train::EachStep([](train::Training& run) {
                                    if (run.total_steps == 4) std::raise(SIGINT);
                                  }),
                                  train::StopOnInterrupt());
  CHECK(history.end == train::End::interrupted);
  CHECK(history.steps == 4);
  REQUIRE(history.epochs.size() == 2);
  CHECK(history.epochs[1].steps == 1);
  CHECK(!std::isnan(history.epochs[1].loss));
  sigaction(SIGINT, nullptr, &after);
  CHECK((before.sa_handler == after.sa_handler));
}

TEST_CASE("Ctrl-C ends a validation too") {
  Lesson<Host> lesson;
  struct Interrupts {
    void on_validation_step_end(train::Training&) { std::raise(SIGINT); }
    void on_step_end(train::Training&) {}
  };
  const auto history = lesson.fit({.epochs = 3}, train::Validation(lesson.test_loader),
                                  Interrupts(), train::StopOnInterrupt());
  CHECK(history.end == train::End::interrupted);
  REQUIRE(history.epochs.size() == 1);
  CHECK(std::isnan(history.epochs[0].val_loss));
}

TEST_CASE("ProgressBar shows a bar or lines or nothing") {
  for (const bool interactive : {false, true}) {
    Text lines, bar;
    Lesson<Host> lesson;
    train::Accuracy accuracy(lesson.device, 4);
    lesson.fit({.epochs = 2}, accuracy, train::Validation(lesson.test_loader),
               train::Measure("half", [](const auto&, const auto&) { return 0.5; }),
               train::ProgressBar({.terminal = terminal(lines, bar, interactive)}),
               [](train::Training& run) { run.stop("enough"); });
    CHECK(contains(lines.get(), "epoch 1/2  loss "));
    CHECK(contains(lines.get(), "  accuracy "));
    CHECK(contains(lines.get(), "  val_accuracy "));
    CHECK(contains(lines.get(), "  half 0.5000      val_half 0.5000      "));
    CHECK(contains(lines.get(), "\nstopped: enough\n"));
    CHECK(contains(bar.get(), "epoch 1/2   33%") == interactive);
    CHECK(contains(bar.get(), "  accuracy ") == interactive);
    CHECK(!contains(lines.get() + bar.get(), " %"));  // shares, as in the history
    CHECK(!contains(lines.get(), " 0.0 s"));
    CHECK(bar.get().empty() != interactive);
  }
  Text lines, bar;
  Lesson<Host> lesson;
  lesson.fit({}, train::ProgressBar({.quiet = true, .terminal = terminal(lines, bar, true)}));
  CHECK(lines.get() + bar.get() == "");
}

TEST_CASE("the columns of ProgressBar begin at the same places in every epoch") {
  Text lines, bar;
  Lesson<Host> lesson;
  train::Accuracy accuracy(lesson.device, 4);
  const double values[] = {1234.5, 0.000123456, 1, -1e-9, std::nan(""), 1e30, 12.5, 0, 123456, 3};
  std::size_t epoch = 0;
  const auto history = lesson.fit(
      {.epochs = 10}, accuracy, train::Validation(lesson.test_loader),
      train::Measure("score", [&](const auto&, const auto&) { return values[epoch]; }),
      [&](train::Training& run) {
        run.current.loss = run.current.val_loss = values[epoch++];
        run.current.seconds = 0.0031;
      },
      train::ProgressBar({.terminal = terminal(lines, bar, false)}));
  const std::string text = lines.get();
  CHECK(text.starts_with("epoch  1/10  loss 1234        accuracy "));
  CHECK(contains(text, "\nepoch 10/10  loss 3.000       accuracy "));
  CHECK(contains(text, "  3.1 ms\n"));
  CHECK(contains(text, "epoch  5/10  loss nan "));
  for (const char* column :
       {"  loss ", "  accuracy ", "  val_loss ", "  val_accuracy ", "  score ", "  val_score "}) {
    const std::size_t first = text.find(column);
    std::size_t begin = 0;
    for (int i = 0; i < 10; ++i, begin = text.find('\n', begin) + 1)
      CHECK(text.find(column, begin) - begin == first);
  }
}

TEST_CASE("fit says which epoch was the best, and what became of its weights") {
  const TempFolder folder;
  const double values[] = {2, 3, 1, 2.5, 2, 2};
  const auto fit = [&](Lesson<Host>& lesson, const train::FitOptions& options, std::size_t first,
                       auto&&... parts) {
    return lesson.fit(
        options, train::Validation(lesson.test_loader),
        train::Measure("score", [&](const auto&, const auto&) { return values[first]; }), parts...,
        [&](train::Training&) { ++first; });
  };
  const train::EarlyStoppingOptions best_score{.patience = 3,
                                               .monitor = "val_score",
                                               .mode = train::Mode::max,
                                               .restore_best_weights = true};
  const std::string path = folder / "best.pth";
  Text lines, bar;
  Lesson<Host> lesson;
  const auto history =
      fit(lesson, {.epochs = 6}, 0, train::ProgressBar({.terminal = terminal(lines, bar, false)}),
          train::EarlyStopping(best_score),
          train::ModelCheckpoint(path, {.monitor = "val_score", .mode = train::Mode::min}));
  CHECK(
      lines.get().ends_with("\nstopped: val_score did not improve in 3 epochs\n"
                            "best epoch: 2, val_score 3; its weights are restored\n"
                            "best epoch: 3, val_score 1; its weights are saved to " +
                            path + "\n"));
  REQUIRE(history.best.size() == 2);
  CHECK(history.best[0].number == 2);
  CHECK(history.best[0].value == 3);
  CHECK(history.best[0].monitor == "val_score");

  // Of a training that ends without a stop, that was resumed after its best epoch, and that is over
  // already.
  const std::string file = folder / "run.safetensors";
  for (const auto& [epochs, first] : {std::pair(3, 0), std::pair(4, 3), std::pair(4, 4)}) {
    Lesson<Host> resumed;
    Text output, no_bar;
    const auto again =
        fit(resumed, {.epochs = epochs, .resume = file}, static_cast<std::size_t>(first),
            train::ProgressBar({.terminal = terminal(output, no_bar, false)}),
            train::EarlyStopping(best_score));
    CHECK(again.end == train::End::finished);
    REQUIRE(again.best.size() == 1);
    CHECK(again.best[0].number == 2);
    CHECK(output.get().ends_with("best epoch: 2, val_score 3; its weights are restored\n"));
  }
  Lesson<Host> alone;
  CHECK(alone.fit({}).best.empty());
  CHECK(alone.fit({}, train::EarlyStopping()).best[0].weights.empty());
}

TEST_CASE("parts that monitor the same number have a best epoch each") {
  const double values[] = {1, 2, 2.25, 2.125};
  std::size_t epoch = 0;
  Lesson<Host> lesson;
  train::EarlyStopping any({.patience = 9, .monitor = "score", .mode = train::Mode::max});
  train::EarlyStopping large(
      {.patience = 9, .min_delta = 0.5, .monitor = "score", .mode = train::Mode::max});
  const auto history =
      lesson.fit({.epochs = 4},
                 train::Measure("score", [&](const auto&, const auto&) { return values[epoch]; }),
                 any, large, [&](train::Training&) { ++epoch; });
  REQUIRE(history.best.size() == 2);
  CHECK(history.best[0].part == &any);
  CHECK(history.best[0].number == 3);
  CHECK(history.best[1].part == &large);
  CHECK(history.best[1].number == 2);
}

TEST_CASE("the best epoch of a number that a part changes") {
  const TempFolder folder;
  const double values[] = {3, -1, 2};
  const auto fit = [&] {
    Lesson<Host> lesson;
    return lesson.fit(
        {.epochs = 3, .resume = folder / "run.safetensors"},
        [&](train::Training& run) { run.current.loss = values[run.epoch - 1]; },
        train::EarlyStopping({.patience = 9}));
  };
  const auto history = fit();
  REQUIRE(history.best.size() == 1);
  CHECK(history.best[0].number == 2);
  CHECK(history.best[0].value == -1);
  CHECK(fit().best.empty());  // over already: which epoch had it is not in the checkpoint
}

TEST_CASE("what a part throws arrives, and the terminal is as it was") {
  Text lines, bar;
  Lesson<Host> lesson;
  train::ProgressBar shown({.terminal = terminal(lines, bar, true)});
  train::StopOnInterrupt interrupt;
  struct sigaction before {
  }, after{};
  sigaction(SIGINT, nullptr, &before);
  CHECK_THROWS_WITH_AS(lesson.fit({}, shown, interrupt, train::EachStep([](train::Training& run) {
                                    if (run.step == 2)
                                      throw std::runtime_error("the printer is on fire");
                                  })),
                       "the printer is on fire", std::runtime_error);
  CHECK(bar.get().ends_with("\r\x1b[K"));
  sigaction(SIGINT, nullptr, &after);
  CHECK((before.sa_handler == after.sa_handler));
  CHECK(lesson.fit({}).steps == 3);  // and nothing is broken
}

TEST_CASE("TensorBoard writes what was measured") {
  const TempFolder folder;
  Lesson<Host> lesson;
  lesson.fit({.epochs = 2}, train::Validation(lesson.test_loader),
             train::Measure("half", [](const auto&, const auto&) { return 0.5; }),
             train::TensorBoard(folder / "run", {.every = 2}));
  std::string written;
  for (const auto& file : std::filesystem::directory_iterator(folder / "run"))
    written += read_text(file.path().string());
  for (const char* tag : {"Loss/train", "Loss/validation", "Accuracy/validation", "LearningRate",
                          "Loss/step", "half/train", "half/validation"}) {
    CAPTURE(tag);
    CHECK(contains(written, tag));
  }
  CHECK(!contains(written, "Accuracy/train"));
}
