// Averages of weights during training, as torch.optim.swa_utils: exponential moving averages (EMA)
// and stochastic weight averaging (SWA).
#pragma once

#include <optional>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/model/model.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/optim/lr_scheduler.hpp>
#include <gpunet/optim/one_cycle_lr.hpp>

namespace gpunet::optim::swa_utils {

// How an AveragedModel averages, by torch.lerp. Of torch.optim.swa_utils the functions of the same
// names.
struct MultiAvgFn {
  std::optional<double> decay = std::nullopt;  // none: all updates weigh the same
};
// Returns the exponential moving average: decay times the average + (1 - decay) times the model.
// Throws Error unless decay is 0 to 1.
MultiAvgFn get_ema_multi_avg_fn(double decay = 0.999);
// Returns the mean of all updates.
inline MultiAvgFn get_swa_multi_avg_fn() {
  return {};
}

// Options of AveragedModel.
struct AveragedModelOptions {
  std::optional<MultiAvgFn> multi_avg_fn =
      std::nullopt;  // none: the mean of all updates, average + (x - average) / n
  // Averages the buffers (running statistics) too, instead of copying them.
  bool use_buffers = false;
};

namespace detail {

// Averages parameters, and buffers, of `model` into `average`, which has had `count` updates.
template <class D, class T>
void average_weights(Network<D, T>& average, const Network<D, T>& model,
                     const AveragedModelOptions& options, index_t count);

template <class Net, class D, class T>
Model<Net, D, T> copy_of(const Model<Net, D, T>& model) {
  return model.to(model.device());
}
template <class D, class T>
Network<D, T> copy_of(const Network<D, T>& network) {
  Network<D, T> copy(network.device(), network.graph(), Drawn::no);
  copy.copy_state(network);
  return copy;
}

#define GPUNET_AVERAGE_WEIGHTS(D, T) \
  void average_weights(Network<D, T>&, const Network<D, T>&, const AveragedModelOptions&, index_t)
GPUNET_EXTERN_TEMPLATES(GPUNET_AVERAGE_WEIGHTS)

}  // namespace detail

// A copy of a model whose weights are the average of the model's:
//   AveragedModel ema(net, {.multi_avg_fn = get_ema_multi_avg_fn(0.999), .use_buffers = true});
//   ... optimizer.step();
//   ema.update_parameters(net);  // after every step; in fit: train::EachStep(ema)
//   AveragedModel swa(net);
//   ... swa.update_parameters(net);  // after an epoch; in fit: train::EachEpoch(swa)
//   train::evaluate(ema.module(), criterion, test_loader);
// The first update copies, and so do buffers without use_buffers, and counters
// (num_batches_tracked) always. Bitwise identical to PyTorch's averages on a CPU with AVX2, on
// every device. Nothing waits for the device.
template <class M>
class AveragedModel {
 public:
  // The device has to outlive it, the model has not.
  explicit AveragedModel(const M& model, const AveragedModelOptions& options = {})
      : module_(detail::copy_of(model)), options_(options) {
    (void)get_ema_multi_avg_fn(options.multi_avg_fn.value_or(MultiAvgFn{}).decay.value_or(0));
  }

  // Averages in the model's weights as they are now. Throws Error for a model of another network.
  void update_parameters(const Network<typename M::device_type, typename M::value_type>& model) {
    detail::average_weights(module_, model, options_, n_averaged_);
    ++n_averaged_;
  }
  // Returns the number of updates.
  index_t n_averaged() const { return n_averaged_; }

  // Writes or reads the average, for a checkpoint.
  void visit_state(StateVisitor& state) {
    state.part("module", module_);
    state.count("n_averaged", n_averaged_);
  }

  // Return the model with the average. Its mode is that of the model when it was copied.
  M& module() { return module_; }
  const M& module() const { return module_; }

  // Runs its forward pass.
  template <class... Inputs>
  auto operator()(Inputs&&... inputs) {
    return module_(std::forward<Inputs>(inputs)...);
  }

 private:
  M module_;
  AveragedModelOptions options_;
  index_t n_averaged_ = 0;
};

// Options of torch.optim.swa_utils.SWALR.
struct SWALROptions {
  // The constant learning rate at the end.
  double swa_lr = 0.05;
  index_t anneal_epochs = 10;                                        // steps until then
  lr_scheduler::Anneal anneal_strategy = lr_scheduler::Anneal::cos;  // how it goes there
};

// Takes the learning rate to a constant:
//   SWALR scheduler(optimizer, {.swa_lr = 0.05});
class SWALR : public lr_scheduler::LRScheduler {
 public:
  SWALR(Rates& optimizer, const SWALROptions& options);

 private:
  GPUNET_INLINE_VIRTUAL double first() override;
  GPUNET_INLINE_VIRTUAL double next() override;

  // Returns the share of swa_lr after a number of steps.
  double share(index_t step) const;

  SWALROptions options_;
};

}  // namespace gpunet::optim::swa_utils

#if !GPUNET_COMPILED
#include <gpunet/optim/swa_utils.ipp>
#endif
