// Bodies of report.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/train/report.hpp>

namespace gpunet::train {

namespace detail {

inline std::string on_the_right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, gpunet::detail::characters(text)), ' ') + text;
}

// One name for each class: those given, or their numbers.
inline std::vector<std::string> class_names(const ConfusionCounts& counts, std::vector<std::string> names,
                                            const char* where) {
  if (names.empty())
    for (index_t k = 0; k < counts.classes(); ++k)
      names.push_back(std::to_string(k));
  require(static_cast<index_t>(names.size()) == counts.classes(), "gpunet::train::", where, ": ", names.size(),
          " names for ", counts.classes(), " classes (want one each, or none), leave them away to have numbers");
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

GPUNET_INLINE std::string classification_report(const ConfusionCounts& counts, std::vector<std::string> names) {
  names = detail::class_names(counts, std::move(names), "classification_report");
  const std::size_t first = detail::widest(names, std::string("weighted avg").size());
  const auto row = [&](const std::string& name, const std::string& precision, const std::string& recall,
                       const std::string& f1, index_t support) {
    return concat(detail::on_the_right(name, first), " ", detail::on_the_right(precision, 10),
                  detail::on_the_right(recall, 10), detail::on_the_right(f1, 10),
                  detail::on_the_right(std::to_string(support), 10), "\n");
  };
  const auto row_of = [&](const std::string& name, const Scores& s) {
    return row(name, gpunet::detail::fixed_text(s.precision, 2), gpunet::detail::fixed_text(s.recall, 2),
               gpunet::detail::fixed_text(s.f1, 2), s.support);
  };
  std::string out = std::string(first + 1, ' ') + " precision    recall  f1-score   support\n\n";
  for (index_t k = 0; k < counts.classes(); ++k)
    out += row_of(names[static_cast<std::size_t>(k)], counts.scores(k));
  out += "\n" + row("accuracy", "", "", gpunet::detail::fixed_text(counts.total() > 0 ? counts.accuracy() : 0, 2),
                    counts.total());
  return out + row_of("macro avg", counts.macro_average()) + row_of("weighted avg", counts.weighted_average());
}

}  // namespace gpunet::train
