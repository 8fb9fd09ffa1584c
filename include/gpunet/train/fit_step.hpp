// What a part of fit() may have, and the step that follows from the parts.
#pragma once

#include <type_traits>
#include <utility>

#include <gpunet/model/network_access.hpp>
#include <gpunet/train/callbacks.hpp>
#include <gpunet/train/measure.hpp>
#include <gpunet/train/step.hpp>

namespace gpunet::train::detail {

// What a part may have; R is the Run.
#define GPUNET_PART_CONCEPT(NAME, FUNCTION)       \
  template <class Part, class R>                  \
  concept NAME = requires(Part & part, R & run) { \
    part.FUNCTION(run);                           \
  }
GPUNET_PART_CONCEPT(HasOnFitBegin, on_fit_begin);
GPUNET_PART_CONCEPT(HasOnResume, on_resume);
GPUNET_PART_CONCEPT(HasOnEpochBegin, on_epoch_begin);
GPUNET_PART_CONCEPT(HasBeforeUpdate, before_update);
GPUNET_PART_CONCEPT(HasOnStepEnd, on_step_end);
GPUNET_PART_CONCEPT(HasOnValidationStepEnd, on_validation_step_end);
GPUNET_PART_CONCEPT(HasOnEpochEnd, on_epoch_end);
GPUNET_PART_CONCEPT(HasOnFitEnd, on_fit_end);
#undef GPUNET_PART_CONCEPT
struct SeesBatch {
  template <class Outputs, class Targets>
  bool operator()(const Outputs& outputs, const Targets& targets) const;
};
template <class Part, class R, class Loss>
concept Validates = requires(Part& part, R& run, const Loss& loss, SeesBatch see) {
  part.validate(run, loss, see);
};
template <class Part>
concept Measures = requires(Part& part) {
  part.name();
  part.value();
  part.reset();
};
// Metrics: Accuracy, ConfusionMatrix, TopK; Measure.
template <class Part, class Model>
concept Counts = Measures<Part> ||
    requires(Part& part,
             const Output<typename Model::device_type, typename Model::value_type>& outputs,
             const View<const label_t, typename Model::device_type>& labels) {
  part.update(outputs, labels);
  part.reset();
};
// Whether it may stop the training within an epoch; ProgressBar and others say that they do not.
// Then fit asks the other ranks after each step.
template <class Part>
concept NeverStops = requires {
  requires Part::never_stops;
};
template <class Part, class R>
concept MayStop = (HasOnStepEnd<Part, R> || HasBeforeUpdate<Part, R>)&&!NeverStops<Part>;
template <class Part, class Model>
concept CountsAccuracy = Counts<Part, Model> && requires(Part& part) {
  part.result().accuracy();
};

template <class Part, class R, class Model, class Loss>
concept IsPart = HasOnFitBegin<Part, R> || HasOnResume<Part, R> || HasOnEpochBegin<Part, R> ||
    HasBeforeUpdate<Part, R> || HasOnStepEnd<Part, R> || HasOnValidationStepEnd<Part, R> ||
    HasOnEpochEnd<Part, R> || HasOnFitEnd<Part, R> || Validates<Part, R, Loss> ||
    Counts<Part, Model> || std::is_invocable_v<Part&, R&>;

// Compile errors for an object that is not a part, and for functions of a part that fit could not
// call.
template <class Part, class R, class Model, class Loss>
struct RequirePart {
  using Changed = std::remove_const_t<Part>;
  static_assert(IsPart<Part, R, Model, Loss> || !IsPart<Changed, R, Model, Loss>,
                "gpunet::train::fit: a part of the training is const (its functions change it), "
                "give an object that is not");
  static_assert(IsPart<Changed, R, Model, Loss>,
                "gpunet::train::fit: an argument after the options is not a part of a training, "
                "give an object with on_epoch_end(train::Training&) or another of fit's functions");

// A function of this name takes the training, or the part has none. Those of templates and
// overloads are not found.
#define GPUNET_REQUIRE_PART(NAME)                                                          \
  static_assert(                                                                           \
      requires(Part & part, R & run) { part.NAME(run); } || !requires { &Changed::NAME; }, \
      "gpunet::train::fit: the function " #NAME                                            \
      " of a part does not take the training (it would never be called), "                 \
      "write void " #NAME "(train::Training& run)")
  GPUNET_REQUIRE_PART(on_fit_begin);
  GPUNET_REQUIRE_PART(on_resume);
  GPUNET_REQUIRE_PART(on_epoch_begin);
  GPUNET_REQUIRE_PART(before_update);
  GPUNET_REQUIRE_PART(on_step_end);
  GPUNET_REQUIRE_PART(on_validation_step_end);
  GPUNET_REQUIRE_PART(on_epoch_end);
  GPUNET_REQUIRE_PART(on_fit_end);
#undef GPUNET_REQUIRE_PART
  static_assert(
      Stateful<Changed> || !requires { &Changed::visit_state; },
      "gpunet::train::fit: the function visit_state of a part does not take a visitor (a "
      "checkpoint would lack its state), write void visit_state(StateVisitor& state)");
  static_assert(
      requires(Part & part) { part.on_exit(); } || !requires { &Changed::on_exit; },
      "gpunet::train::fit: the function on_exit of a part takes an argument (it would never be "
      "called), write void on_exit() noexcept");
};

// Returns a function that calls another for each part that it takes, in their order.
template <class... Parts>
auto each_of(Parts&... parts) {
  return [&parts...](auto f) {
    [[maybe_unused]] const auto call = [&f](auto& part) {
      if constexpr (requires { f(part); }) f(part);
    };
    (call(parts), ...);
  };
}

// One training step: train::Step unless a part needs outputs or gradients.
template <class R, class Model, class Loss, class Optimizer, class... Parts>
class FitStep {
  static constexpr bool counts = (Counts<Parts, Model> || ...);
  static constexpr bool before_update = (HasBeforeUpdate<Parts, R> || ...);
  struct NoStep {
    NoStep(Model&, const Loss&, Optimizer&, const StepOptions&) {}
  };
  using WholeStep = std::conditional_t<
      counts || before_update, NoStep,
      Step<typename Model::device_type, typename Model::value_type, Loss, Optimizer>>;
  using EachPart = decltype(each_of(std::declval<Parts&>()...));
  using BatchLoss = LossValue<typename Model::device_type, typename Model::value_type>;

