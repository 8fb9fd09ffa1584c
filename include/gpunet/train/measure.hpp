// Numbers of a training by name: metrics of gpunet, and functions of outputs and targets.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/shape.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/nn/loss.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::train {

namespace detail {

// Throws Error for a name that a history cannot have.
void check_measure(std::string_view name);

// Appends a measure without a value. Throws Error if there is one of this name.
void add_measure(std::vector<std::pair<std::string, double>>& measures, const std::string& name);

// The default value of a metric.
struct AccuracyOf {
  template <class Result>
  double operator()(const Result& result) const {
    return result.accuracy();
  }
};

// Updates a metric by a batch; one of gpunet leaves out the labels that the loss does.
template <class Metric, class Loss, class Output, class Targets>
void update_metric(Metric& metric, [[maybe_unused]] const Loss& loss, const Output& outputs,
                   const Targets& targets) {
  if constexpr (requires { metric.update(outputs, targets, nn::detail::ignore_index_of(loss)); })
    metric.update(outputs, targets, nn::detail::ignore_index_of(loss));
  else
    metric.update(outputs, targets);
}

// Metrics that count: Accuracy, ConfusionMatrix, TopK.
template <class M>
concept IsMetric = requires(M& metric) {
  metric.reset();
  metric.result();
};

}  // namespace detail

// A number with a name, as a part of fit(), which measures it on the batches of every epoch, and of
// its Validation:
//   const auto history = train::fit(
//       net, criterion, optimizer, loader, {.epochs = 10}, train::Validation(test_loader),
//       train::Measure("top3", train::TopK(device, 3)),
//       train::Measure("f1", train::ConfusionMatrix(device, 10),
//                      [](const auto& counts) { return counts.macro_average().f1; }),
//       train::Measure("error", [](const auto& outputs, const auto& targets) {
//         return mean(abs(outputs.tensor() - targets));
//       }));
//   history.epochs.back()["val_f1"]
//
// Of a metric it is the accuracy, or a function of the metric's result. Otherwise it is the mean
// over all samples of a function that returns the mean of a batch, a number or a tensor of one
// element: of the outputs of the network and the targets of the loader, a Tensor [batch, ...]. Such
// a function waits for the device. Stores lvalues by reference.
template <class M, class F = detail::AccuracyOf>
class Measure {
 public:
  // Throws Error for an empty name, one of fit's own such as loss, or one that begins with val_.
  Measure(std::string name, M&& metric, F value = {})
      : name_(std::move(name)), metric_(std::forward<M>(metric)), value_(std::move(value)) {
    detail::check_measure(name_);
  }

  const std::string& name() const { return name_; }

  // Measures a batch. `ignored`: as of Accuracy::update().
  template <class Output, class Targets>
  void update(const Output& outputs, const Targets& targets,
              [[maybe_unused]] std::optional<index_t> ignored = {}) {
    constexpr bool takes_targets = requires {
      metric_.update(outputs, targets);
    };
    if constexpr (detail::IsMetric<M>) {
      static_assert(
          takes_targets,
          "gpunet::train::Measure: the metric takes other targets than the loader has (Accuracy, "
          "TopK and ConfusionMatrix take labels), give a function of outputs and targets");
      if constexpr (requires { metric_.update(outputs, targets, ignored); })
        metric_.update(outputs, targets, ignored);
      else if constexpr (takes_targets)
        metric_.update(outputs, targets);
    } else {
      using T = std::remove_cvref_t<decltype(*targets.data())>;
      using Tensor = gpunet::Tensor<T, typename Output::device_type>;
      static_assert(std::is_invocable_v<M&, const Output&, const Tensor&>,
                    "gpunet::train::Measure: the function cannot be called with the outputs of a "
                    "network and a tensor of the targets, write [](const auto& outputs, const "
                    "auto& targets) { return ...; }");
      Tensor copy(outputs.device(), targets.sizes());
      outputs.device().copy(copy.data(), targets.data(),
                            static_cast<std::size_t>(targets.numel()) * sizeof(T));
      const auto batch = static_cast<double>(outputs.batch());
      sum_ += batch * number(metric_(outputs, std::as_const(copy)));
      samples_ += batch;
    }
  }
  // Starts anew.
  void reset() {
    if constexpr (detail::IsMetric<M>) metric_.reset();
    sum_ = samples_ = 0;
  }
  // Returns the number since the last reset, NaN if there were no samples. Waits for the device.
  double value() const {
    if constexpr (detail::IsMetric<M>)
      return static_cast<double>(value_(metric_.result()));
    else
      return samples_ > 0 ? sum_ / samples_ : std::numeric_limits<double>::quiet_NaN();
  }

  // As Accuracy::all_reduce(). Throws Error for a metric that has none.
  template <class Communicator>
  void all_reduce(Communicator& comm) {
    if constexpr (!detail::IsMetric<M>) {
      sum_ = comm.all_reduce(sum_);
      samples_ = comm.all_reduce(samples_);
    } else if constexpr (requires { metric_.all_reduce(comm); }) {
      metric_.all_reduce(comm);
    } else {
      throw_error(Error(concat(
          "gpunet::train::Measure: the metric of ", name_,
          " cannot be added up over several processes, give it void all_reduce(auto& comm)")));
    }
  }

  // Writes or reads the measurements since the last reset, for a checkpoint.
  void visit_state(StateVisitor& state) {
    if constexpr (Stateful<std::remove_reference_t<M>>) metric_.visit_state(state);
    state.value("sum", sum_);
    state.value("measured", samples_);
  }

 private:
  template <class X>
  double number(X&& x) const {
    if constexpr (requires { x.numel(); })
      require(x.numel() == 1, "gpunet::train::Measure: the function of ", name_,
              " returns a tensor of shape ", to_string(x.sizes()),
              " (want one number, the mean of the batch), return mean(...) of it");
    if constexpr (requires { std::forward<X>(x).item(); })
      return static_cast<double>(std::forward<X>(x).item());
    else
      return static_cast<double>(x);
  }

  std::string name_;
  M metric_;
  F value_;
  double sum_ = 0, samples_ = 0;
};
template <class M>
Measure(std::string, M&&) -> Measure<M>;
template <class M, class F>
Measure(std::string, M&&, F) -> Measure<M, F>;

}  // namespace gpunet::train
