"""Prints classification.hpp: how scikit-learn scores a classifier: counts, precision, recall, F1 and top-k accuracy.

Usage: see regenerate.sh     (scikit-learn 1.9)
"""

import numpy
import sklearn
from sklearn.metrics import (accuracy_score, confusion_matrix, precision_recall_fscore_support,
                             top_k_accuracy_score)


def braces(values):
    return "{" + ", ".join(braces(v) if isinstance(v, list) else repr(v) for v in values) + "}"


def scores(labels, predictions, classes, average):
    """[precision, recall, f1] of each class, or their average."""
    result = precision_recall_fscore_support(labels, predictions, labels=range(classes), average=average,
                                             zero_division=0)
    return numpy.array(result[:3]).T.tolist()


print("""// Printed by classification.py with scikit-learn %s.
#pragma once

#include <vector>

namespace reference {

// A classifier whose sample n has the label (n n + n / 3) %% used, and whose output k for it is
// (7 n + (k + 1) (n %% 5 + 1)) %% 13, so that no two are equal; and what scikit-learn says of it.
struct Classification {
  int samples, classes, used;
  std::vector<long> counts;                      // [classes][classes]
  std::vector<std::vector<double>> classes_scores;  // precision, recall, F1 of each class
  std::vector<double> macro, weighted;           // their averages
  double accuracy;
  std::vector<double> top_k;  // for k = 1, 2, ...
};

inline const Classification classifications[] = {""" % sklearn.__version__)
for samples, classes, used in ((1, 2, 2), (5, 2, 1), (20, 3, 3), (50, 7, 4), (133, 12, 12)):
    n, k = numpy.arange(samples)[:, None], numpy.arange(classes)[None, :]
    labels = ((n * n + n // 3) % used)[:, 0]
    outputs = (7 * n + (k + 1) * (n % 5 + 1)) % 13
    predictions = outputs.argmax(1)
    counts = confusion_matrix(labels, predictions, labels=range(classes)).flatten().tolist()
    top_k = [] if classes == 2 else [
        float(top_k_accuracy_score(labels, outputs, k=k, labels=range(classes))) for k in range(1, classes)
    ]
    print("    {%d, %d, %d, %s, %s, %s, %s, %r, %s}," %
          (samples, classes, used, braces(counts), braces(scores(labels, predictions, classes, None)),
           braces(scores(labels, predictions, classes, "macro")),
           braces(scores(labels, predictions, classes, "weighted")), float(accuracy_score(labels, predictions)),
           braces(top_k)))
print("};\n\n}  // namespace reference")
