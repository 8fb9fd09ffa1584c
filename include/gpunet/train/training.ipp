// Bodies of training.hpp.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include <gpunet/train/measure.hpp>
#include <gpunet/train/training.hpp>

namespace gpunet::train {

GPUNET_INLINE const char* name_of(Metric metric) {
  constexpr const char* names[] = {"loss", "accuracy", "val_loss", "val_accuracy"};
  return names[static_cast<int>(metric)];
}

GPUNET_INLINE double Epoch::operator[](Metric metric) const {
  const double values[] = {loss, accuracy, val_loss, val_accuracy};
  return values[static_cast<int>(metric)];
}

GPUNET_INLINE double Epoch::operator[](std::string_view name) const {
  std::string names;
  for (const Metric metric : detail::each_metric) {
    if (name == name_of(metric)) return (*this)[metric];
    names += concat(names.empty() ? "" : ", ", name_of(metric));
  }
  for (const auto& [measure, value] : measures) {
    if (name == measure) return value;
    names += ", " + measure;
  }
  throw_error(Error(concat("gpunet::train::Epoch: nothing is called ", name, " (want one of ",
                           names, "), give fit a train::Measure with the name")));
}

GPUNET_INLINE void detail::check_measure(std::string_view name) {
  constexpr std::string_view where = "gpunet::train::Measure: ";
  require(!name.empty(), where, "the name is empty (by which the history has it), give one");
  for (const Metric metric : each_metric)
    require(name != name_of(metric), where, name, " is measured by fit itself, give another name");
  require(name.substr(0, 4) != "val_", where, "the name ", name,
          " begins with val_ (as the names of what a Validation measures), give another name");
}

GPUNET_INLINE void detail::add_measure(std::vector<std::pair<std::string, double>>& measures,
                                       const std::string& name) {
  for (const auto& [other, value] : measures)
    require(other != name, "gpunet::train::fit: two measures are called ", name,
            " (the history has one number of a name), rename one");
  measures.emplace_back(name, Epoch::unknown);
}

GPUNET_INLINE Training::~Training() = default;

GPUNET_INLINE void Training::stop(End end, std::string why) {
  if (stopped()) return;
  history.end = end;
  history.why = std::move(why);
}

namespace detail {

// Calls f with the numbers of an epoch but its number and steps.
template <class Epoch, class F>
void each_value(Epoch& epoch, F f) {
  for (auto* x : {&epoch.loss, &epoch.accuracy, &epoch.val_loss, &epoch.val_accuracy, &epoch.lr,
                  &epoch.seconds})
    f(*x);
  for (auto& [name, value] : epoch.measures)
    f(value);
}

// Writes or reads epochs with the measures of `like`, as one array.
inline void visit_epochs(StateVisitor& state, const std::string& name, std::vector<Epoch>& epochs,
                         const Epoch& like) {
  const index_t rows = state.number(name + ".size", static_cast<index_t>(epochs.size())),
                columns = 8 + static_cast<index_t>(like.measures.size());
  std::vector<double> values;
  if (state.is_writing())
    for (const Epoch& epoch : epochs) {
      values.push_back(static_cast<double>(epoch.number));
      values.push_back(static_cast<double>(epoch.steps));
      each_value(epoch, [&](double x) { values.push_back(x); });
    }
  if (state.is_reading()) values.resize(static_cast<std::size_t>(rows * columns));
  if (rows != 0) state.array(name, {rows, columns}, std::span(values));
  if (!state.is_reading()) return;
  epochs.assign(static_cast<std::size_t>(rows), like);
  const double* next = values.data();
  for (Epoch& epoch : epochs) {
    epoch.number = static_cast<index_t>(*next++);
    epoch.steps = static_cast<index_t>(*next++);
    each_value(epoch, [&](double& x) { x = *next++; });
  }
}

}  // namespace detail

GPUNET_INLINE void Training::visit_state(StateVisitor& state) {
  const index_t of_loader = state.number("steps", steps);
  require(of_loader == steps, "gpunet::train::fit: the checkpoint is of a loader with ", of_loader,
          " batches, this one has ", steps,
          " (the order of the samples would be another), use the same data and batch size");
  state.count("epoch", epoch);
  state.count("step", step);
  state.count("total_steps", total_steps);
  state.value("trained", trained);
  std::vector<Epoch> one{current};
  detail::visit_epochs(state, "current", one, current);
  std::vector<Epoch> before = history.epochs;
  detail::visit_epochs(state, "history", before, current);
  const index_t end = state.number("end", static_cast<index_t>(history.end));
  require(end >= 0 && end <= static_cast<index_t>(End::stopped),
          "gpunet::train::fit: the checkpoint has the end ", end, " (want 0 to ",
          static_cast<index_t>(End::stopped), "), read it with the gpunet that wrote it");
  std::string why = history.why;
  state.bytes("why", why);
  if (!state.is_reading()) return;
  current = std::move(one.front());
  history = {.epochs = std::move(before), .steps = total_steps, .why = {}};
  if (static_cast<End>(end) != End::no_improvement) return;
  history.end = End::no_improvement;
  history.why = std::move(why);
}

GPUNET_INLINE std::string Training::monitored(const std::optional<Monitor>& wish) const {
  const std::string name =
      wish ? wish->name : name_of(has_validation ? Metric::val_loss : Metric::loss);
  require(has_validation || name.substr(0, 4) != "val_", "gpunet::train::fit: ", name,
          " is monitored but not measured, give fit a train::Validation(loader)");
  require(has_accuracy || name != name_of(Metric::accuracy),
          "gpunet::train::fit: accuracy is monitored but not measured, give fit a train::Accuracy");
  (void)current[name];
  return name;
}

GPUNET_INLINE double Training::value_of(const std::optional<Monitor>& wish) const {
  const std::string name = monitored(wish);
  const double value = current[name];
  require(name != name_of(Metric::val_accuracy) || !std::isnan(value), "gpunet::train::fit: ", name,
          " is monitored and is NaN (a Validation measures it where targets are labels that are "
          "not all ignored), monitor val_loss");
  return value;
}

GPUNET_INLINE void Training::note_best(const std::optional<Monitor>& wish,
                                       std::optional<double> value, const std::string& weights,
                                       const void* part) {
  if (!value) return;
  BestEpoch best{.monitor = monitored(wish), .value = *value, .weights = weights, .part = part};
  std::erase_if(history.best, [&](const BestEpoch& old) {
    const bool is_same = old.part == part && old.monitor == best.monitor && old.weights == weights;
    if (is_same && old.value == *value) best.number = old.number;
    return is_same;
  });
  for (const Epoch& one : history.epochs)
    if (best.number == 0 && one[best.monitor] == *value) best.number = one.number;
  // The history has not what a part has changed.
  if (best.number == 0 && current[best.monitor] == *value) best.number = current.number;
  if (best.number > 0) history.best.push_back(std::move(best));
}

}  // namespace gpunet::train
