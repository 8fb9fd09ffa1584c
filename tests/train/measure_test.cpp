// Metrics by name in the history of a training, and losses of networks with several outputs.
#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensors.hpp>

#include "support/arrays.hpp"
#include "support/errors.hpp"
#include "support/small_training.hpp"

using namespace gpunet;
using nn::Value;

// Of two trainings, one measures by the loop that fit replaces.
TEST_CASE_TEMPLATE("measures of training and validation are in the history", D,
                   GPUNET_TEST_DEVICES) {
  Lesson<D> fitted, looped;
  train::ConfusionMatrix confusion(fitted.device, 4);
  int calls = 0;
  manual_seed(5);
  const train::History history = fitted.fit(
      {.epochs = 2}, train::Validation(fitted.test_loader),
      train::Measure("top2", train::TopK(fitted.device, 2)),
      train::Measure("f1", confusion,
                     [](const train::ConfusionCounts& of) { return of.macro_average().f1; }),
      train::Measure("largest",
                     [&](const auto& outputs, const auto& labels) {
                       ++calls;
                       CHECK(outputs.batch() == labels.numel());
                       return mean(amax(outputs.tensor(), 1));
                     }),
      train::Measure("label", [](const auto&, const auto& labels) {
        return mean(cast<float>(labels)).item();
      }));
  REQUIRE(history.epochs.size() == 2);
  CHECK(calls == 2 * (3 + 2));

  manual_seed(5);
  for (const train::Epoch& epoch : history.epochs) {
    train::TopK top2(looped.device, 2);
    train::ConfusionMatrix matrix(looped.device, 4);
    double largest = 0;
    const auto update = [&](const auto& outputs, const auto& labels) {
      top2.update(outputs, labels);
      matrix.update(outputs, labels);
      largest += static_cast<double>(mean(amax(outputs.tensor(), 1)).item()) *
                 static_cast<double>(labels.numel());
    };
    const auto check = [&](const std::string& prefix) {
      CHECK(epoch[prefix + "top2"] == top2.result().accuracy());
      CHECK(epoch[prefix + "f1"] == matrix.result().macro_average().f1);
      CHECK(epoch[prefix + "largest"] == largest / 10);
      // The labels are 0, 1, 2, 3, 0, 1, 2, 3, 0, 1: their mean is 1.3, in floats of each batch.
      CHECK(epoch[prefix + "label"] == doctest::Approx(1.3).epsilon(1e-6));
      top2.reset(), matrix.reset();
      largest = 0;
    };
    for (auto [inputs, labels] : looped.loader.to(looped.device)) {
      looped.optimizer.zero_grad();
      const auto outputs = looped.net(inputs);
      const auto loss = looped.criterion(outputs, labels);
      update(outputs, labels);
      loss.backward();
      looped.optimizer.step();
    }
    check("");
    looped.net.eval();
    for (auto [inputs, labels] : looped.test_loader.to(looped.device))
      update(looped.net(inputs), labels);
    looped.net.train();
    check("val_");
  }
  CHECK(same_parameters(fitted, looped));
  const train::Epoch& last = history.epochs.back();
  CHECK(last["val_loss"] == last.val_loss);
  CHECK(last["loss"] == last.loss);
  CHECK(std::isnan(last["accuracy"]));
  CHECK(last["val_accuracy"] == last.val_accuracy);
  CHECK(last.measures.size() == 8);
  CHECK(error_of([&] { last["val_top3"]; }) ==
        "gpunet::train::Epoch: nothing is called val_top3 (want one of loss, accuracy, val_loss, "
        "val_accuracy, top2, "
        "f1, largest, label, val_top2, val_f1, val_largest, val_label), give fit a train::Measure "
        "with the name");
  CHECK(confusion.result().total() == 10);  // of the last validation
}

