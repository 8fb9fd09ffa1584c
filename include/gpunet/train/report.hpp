// Confusion matrices as text.
#pragma once

#include <string>
#include <vector>

#include <gpunet/train/confusion_matrix.hpp>

namespace gpunet::train {

// A table: a row for each true class, a column for each predicted class. `names`: one for each class, or none to print
// numbers. Throws Error for another number of names.
std::string to_string(const ConfusionCounts& counts, std::vector<std::string> names = {});

// Precision, recall and F1 of every class and their averages, in the format of scikit-learn's classification_report.
// `names` as above.
std::string classification_report(const ConfusionCounts& counts, std::vector<std::string> names = {});

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/report.ipp>
#endif
