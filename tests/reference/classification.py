"""Prints classification.safetensors: how scikit-learn scores a classifier: counts, precision, recall, F1 and top-k accuracy.

Usage: see regenerate.sh     (scikit-learn 1.9, safetensors)

A classifier whose sample n has the label (n n + n / 3) % used, and whose output k for it is (7 n + (k + 1) (n % 5 + 1)) % 13, so that no
two are equal:
N.sizes      samples, classes, used
N.counts     [classes, classes]
N.scores     precision, recall and F1 of each class, and their macro and weighted averages
N.accuracy   and N.top_k for k = 1, 2, ...
"""

import numpy
import sklearn
from sklearn.metrics import (accuracy_score, confusion_matrix, precision_recall_fscore_support,
                             top_k_accuracy_score)

from common import write


def scores(labels, predictions, classes, average):
    """[precision, recall, f1] of each class, or their average."""
    result = precision_recall_fscore_support(labels, predictions, labels=range(classes), average=average,
                                             zero_division=0)
    return numpy.array(result[:3]).T.tolist()


results = {}
for i, (samples, classes, used) in enumerate(((1, 2, 2), (5, 2, 1), (20, 3, 3), (50, 7, 4), (133, 12, 12))):
    n, k = numpy.arange(samples)[:, None], numpy.arange(classes)[None, :]
    labels = ((n * n + n // 3) % used)[:, 0]
    outputs = (7 * n + (k + 1) * (n % 5 + 1)) % 13
    predictions = outputs.argmax(1)
    counts = confusion_matrix(labels, predictions, labels=range(classes))
    top_k = [] if classes == 2 else [
        float(top_k_accuracy_score(labels, outputs, k=k, labels=range(classes))) for k in range(1, classes)
    ]
    results[f"{i}.sizes"] = [samples, classes, used]
    results[f"{i}.counts"] = counts
    results[f"{i}.scores"] = [*scores(labels, predictions, classes, None), scores(labels, predictions, classes, "macro"),
                              scores(labels, predictions, classes, "weighted")]
    results[f"{i}.accuracy"] = [float(accuracy_score(labels, predictions))]
    results[f"{i}.top_k"] = numpy.array(top_k, dtype=float)
write(results, f"scikit-learn {sklearn.__version__}")
