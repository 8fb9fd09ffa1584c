// Trains a model for some epochs in one call.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/io/checkpoint.hpp>
#include <gpunet/model/network_access.hpp>
#include <gpunet/train/callbacks.hpp>
#include <gpunet/train/evaluate.hpp>
#include <gpunet/train/fit_ranks.hpp>
#include <gpunet/train/fit_step.hpp>
#include <gpunet/train/measure.hpp>
#include <gpunet/train/progress.hpp>
#include <gpunet/train/step.hpp>

namespace gpunet::train {

// Measures val_loss and val_accuracy after each epoch, in evaluation mode, on the batches of
// another loader.
template <class Loader, class Model = void>
class Validation {
 public:
  // `loader`: a data::DataLoader or batches on the model's device. Stores an lvalue by reference.
  explicit Validation(Loader&& loader) : loader_(std::forward<Loader>(loader)) {}
  // Measures another model than the one that is trained, such as an average of its weights:
  // Validation(loader, ema.module()). EarlyStopping and ModelCheckpoint then store and restore the
  // weights of that model, if it has the same type of numbers, unless they monitor the training.
  template <class Other>
  Validation(Loader&& loader, Other& model)
      : loader_(std::forward<Loader>(loader)), model_(&model) {}

  template <class R, class Loss, class See>
  void validate(R& run, const Loss& criterion, See see) {
    const auto evaluate_on = [&](auto& model) {
      using D = std::remove_reference_t<decltype(model.device())>;
      return evaluate(model, criterion, loader_, see,
                      detail::TakesGenerator<Loader, D> ? run.generator : GeneratorOption{});
    };
    const Evaluation result = [&] {
      if constexpr (std::is_void_v<Model>)
        return evaluate_on(run.model);
      else
        return evaluate_on(*model_);
    }();
    if constexpr (std::is_convertible_v<Model*, decltype(run.validated)>) run.validated = model_;
    run.current.val_loss = result.loss;
    run.current.val_accuracy = result.accuracy;
    if (Ranks* const ranks = run.model.reducer()) {
      const auto labels = static_cast<double>(result.counted);
      double sums[] = {result.weight > 0 ? result.loss * result.weight : 0, result.weight,
                       labels > 0 ? result.accuracy * labels : 0, labels};
      ranks->sum(sums);
      run.current.val_loss = sums[0] / sums[1];
      run.current.val_accuracy = sums[2] / sums[3];
    }
  }

 private:
  Loader loader_;
  Model* model_ = nullptr;
};
template <class Loader>
Validation(Loader&&) -> Validation<Loader>;
template <class Loader, class Model>
Validation(Loader&&, Model&) -> Validation<Loader, Model>;

// Options of fit().
struct FitOptions {
  index_t epochs = 1;     // passes over the loader, 1 or more
  index_t max_steps = 0;  // over all epochs; 0: no limit
  // Steps (batches) whose gradients make an update, by their sum divided by this number, as
  // train::Step does. Fewer steps at the end of an epoch, or of a training that is stopped or over
  // by max_steps (after on_step_end), make an update, too: their sum is also divided by this
  // number, so it is smaller than their mean, as in Lightning.
  index_t accumulate = 1;
  // For a network that stores float16: scales the losses, and skips updates whose gradients
  // overflow (run.updated is false). Parts see gradients that are not scaled.
  amp::GradScaler* scaler = nullptr;
  // The file of a checkpoint (io::Checkpoint), such as "run.safetensors". If it exists, the
  // training resumes from it, bitwise as if it had not ended, and returns the whole history. It is
  // saved at the beginning, after every epoch, and when the training is stopped; so the same
  // program, started again after Ctrl-C (StopOnInterrupt) or a crash, loses only steps since the
  // last save. Empty: no file.
  std::string resume = {};
  index_t save_every = 0;  // steps after which it is saved too; 0: none
  int keep_last = 1;       // files of .resume that are kept, see io::CheckpointOptions
  // Draws the epochs of a data::DataLoader (also that of Validation) that has no generator of its
  // own; part of the checkpoint.
  GeneratorOption generator = {};
};

namespace detail {

// A training with its state: the work of fit() after the checks of its arguments.
template <class Model, class Loss, class Optimizer, class Batches, class... Parts>
class Fit {
  using R = Run<Model, Optimizer>;
  using EachPart = decltype(each_of(std::declval<Parts&>()...));
  static constexpr bool validates = (Validates<Parts, R, Loss> || ...);
  static constexpr bool may_stop = (MayStop<Parts, R> || ...);

