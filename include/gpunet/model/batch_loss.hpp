// The loss of a batch.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <gpunet/device/traits.hpp>
#include <gpunet/graph/graph.hpp>
#include <gpunet/model/slicing.hpp>
#include <gpunet/nn/loss.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet {

// The losses of the samples of a batch, and their mean or sum, on the device.
template <class D, class T>
class BatchLoss {
 public:
  // Of networks with the outputs of a graph, one of which a loss takes.
  BatchLoss(D& device, const Graph& graph);

  // Makes place for a batch in slices. Throws Error for a loss that does not fit the output or is
  // not one number, and for wrong targets.
  void begin(const TargetsOf<D, T>& targets, const Slicing& slicing);
  // Computes what the losses are divided by, if they are weighted. Before evaluate().
  void weigh(const TargetsOf<D, T>& targets);
  // Computes the losses of the samples of slice s, whose outputs are y, and their gradient by y.
  void evaluate(const TargetsOf<D, T>& targets, index_t s, const T* y, T* gradient);
  // Computes the loss of the batch after all slices.
  void reduce();
  // Returns the losses before the reduction, of outputs [batch, ...], without changing the loss of
  // the last batch.
  Tensor<T, D> each(const Tensor<T, D>& outputs, const TargetsOf<D, T>& targets);

  // Returns a number that changes with each loss, and with each batch that has none yet.
  std::uint64_t number() const { return number_; }
  void expire() { ++number_; }
  bool is_sum() const { return reduction_ == nn::Reduction::sum; }
  // Return the loss of the batch, and those of its samples [batch].
  T* value() const { return value_.data(); }
  T* of_samples() const { return samples_.data(); }
  std::array<const void*, 3> addresses() const {
    return {samples_.data(), device_constants_.data(), total_weight_.data()};
  }

 private:
  // Throws Error for a loss that does not fit the output, or wrong targets. Returns the traits.
  nn::LossTraits check(const TargetsOf<D, T>& targets, index_t batch);
  // Uploads the constants of a loss if they have changed.
  void use_constants(std::span<const double> constants);
  // Returns the number that the sum of the losses is divided by.
  index_t reduced_by() const { return is_sum() || is_weighted_ ? 1 : slicing_.batch; }
  // Returns the first extent of an output.
  index_t channels() const { return sizes_.rank() == 0 ? 1 : sizes_[0]; }

  D& device_;
  Sizes sizes_;                 // of one output sample: all outputs
  std::vector<Sizes> outputs_;  // of one sample, if there are several
  Slicing slicing_{1, 1, 1, false};
  nn::Reduction reduction_ = nn::Reduction::mean;
  index_t first_ = 0, end_ = 0;  // the features of the output that the loss is of
  bool is_weighted_ = false;     // the losses are divided by total_weight_
  std::vector<T> constants_;     // of the last loss that has some
  Buffer<T, D> device_constants_, total_weight_;
  Buffer<T, D> samples_, value_;
  std::uint64_t number_ = 0;
};

#define GPUNET_BATCH_LOSS(D, T) class BatchLoss<D, T>
GPUNET_EXTERN_TEMPLATES(GPUNET_BATCH_LOSS)

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/batch_loss.ipp>
#endif
