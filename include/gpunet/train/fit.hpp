// Trains a model for some epochs in one call.
#pragma once

#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/io/checkpoint.hpp>
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
    const Evaluation result = [&] {
      if constexpr (std::is_void_v<Model>)
        return evaluate(run.model, criterion, loader_, see, run.generator);
      else
        return evaluate(*model_, criterion, loader_, see, run.generator);
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
//   on_fit_begin, on_epoch_begin,
//   before_update (gradients are computed),
//   on_step_end (run.updated: parameters have changed),
//   on_validation_step_end, on_epoch_end,
//   on_fit_end (also if the training was stopped),
//   on_exit() noexcept (last, also after an exception).
// A function as a part is called with the training at the end of every epoch. Metrics (Accuracy,
// ConfusionMatrix, TopK) are reset before every epoch, and leave out the labels that the loss
// ignores unless they have an .ignore_index; a Measure writes one, or a function of yours, to the
// history, also of the validation. With a metric, a step runs the forward pass of the whole batch
// before the backward pass.
//
// With {.resume = file}, the state of a part belongs to the checkpoint if it has void
// visit_state(StateVisitor&), as all of gpunet have that need it. A training that goes on within an
// epoch calls on_fit_begin and reads the states; on_epoch_begin follows with the next epoch. One
// that is over (all epochs, or EarlyStopping) trains no more.
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
            const FitOptions& options, Parts&&... parts);
template <class Net, class D, class T, class Loss, class Optimizer, class Loader, class... Parts>
History fit(Model<Net, D, T>& model, const Loss& criterion, Optimizer& optimizer, Loader&& loader,
            const FitOptions& options, Parts&&... parts);
// The same for the network of a distributed::DistributedDataParallel.
template <HasModule Wrapper, class Loss, class Optimizer, class Loader, class... Parts>
History fit(Wrapper& ddp, const Loss& criterion, Optimizer& optimizer, Loader&& loader,
            const FitOptions& options, Parts&&... parts) {
  return fit(ddp.module(), criterion, optimizer, std::forward<Loader>(loader), options,
             std::forward<Parts>(parts)...);
}
// The same with the default options: one epoch.
template <class Model, class Loss, class Optimizer, class Loader>
History fit(Model& model, const Loss& criterion, Optimizer& optimizer, Loader&& loader);

// Refuses what is no FitOptions in their place. A compile error.
template <class Model, class Loss, class Optimizer, class Loader, class Other, class... Parts>
requires(!std::is_convertible_v<Other&&, const FitOptions&>) History
    fit(Model&, const Loss&, Optimizer&, Loader&&, Other&&, Parts&&...) {
  constexpr bool is_number = std::is_arithmetic_v<std::remove_cvref_t<Other>>;
  static_assert(!is_number,
                "gpunet::train::fit: a number in the place of the options (it could be epochs or "
                "steps), write "
                "{.epochs = 5} or {.max_steps = 100}");
  static_assert(is_number,
                "gpunet::train::fit: the options are missing between the loader and the parts, "
                "write {.epochs = 10} "
                "there");
  return {};
}