 public:
  template <class Loader>
  Fit(Model& model, const Loss& criterion, Optimizer& optimizer, Loader& loader, Batches& batches,
      const FitOptions& options, Parts&... parts)
      : criterion_(criterion),
        options_(options),
        batches_(batches),
        each_part_(each_of(parts...)),
        run_(model, optimizer) {
    run_.generator = options.generator;
    run_.is_main = ranks_.is_main();
    run_.epochs = options.epochs;
    run_.steps = batches.size();
    if constexpr (requires { loader.options().batch_size; })
      run_.batch_size = loader.options().batch_size;
    run_.has_validation = validates;
    each_part_([&](CountsAccuracy<Model> auto& part) {
      if (!std::exchange(run_.has_accuracy, true))
        run_.count_accuracy = [&part] {
          return part.result().accuracy();
        };
    });
    if (ranks_) compare_ranks(loader);
  }

  // Trains and returns the history.
  History train() {
    const Exit exit{each_part_};
    const KeepMode keep(run_.model);
    run_.current.measures = measures_;
    each_part_([&](HasOnFitBegin<R> auto& part) { part.on_fit_begin(run_); });
    run_.epoch = 1;
    if (!options_.resume.empty()) resume();
    ranks_.agree_to_stop(run_);
    done_ = run_.stopped() || (options_.max_steps > 0 && run_.total_steps >= options_.max_steps);
    // Once more after the last step if that did not end its epoch.
    while (run_.epoch <= run_.epochs && (!done_ || run_.current.number == run_.epoch))
      train_epoch();
    end();
    return std::move(run_.history);
  }

 private:
  // Calls on_exit() of all parts at the end, also after an exception.
  struct Exit {
    const EachPart& each_part;
    ~Exit() {
      each_part([](auto& part) {
        if constexpr (requires { part.on_exit(); }) part.on_exit();
      });
    }
  };

  // Returns the names of the measures: of the training, then of the validation.
  decltype(Epoch::measures) measures_without_values() const {
    decltype(Epoch::measures) measures;
    each_part_([&](Measures auto& part) { add_measure(measures, part.name()); });
    if constexpr (validates)
      each_part_([&](Measures auto& part) { add_measure(measures, "val_" + part.name()); });
    return measures;
  }

  // Throws Error on all ranks if they would not train alike.
  template <class Loader>
  void compare_ranks([[maybe_unused]] Loader& loader) const {
    RankLines lines;
    lines.add("epochs ", options_.epochs, "\nmax_steps ", options_.max_steps, "\naccumulate ",
              options_.accumulate, "\nresume ", options_.resume.empty() ? "none" : options_.resume,
              "\nsave_every ", options_.save_every, "\nbatches in an epoch ", run_.steps,
              "\nbatch_size ", run_.batch_size, "\nparts ", sizeof...(Parts),
              "\nparts that may stop it in a step ", may_stop ? "some" : "none", "\nvalidation ",
              validates ? "yes" : "no", "\nmeasures ",
              measures_.empty() ? "none"
                                : gpunet::detail::short_list(
                                      measures_, [](const auto& measure) { return measure.first; }),
              "\nscaler ", options_.scaler ? "yes" : "no");
    if (options_.scaler) lines.add_numbers("scaler", *options_.scaler);
    lines.add_numbers("optimizer", run_.optimizer);
    index_t part = 0, of_parts = 0;
    if constexpr (requires { loader.options().sampler; })
      if (const auto& sampler = loader.options().sampler) {
        lines.add("sampler ", sampler->description());
        part = sampler->part();
        of_parts = sampler->replicas();
      }
    ranks_.require_same(lines, part, of_parts);
  }

