// Bodies of confusion_matrix.hpp.
#pragma once

#include <limits>

#include <gpunet/train/confusion_matrix.hpp>

namespace gpunet::train {

namespace detail {

inline double ratio_or_zero(index_t part, index_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace detail

GPUNET_INLINE index_t ConfusionCounts::operator()(index_t label, index_t predicted) const {
  require(label >= 0 && label < classes_ && predicted >= 0 && predicted < classes_,
          "gpunet::train::ConfusionCounts: (", label, ", ", predicted, ") of ", classes_, " classes (want 0 to ",
          classes_ - 1, ")");
  return at(label, predicted);
}

GPUNET_INLINE index_t ConfusionCounts::support(index_t k) const {
  index_t sum = 0;
  for (index_t predicted = 0; predicted < classes_; ++predicted)
    sum += at(k, predicted);
  return sum;
}

GPUNET_INLINE index_t ConfusionCounts::total() const {
  index_t sum = 0;
  for (index_t k = 0; k < classes_; ++k)
    sum += support(k);
  return sum;
}

GPUNET_INLINE index_t ConfusionCounts::correct() const {
  index_t sum = 0;
  for (index_t k = 0; k < classes_; ++k)
    sum += at(k, k);
  return sum;
}

GPUNET_INLINE double ConfusionCounts::accuracy() const {
  return no_class_ > 0 ? std::numeric_limits<double>::quiet_NaN()
                       : static_cast<double>(correct()) / static_cast<double>(total());
}

GPUNET_INLINE Scores ConfusionCounts::scores(index_t k) const {
  const index_t hits = (*this)(k, k), of_class = support(k);
  index_t predicted = 0;
  for (index_t label = 0; label < classes_; ++label)
    predicted += at(label, k);
  return {detail::ratio_or_zero(hits, predicted), detail::ratio_or_zero(hits, of_class),
          detail::ratio_or_zero(2 * hits, of_class + predicted), of_class};
}

GPUNET_INLINE Scores ConfusionCounts::macro_average() const {
  return average(false);
}
GPUNET_INLINE Scores ConfusionCounts::weighted_average() const {
  return average(true);
}

GPUNET_INLINE Scores ConfusionCounts::average(bool by_support) const {
  Scores mean;
  double weights = 0;
  for (index_t k = 0; k < classes_; ++k) {
    const Scores of_class = scores(k);
    const double weight = by_support ? static_cast<double>(of_class.support) : 1;
    mean.precision += weight * of_class.precision;
    mean.recall += weight * of_class.recall;
    mean.f1 += weight * of_class.f1;
    mean.support += of_class.support;
    weights += weight;
  }
  if (weights == 0) return {};
  mean.precision /= weights;
  mean.recall /= weights;
  mean.f1 /= weights;
  return mean;
}

}  // namespace gpunet::train
