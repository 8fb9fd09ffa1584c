// The base of optimizers.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <type_traits>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/refused.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/model/network_access.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/optim/param_groups.hpp>
#include <gpunet/optim/update.hpp>
#include <gpunet/tensor/buffer.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet::optim {

// The numbers of a step of a group of parameters.
struct GroupStep {
  double lr, momentum, weight_decay;
  double number;    // from 1: counts the steps of these parameters for which arrays were stored
  double& product;  // 1 before the first step, and then the product so far
};

// The base of an optimizer `Self`. It updates the parameters of a Network, which must outlive it
// (both may be moved). Parameters without a gradient are skipped as in PyTorch. It stores up to N
// arrays with one number per parameter. `Self` has
//   // Returns which of the arrays it needs.
//   std::array<bool, N> keeps(double momentum) const;
//   // Returns update<Step>(numbers...), the Update of a step.
//   auto next(const GroupStep& step) const;
//   // Visits the options other than rates, by their names in PyTorch.
//   void visit_options(const OptionVisitor& visit) const;
// and `state_names`, the names of the arrays in PyTorch's state dict.
template <class Self, class D, class T, std::size_t N>
class Optimizer : public ParamGroups {
 public:
  // The class that makes the updates: Adam for AdamW too. A train::Step is compiled once for each.
  using updating_type = Self;

  void zero_grad() { model_->zero_grad(); }
  // Returns the network whose parameters it updates.
  const Network<D, T>& model() const { return *model_; }
  Network<D, T>& model() { return *model_; }
  // Returns the parameters that it updates, of all groups.
  Parameters<D, T> parameters() { return {*model_, this->indices()}; }

  // Updates the parameters by their gradients. Does nothing without gradients (no backward pass
  // since zero_grad()).
  void step() {
    const auto use = model_->exclusive_use();
    if (!model_->gradients().zeroed()) update_parameters();
  }
  // The same for a caller that has exclusive_use() and has computed gradients.
  void update_parameters();

  // Gives parameters a group of their own, with its rates:
  // optimizer.add_param_group(net.parameters("*.bias"), {.weight_decay = 0}).
  // Throws Error for parameters of another network, or that are in such a group already.
  void add_param_group(const Parameters<D, T>& parameters, const ParamGroupOptions& options) {
    require(&parameters.network() == &*model_, "gpunet::optim::", name_,
            "::add_param_group: the parameters are those of another model (the optimizer does not "
            "update it), take them from the optimizer's");
    add_group(model_->graph(), parameters.indices(), options);
  }

  // Writes or reads rates, and the arrays and progress of each parameter, under the names of
  // PyTorch's state dict, for a checkpoint.
  void visit_state(StateVisitor& state);

  // Returns the number of arrays that the next update works on.
  int arrays() const {
    int count = 2;
    for (bool keeps : self().keeps(this->momentum()))
      count += keeps;
    return count;
  }

  // Returns the segments that a step updates. Allocates their arrays first: out of memory, no
  // segment is updated.
  std::vector<Segment>& segments() {
    std::vector<Segment>& all = segments_of(model_->graph(), model_->plan(),
                                            gpunet::detail::NetworkAccess::plan_number(*model_));
    for (const Segment& segment : all)
      kept_of(segment);
    return all;
  }
  // Returns whether one update does a step of all parameters.
  bool is_whole() {
    const std::vector<Segment>& all = segments();
    return all.size() == 1 && all[0].ranges.size() == 1 &&
           all[0].ranges[0].size() == model_->parameters().numel();
  }
  // Returns the next update of a segment, for every parameter of its ranges.
  auto next_of(Segment& segment);

 protected:
  // No momentum: an optimizer without.
  Optimizer(Network<D, T>& model, const char* name, double lr, std::optional<double> momentum,
            double weight_decay)
      : ParamGroups(name, lr, momentum, weight_decay, model.named_parameters().size()),
        model_(model) {}
  Optimizer(Optimizer&&) = default;
  ~Optimizer() = default;

  // Returns an update whose arrays next_of() sets; stored arrays are initially zero. `numbers` are
  // the remaining members of `Step`.
  template <class Step, class... Numbers>
  static Step update(Numbers... numbers) {
    return {{}, static_cast<T>(numbers)...};
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }

  T* kept(std::size_t i) {
    const index_t size = model_->gradients().size();
    if (kept_[i].size() < size) {
      kept_[i].reset(model_->device(), size);
      fill(model_->device(), size, T{}, kept_[i].data());
    }
    return kept_[i].data();
  }

  // Returns the arrays that the update of a segment works on; null for arrays that it does not
  // need.
  std::array<T*, N> kept_of(const Segment& segment) {
    const std::array<bool, N> keeps = self().keeps(this->group(segment.group).momentum());
    std::array<T*, N> arrays{};
    for (std::size_t i = 0; i < N; ++i)
      if (keeps[i]) arrays[i] = kept(i);
    return arrays;
  }

  TrackedPointer<Network<D, T>> model_;
  Buffer<T, D> kept_[N];
};

template <class Self, class D, class T, std::size_t N>
auto Optimizer<Self, D, T, N>::next_of(Segment& segment) {
  const Rates& rates = this->group(segment.group);
  const std::array<T*, N> arrays = kept_of(segment);  // first: allocating may fail
  Progress& progress = segment.progress;
  if (std::any_of(arrays.begin(), arrays.end(), [](const T* array) { return array != nullptr; }))
    ++progress.steps;
  auto step = self().next(GroupStep{rates.lr(), rates.momentum(), rates.weight_decay(),
                                    static_cast<double>(progress.steps), progress.product});
  step.gradient = model_->gradients().data();
  step.parameter = model_->parameters().data();
  for (std::size_t i = 0; i < N; ++i)
    if (arrays[i]) step.kept[i] = arrays[i];
  return step;
}

