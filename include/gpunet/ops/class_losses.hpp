// The cross-entropy losses of tensors, as in torch.nn.functional: scores [classes], [batch,
// classes] or [batch, classes, ...] and labels without the classes, integers, or probabilities of
// the shape of the scores. nn::CrossEntropyLoss has the same options.
#pragma once

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/functions/losses.hpp>
#include <gpunet/ops/classes.hpp>
#include <gpunet/tensor/indexing.hpp>
#include <gpunet/tensor/losses.hpp>

namespace gpunet {

namespace detail {

// Returns the dimension of the classes of scores. Throws Error if there is none, and for wrong
// options.
inline int class_dimension(const Sizes& scores, const nn::CrossEntropyLossOptions& options,
                           std::string_view function) {
  require(scores.rank() >= 1, "gpunet::", function,
          ": a tensor without dimensions (want [classes], or [batch, classes, ...]), reshape it");
  const int dim = scores.rank() == 1 ? 0 : 1;
  functions::check_class_options(function, options.weight, options.label_smoothing);
  require(options.weight.empty() || std::ssize(options.weight) == scores[dim], "gpunet::", function,
          ": ", options.weight.size(), " weights for scores of shape ", to_string(scores),
          " (want ", scores[dim], "), give one for each class");
  return dim;
}

// Returns the losses of labels and log-probabilities [batch, classes, ...].
template <class T, class D, class Y>
Tensor<T, D> label_losses(const StridedView<const T, D>& scores, Y&& labels,
                          const nn::CrossEntropyLossOptions& options, std::string_view function) {
  const Sizes sizes = scores.sizes();
  const int dim = class_dimension(sizes, options, function);
  D& device = scores.device();
  Sizes of_labels;
  for (int d = 0; d < sizes.rank(); ++d)
    if (d != dim) of_labels.append(sizes[d]);
  const Tensor<index_t, D> given = cast<index_t>(std::forward<Y>(labels));
  require(given.sizes() == of_labels, "gpunet::", function, ": labels of shape ",
          to_string(given.sizes()), " for scores of shape ", to_string(sizes), " (want ",
          to_string(of_labels), ", the index of a class for each), reshape one");
  // Ignored labels count as class 0 until the end.
  const bool ignores = options.ignore_index.has_value();
  const index_t ignored = options.ignore_index.value_or(0);
  const auto indices = ignores ? checked_indices(Tensor(where(given == ignored, index_t{0}, given)),
                                                 device, sizes[dim], function)
                               : checked_indices(given, device, sizes[dim], function);
  const auto index = unsqueeze(indices.view, dim);

  Tensor<T, D> losses = -squeeze(gather(scores, dim, index), dim);
  Tensor<T, D> weights;
  const auto smoothing = static_cast<T>(options.label_smoothing);
  const bool is_weighted = !options.weight.empty();
  if (is_weighted) {
    const Tensor<T, D> of_class = class_weights<T>(device, options.weight, 0);
    weights = reshape(index_select(of_class, 0, flatten(indices.view)), of_labels);
    losses *= weights;
  } else if (ignores) {
    weights = ones<T>(device, of_labels);
  }
  if (smoothing != 0) {
    const Tensor<T, D> of_all =
        is_weighted ? sum(scores * class_weights<T>(device, options.weight, sizes.rank()), dim)
                    : sum(scores, dim);
    losses = (1 - smoothing) * losses - smoothing / static_cast<T>(sizes[dim]) * of_all;
  }
  if (ignores) {
    losses = where(given == ignored, T{}, losses);
    weights = where(given == ignored, T{}, weights);
  }
  if (options.reduction != nn::Reduction::mean || (!ignores && !is_weighted))
    return reduced_losses(expression(std::move(losses)), options.reduction);
  // NaN where the weights add up to 0, also if smoothing leaves a rest.
  const Tensor<T, D> total = sum(weights);
  return where(total == T{}, std::numeric_limits<T>::quiet_NaN(), sum(losses) / total);
}

// Requires integers, no larger than index_t.
template <class Y>
constexpr void require_labels() {
  static_assert(std::is_same_v<ValueOf<Y>, index_t> || std::is_same_v<ValueOf<Y>, std::int32_t>,
                "gpunet::cross_entropy: the labels have to be index_t or std::int32_t, convert "
                "them: cast<index_t>(labels)");
}

}  // namespace detail

// Returns -x at the label, of log-probabilities x such as log_softmax(logits, 1). The mean is that
// by the weights of the labels.
template <detail::TensorLike X, detail::TensorLike Y>
auto nll_loss(X&& x, Y&& labels, const nn::CrossEntropyLossOptions& options = {}) {
  detail::require_labels<Y>();
  require(options.label_smoothing == 0, "gpunet::nll_loss: label_smoothing ",
          options.label_smoothing, " (it is for logits), use cross_entropy");
  const auto scores = detail::stored(std::forward<X>(x));
  return detail::label_losses(detail::view_of(std::as_const(scores)), std::forward<Y>(labels),
                              options, "nll_loss");
}

// Returns log sum_k exp(x_k) - x_label of logits x and labels, or of probabilities t of the shape
// of x, sum_k t_k (log sum_j exp(x_j) - x_k).
template <detail::TensorLike X, detail::TensorLike Y>
auto cross_entropy(X&& x, Y&& target, const nn::CrossEntropyLossOptions& options = {}) {
  constexpr std::string_view function = "cross_entropy";
  using T = detail::ValueOf<X>;
  using D = detail::DeviceOf<X>;
  if constexpr (detail::has_softmax<X>()) {
    const Sizes sizes = x.sizes();
    const int dim = detail::class_dimension(sizes, options, function);
    const Tensor<T, D> scores = log_softmax(std::forward<X>(x), dim);
    if constexpr (std::is_floating_point_v<detail::ValueOf<Y>>) {
      detail::require_target_shape(sizes, target.sizes(), function);
      require(!options.ignore_index,
              "gpunet::cross_entropy: ignore_index with probabilities (they have no labels), leave "
              "it out");
      const auto smoothing = static_cast<T>(options.label_smoothing);
      Tensor<T, D> wanted = detail::operand<T, D>(std::forward<Y>(target)) * (1 - smoothing) +
                            smoothing / static_cast<T>(sizes[dim]);
      if (!options.weight.empty())
        wanted *= detail::class_weights<T>(scores.device(), options.weight, sizes.rank());
      return detail::reduced_losses(-sum(wanted * scores, dim), options.reduction);
    } else {
      detail::require_labels<Y>();
      return detail::label_losses(detail::view_of(scores), std::forward<Y>(target), options,
                                  function);
    }
  }
}

namespace nn {

// The same names beside the functions of values.
using gpunet::cross_entropy, gpunet::nll_loss;

}  // namespace nn

}  // namespace gpunet
