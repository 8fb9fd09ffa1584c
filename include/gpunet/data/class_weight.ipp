// Bodies of class_weight.hpp.
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/data/class_weight.hpp>

namespace gpunet::data {

GPUNET_INLINE std::vector<double> compute_class_weight(const std::vector<label_t>& labels,
                                                       index_t classes,
                                                       std::optional<index_t> ignore_index) {
  constexpr std::string_view where = "gpunet::data::compute_class_weight: ";
  require(classes >= 1 && classes <= std::ssize(labels), where, classes, " classes of ",
          labels.size(), " samples (want 1 class or more, and a sample of each)");
  std::vector<index_t> counts(static_cast<std::size_t>(classes));
  index_t counted = 0;
  for (const label_t label : labels) {
    if (label == ignore_index) continue;
    ++counted;
    require(0 <= label && label < classes, where, "label ", label, " of ", classes,
            " classes (want 0 to ", classes - 1,
            "), give the number of classes, as the network's outputs");
    ++counts[static_cast<std::size_t>(label)];
  }
  std::vector<double> weights;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    require(counts[k] > 0, where, "class ", k,
            " has no samples (no weight makes it count as the others), give fewer classes or "
            "samples of it");
    weights.push_back(static_cast<double>(counted) /
                      (static_cast<double>(classes) * static_cast<double>(counts[k])));
  }
  return weights;
}

}  // namespace gpunet::data