TEST_CASE("measures without validation, of a stopped epoch, and of evaluate") {
  Lesson<Host> lesson;
  const auto ones = [](const auto&, const auto&) {
    return 1;
  };
  const auto history = lesson.fit({.epochs = 3, .max_steps = 2}, train::Measure("ones", ones),
                                  train::Validation(lesson.test_loader));
  REQUIRE(history.epochs.size() == 1);
  CHECK(history.epochs[0]["ones"] == 1);
  CHECK(std::isnan(history.epochs[0]["val_ones"]));  // as val_loss
  CHECK(history.epochs[0].measures.size() == 2);
  // Stopped in the second epoch, and in its validation.
  struct StopsIn {
    index_t epoch;
    void on_validation_step_end(train::Training& run) {
      if (run.epoch == epoch) run.stop("enough");
    }
  };
  for (bool in_validation : {false, true}) {
    CAPTURE(in_validation);
    const auto stopped =
        lesson.fit({.epochs = 3, .max_steps = in_validation ? 0 : 5},
                   train::Validation(lesson.test_loader), train::Measure("ones", ones),
                   train::Measure("twos", [](const auto&, const auto&) { return 2; }),
                   StopsIn{in_validation ? 2 : 9});
    REQUIRE(stopped.epochs.size() == 2);
    CHECK(stopped.epochs[0]["val_ones"] == 1);
    CHECK(stopped.epochs[0]["val_twos"] == 2);
    CHECK(stopped.epochs[1]["ones"] == 1);
    CHECK(stopped.epochs[1]["twos"] == 2);
    CHECK(std::isnan(stopped.epochs[1].val_loss));
    CHECK(std::isnan(stopped.epochs[1]["val_ones"]));
    CHECK(std::isnan(stopped.epochs[1]["val_twos"]));
  }
  const auto alone = lesson.fit({}, train::Measure("ones", ones));
  CHECK(alone.epochs[0].measures.size() == 1);
  CHECK(std::isnan(train::Measure("ones", ones).value()));
  train::TopK top2(lesson.device, 2);
  const auto tested = train::evaluate(lesson.net, lesson.criterion, lesson.test_loader,
                                      [&](const auto& outputs, const auto& labels) {
                                        top2.update(outputs, labels);
                                        return true;
                                      });
  CHECK(top2.result().total == tested.samples);
}

TEST_CASE("a function that returns a number for each sample is named") {
  Lesson<Host> lesson;
  const auto each = [](const auto& outputs, const auto& targets) {
    return nn::CrossEntropyLoss().each(outputs, targets);
  };
  CHECK(error_of([&] { lesson.fit({}, train::Measure("ce", each)); }) ==
        "gpunet::train::Measure: the function of ce returns a tensor of shape [4] (want one "
        "number, the mean of the "
        "batch), return mean(...) of it");
  const auto outputs = [](const auto& x, const auto&) {
    return x.tensor() * 2;
  };
  CHECK(contains(error_of([&] { lesson.fit({}, train::Measure("twice", outputs)); }),
                 "the function of twice returns a tensor of shape [4, 4]"));
}

TEST_CASE("names that a history cannot have") {
  const auto error = [](const std::string& name) {
    return error_of([&] { train::Measure(name, [](const auto&, const auto&) { return 0; }); });
  };
  CHECK(error("") ==
        "gpunet::train::Measure: the name is empty (by which the history has it), give one");
  CHECK(error("val_loss") ==
        "gpunet::train::Measure: val_loss is measured by fit itself, give another name");
  CHECK(error("val_f1") ==
        "gpunet::train::Measure: the name val_f1 begins with val_ (as the names of what a "
        "Validation measures), give "
        "another name");
  Lesson<Host> lesson;
  const auto one = [](const auto&, const auto&) {
    return 1;
  };
  CHECK(error_of([&] { lesson.fit({}, train::Measure("one", one), train::Measure("one", one)); }) ==
        "gpunet::train::fit: two measures are called one (the history has one number of a name), "
        "rename one");
}