 public:
  FitStep(R& run, const Loss& criterion, const StepOptions& options, const EachPart& each_part)
      : run_(run),
        criterion_(criterion),
        options_(options),
        step_(run.model, criterion, run.optimizer, options),
        each_part_(each_part) {
    if (options.scaler) options.scaler->begin_step();  // NoStep does not
  }

  // Trains on a batch. The last one of an epoch ends with an update.
  template <class Inputs, class Labels, class Targets>
  BatchLoss operator()(const Inputs& inputs, const Labels& labels, const Targets& of_loader,
                       bool is_last) {
    if (batches_ == 0) run_.optimizer.zero_grad();
    ++batches_;
    run_.updated = is_last || batches_ == options_.accumulate;
    const auto loss = add_gradients(inputs, labels, of_loader);
    if (!run_.updated) return loss;
    end_group();
    if (options_.scaler) run_.updated = !options_.scaler->skipped();
    return loss;
  }

  // Writes or reads the gradients since the last update, for a checkpoint.
  void visit_state(StateVisitor& state) {
    if constexpr (counts || before_update) {
      gpunet::detail::NetworkAccess::visit_gradients(run_.model, state, batches_,
                                                     options_.accumulate);
    } else {
      step_.visit_state(state);
      batches_ = step_.accumulated();
    }
  }

  index_t accumulated() const { return batches_; }

  // Updates by the gradients that are left.
  void update() {
    if (batches_ == 0) return;
    if constexpr (counts || before_update)
      gpunet::detail::NetworkAccess::reduce_gradients(run_.model);
    end_group();
  }

 private:
  // Updates by the reduced gradients of a group of batches.
  void end_group() {
    batches_ = 0;
    if constexpr (counts || before_update) {
      amp::GradScaler* const scaler = options_.scaler;
      if (scaler) scaler->unscale_(run_.optimizer);
      each_part_([&](HasBeforeUpdate<R> auto& part) { part.before_update(run_); });
      if (!scaler) return run_.optimizer.step();
      scaler->step(run_.optimizer);
      scaler->update();
    } else {
      step_.update();
    }
  }

  // Runs both passes, and with a whole step the update if it is due.
  template <class Inputs, class Labels, class Targets>
  BatchLoss add_gradients(const Inputs& inputs, const Labels& labels,
                          [[maybe_unused]] const Targets& of_loader) {
    if constexpr (counts || before_update) {
      const auto leaves = run_.model.leaves();
      if (!leaves) {
        const NoSync no_sync(run_.updated ? nullptr : run_.model.reducer());
        return run_passes(inputs, labels, of_loader);
      }
      return run_leaves(*leaves, inputs.size(0), [&] {
        const auto x = rows_of_leaf(*leaves, 0, inputs);
        const auto y = rows_of_leaf(*leaves, 1, labels);
        if constexpr (counts)
          return run_passes(x, y, rows_of_leaf(*leaves, 2, of_loader));
        else
          return run_passes(x, y, y);
      });
    } else {
      return step_(inputs, labels);
    }
  }

  // Runs both passes for a batch, or a leaf of it.
  template <class Inputs, class Labels, class Targets>
  BatchLoss run_passes(const Inputs& inputs, const Labels& labels,
                       [[maybe_unused]] const Targets& of_loader) {
    const double scale = options_.scaler ? options_.scaler->scale_of(run_.model.storage()) : 1;
    const double loss_gradient = 1.0 / static_cast<double>(options_.accumulate) * scale;
    if constexpr (counts) {
      const auto outputs = run_.model(inputs);
      auto loss = criterion_(outputs, labels);
      each_part_(
          [&](Counts<Model> auto& part) { update_metric(part, criterion_, outputs, of_loader); });
      loss.backward(loss_gradient);
      return loss;
    } else {
      return run_.model.forward_backward(inputs, criterion_, labels, loss_gradient);
    }
  }

  R& run_;
  const Loss& criterion_;
  const StepOptions options_;
  index_t batches_ = 0;  // since the last update
  [[no_unique_address]] WholeStep step_;
  const EachPart& each_part_;
};

}  // namespace gpunet::train::detail
