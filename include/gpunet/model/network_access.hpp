// The functions of a network that the library alone calls: parts of a step, and the numbers by
// which recorded steps and optimizers see that it has changed.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <gpunet/model/network.hpp>

namespace gpunet::detail {

struct NetworkAccess {
  // The three parts of Network::forward_backward, for a caller that has exclusive_use() and may
  // record the second one. The first checks the arguments and allocates memory.
  template <class D, class T>
  static void begin_step(Network<D, T>& net, const std::type_identity_t<View<const T, D>>& inputs,
                         const std::type_identity_t<TargetsOf<D, T>>& targets) {
    net.begin_step(inputs, targets);
  }
  // The second starts all work on the device and changes nothing else. The gradients are of
  // loss_gradient times the loss.
  template <class D, class T>
  static void run_step(Network<D, T>& net, const std::type_identity_t<TargetsOf<D, T>>& targets,
                       std::type_identity_t<T> loss_gradient) {
    net.run_step(targets, loss_gradient);
  }
  // Throws the Error of detect_anomaly() unless the loss of run_step() and the gradients are
  // finite.
  template <class D, class T>
  static void check_step(Network<D, T>& net, const std::type_identity_t<View<const T, D>>& inputs,
                         const std::type_identity_t<TargetsOf<D, T>>& targets,
                         std::type_identity_t<T> loss_gradient) {
    net.check_step(inputs, targets, loss_gradient);
  }
  // The results of run_step: the losses of the samples, [batch], and the loss of the batch.
  template <class D, class T>
  static T* sample_losses(const Network<D, T>& net) {
    return net.loss_.of_samples();
  }
  template <class D, class T>
  static T* batch_loss(const Network<D, T>& net) {
    return net.loss_.value();
  }
  // The third part notes that gradients were computed, and calls the hooks.
  template <class D, class T>
  static LossValue<D, T> end_step(Network<D, T>& net) {
    return net.end_step();
  }

  // Returns the addresses of the memory that a step uses beside parameters, inputs and targets.
  template <class D, class T>
  static std::array<const void*, 6> memory_addresses(const Network<D, T>& net) {
    const auto [memory, caches] = net.workspace_.addresses();
    const auto [losses, constants, weight] = net.loss_.addresses();
    return {memory, caches, losses, net.gradients_.data(), constants, weight};
  }
  // Returns a number that changes when the gradients that a backward pass computes change.
  template <class D, class T>
  static std::uint64_t plan_number(const Network<D, T>& net) {
    return net.plan_number_;
  }

  // Writes or reads the number of batches since the last update, of `accumulate` that make one, and
  // the gradients that they have left. Where there are some, throws Error if another number made
  // one.
  template <class D, class T>
  static void visit_gradients(Network<D, T>& net, StateVisitor& state, index_t& batches,
                              index_t accumulate) {
    net.visit_gradients(state, batches, accumulate);
  }
  // Makes the next backward pass add to the gradients, after they were written.
  template <class D, class T>
  static void note_gradients(Network<D, T>& net) {
    net.gradients_.note_backward();
  }
  // Reduces the gradients of passes that have left that out; passes of leaves have not.
  template <class D, class T>
  static void reduce_gradients(Network<D, T>& net) {
    if (net.reducer_ && !net.leaves()) net.reducer_->reduce(net.gradients_.data());
  }
  // Sets the reducer of the gradients of each backward pass over several processes, nullptr for
  // none.
  template <class D, class T>
  static void set_reducer(Network<D, T>& net,
                          std::type_identity_t<GradientReducer<D, T>*> reducer) {
    net.reducer_ = reducer;
    ++net.reducer_number_;
  }
  // Changes with each new reducer, and without one: recorded steps contain its work.
  template <class D, class T>
  static std::uint64_t reducer_number(const Network<D, T>& net) {
    return net.reducer_number_;
  }

  // Sets the seed of random numbers and the number of passes in training mode.
  template <class D, class T>
  static void set_random_state(Network<D, T>& net,
                               const std::pair<std::uint64_t, std::uint64_t>& state) {
    net.random_seed_ = state.first;
    net.training_passes_ = state.second;
  }
};

}  // namespace gpunet::detail