// A network with two outputs and their losses is trained as one that returns the sum of the losses,
// bitwise, by step and fit.
TEST_CASE_TEMPLATE("several outputs, each with its loss and weight", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  Host& host = test_device<Host>();
  const auto outputs = [](const Value& x) {
    const Value hidden = tanh(linear(x, 8));
    return std::vector<Value>{linear(hidden, 3), linear(hidden, 2)};
  };
  const auto loss = [](const std::vector<Value>& y, const Value& label, const Value& box) {
    return cross_entropy(y[0], label) + 0.5 * mse_loss(y[1], box);
  };
  const auto with_outputs = [&](Value x, Value label, Value box) {
    std::vector<Value> all = outputs(x);
    all.push_back(loss(all, label, box));
    return all;
  };
  const auto alone = [&](Value x, Value label, Value box) {
    return loss(outputs(x), label, box);
  };
  Generator random(3);
  const Tensor<float, Host> x(host, {12, 4}, random_values<float>(48, random));
  Tensor<float, Host> targets(host, {12, 3}, random_values<float>(36, random));
  for (index_t i = 0; i < 12; ++i)
    targets.data()[3 * i] = static_cast<float>(i % 3);
  const data::TensorDataset set(x, targets);
  const data::DataLoader loader(set, {.batch_size = 5});

  manual_seed(1);
  Network fitted(device, with_outputs, {4}, {}, {2});
  manual_seed(1);
  Network stepped(device, alone, {4}, {}, {2});
  manual_seed(1);
  Network looped(device, with_outputs, {4}, {}, {2});
  const nn::OutputLoss last({.output = -1});
  optim::SGD fitting(fitted, {.lr = 0.1}), stepping(stepped, {.lr = 0.1}),
      looping(looped, {.lr = 0.1});
  const auto history =
      train::fit(fitted, last, fitting, loader, {.epochs = 2}, train::Validation(loader));
  train::Step step(stepped, nn::OutputLoss(), stepping);
  double sum = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    sum = 0;
    for (auto [inputs, wanted] : loader.to(device)) {
      const Tensor<float, D> all(device, wanted.sizes(), to_vector(device, wanted));
      const Tensor<float, D> labels = select(all, 1, 0), boxes = narrow(all, 1, 1, 2);
      sum += static_cast<double>(step({inputs, labels, boxes}).item()) *
             static_cast<double>(inputs.size(0));
      looping.zero_grad();
      const auto out = looped(inputs, labels, boxes);
      CHECK(out[0].sizes() == Sizes{inputs.size(0), 3});
      CHECK(out[2].sizes() == Sizes{inputs.size(0)});
      const auto value = last(out);
      CHECK(value.item() ==
            doctest::Approx(static_cast<double>(mean(out[2]).item())).epsilon(1e-6));
      value.backward();
      looping.step();
    }
  }
  const auto parameters = [&](const auto& net) {
    return to_vector(device, net.parameters());
  };
  CHECK(parameters(fitted) == parameters(stepped));
  CHECK(parameters(looped) == parameters(stepped));
  CHECK(history.epochs[1].loss == doctest::Approx(sum / 12).epsilon(1e-6));
  CHECK(history.epochs[1].val_loss < history.epochs[0].val_loss);

  // A measure sees the outputs, and the targets of the loader.
  const auto more =
      train::fit(fitted, last, fitting, loader, {.epochs = 1}, train::Validation(loader),
                 train::Measure("accuracy_of_labels", [](const auto& all, const auto& wanted) {
                   return mean(cast<float>(cast<float>(argmax(all[0], 1)) == select(wanted, 1, 0)));
                 }));
  const double accuracy = more.epochs[0]["val_accuracy_of_labels"];
  CHECK((accuracy >= 0 && accuracy <= 1));
  // The sum, and an output in the middle.
  const Tensor<float, D> xs = x.to(device), labels(device, {12}, std::vector<float>(12)),
                         boxes(device, {12, 2}, std::vector<float>(24));
  const auto out = fitted(xs, labels, boxes);
  CHECK(nn::OutputLoss({.reduction = nn::Reduction::sum, .output = 1})(out).item() ==
        doctest::Approx(static_cast<double>(gpunet::sum(out[1]).item())).epsilon(1e-5));
  CHECK(nn::OutputLoss({.output = 0})(out).item() ==
        doctest::Approx(static_cast<double>(mean(out[0]).item())).epsilon(1e-5));
}

TEST_CASE("losses of outputs that are not there") {
  Host& host = test_device<Host>();
  Network net(host, [](Value x) { return std::vector<Value>{x, sum(x)}; }, {3});
  const Tensor<float, Host> x(host, {2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(nn::OutputLoss({.output = 1})(net(x)).item() == 10.5f);
  CHECK(error_of([&] { nn::OutputLoss({.output = 2})(net(x)); }) ==
        "gpunet::Model: the loss is output 2 of a network with 2 (want -2 to 1)");
  CHECK(error_of([&] { nn::OutputLoss({.output = -3})(net(x)); }) ==
        "gpunet::Model: the loss is output -3 of a network with 2 (want -2 to 1)");
  Network one(host, [](Value v) { return sum(v); }, {3});
  CHECK(nn::OutputLoss({.output = -1})(one(x)).item() == 10.5f);
  CHECK(error_of([&] { nn::OutputLoss({.output = 1})(one(x)); }) ==
        "gpunet::Model: the loss is output 1 of a network with 1 (want -1 to 0)");
  Network three(host, [](Value a, Value b, Value c) { return a + b + c; }, {3}, {2, 1}, {3});
  CHECK(error_of([&] { three(x, x); }) ==
        "gpunet::Model: 2 inputs (want 3), give as many as the function of the network takes");
}