  // Goes on from the checkpoint, or writes the first one.
  void resume() {
    checkpoint_.emplace(options_.resume, io::CheckpointOptions{.keep_last = options_.keep_last});
    checkpoint_->add("model", run_.model).add("optimizer", run_.optimizer);
    checkpoint_->add("step", step_).add("training", run_);
    if constexpr (Stateful<Batches>)
      checkpoint_->add("loader", batches_);
    else
      throw_error(Error(
          "gpunet::train::fit: .resume with batches of your own (their place in the epoch is "
          "unknown), give a data::DataLoader or add void visit_state(StateVisitor&) to them"));
    if (options_.scaler) checkpoint_->add("scaler", *options_.scaler);
    if (options_.generator.is_given()) checkpoint_->add("generator", *options_.generator);
    index_t number = 0;
    each_part_([&](Stateful auto& part) { checkpoint_->add(concat("part.", number++), part); });
    const bool is_there = checkpoint_->load();
    ranks_.require_found(is_there, options_.resume);
    leave_to_main();
    if (is_there)
      each_part_([&](HasOnResume<R> auto& part) { part.on_resume(run_); });
    else
      save();  // also shows early that the file can be written
  }

  // Trains an epoch, or the rest of one.
  void train_epoch() {
    if (run_.current.number != run_.epoch) begin_epoch();
    begin_ = steady_seconds() - run_.current.seconds;
    run_.model.train();
    if constexpr (requires { batches_.set_epoch(run_.epoch); }) batches_.set_epoch(run_.epoch - 1);
    if (!done_ && !run_.trained)
      for (auto [inputs, targets] : batches_) {
        train_batch(inputs, targets);
        if (done_ || (options_.save_every > 0 && run_.total_steps % options_.save_every == 0))
          save_within_epoch();
        if (done_) break;
      }
    if (!run_.trained) end_steps();
    run_.trained = run_.step == run_.steps && !run_.stopped();
    if constexpr (validates)
      if (run_.trained && run_.has_validation) validate();
    end_epoch();
  }

  // Begins an epoch, with nothing measured.
  void begin_epoch() {
    run_.current = {.number = run_.epoch};
    run_.current.measures = measures_;
    run_.step = 0;
    run_.trained = false;
    run_.running_loss.reset();
    each_part_([&](auto& part) {
      if constexpr (Counts<decltype(part), Model>) part.reset();
      if constexpr (HasOnEpochBegin<decltype(part), R>) part.on_epoch_begin(run_);
    });
    ranks_.agree_to_stop(run_);
  }

  // Trains on a batch.
  template <class BatchInputs, class BatchTargets>
  void train_batch(const BatchInputs& batch_inputs, const BatchTargets& batch_targets) {
    using D = typename Model::device_type;
    using Target = nn::TargetOf<Loss, D, typename Model::value_type>;
    const auto [inputs, labels] = batch_for<Loss>(run_.model, batch_inputs, batch_targets);
    static_assert(std::is_convertible_v<decltype(labels), View<const Target, D>>,
                  "gpunet::train::fit: the loss has targets of another type than the loader's "
                  "(classes are label_t, others float), use a loss with its target_type, or a "
                  "dataset with targets of the loss");
    done_ = run_.total_steps + 1 == options_.max_steps;
    run_.running_loss.update(step_(inputs, labels, batch_targets, run_.step + 1 == run_.steps),
                             inputs.size(0));
    run_.current.steps = ++run_.step;
    run_.current.lr = run_.optimizer.lr();
    ++run_.total_steps;
    each_part_([&](HasOnStepEnd<R> auto& part) { part.on_step_end(run_); });
    if constexpr (may_stop) ranks_.agree_to_stop(run_);
    done_ = done_ || run_.stopped();
  }

