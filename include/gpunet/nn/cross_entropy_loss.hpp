// The cross-entropy loss.
#pragma once

#include <gpunet/nn/loss.hpp>
#include <gpunet/ops/cross_entropy/cross_entropy.hpp>

namespace gpunet::nn {

// The mean over the batch of log sum_k exp(x_k) - x_label, as torch.nn.CrossEntropyLoss with class indices: x are logits
// [batch, classes], labels [batch] are 0 to classes - 1.
struct CrossEntropyLoss : LossFunction<CrossEntropyLoss> {
  using target_type = label_t;

  // Refuses at compile time outputs whose shape is not [classes].
  template <class In>
  static constexpr void check_shape(In) {
    static_assert(
        In::rank == 1,
        "gpunet::nn::CrossEntropyLoss: the network's output has to have rank 1 [classes], end it with a Linear");
  }

  // The same at run time: throws Error.
  void check_sizes(const Sizes& sizes) const {
    require(sizes.rank() == 1, "gpunet::nn::CrossEntropyLoss: the network's output has shape ", to_string(sizes),
            " (want rank 1 [classes]), end it with a Linear");
  }

  // Throws Error for a label that is not 0 to classes - 1, on devices whose memory the host can read.
  template <class D>
  void check(D& device, View<const label_t, D> labels, index_t classes) const {
    check_labels("nn::CrossEntropyLoss", device, labels.data(), labels.numel(), classes);
  }

  // Computes losses and gradients of a slice, see loss.hpp.
  template <class D, class T>
  void evaluate(D& device, const LossPass<T, label_t>& pass) const {
    cross_entropy(
        device, CrossEntropy<T>{pass.slice, pass.features, pass.x, pass.targets, pass.scale, pass.losses, pass.dx});
  }
};

}  // namespace gpunet::nn
