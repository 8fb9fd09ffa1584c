// Bodies of confusion_matrix.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/train/confusion_matrix.hpp>

namespace gpunet::train {

namespace detail {

inline double ratio_or_zero(index_t part, index_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace detail

GPUNET_INLINE index_t ConfusionCounts::operator()(index_t label, index_t predicted) const {
  require(label >= 0 && label < classes_ && predicted >= 0 && predicted < classes_,
          "gpunet::train::ConfusionCounts: (", label, ", ", predicted, ") of ", classes_,
          " classes (want 0 to ", classes_ - 1, ")");
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

namespace detail {

// Pads the text on the left.
inline std::string on_the_right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, gpunet::detail::characters(text)), ' ') + text;
}

// Returns one name per class: those given, or the class indices.
inline std::vector<std::string> class_names(const ConfusionCounts& counts,
                                            std::vector<std::string> names, const char* where) {
  if (names.empty())
    for (index_t k = 0; k < counts.classes(); ++k)
      names.push_back(std::to_string(k));
  require(static_cast<index_t>(names.size()) == counts.classes(), "gpunet::train::", where, ": ",
          names.size(), " names for ", counts.classes(),
          " classes (want one each, or none), omit them to use class indices");
  return names;
}

inline std::size_t widest(const std::vector<std::string>& texts, std::size_t least) {
  for (const std::string& text : texts)
    least = std::max(least, gpunet::detail::characters(text));
  return least;
}

}  // namespace detail

GPUNET_INLINE std::string to_string(const ConfusionCounts& counts, std::vector<std::string> names) {
  names = detail::class_names(counts, std::move(names), "to_string");
  std::vector<std::string> texts = names;
  for (index_t k = 0; k < counts.classes() * counts.classes(); ++k)
    texts.push_back(std::to_string(counts(k / counts.classes(), k % counts.classes())));
  const std::size_t width = detail::widest(texts, 0), first = detail::widest(names, 0);
  std::string out(first, ' ');
  for (const std::string& name : names)
    out += "  " + detail::on_the_right(name, width);
  for (std::size_t k = 0; k < names.size(); ++k) {
    out += "\n" + detail::on_the_right(names[k], first);
    for (std::size_t p = 0; p < names.size(); ++p)
      out += "  " + detail::on_the_right(texts[(k + 1) * names.size() + p], width);
  }
  return out;
}

GPUNET_INLINE std::string classification_report(const ConfusionCounts& counts,
                                                std::vector<std::string> names) {
  names = detail::class_names(counts, std::move(names), "classification_report");
  const std::size_t first = detail::widest(names, std::string("weighted avg").size());
  const auto row = [&](const std::string& name, const std::string& precision,
                       const std::string& recall, const std::string& f1, index_t support) {
    return concat(detail::on_the_right(name, first), " ", detail::on_the_right(precision, 10),
                  detail::on_the_right(recall, 10), detail::on_the_right(f1, 10),
                  detail::on_the_right(std::to_string(support), 10), "\n");
  };
  const auto row_of = [&](const std::string& name, const Scores& s) {
    return row(name, gpunet::detail::fixed_text(s.precision, 2),
               gpunet::detail::fixed_text(s.recall, 2), gpunet::detail::fixed_text(s.f1, 2),
               s.support);
  };
  std::string out = std::string(first + 1, ' ') + " precision    recall  f1-score   support\n\n";
  for (index_t k = 0; k < counts.classes(); ++k)
    out += row_of(names[static_cast<std::size_t>(k)], counts.scores(k));
  out += "\n" + row("accuracy", "", "",
                    gpunet::detail::fixed_text(counts.total() > 0 ? counts.accuracy() : 0, 2),
                    counts.total());
  return out + row_of("macro avg", counts.macro_average()) +
         row_of("weighted avg", counts.weighted_average());
}

}  // namespace gpunet::train