  // Updates by the gradients that are left, and writes the loss and the metrics to the epoch.
  void end_steps() {
    step_.update();
    if (ranks_) ranks_->verify_parameters();
    join_ranks();
    run_.current.loss = run_.loss();
    run_.current.accuracy = run_.accuracy();
    write_measures(0);
  }

  // Runs the validations. A part may stop them.
  void validate() {
    std::optional<Generator> before;
    if (checkpoint_) before = *options_.generator;
    if (ranks_) ranks_->sync_buffers();
    each_part_([&](Validates<R, Loss> auto& validation) {
      each_part_([](Measures auto& part) { part.reset(); });
      validation.validate(run_, criterion_, [&](const auto& outputs, const auto& targets) {
        each_part_([&](auto& part) {
          if constexpr (Measures<decltype(part)>) update_metric(part, criterion_, outputs, targets);
          if constexpr (HasOnValidationStepEnd<decltype(part), R>)
            part.on_validation_step_end(run_);
        });
        return !run_.stopped();
      });
    });
    ranks_.agree_to_stop(run_);
    // Measured on a part of it only; a training that goes on validates again.
    if (run_.stopped()) {
      run_.current.val_loss = run_.current.val_accuracy = Epoch::unknown;
      if (checkpoint_) *options_.generator = *before;
      save_within_epoch();
    } else {
      join_ranks();
      write_measures(measures_.size() / 2);
    }
  }

  // Writes the values of the measures to those of the epoch from `next` on.
  void write_measures([[maybe_unused]] std::size_t next) {
    each_part_([&](Measures auto& part) { run_.current.measures[next++].second = part.value(); });
  }

  // Ends an epoch: the history has it, and parts see it if it is complete.
  void end_epoch() {
    run_.current.seconds = steady_seconds() - begin_;
    run_.history.epochs.push_back(run_.current);
    run_.history.steps = run_.total_steps;
    const bool complete = run_.trained && !run_.stopped();
    if (complete)
      each_part_([&](auto& part) {
        if constexpr (HasOnEpochEnd<decltype(part), R>)
          part.on_epoch_end(run_);
        else if constexpr (std::is_invocable_v<decltype(part), R&>)
          part(run_);
      });
    ranks_.agree_to_stop(run_);
    ++run_.epoch;
    if (complete) save();
    done_ = done_ || run_.stopped();
  }

  // Ends the training, with a word on losses that were not finite.
  void end() {
    if (!run_.stopped()) {
      const index_t bad = run_.first_not_finite();
      const std::string why = ranks_.why_of_all(bad >= 0 ? not_finite(bad, run_.steps) : "");
      if (run_.history.why.empty()) run_.history.why = why;
    }
    each_part_([&](HasOnFitEnd<R> auto& part) { part.on_fit_end(run_); });
  }

  // Writes the checkpoint, if there is one.
  void save() {
    if (!checkpoint_ || run_.history.end == End::not_finite) return;
    join_ranks();
    if (ranks_ && step_.accumulated() > 0)
      gpunet::detail::NetworkAccess::reduce_gradients(run_.model);
    if (run_.is_main) checkpoint_->save();
    leave_to_main();
  }

  // Writes it within an epoch.
  void save_within_epoch() {
    run_.current.seconds = steady_seconds() - begin_;
    save();
  }

  // Adds up the measurements of all ranks, on all of them.
  void join_ranks() {
    if (!ranks_) return;
    run_.running_loss.all_reduce(*ranks_);
    each_part_([&](Counts<Model> auto& part) {
      if constexpr (requires { part.all_reduce(*ranks_); })
        part.all_reduce(*ranks_);
      else
        throw_error(
            Error("gpunet::train::fit: a metric of a program cannot be added up over several "
                  "processes, give it void all_reduce(auto& comm)"));
    });
  }

