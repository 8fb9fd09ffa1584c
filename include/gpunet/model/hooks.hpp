// Functions that see the outputs of layers, and their gradients, in the passes of a network.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/graph/run_slice.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet {

template <class D, class T>
class Network;

// The argument of a hook: an output, or the gradient of the loss by it.
enum class Hooked { output, gradient };

// A function that a network calls: net.register_forward_hook("conv1", f). It may go; the function
// stays until remove().
template <class D, class T>
class Hook {
 public:
  Hook(Network<D, T>& network, std::uint64_t number) : network_(network), number_(number) {}

  // The function is called no more.
  void remove() const { network_->remove_hook(number_); }

 private:
  TrackedPointer<Network<D, T>> network_;
  std::uint64_t number_;
};

namespace detail {

// Returns the value that a layer, or the last layer of a part, computes. Throws Error if there is
// none, or if nothing reads it.
value_t output_of_layer(const Graph& graph, std::string_view name);

// The hooks of a network.
template <class D, class T>
class Hooks {
 public:
  using Function = std::function<void(const Tensor<T, D>&)>;

  // Returns the number of the new hook.
  std::uint64_t add(value_t value, Hooked hooked, Function f) {
    has_changed_ = true;
    hooks_.push_back(std::make_unique<Entry>(Entry{++numbers_, value, hooked, std::move(f), {}}));
    return numbers_;
  }
  void remove(std::uint64_t number) {
    for (const auto& hook : hooks_)
      if (hook->number == number) hook->is_removed = has_changed_ = true;
  }
  bool empty() const { return hooks_.empty(); }

  // Returns whether hooks have come or gone since note_plan(), and drops hooks that have gone.
  bool has_changed() {
    std::erase_if(hooks_, [](const auto& hook) { return hook->is_removed; });
    return has_changed_;
  }
  // Notes that the network is planned for these hooks.
  void note_plan() { has_changed_ = false; }
  // Returns the values that are watched.
  std::vector<value_t> values() const {
    std::vector<value_t> all;
    for (const auto& hook : hooks_)
      all.push_back(hook->value);
    return all;
  }

  // Makes room for a batch. Counts arrays that have moved in `moves`, also before an error.
  void reserve(D& device, const Graph& graph, const Plan& plan, index_t batch,
               std::uint64_t& moves) {
    watched_.clear();
    for (const auto& hook : hooks_) {
      const Sizes sizes = graph.values[static_cast<std::size_t>(hook->value)].with_front(batch);
      if (hook->seen.sizes() != sizes || !hook->seen.data()) {
        hook->seen = Tensor<T, D>(device, sizes);
        ++moves;
      }
      const int value = plan.value_of[static_cast<std::size_t>(hook->value)];
      const bool is_output = hook->hooked == Hooked::output;
      const int maker = plan.values[static_cast<std::size_t>(value)].maker;
      hook->is_computed =
          is_output || (maker >= 0 && plan.nodes[static_cast<std::size_t>(maker)].has_backward);
      watched_.push_back({value, is_output ? hook->seen.data() : nullptr,
                          is_output ? nullptr : hook->seen.data()});
    }
  }
  std::span<const WatchedValue<T>> watched() const { return watched_; }

  // Calls the functions that see outputs, or gradients, of the last pass.
  void run(Hooked hooked) {
    for (std::size_t i = 0; i < hooks_.size(); ++i)  // a function may add or remove some
      if (Entry& hook = *hooks_[i]; hook.hooked == hooked && hook.is_computed && !hook.is_removed)
        hook.f(hook.seen);
  }

 private:
  struct Entry {
    std::uint64_t number;
    value_t value;
    Hooked hooked;
    Function f;
    Tensor<T, D> seen;         // of the last pass
    bool is_computed = false;  // whether the last pass has
    bool is_removed = false;
  };
  std::vector<std::unique_ptr<Entry>> hooks_;
  std::vector<WatchedValue<T>> watched_;
  std::uint64_t numbers_ = 0;
  bool has_changed_ = false;
};

}  // namespace detail

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/hooks.ipp>
#endif
