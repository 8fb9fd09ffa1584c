// Bodies of anomaly.hpp.
#pragma once

#include <tuple>

#include <gpunet/core/error.hpp>
#include <gpunet/model/anomaly.hpp>

namespace gpunet::detail {

GPUNET_INLINE void Anomaly::note(std::size_t order, const NotFinite& number, AnomalyIn in,
                                 const Node* node, const Sizes& sizes, const std::string& name) {
  const auto key = [](std::size_t of, const NotFinite& at) {
    return std::tuple(of, at.sample, at.feature);
  };
  if (found() && key(order_, first_) <= key(order, number)) return;
  order_ = order;
  first_ = number;
  in_ = in;
  sizes_ = sizes;
  place_ = name;
  if (!node) return;
  std::string layers = class_of(node->layer);
  for (const char* fused : node->fused)
    layers += " -> " + class_of(fused);
  place_ = concat(name, name.empty() ? "" : ", layer ", node->name, " (", layers, ")");
}

GPUNET_INLINE void Anomaly::report() const {
  const bool is_array = in_ == AnomalyIn::parameter || in_ == AnomalyIn::batch_loss ||
                        in_ == AnomalyIn::parameter_gradient;
  std::string index;
  index_t rest = first_.feature;
  for (int d = sizes_.rank() - 1; d >= 0; rest /= sizes_[d--])
    index = concat(rest % sizes_[d], index.empty() ? "" : ", ", index);
  if (!is_array) index = concat(first_.sample, index.empty() ? "" : ", ", index);
  const char *what = "", *why = "";
  switch (in_) {
    case AnomalyIn::inputs:
      what = "the inputs";
      why = "they came so from the caller), leave out such samples or replace such numbers";
      break;
    case AnomalyIn::parameter:
      what = "the parameter ";
      why =
          "it was so before this pass), load or draw the parameters again, and lower the learning "
          "rate";
      break;
    case AnomalyIn::output:
      what = "the output of ";
      why =
          "its inputs are finite), lower the learning rate, clip the gradients by "
          "nn::utils::clip_grad_norm_, or scale the inputs";
      break;
    case AnomalyIn::loss:
      what = "the losses of the samples";
      why =
          "the outputs are finite), look at the target of that sample, or lower the learning rate";
      break;
    case AnomalyIn::batch_loss:
      what = "the loss of the batch";
      why =
          "those of its samples are finite, their sum is not), scale the loss down, or look at the "
          "targets";
      break;
    case AnomalyIn::loss_gradient:
      what = "the gradient of the loss by the outputs";
      why =
          "outputs and losses are finite), scale the loss down, or keep the outputs in a smaller "
          "range";
      break;
    case AnomalyIn::input_gradient:
      what = "the gradient by the input of ";
      why =
          "the gradient by its output is finite), scale the loss down, or keep its input away from "
          "where its derivative is infinite";
      break;
    case AnomalyIn::parameter_gradient:
      what = "the gradient of ";
      why =
          "the gradient by the output of the layer is finite), scale the loss down, or scale the "
          "inputs";
  }
  throw_error(Error(concat("gpunet::Network::detect_anomaly: ", what, place_,
                           in_ == AnomalyIn::inputs || in_ == AnomalyIn::loss ? " have " : " has ",
                           first_.value, index.empty() ? "" : concat(" at [", index, "]"), " (",
                           why, "; no parameter has changed")));
}

}  // namespace gpunet::detail
