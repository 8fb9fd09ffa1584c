// Bodies of cross_entropy_loss.hpp.
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/nn/cross_entropy_loss.hpp>

namespace gpunet::nn {

namespace detail {

// Throws Error for outputs without classes, or other weights than theirs.
GPUNET_INLINE void check_class_sizes(std::string_view name, std::span<const double> weight,
                                     const Sizes& sizes) {
  const bool fits =
      sizes.rank() >= 1 && (weight.empty() || static_cast<index_t>(weight.size()) == sizes[0]);
  if (fits) return;  // no text is made
  require(sizes.rank() >= 1, "gpunet::nn::", name, ": the network's output has shape ",
          to_string(sizes), " (want rank 1 [classes] or more), end it with a Linear");
  require(weight.empty() || static_cast<index_t>(weight.size()) == sizes[0], "gpunet::nn::", name,
          ": ", weight.size(), " weights for outputs of shape ", to_string(sizes), " (want ",
          sizes[0], "), give one for each class");
}

GPUNET_INLINE LabelLoss::LabelLoss(std::string_view name, CrossEntropyLossOptions options)
    : options_(std::move(options)) {
  functions::check_class_options(name, options_.weight, options_.label_smoothing);
}

GPUNET_INLINE void LabelLoss::check_sizes(std::string_view name, const Sizes& sizes) const {
  check_class_sizes(name, options_.weight, sizes);
}

}  // namespace detail

GPUNET_INLINE SoftCrossEntropyLoss::SoftCrossEntropyLoss(SoftCrossEntropyLossOptions options)
    : options_(std::move(options)) {
  functions::check_class_options("nn::SoftCrossEntropyLoss", options_.weight,
                                 options_.label_smoothing);
}

GPUNET_INLINE void SoftCrossEntropyLoss::check_sizes(const Sizes& sizes) const {
  detail::check_class_sizes("SoftCrossEntropyLoss", options_.weight, sizes);
}

}  // namespace gpunet::nn

namespace gpunet {

GPUNET_COMPILE_TEMPLATES(GPUNET_CROSS_ENTROPY_CALLS)

}  // namespace gpunet
