// What a network predicts for a batch, for who counts it.
#pragma once

#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/ops/argmax.hpp>
#include <gpunet/ops/cross_entropy/cross_entropy.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/tensor/buffer.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::train::detail {

// Throws Error unless a batch is what a metric was made for; `name` is the metric's. Labels that are no class are found
// where the loss finds them: on Host.
template <class D, class Output>
void check_batch(std::string_view name, D& device, index_t classes, const Output& outputs,
                 const View<const label_t, D>& labels) {
  require(&outputs.device() == &device, "gpunet::train::", name,
          ": the outputs are on another device object, use the model's");
  require(outputs.features() == classes, "gpunet::train::", name, ": outputs of ", outputs.features(),
          " classes (want ", classes, "), make it for as many classes as the network has outputs");
  require(outputs.batch() == labels.numel(), "gpunet::train::", name, ": ", labels.numel(),
          " labels for a batch of ", outputs.batch());
  require(labels.sizes().rank() == 1, "gpunet::train::", name, ": labels of shape ", to_string(labels.sizes()),
          " (want [", outputs.batch(), "], a class for each sample), give labels.view().flatten()");
  check_labels(concat("train::", name), device, labels.data(), labels.numel(), classes);
}

// The class with the largest output for each sample of a batch, in memory that is kept from batch to batch.
template <class D>
class Predictions {
 public:
  explicit Predictions(D& device) : device_(device) {}

  // [batch]; valid until the next call.
  template <class Output>
  const label_t* of(const Output& outputs) {
    if (predictions_.size() < outputs.batch()) predictions_.reset(device_, outputs.batch());
    using T = typename Output::value_type;
    outputs.each_slice([&](const Slice& slice, index_t first, const T* x) {
      for_each(device_, slice.count, ArgMax<T>{slice, outputs.features(), x, predictions_.data() + first});
    });
    return predictions_.data();
  }

 private:
  D& device_;
  Buffer<label_t, D> predictions_;
};

}  // namespace gpunet::train::detail
