// Bodies of batch_loss.hpp.
#pragma once

#include <algorithm>
#include <utility>

#include <gpunet/model/batch_loss.hpp>
#include <gpunet/ops/interleave.hpp>
#include <gpunet/ops/mean.hpp>

namespace gpunet {

namespace detail {

// Throws Error for targets of a wrong shape.
[[noreturn]] GPUNET_INLINE void refuse_targets(const Sizes& sizes, const Sizes& want) {
  const index_t batch = want[0];
  if (want.rank() == 1 && sizes.numel() != batch)
    throw_error(Error(concat("gpunet::Model: ", sizes.numel(), " targets for a batch of ", batch,
                             " (want one for each sample), give the labels of the same batch")));
  const char* advice = want.rank() == 1 ? ", one for each sample), give targets.view().flatten()"
                       : want.rank() > 2 && sizes.rank() == 1
                           ? "), give one of that shape for each output, or put a Flatten before "
                             "the last Linear, which maps the last dimension"
                           : "), give one of that shape for each output";
  throw_error(Error(concat("gpunet::Model: targets of shape ", to_string(sizes), " for a batch of ",
                           batch, " (want ", to_string(want), advice)));
}

}  // namespace detail

template <class D, class T>
BatchLoss<D, T>::BatchLoss(D& device, const Graph& graph)
    : device_(device),
      sizes_(graph.values[static_cast<std::size_t>(graph.output)]),
      outputs_(graph.outputs),
      value_(device, 1) {}

template <class D, class T>
nn::LossTraits BatchLoss<D, T>::check(const TargetsOf<D, T>& targets, index_t batch) {
  targets.loss.check_sizes(sizes_);
  const nn::LossTraits traits = targets.loss.traits(sizes_);
  const auto outputs = std::max(static_cast<int>(outputs_.size()), 1);
  require(outputs == 1 || traits.output, "gpunet::Model: a loss of a network with ", outputs,
          " outputs (a loss takes one), compute the loss in the function of the network, with the "
          "targets as inputs, and return it as the only output, or as the last with "
          "nn::OutputLoss({.output = -1})");
  const int output = traits.output.value_or(0);
  require(-outputs <= output && output < outputs, "gpunet::Model: the loss is output ", output,
          " of a network with ", outputs, " (want ", -outputs, " to ", outputs - 1, ")");
  first_ = 0, end_ = sizes_.numel();
  if (outputs > 1) {
    end_ = 0;
    for (int i = 0; i <= (output < 0 ? output + outputs : output); ++i)
      first_ = std::exchange(end_, end_ + outputs_[static_cast<std::size_t>(i)].numel());
  }
  if (const Sizes want = traits.target.with_front(batch); targets.sizes != want)
    detail::refuse_targets(targets.sizes, want);
  targets.loss.check(device_, targets.data, targets.sizes, sizes_.numel());
  return traits;
}

template <class D, class T>
void BatchLoss<D, T>::begin(const TargetsOf<D, T>& targets, const Slicing& slicing) {
  const nn::LossTraits traits = check(targets, slicing.batch);
  require(
      traits.reduction != nn::Reduction::none,
      "gpunet::Model: a loss with Reduction::none is not one number (backward() starts from one), "
      "take Reduction::mean or sum, or look at all numbers by criterion.each(output, targets)");
  slicing_ = slicing;
  reduction_ = traits.reduction;
  is_weighted_ = traits.is_weighted;
  if (is_weighted_ && total_weight_.size() == 0) total_weight_.reset(device_, 1);
  use_constants(traits.constants);
  ++number_;
  if (samples_.size() < slicing_.batch) samples_.reset(device_, slicing_.batch);
}

template <class D, class T>
void BatchLoss<D, T>::use_constants(std::span<const double> constants) {
  const auto same = [](double now, T before) {
    return static_cast<T>(now) == before;
  };
  if (std::equal(constants.begin(), constants.end(), constants_.begin(), constants_.end(), same))
    return;
  constants_.clear();  // on the device, which an error below leaves without any
  if (device_constants_.size() < std::ssize(constants))
    device_constants_.reset(device_, std::ssize(constants));
  constants_.assign(constants.begin(), constants.end());
  device_.upload(device_constants_.data(), constants_.data(), constants_.size() * sizeof(T));
}

template <class D, class T>
void BatchLoss<D, T>::weigh(const TargetsOf<D, T>& targets) {
  if (!is_weighted_) return;
  nn::LossPass<T, void> batch{};
  batch.targets = targets.data;
  batch.channels = channels();
  batch.constants = device_constants_.data();
  targets.loss.total_weight(device_, batch, targets.sizes.numel(), total_weight_.data());
}

template <class D, class T>
void BatchLoss<D, T>::evaluate(const TargetsOf<D, T>& targets, index_t s, const T* y, T* gradient) {
  const index_t first = slicing_.first_sample(s);
  const void* of_slice =
      static_cast<const std::byte*>(targets.data) +
      targets.bytes() / static_cast<std::size_t>(slicing_.batch) * static_cast<std::size_t>(first);
  targets.loss.evaluate(
      device_, {slicing_.slice(s), sizes_.numel(), y, of_slice, T{1} / static_cast<T>(reduced_by()),
                samples_.data() + first, gradient, channels(), device_constants_.data(),
                is_weighted_ ? total_weight_.data() : nullptr, 1, first_, end_});
}

template <class D, class T>
Tensor<T, D> BatchLoss<D, T>::each(const Tensor<T, D>& outputs, const TargetsOf<D, T>& targets) {
  const index_t batch = outputs.sizes()[0], features = sizes_.numel();
  const nn::LossTraits traits = check(targets, batch);
  use_constants(traits.constants);
  // Every loss is that of a sample of its own, whose numbers are made neighbors.
  const index_t places = traits.each.numel(), losses = batch * places,
                numbers = traits.target.numel();
  const auto gathered = [&](const T* data, index_t of_output) {
    Buffer<T, D> rows(device_, batch * of_output);
    deinterleave(device_, Slice{losses, batch, places}, of_output / places, data, rows.data());
    return rows;
  };
  const auto are_apart = [places](index_t of_output) {
    return places > 1 && of_output > places;
  };
  const T* x = outputs.data();
  const void* t = targets.data;
  Buffer<T, D> x_rows, t_rows;
  if (are_apart(features)) x = (x_rows = gathered(x, features)).data();
  if (are_apart(numbers)) t = (t_rows = gathered(static_cast<const T*>(t), numbers)).data();
  Buffer<T, D> gradients(device_, batch * features);
  Tensor<T, D> result(device_, traits.each.with_front(batch));
  targets.loss.evaluate(device_, {{losses, losses, 1},
                                  features / places,
                                  x,
                                  t,
                                  T{1},
                                  result.data(),
                                  gradients.data(),
                                  channels(),
                                  device_constants_.data(),
                                  nullptr,
                                  places,
                                  places > 1 ? 0 : first_,
                                  places > 1 ? features / places : end_});
  return result;
}

template <class D, class T>
void BatchLoss<D, T>::reduce() {
  mean(device_, slicing_.batch, static_cast<const T*>(samples_.data()), value_.data(),
       reduced_by());
}

GPUNET_COMPILE_TEMPLATES(GPUNET_BATCH_LOSS)

}  // namespace gpunet
