// The loss over many steps.
#pragma once

#include <string>

#include <gpunet/core/error.hpp>
#include <gpunet/model/output.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet::train {

// What RunningLoss keeps on the device.
struct LossSum {
  double sum = 0;           // of weighted losses since the last reset
  double weight = 0;        // of all of these
  index_t all_steps = 0;    // since the beginning
  index_t not_finite = -1;  // the first of all steps whose loss was NaN or infinite, from 0
};

// sum += weight * loss. One index, 0.
template <class T>
struct AddLoss {
  static constexpr bool one_copy = true;
  const T* loss;
  double weight;
  LossSum* state;
  GPUNET_FN void operator()(index_t) const {
    const double value = static_cast<double>(*loss);
    state->sum += weight * value;
    if (!(value - value == 0.0) && state->not_finite < 0) state->not_finite = state->all_steps;
    state->weight += weight;
    ++state->all_steps;
  }
};

// Begins a new sum, and goes on counting steps. One index, 0.
struct ResetLoss {
  static constexpr bool one_copy = true;
  LossSum* state;
  GPUNET_FN void operator()(index_t) const {
    state->sum = 0;
    state->weight = 0;
  }
};

namespace detail {

// The message about loss `bad` of all steps, where an epoch has `steps`.
std::string not_finite(index_t bad, index_t steps);

}  // namespace detail

// The mean of the losses since the last reset, added up on the device: running += loss waits for nothing, and gives every
// step the same weight, as PyTorch's lessons do; running.update(loss, samples) makes it the mean over samples, which
// differs where the last batch is a short one.
template <class D>
class RunningLoss {
 public:
  explicit RunningLoss(D& device) : device_(device), state_(device, 1) {
    const LossSum nothing;
    device.upload(state_.data(), &nothing, sizeof nothing);
  }

  // Counts a loss once, or as often as there are samples. Waits for nothing.
  template <class T>
  void operator+=(const LossValue<D, T>& loss) {
    update(loss, 1);
  }
  template <class T>
  void update(const LossValue<D, T>& loss, index_t samples) {
    require(&loss.device() == &device_,
            "gpunet::train::RunningLoss: the loss is on another device object, use the model's");
    loss.read("update", [&](const T* value) {
      for_each(device_, 1, AddLoss<T>{value, static_cast<double>(samples), state_.data()});
    });
  }

  // The mean since the last reset, NaN if there was no step; waits for the device.
  double item() const {
    const LossSum state = read();
    return state.sum / state.weight;
  }
  // Which of all steps, counted from 0, first had a loss that was NaN or infinite; -1 if none. Waits for the
  // device.
  index_t first_not_finite() const { return read().not_finite; }

  // Throws Error if the loss of a step was NaN or infinite; an epoch has so many steps. Waits for the device.
  void require_finite(index_t steps) const {
    if (const index_t bad = first_not_finite(); bad >= 0)
      throw Error("gpunet::train::RunningLoss: " + detail::not_finite(bad, steps));
  }

  // Starts a new mean. Steps go on being counted.
  void reset() { for_each(device_, 1, ResetLoss{state_.data()}); }

 private:
  LossSum read() const {
    LossSum state;
    device_.download(&state, state_.data(), sizeof state);
    return state;
  }
  D& device_;
  Buffer<LossSum, D> state_;
};

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/running_loss.ipp>
#endif