template <class D, class T, class Loss, class Optimizer, class Loader, class... Parts>
History fit(Network<D, T>& model, const Loss& criterion, Optimizer& optimizer, Loader&& loader,
            const FitOptions& options, Parts&&... parts) {
  using Model = Network<D, T>;
  using R = Run<Model, Optimizer>;
  using Target = nn::TargetOf<Loss, D, T>;
  ((void)detail::RequirePart<std::remove_reference_t<Parts>, R, Model, Loss>{}, ...);
  require(options.epochs >= 1, "gpunet::train::fit: ", options.epochs, " epochs (want 1 or more)");
  require(options.max_steps >= 0, "gpunet::train::fit: max_steps ", options.max_steps,
          " (want 0, for no limit, or more)");
  require(options.accumulate >= 1, "gpunet::train::fit: accumulate ", options.accumulate,
          " (want 1, an update for every batch, or more)");
  require(options.keep_last == 1 || !options.resume.empty(), "gpunet::train::fit: keep_last ",
          options.keep_last,
          " (want a file in .resume, of which so many are kept), write {.resume = "
          "\"run.safetensors\", .keep_last "
          "= 3}");
  require(options.save_every >= 0 && (options.save_every == 0 || !options.resume.empty()),
          "gpunet::train::fit: save_every ", options.save_every,
          " (want 0 or more, and with .resume a file), write {.resume = \"run.safetensors\", "
          ".save_every = 100}");
  require(&optimizer.model() == &model,
          "gpunet::train::fit: the optimizer belongs to another model (this one would not learn), "
          "make one for it");
  require(detail::TakesGenerator<Loader, D> || !options.generator.is_given(),
          "gpunet::train::fit: .generator with batches that are made already (they draw from that "
          "of their loader), "
          "give it to the data::DataLoader");
  auto&& batches = detail::batches_on(model.device(), loader, options.generator);
  require(batches.size() > 0,
          "gpunet::train::fit: the loader has no batches, nothing could be learned");

  R run(model, optimizer);
  run.generator = options.generator;
  require(!model.reducer() || model.reducer()->reduces(),
          "gpunet::train::fit: within no_sync() (each rank would update by its own gradients), end "
          "its scope before");
  detail::FitRanks ranks(model.reducer());
  run.is_main = ranks.is_main();
  run.epochs = options.epochs;
  run.steps = batches.size();
  if constexpr (requires { loader.options().batch_size; })
    run.batch_size = loader.options().batch_size;
  run.has_validation = (detail::Validates<std::remove_reference_t<Parts>, R, Loss> || ...);
  constexpr bool may_stop = (detail::MayStop<std::remove_reference_t<Parts>, R> || ...);

  const auto each = [&]([[maybe_unused]] auto f) {
    (f(parts), ...);
  };
  each([&]<class Part>(Part& part) {
    if constexpr (detail::Counts<Part, Model> && detail::TellsAccuracy<Part>)
      if (!std::exchange(run.has_accuracy, true))
        run.count_accuracy = [&part] {
          return part.result().accuracy();
        };
  });
  std::vector<std::pair<std::string, double>> measures;  // without values
  for (const char* prefix : {"", "val_"})
    if (*prefix == 0 || run.has_validation)
      each([&]<class Part>(Part& part) {
        if constexpr (detail::Measures<Part>) detail::add_measure(measures, prefix + part.name());
      });
  const auto record = [&]([[maybe_unused]] std::size_t first) {
    each([&]<class Part>(Part& part) {
      if constexpr (detail::Measures<Part>) run.current.measures[first++].second = part.value();
    });
  };
  // What was measured on the samples of this rank becomes what was measured on those of all.
  const auto join_ranks = [&] {
    if (!ranks) return;
    run.running_loss.all_reduce(*ranks);
    each([&]<class Part>(Part& part) {
      if constexpr (detail::Counts<Part, Model>) {
        if constexpr (requires { part.all_reduce(*ranks); })
          part.all_reduce(*ranks);
        else
          throw_error(
              Error("gpunet::train::fit: a metric of a program cannot be added up over several "
                    "processes, give it void "
                    "all_reduce(auto& comm)"));
      }
    });
  };
  // The file has the sums over all ranks, which then count as those of rank 0.
  const auto leave_to_main = [&] {
    if (run.is_main) return;
    run.running_loss.reset();
    each([&]<class Part>(Part& part) {
      if constexpr (detail::Counts<Part, Model>) part.reset();
    });
  };
  detail::FitStep<R, Model, Loss, Optimizer, std::remove_reference_t<Parts>...> step(
      run, criterion, {options.accumulate, options.scaler}, parts...);
  if (ranks) {
    detail::RankLines lines;
    lines.add("epochs", options.epochs);
    lines.add("max_steps", options.max_steps);
    lines.add("accumulate", options.accumulate);
    lines.add("resume", options.resume.empty() ? "none" : options.resume);
    lines.add("save_every", options.save_every);
    lines.add("batches in an epoch", run.steps);
    lines.add("batch_size", run.batch_size);
    lines.add("parts", sizeof...(Parts));
    lines.add("parts that may stop it in a step", may_stop ? "some" : "none");
    lines.add("validation", run.has_validation ? "yes" : "no");
    lines.add("measures", measures.empty() ? "none"
                                           : gpunet::detail::short_list(
                                                 measures, [](const auto& m) { return m.first; }));
    lines.add("scaler", options.scaler ? "yes" : "no");
    if (options.scaler) lines.add_numbers("scaler", *options.scaler);
    lines.add_numbers("optimizer", optimizer);
    index_t part = 0, of_parts = 0;
    if constexpr (requires { loader.options().sampler; })
      if (const auto& sampler = loader.options().sampler) {
        lines.add("sampler", sampler->description());
        part = sampler->part();
        of_parts = sampler->replicas();
      }
    ranks.require_same(lines, part, of_parts);
  }
  const detail::Exit<std::remove_reference_t<Parts>...> exit(parts...);
  const detail::KeepMode keep(model);
  run.current.measures = measures;

  each([&]<class Part>(Part& part) {
    if constexpr (requires { part.on_fit_begin(run); }) part.on_fit_begin(run);
  });
  run.epoch = 1;
  std::optional<io::Checkpoint> checkpoint;
  const auto save = [&] {
    if (!checkpoint || run.history.end == End::not_finite) return;
    join_ranks();
    if (ranks && step.accumulated() > 0) model.reduce_gradients();
    if (run.is_main) checkpoint->save();
    if (ranks) leave_to_main();
  };
  if (!options.resume.empty()) {
    checkpoint.emplace(options.resume, io::CheckpointOptions{.keep_last = options.keep_last});
    checkpoint->add("model", model)
        .add("optimizer", optimizer)
        .add("step", step)
        .add("training", run);
    if constexpr (Stateful<std::remove_reference_t<decltype(batches)>>)
      checkpoint->add("loader", batches);
    else
      throw_error(
          Error("gpunet::train::fit: .resume with batches of your own (their place in the epoch is "
                "unknown), give a "
                "data::DataLoader or add void visit_state(StateVisitor&) to them"));
    if (options.scaler) checkpoint->add("scaler", *options.scaler);
    if (options.generator.is_given()) checkpoint->add("generator", *options.generator);
    each([&, number = index_t{0}]<class Part>(Part& part) mutable {
      if constexpr (Stateful<Part>) checkpoint->add(concat("part.", number++), part);
    });
    const bool is_there = checkpoint->load();
    if (ranks) {
      ranks.require_found(is_there, options.resume);
      leave_to_main();
    }
    if (!is_there) save();  // also shows early that the file can be written
  }

  ranks.agree_to_stop(run);
  bool done = run.stopped() || (options.max_steps > 0 && run.total_steps >= options.max_steps);
  // Once more after the last step if that did not end its epoch.
  while (run.epoch <= run.epochs && (!done || run.current.number == run.epoch)) {
    if (run.current.number != run.epoch) {
      run.current = {.number = run.epoch};
      run.current.measures = measures;
      run.step = 0;
      run.trained = false;
      run.running_loss.reset();
      each([&]<class Part>(Part& part) {
        if constexpr (detail::Counts<Part, Model>) part.reset();
        if constexpr (requires { part.on_epoch_begin(run); }) part.on_epoch_begin(run);
      });
      ranks.agree_to_stop(run);
    }
    const double begin = detail::steady_seconds() - run.current.seconds;
    const auto save_now = [&] {
      run.current.seconds = detail::steady_seconds() - begin;
      save();
    };
    model.train();
    if constexpr (requires { batches.set_epoch(run.epoch); }) batches.set_epoch(run.epoch - 1);
    if (!done && !run.trained)
      for (auto [batch_inputs, batch_targets] : batches) {
        const auto [inputs, labels] = detail::batch_for<Loss>(model, batch_inputs, batch_targets);
        static_assert(std::is_convertible_v<decltype(labels), View<const Target, D>>,
                      "gpunet::train::fit: the loss has targets of another type than the loader's "
                      "(classes are label_t, "
                      "others float), use a loss with its target_type, or a dataset with targets "
                      "of the loss");
        done = run.total_steps + 1 == options.max_steps;
        run.running_loss.update(step(inputs, labels, batch_targets, run.step + 1 == run.steps),
                                inputs.size(0));
        run.current.steps = ++run.step;
        run.current.lr = optimizer.lr();
        ++run.total_steps;
        each([&]<class Part>(Part& part) {
          if constexpr (requires { part.on_step_end(run); }) part.on_step_end(run);
        });
        if constexpr (may_stop) ranks.agree_to_stop(run);
        done = done || run.stopped();
        if (done || (options.save_every > 0 && run.total_steps % options.save_every == 0))
          save_now();
        if (done) break;
      }
    if (!run.trained) {
      step.update();
      if (ranks) ranks->verify_parameters();
      join_ranks();
      run.current.loss = run.loss();
      run.current.accuracy = run.accuracy();
      record(0);
    }
    run.trained = run.step == run.steps && !run.stopped();
    if (run.trained && run.has_validation) {
      std::optional<Generator> before;
      if (checkpoint) before = *options.generator;
      if (ranks) ranks->sync_buffers();
      each([&]<class Part>(Part& part) {
        if constexpr (detail::Validates<Part, R, Loss>) {
          each([]<class Other>(Other& other) {
            if constexpr (detail::Measures<Other>) other.reset();
          });
          part.validate(run, criterion, [&](const auto& outputs, const auto& targets) {
            each([&]<class Other>(Other& other) {
              if constexpr (detail::Measures<Other>)
                detail::update_metric(other, criterion, outputs, targets);
              if constexpr (requires { other.on_validation_step_end(run); })
                other.on_validation_step_end(run);
            });
            return !run.stopped();
          });
        }
      });
      ranks.agree_to_stop(run);
      // Measured on a part of it only; a training that goes on validates again.
      if (run.stopped()) {
        run.current.val_loss = run.current.val_accuracy = Epoch::unknown;
        if (checkpoint) *options.generator = *before;
        save_now();
      } else {
        join_ranks();
        record(measures.size() / 2);
      }
    }
    run.current.seconds = detail::steady_seconds() - begin;
    run.history.epochs.push_back(run.current);
    run.history.steps = run.total_steps;
    const bool complete = run.trained && !run.stopped();
    if (complete)
      each([&]<class Part>(Part& part) {
        if constexpr (requires { part.on_epoch_end(run); })
          part.on_epoch_end(run);
        else if constexpr (std::is_invocable_v<Part&, R&>)
          part(run);
      });
    ranks.agree_to_stop(run);
    ++run.epoch;
    if (complete) save();
    done = done || run.stopped();
  }
  if (!run.stopped()) {
    const index_t bad = run.first_not_finite();
    const std::string why = ranks.why_of_all(bad >= 0 ? detail::not_finite(bad, run.steps) : "");
    if (run.history.why.empty()) run.history.why = why;
  }
  each([&]<class Part>(Part& part) {
    if constexpr (requires { part.on_fit_end(run); }) part.on_fit_end(run);
  });
  return std::move(run.history);
}

template <class Net, class D, class T, class Loss, class Optimizer, class Loader, class... Parts>
History fit(Model<Net, D, T>& model, const Loss& criterion, Optimizer& optimizer, Loader&& loader,
            const FitOptions& options, Parts&&... parts) {
  nn::detail::check_loss_shape<Loss>(typename Model<Net, D, T>::OutputShape{});
  return fit(static_cast<Network<D, T>&>(model), criterion, optimizer, loader, options,
             std::forward<Parts>(parts)...);
}

template <class Model, class Loss, class Optimizer, class Loader>
History fit(Model& model, const Loss& criterion, Optimizer& optimizer, Loader&& loader) {
  return fit(model, criterion, optimizer, loader, FitOptions{});
}

}  // namespace gpunet::train
