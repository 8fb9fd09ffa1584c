// The state of an optimizer in a file of PyTorch: torch.save(optimizer.state_dict(), path).
#pragma once

#include <functional>
#include <string>

#include <gpunet/core/state.hpp>

namespace gpunet::io {

// The optimizers of PyTorch: SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, NAdam, RAdam; and Lion,
// which has the same form.
template <class X>
concept HasOptimizerState = Stateful<X> && requires {
  typename X::updating_type;
};

// Options of io::load for an optimizer.
struct OptimizerLoadOptions {
  std::string key = {};  // of the state within the file: "optimizer_state_dict"
};

namespace detail {

using VisitState = std::function<void(StateVisitor& state)>;
void save_optimizer(const std::string& path, const VisitState& visit);
void load_optimizer(const std::string& path, const OptimizerLoadOptions& options,
                    const VisitState& visit);

}  // namespace detail

// Writes the state of an optimizer as torch.save(optimizer.state_dict(), path) does. Its parameters
// are numbered in the order of the network, that of net.parameters() in PyTorch. Throws Error
// unless the extension is .pth or .pt, and if writing fails.
template <HasOptimizerState Optimizer>
void save(Optimizer& optimizer, const std::string& path) {
  detail::save_optimizer(path, [&](StateVisitor& state) { optimizer.visit_state(state); });
}

// Reads the state of an optimizer from a file of torch.save, with its learning rate, momentum and
// weight decay:
//   io::load(net, "checkpoint.pth", {.key = "model_state_dict"});
//   io::load(optimizer, "checkpoint.pth", {.key = "optimizer_state_dict"});
// Its kind and other options (eps, the second beta, amsgrad) must be the optimizer's. Throws an
// Error that names a missing or different value, and for maximize=True; the optimizer is then
// unchanged.
template <HasOptimizerState Optimizer>
void load(Optimizer& optimizer, const std::string& path, const OptimizerLoadOptions& options = {}) {
  detail::load_optimizer(path, options, [&](StateVisitor& state) { optimizer.visit_state(state); });
}

}  // namespace gpunet::io

#if !GPUNET_COMPILED
#include <gpunet/io/optimizer_state.ipp>
#endif
