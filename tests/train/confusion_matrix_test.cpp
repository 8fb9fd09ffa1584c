#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/train/confusion_matrix.hpp>

#include "support/errors.hpp"

using namespace gpunet;

namespace {

const train::ConfusionCounts counts(3, {9, 1, 0, 0, 6, 2, 1, 0, 11});

}  // namespace

TEST_CASE("a confusion matrix is a table of right-aligned numbers") {
  CHECK(to_string(counts) == "    0   1   2\n0   9   1   0\n1   0   6   2\n2   1   0  11");
  CHECK(to_string(counts, {"a", "bcde", "f"}) ==
        "         a  bcde     f\n   a     9     1     0\nbcde     0     6     2\n   f     1     0  "
        "  11");
}

TEST_CASE("the report is scikit-learn's") {
  // scikit-learn 1.9, classification_report of the 30 pairs that `counts` counts
  CHECK(classification_report(counts, {"setosa", "versicolor", "virginica"}) ==
        "              precision    recall  f1-score   support\n\n      setosa       0.90      "
        "0.90      0.90        "
        "10\n  versicolor       0.86      0.75      0.80         8\n   virginica       0.85      "
        "0.92      0.88      "
        "  "
        "12\n\n    accuracy                           0.87        30\n   macro avg       0.87      "
        "0.86      0.86    "
        "    "
        "30\nweighted avg       0.87      0.87      0.87        30\n");
  CHECK(classification_report(counts).find(
            "           0       0.90      0.90      0.90        10\n") != std::string::npos);
}

TEST_CASE("as many names as classes, or none") {
  CHECK(error_of([] { to_string(counts, {"a"}); }) ==
        "gpunet::train::to_string: 1 names for 3 classes (want one each, or none), omit them to "
        "use class indices");
  CHECK(error_of([] {
          classification_report(counts, {"a", "b"});
        }) ==
        "gpunet::train::classification_report: 2 names for 3 classes (want one each, or none), "
        "omit them to use "
        "class indices");
}

TEST_CASE("of nothing counted there is a report of zeros") {
  const std::string report = classification_report(train::ConfusionCounts(1, {0}));
  CHECK(report.find("accuracy                           0.00         0") != std::string::npos);
}

TEST_CASE("counts that are not classes x classes are refused") {
  CHECK(error_of([] { train::ConfusionCounts(0, {}); }) ==
        "gpunet::train::ConfusionCounts: 0 counts of 0 classes (want 1 class or more, and a count "
        "for each pair of "
        "them)");
  CHECK(error_of([] {
          train::ConfusionCounts(2, {1, 2});
        }) ==
        "gpunet::train::ConfusionCounts: 2 counts of 2 classes (want 1 class or more, and a count "
        "for each pair of "
        "them)");
}
