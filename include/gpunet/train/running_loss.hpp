// The mean loss over many steps.
#pragma once

#include <string>

#include <gpunet/core/error.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/model/output.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet::train {

// The state of RunningLoss, on the device.
struct LossSum {
  double sum = 0;           // of weight * mean loss since the last reset
  double weight = 0;        // sum of the weights
  index_t all_steps = 0;    // since the construction
  index_t not_finite = -1;  // index of the first step whose loss was NaN or infinite, or -1
  index_t ignored = 0;      // labels that were left out, as of the last step that told
};

// Adds a loss: a sum, or a mean over samples, or over the labels that were not left out.
// One index, 0.
template <class T>
struct AddLoss {
  static constexpr bool one_copy = true;
  const T* loss;
  bool is_sum;
  double samples;
  const index_t* ignored;  // number of labels left out so far; may be null
  LossSum* state;
  GPUNET_FN void operator()(index_t) const {
    const double value = static_cast<double>(*loss);
    double weight = samples;
    if (ignored) {
      weight -= static_cast<double>(*ignored - state->ignored);
      state->ignored = *ignored;
    }
    if (weight > 0) {
      state->sum += is_sum ? value : weight * value;
      if (!(value - value == 0.0) && state->not_finite < 0) state->not_finite = state->all_steps;
      state->weight += weight;
    }
    ++state->all_steps;
  }
};

// Sets the sum to 0; steps are still counted. One index, 0.
struct ResetLoss {
  static constexpr bool one_copy = true;
  LossSum* state;
  GPUNET_FN void operator()(index_t) const {
    state->sum = 0;
    state->weight = 0;
  }
};

namespace detail {

// Returns the message about the loss of step `bad` (counted over all epochs), if an epoch has
// `steps`.
std::string not_finite(index_t bad, index_t steps);

}  // namespace detail

// The mean of the losses since the last reset, summed on the device without waiting for it.
// `running += loss` gives every step the same weight, as PyTorch's tutorials do;
// running.update(loss, samples) gives the mean over samples, which differs if the last batch is
// smaller.
template <class D>
class RunningLoss {
 public:
  explicit RunningLoss(D& device) : device_(device), state_(device, 1) {
    const LossSum nothing;
    device.upload(state_.data(), &nothing, sizeof nothing);
  }

  // Adds the loss of a step with weight 1, or with the number of samples as weight, or of labels
  // that it does not ignore. *ignored is the number of ignored labels in all steps so far, on the
  // device, by one counter that is never reset: a batch without other labels, whose mean is NaN,
  // adds nothing.
  template <class T>
  void operator+=(const LossValue<D, T>& loss) {
    update(loss, 1);
  }
  template <class T>
  void update(const LossValue<D, T>& loss, index_t samples, const index_t* ignored = nullptr) {
    require(samples >= 1, "gpunet::train::RunningLoss: a loss of ", samples,
            " samples (want 1 or more), give the size of its batch");
    require(&loss.device() == &device_,
            "gpunet::train::RunningLoss: the loss is on another device object, use the model's");
    loss.read("update", [&](const T* value) {
      for_each(
          device_, 1,
          AddLoss<T>{value, loss.is_sum(), static_cast<double>(samples), ignored, state_.data()});
    });
  }

  // Returns the mean since the last reset, NaN if there was no step. Waits for the device.
  double item() const {
    const LossSum state = read();
    return state.sum / state.weight;
  }
  // Returns the sum of the weights since the last reset. Waits for the device.
  double weight() const { return read().weight; }
  // Returns the index of the first step whose loss was NaN or infinite, counted over all epochs
  // from 0; -1 if none. Waits for the device.
  index_t first_not_finite() const { return read().not_finite; }

  // Throws Error if the loss of a step was NaN or infinite. `steps`: of an epoch, for the message.
  // Waits for the device.
  void require_finite(index_t steps) const {
    if (const index_t bad = first_not_finite(); bad >= 0)
      throw_error(Error("gpunet::train::RunningLoss: " + detail::not_finite(bad, steps)));
  }

  // Writes or reads the sums, for a checkpoint.
  void visit_state(StateVisitor& state) {
    LossSum sums = read();
    state.value("sum", sums.sum);
    state.value("weight", sums.weight);
    state.count("all_steps", sums.all_steps);
    state.value("not_finite", sums.not_finite);
    if (state.is_reading()) device_.upload(state_.data(), &sums, sizeof sums);
  }

  // Makes it the mean of the losses of all ranks of a distributed::Communicator, on all of them;
  // reset() before the next step.
  template <class Communicator>
  void all_reduce(Communicator& comm) {
    LossSum sums = read();
    double of_all[] = {sums.sum, sums.weight};
    comm.sum(of_all);
    sums.sum = of_all[0];
    sums.weight = of_all[1];
    device_.upload(state_.data(), &sums, sizeof sums);
  }

  // Starts a new mean. Steps are still counted.
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

GPUNET_EXTERN_LOOP(gpunet::train::AddLoss<float>);
GPUNET_EXTERN_LOOP(gpunet::train::AddLoss<double>);
GPUNET_EXTERN_LOOP(gpunet::train::ResetLoss);

#if !GPUNET_COMPILED
#include <gpunet/train/running_loss.ipp>
#endif
