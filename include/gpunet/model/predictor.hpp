// Inference: the forward pass of a network in evaluation mode, with memory of its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>

#include <gpunet/model/fold_batch_norm.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/model/published_weights.hpp>

namespace gpunet {

// The forward pass of a network in evaluation mode:
//   Predictor predict(net, {.storage = Storage::bfloat16});
//   Tensor<float, Host> scores = predict(images);
// With Storage::full it shares the parameters and buffers of the network, and sees when they
// change; with 16 bits it has a copy, in half of the memory, and with .fold_batch_norm a copy that
// contains the batch normalizations. The network may be destroyed, the device not. Results are
// bitwise identical to the network's in evaluation mode and with the same storage, except with
// .fold_batch_norm, where they differ by roundings. Activations share memory, since no backward
// pass follows. Any number of threads may predict at a time, each with a Predictor of its own, on
// Cuda with a device of its own; while the network is trained, from PublishedWeights.
//
// After the first call for a batch size, into() on one thread of a Host makes no system call, waits
// for nobody and allocates nothing.
template <class D, class T>
class Predictor {
 public:
  using value_type = T;
  using device_type = D;

  // Throws Error for 16 bits of a network of double.
  explicit Predictor(const Network<D, T>& network, const PredictorOptions& options = {})
      : Predictor(network.device(), network, options) {}
  // The same on another device of the same kind, which for Cuda is the same GPU: `Host
  // alone({.threads = 1})` for a thread that is to share its work with no other. Waits for the work
  // of the network's device.
  Predictor(D& device, const Network<D, T>& network, const PredictorOptions& options = {});
  // Each call uses the weights that were published last when it began.
  explicit Predictor(const PublishedWeights<D, T>& weights)
      : Predictor(weights.device(), weights) {}
  Predictor(D& device, const PublishedWeights<D, T>& weights);

  // Returns the outputs for inputs [batch, ...sizes of Input]: [batch, ...sizes of the output];
  // several outputs as [batch, all features]. Throws Error for a wrong shape, while a network is
  // trained whose parameters this shares, and while another thread calls this.
  Tensor<T, D> operator()(const ViewArgument<T, D>& inputs);
  // The same for networks with several inputs: predict({a, b}).
  Tensor<T, D> operator()(std::initializer_list<ViewArgument<T, D>> inputs);
  // The same, written to `outputs`, whose first size is the batch and which has as many elements:
  // predict.into(outputs, inputs).
  void into(const View<T, D>& outputs, const ViewArgument<T, D>& inputs);
  void into(const View<T, D>& outputs, std::initializer_list<ViewArgument<T, D>> inputs);

  D& device() const { return device_; }
  Storage storage() const { return plan_.storage; }
  // Returns the graph that runs, with nodes fused for the device.
  const Graph& fused_graph() const { return graph_; }
  // Returns the sizes of the output of one sample.
  const Sizes& output_sizes() const {
    return graph_.values[static_cast<std::size_t>(graph_.output)];
  }
  // Return the bytes of parameters, shared or its own, and of workspace.
  std::size_t parameter_bytes() const {
    return published_ ? published_->parameter_bytes() : arena_->parameter_bytes();
  }
  std::size_t workspace_bytes() const { return workspace_.bytes(); }

 private:
  Predictor(D& device, const Graph& graph, Storage storage);
  Predictor(D& device, const Network<D, T>& network, const detail::FoldedGraph& folded,
            const PredictorOptions& options);

  // Returns the use of a call, during which there is no other one.
  ModelUse::Exclusive alone() {
    require(
        use_.try_exclusive(),
        "gpunet::Predictor: another call uses this predictor, in another thread (its memory holds "
        "one pass), make one for each thread, which may share the network or PublishedWeights");
    return {use_, std::adopt_lock};
  }
  // The functions above, in such a use.
  Tensor<T, D> outputs_of(const View<const T, D>& inputs);
  void write(const View<T, D>& outputs, const View<const T, D>& inputs);
  // Writes the outputs of inputs that check_input() has seen.
  void run(const View<const T, D>& inputs, T* outputs);

  ModelUse use_;
  D& device_;
  Graph graph_;
  Plan plan_;
  const Conversions<D, T>* conversions_;
  // The network's, or one without `parameters`; null with published_.
  std::shared_ptr<Arena<D, T>> arena_;
  std::shared_ptr<detail::Published<D, T>> published_;
  Buffer<T, D> graph_constants_;  // Graph::constants
  std::uint64_t random_seed_ = 0;
  // Of networks with ops that use random numbers: see RandomState.
  Buffer<std::uint64_t, D> random_step_;
  Buffer<T, D> joined_;  // inputs, see join_inputs()
  Workspace<T, D> workspace_;
};

#define GPUNET_PREDICTOR(D, T) class Predictor<D, T>
GPUNET_EXTERN_TEMPLATES(GPUNET_PREDICTOR)

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/predictor.ipp>
#endif