template <class Self, class D, class T, std::size_t N>
void Optimizer<Self, D, T, N>::visit_state(StateVisitor& state) {
  const auto use = model_->exclusive_use();
  this->visit_rates(state);
  this->visit_groups(state);
  for (index_t i = 0; i < this->groups(); ++i)
    self().visit_options({state, i});
  const std::vector<ParameterInfo>& parameters = model_->named_parameters();
  std::vector<Progress> progress(parameters.size());
  index_t number = 0;
  for (const int i : this->in_order()) {
    const ParameterInfo& info = parameters[static_cast<std::size_t>(i)];
    Progress& of = progress[static_cast<std::size_t>(i)];
    of = this->progress(i);
    const std::string name = concat("state.", number++, ".");
    if (state.has(name + "step", of.steps > 0)) {
      state.count(name + "step", of.steps);
      state.value(name + "mu_product", of.product);
    } else if (state.is_reading()) {
      of = {};
    }
    for (std::size_t k = 0; k < N; ++k) {
      const std::string array = name + Self::state_names[k];
      if (state.has(array, of.steps > 0 && kept_[k].size() > 0))
        state.array(array, info.sizes, model_->device(), kept(k) + info.offset);
      else if (state.is_reading() && kept_[k].size() > 0)
        fill(model_->device(), info.sizes.numel(), T{}, kept(k) + info.offset);
    }
  }
  if (state.is_reading()) this->set_progress(progress);
}

// Gives the compiler one clear error for an optimizer of a View, as in PyTorch's
// SGD(net.parameters(), ...).
template <class Parameters, class Options>
struct OptimizerOfParameters {
  explicit OptimizerOfParameters(const Parameters&, const Options& = {}) {
    static_assert(
        std::is_void_v<Parameters>,
        "gpunet::optim: an optimizer takes the model, or parameters that a pattern names, write "
        "optim::SGD optimizer(net, {.lr = 0.1}), or net.parameters(pattern) for net");
  }
  void zero_grad() {}
  void step() {}
};
// The same for an optimizer of a model and numbers, as SGD(net, 0.1).
template <class Net>
struct OptimizerOfNumbers {
  template <class... Numbers>
  explicit OptimizerOfNumbers(Net&, Numbers...) {
    static_assert(sizeof...(Numbers) == 0,
                  "gpunet::optim: the options of an optimizer are given by name, write optim::SGD "
                  "optimizer(net, {.lr = 0.1, .momentum = 0.9})");
  }
  void zero_grad() {}
  void step() {}
};

// The optimizers whose updates and steps the compiled library holds: OF(name, arrays of state) for
// each.
#define GPUNET_EACH_OPTIMIZER(OF) \
  OF(SGD, 1)                      \
  OF(Adam, 3)                     \
  OF(RMSprop, 3)                  \
  OF(NAdam, 2)                    \
  OF(RAdam, 2)                    \
  OF(Adagrad, 1)                  \
  OF(Adadelta, 2)                 \
  OF(Lion, 1)
#define GPUNET_UPDATE(D, T, Name, states) \
  void Optimizer<Name<D, T>, D, T, states>::update_parameters()
#define GPUNET_EXTERN_UPDATE(Name, states) \
  template <class D, class T>              \
  class Name;                              \
  GPUNET_EXTERN_TEMPLATES(GPUNET_UPDATE, Name, states)
#define GPUNET_COMPILE_UPDATE(...) GPUNET_COMPILE_TEMPLATES(GPUNET_UPDATE, __VA_ARGS__)
GPUNET_EACH_OPTIMIZER(GPUNET_EXTERN_UPDATE)

}  // namespace gpunet::optim

// Refuses such arguments of the optimizer `Name`, in namespace gpunet::optim.
#define GPUNET_REFUSED_OPTIMIZERS(Name)                                                    \
  template <class T, class D>                                                              \
  class Name<View<T, D>, void> : public OptimizerOfParameters<View<T, D>, Name##Options> { \
   public:                                                                                 \
    using OptimizerOfParameters<View<T, D>, Name##Options>::OptimizerOfParameters;         \
  };                                                                                       \
  template <class T, class D>                                                              \
  Name(View<T, D>, Name##Options = {}) -> Name<View<T, D>, void>;                          \
  template <class D, class T>                                                              \
  class Name<Network<D, T>, void> : public OptimizerOfNumbers<Network<D, T>> {             \
   public:                                                                                 \
    using OptimizerOfNumbers<Network<D, T>>::OptimizerOfNumbers;                           \
  };                                                                                       \
  template <class D, class T, class... Numbers>                                            \
  requires(sizeof...(Numbers) > 0 && (std::is_arithmetic_v<Numbers> && ...))               \
      Name(Network<D, T>&, Numbers...)                                                     \
  ->Name<Network<D, T>, void>;                                                             \
  template <gpunet::detail::Wrong D>                                                       \
  class Name<D, void> : public gpunet::detail::AnyArguments {                              \
    static_assert(gpunet::detail::never<D>,                                                \
                  "gpunet::optim::" #Name                                                  \
                  ": the arguments are a model, or net.parameters(pattern), and options "  \
                  "with the names of " #Name "Options, write optim::" #Name                \
                  " optimizer(net, {.lr = 0.1})");                                         \
                                                                                           \
   public:                                                                                 \
    using AnyArguments::AnyArguments;                                                      \
  };                                                                                       \
  Name(...)->Name<gpunet::detail::WrongArguments, void>;

#if !GPUNET_COMPILED
#include <gpunet/optim/optimizer.ipp>
#endif