  // Leaves the sums over all ranks to rank 0, as the checkpoint has them.
  void leave_to_main() {
    if (ranks_.is_main()) return;
    run_.running_loss.reset();
    each_part_([](Counts<Model> auto& part) { part.reset(); });
  }

  const Loss& criterion_;
  const FitOptions& options_;
  Batches& batches_;
  const EachPart each_part_;
  R run_;
  FitRanks ranks_{run_.model.reducer()};
  const decltype(Epoch::measures) measures_ = measures_without_values();
  FitStep<R, Model, Loss, Optimizer, Parts...> step_{
      run_, criterion_, {options_.accumulate, options_.scaler}, each_part_};
  std::optional<io::Checkpoint> checkpoint_;  // of .resume
  bool done_ = false;                         // no more steps
  double begin_ = 0;                          // of the epoch, in seconds
};

}  // namespace detail

// Trains a model and returns what was measured:
//   const auto history = train::fit(
//       net, criterion, optimizer, loader, {.epochs = 10}, train::ProgressBar(),
//       train::Validation(test_loader), train::EarlyStopping({.patience = 3}));
// The loader is a data::DataLoader or batches that are on the device already
// (loader.resident_on(device)). Without parts, the results are bitwise identical to those of the
// loop
//   for (auto [inputs, labels] : loader.to(device)) step(inputs, labels);
// and only the end of an epoch waits for the device.
//
// A part is an object with some of these functions. They get the Training (or, as templates, the
// Run) and are called in the order of the parts:
//   on_fit_begin, on_resume (a checkpoint was read), on_epoch_begin, before_update (gradients are
//   computed), on_step_end (run.updated: parameters have changed), on_validation_step_end,
//   on_epoch_end, on_fit_end (also if the training was stopped), on_exit() noexcept (last, also
//   after an exception).
// A function as a part is called with the training at the end of every epoch. Metrics (Accuracy,
// ConfusionMatrix, TopK) are reset before every epoch, and leave out the labels that the loss
// ignores unless they have an .ignore_index; a Measure writes one, or a function of yours, to the
// history, also of the validation. With a metric, a step runs the forward pass of the whole batch
// before the backward pass.
//
// With {.resume = file}, the state of a part belongs to the checkpoint if it has void
// visit_state(StateVisitor&), as all of gpunet have that need it. A training that goes on within an
// epoch calls on_fit_begin, reads the states and calls on_resume; on_epoch_begin follows with the
// next epoch. One that is over (all epochs, or EarlyStopping) trains no more.
//
// With nn::OutputLoss, for a model that computes its loss, the loader's targets are the second
// input of the model, or ignored if it has one input.
//
// With a distributed::DistributedDataParallel, throws Error on all ranks if their options, parts,
// optimizers or samplers differ, or after an epoch their parameters. A part of one rank that stops
// the training stops all: a part with on_step_end or before_update costs a sum of one number per
// step, unless it has static constexpr bool never_stops = true.
//
// Throws Error for invalid options, for a loss that does not match the model's outputs (at compile
// time), and what a part throws. An epoch that is stopped early is in the history, but it is not
// validated and has no on_epoch_end. A loss that is NaN or infinite does not stop the training
// (StopOnNaN does), but history.why reports it. The model's mode is restored at the end.
template <class D, class T, class Loss, class Optimizer, class Loader, class... Parts>
History fit(Network<D, T>& model, const Loss& criterion, Optimizer& optimizer, Loader&& loader,
            const FitOptions& options, Parts&&... parts) {
  using Model = Network<D, T>;
  ((void)detail::RequirePart<std::remove_reference_t<Parts>, Run<Model, Optimizer>, Model, Loss>{},
   ...);
  require(options.epochs >= 1, "gpunet::train::fit: ", options.epochs, " epochs (want 1 or more)");
  require(options.max_steps >= 0, "gpunet::train::fit: max_steps ", options.max_steps,
          " (want 0, for no limit, or more)");
  require(options.accumulate >= 1, "gpunet::train::fit: accumulate ", options.accumulate,
          " (want 1, an update for every batch, or more)");
  require(options.keep_last == 1 || !options.resume.empty(), "gpunet::train::fit: keep_last ",
          options.keep_last,
          " (want a file in .resume, of which so many are kept), write {.resume = "
          "\"run.safetensors\", .keep_last = 3}");
  require(options.save_every >= 0 && (options.save_every == 0 || !options.resume.empty()),
          "gpunet::train::fit: save_every ", options.save_every,
          " (want 0 or more, and with .resume a file), write {.resume = \"run.safetensors\", "
          ".save_every = 100}");
  require(&optimizer.model() == &model,
          "gpunet::train::fit: the optimizer belongs to another model (this one would not learn), "
          "make one for it");
  require(detail::TakesGenerator<Loader, D> || !options.generator.is_given(),
          "gpunet::train::fit: .generator with batches that are made already (they draw from that "
          "of their loader), give it to the data::DataLoader");
  auto&& batches = detail::batches_on(model.device(), loader, options.generator);
  require(batches.size() > 0,
          "gpunet::train::fit: the loader has no batches, nothing could be learned");
  require(!model.reducer() || model.reducer()->reduces(),
          "gpunet::train::fit: within no_sync() (each rank would update by its own gradients), end "
          "its scope before");
  return detail::Fit(model, criterion, optimizer, loader, batches, options, parts...).train();
}
template <class Net, class D, class T, class Loss, class Optimizer, class Loader, class... Parts>
History fit(Model<Net, D, T>& model, const Loss& criterion, Optimizer& optimizer, Loader&& loader,
            const FitOptions& options, Parts&&... parts) {
  nn::detail::check_loss_shape<Loss>(typename Model<Net, D, T>::OutputShape{});
  return fit(static_cast<Network<D, T>&>(model), criterion, optimizer, loader, options,
             std::forward<Parts>(parts)...);
}
// The same for the network of a distributed::DistributedDataParallel.
template <HasModule Wrapper, class Loss, class Optimizer, class Loader, class... Parts>
History fit(Wrapper& ddp, const Loss& criterion, Optimizer& optimizer, Loader&& loader,
            const FitOptions& options, Parts&&... parts) {
  return fit(ddp.module(), criterion, optimizer, std::forward<Loader>(loader), options,
             std::forward<Parts>(parts)...);
}
// The same with the default options: one epoch.
template <class Model, class Loss, class Optimizer, class Loader>
History fit(Model& model, const Loss& criterion, Optimizer& optimizer, Loader&& loader) {
  return fit(model, criterion, optimizer, loader, FitOptions{});
}

// Refuses what is no FitOptions in their place. A compile error.
template <class Model, class Loss, class Optimizer, class Loader, class Other, class... Parts>
requires(!std::is_convertible_v<Other&&, const FitOptions&>) History
    fit(Model&, const Loss&, Optimizer&, Loader&&, Other&&, Parts&&...) {
  constexpr bool is_number = std::is_arithmetic_v<std::remove_cvref_t<Other>>;
  static_assert(!is_number,
                "gpunet::train::fit: a number in the place of the options (it could be epochs or "
                "steps), write {.epochs = 5} or {.max_steps = 100}");
  static_assert(is_number,
                "gpunet::train::fit: the options are missing between the loader and the parts, "
                "write {.epochs = 10} there");
  return {};
}

// Refuses options with a name that FitOptions does not have. A compile error; compilers show the
// line of the declaration.
template <class M, class L, class O, class D>
void fit(M&&, const L&, O&, D&&, ...) GPUNET_DELETED("gpunet::train::fit: use names of FitOptions");

}  // namespace gpunet::train
