// Weights that many threads read while a network is trained.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <gpunet/model/fold_batch_norm.hpp>
#include <gpunet/model/network.hpp>

namespace gpunet {

// Options of a Predictor and of PublishedWeights.
struct PredictorOptions {
  // bfloat16 or float16: the parameters are copied and stored in 16 bits, and so are activations;
  // layers compute in float.
  Storage storage = Storage::full;
  // The parameters are copied, and each batch normalization becomes part of the convolution or
  // linear layer before it, if nothing else reads that layer's output: no time is spent on it, and
  // an activation behind it runs with the convolution. Outputs differ from the network's by
  // roundings. As torch.jit.optimize_for_inference.
  bool fold_batch_norm = false;
};

namespace detail {

// The arenas of PublishedWeights: the newest one, arenas that calls still read, and free ones.
template <class D, class T>
class Published {
 public:
  Published(D& device, const Network<D, T>& network, const PredictorOptions& options);

  // Returns the newest arena, whose shared use has begun.
  Arena<D, T>& acquire();

  template <class From>
  void publish(const Network<From, T>& network);

  D& device;
  const Graph network_graph;
  const FoldedGraph folded;
  const Storage storage;
  const std::uint64_t random_seed;

  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }
  std::size_t parameter_bytes() const {
    return newest_.load(std::memory_order_acquire)->parameter_bytes();
  }

 private:
  // Returns an arena that is not in use, whose exclusive use has begun.
  Arena<D, T>& free_arena();

  const Conversions<D, T>* conversions_;
  std::mutex publishing_;
  std::vector<std::unique_ptr<Arena<D, T>>> arenas_;
  Buffer<T, D> wide_parameters_;              // of a network that is published in 16 bits
  Buffer<T, D> unfolded_, unfolded_buffers_;  // of one whose batch normalizations are folded
  std::atomic<Arena<D, T>*> newest_{nullptr};
  std::atomic<std::uint64_t> version_{0};
};

}  // namespace detail

// A copy of the parameters and buffers of a network, from which any number of threads predict, and
// which publish() replaces as a whole:
//   PublishedWeights weights(net);
//   std::jthread server([&](std::stop_token stop) {
//     Predictor predict(weights);
//     while (!stop.stop_requested()) answer(predict(question()));
//   });
//   ... training steps of net ...
//   weights.publish(net);  // a prediction uses old weights or new ones, never some of both
// A prediction waits for nobody, and publish() not for predictions: it writes to memory that none
// of them reads. That is two copies, and one more for each prediction that lasts longer than from
// one publish() to the next but one; in 16 bits or with batch normalizations folded, also one in
// full precision, or two, for publish().
// Predictors have no copies of their own. The network may be destroyed, the device not.
template <class D, class T>
class PublishedWeights {
 public:
  // Publishes the weights of a network. Throws Error for 16 bits of a network of double.
  explicit PublishedWeights(const Network<D, T>& network, const PredictorOptions& options = {})
      : published_(std::make_shared<detail::Published<D, T>>(network.device(), network, options)) {}

  // Publishes the weights of the same or another network, which may be on another kind of device,
  // but has the same parameters and buffers. Returns when they are there. On Cuda from the thread
  // that uses the device. Throws Error for other parameters, and while another thread trains the
  // network; nothing has changed then.
  template <class From>
  void publish(const Network<From, T>& network) {
    published_->publish(network);
  }

  // Returns the number of times that weights were published, 1 at the beginning.
  std::uint64_t version() const { return published_->version(); }

  D& device() const { return published_->device; }
  Storage storage() const { return published_->storage; }

 private:
  friend class Predictor<D, T>;

  std::shared_ptr<detail::Published<D, T>> published_;
};

#define GPUNET_PUBLISHED(D, T) class detail::Published<D, T>
#define GPUNET_PUBLISH(D, T) void detail::Published<D, T>::publish(const Network<D, T>&)
GPUNET_EXTERN_TEMPLATES(GPUNET_PUBLISHED)
GPUNET_EXTERN_TEMPLATES(GPUNET_PUBLISH)

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/published_weights.ipp>
#endif
