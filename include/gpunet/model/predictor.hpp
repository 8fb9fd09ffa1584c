// Inference: the forward pass of a network in evaluation mode, with memory of its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>

#include <gpunet/model/network.hpp>

namespace gpunet {

// Options of a Predictor.
struct PredictorOptions {
  // bfloat16 or float16: the parameters are copied and stored in 16 bits, and so are activations; layers compute in float.
  Storage storage = Storage::full;
};

// The forward pass of a network in evaluation mode:
//   Predictor predict(net, {.storage = Storage::bfloat16});
//   Tensor<float, Host> scores = predict(images);
// With Storage::full it shares the parameters and buffers of the network, and sees when they change; with 16 bits it has a copy, in half
// of the memory. The network may be destroyed, the device not. Results are bitwise those of the network in evaluation mode and
// with the same storage. Activations share memory, since no backward pass follows. Any number of threads may predict at a time,
// each with a Predictor of its own, unless the network whose parameters they share is trained meanwhile.
template <class D, class T>
class Predictor {
 public:
  using value_type = T;
  using device_type = D;

  // Throws Error for 16 bits of a network of double.
  explicit Predictor(const Network<D, T>& network, const PredictorOptions& options = {});

  // Returns the outputs for inputs [batch, ...sizes of Input]: [batch, ...sizes of the output]; several outputs as
  // [batch, all features]. Throws Error for a wrong shape, and while a network is trained whose parameters this shares.
  Tensor<T, D> operator()(const ViewArgument<T, D>& inputs);
  // The same for networks with several inputs: predict({a, b}).
  Tensor<T, D> operator()(std::initializer_list<ViewArgument<T, D>> inputs);

  D& device() const { return device_; }
  Storage storage() const { return plan_.storage; }
  // Return the bytes of parameters, which a Predictor with Storage::full shares, and of workspace.
  std::size_t parameter_bytes() const {
    return narrow_parameters_.size() > 0 ? narrow_parameters_.bytes() : arena_->parameters.bytes();
  }
  std::size_t workspace_bytes() const { return workspace_.bytes(); }

 private:
  D& device_;
  Graph graph_;
  Plan plan_;
  const Conversions<D, T>* conversions_;
  std::shared_ptr<Arena<D, T>> arena_;          // the network's, or one with buffers alone
  Buffer<std::uint16_t, D> narrow_parameters_;  // with the offsets of the network's
  Buffer<T, D> graph_constants_;                // Graph::constants
  std::uint64_t random_seed_;
  Buffer<std::uint64_t, D> random_step_;  // of networks with ops that use random numbers: see RandomState
  Buffer<T, D> joined_;                   // inputs, see join_inputs()
  Workspace<T, D> workspace_;
};

#define GPUNET_PREDICTOR(D, T) class Predictor<D, T>
GPUNET_EXTERN_TEMPLATES(GPUNET_PREDICTOR)

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/predictor.ipp>
#endif
