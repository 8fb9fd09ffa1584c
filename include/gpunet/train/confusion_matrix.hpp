// The confusion matrix of a classifier, the scores of its classes, and both as text.
#pragma once

#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/train/metrics.hpp>

namespace gpunet::train {

// counts[k][p] += labels of class k for which p was predicted, counts[classes][0] += ignored
// labels, which are in no other count. One index is one row, so no atomics are needed.
struct CountPairs {
  static constexpr bool one_copy = true;
  index_t classes, samples;
  const label_t* predictions;
  const label_t* labels;
  index_t* counts;  // [classes][classes], ignored
  index_t ignored;

  GPUNET_FN void operator()(index_t k) const {
    const bool counts_ignored = k == classes;
    for (index_t n = 0; n < samples; ++n)
      if (const bool is_ignored = labels[n] == ignored; is_ignored && counts_ignored)
        ++counts[classes * classes];
      else if (!is_ignored && !counts_ignored && labels[n] == k)
        ++counts[k * classes + predictions[n]];
  }
};

// The scores of one class, or an average over classes, as scikit-learn's
// precision_recall_fscore_support(zero_division=0): 0 / 0 is 0.
struct Scores {
  double precision = 0;  // correct / samples predicted as this class
  double recall = 0;     // correct / samples of this class
  double f1 = 0;         // 2 precision recall / (precision + recall)
  index_t support = 0;   // samples of this class
};

// The counts of a ConfusionMatrix, as scikit-learn's confusion_matrix: counts(k, p) samples of
// class k were predicted as p. Samples whose label is not a class are only in no_class(), those to
// ignore in ignored().
class ConfusionCounts {
 public:
  // Throws Error unless there are classes * classes counts.
  ConfusionCounts(index_t classes, std::vector<index_t> counts, index_t no_class = 0,
                  index_t ignored = 0)
      : classes_(classes), counts_(std::move(counts)), no_class_(no_class), ignored_(ignored) {
    const auto size = static_cast<index_t>(counts_.size());
    require(classes >= 1 && size % classes == 0 && size / classes == classes,
            "gpunet::train::ConfusionCounts: ", size, " counts of ", classes,
            " classes (want 1 class or more, and a count for each pair of them)");
  }

  index_t classes() const { return classes_; }
  // Returns the number of samples of class `label` that were predicted as `predicted`. Throws Error
  // for an unknown class.
  index_t operator()(index_t label, index_t predicted) const;

  // Return the number of samples that count, and the number predicted correctly.
  index_t total() const;
  index_t correct() const;
  index_t no_class() const { return no_class_; }
  index_t ignored() const { return ignored_; }
  // Returns the accuracy from 0 to 1; NaN if no sample counts, or if a label was not a class.
  double accuracy() const;

  // Returns the scores of class k.
  Scores scores(index_t k) const;
  // Returns the mean over all classes with equal weights, including classes without samples.
  Scores macro_average() const;
  // Returns the mean over all classes, weighted by their numbers of samples.
  Scores weighted_average() const;

 private:
  index_t at(index_t label, index_t predicted) const {
    return counts_[static_cast<std::size_t>(label * classes_ + predicted)];
  }
  index_t support(index_t k) const;
  Scores average(bool by_support) const;

  index_t classes_;
  std::vector<index_t> counts_;  // [classes][classes]
  index_t no_class_;             // samples whose label is not a class
  index_t ignored_;              // samples that do not count
};

// Returns a table with a row per true class and a column per predicted class. `names`: one per
// class, or none to print class indices. Throws Error for another number of names.
std::string to_string(const ConfusionCounts& counts, std::vector<std::string> names = {});

// Returns precision, recall and F1 of every class and their averages, in the format of
// scikit-learn's classification_report. `names` as in to_string.
std::string classification_report(const ConfusionCounts& counts,
                                  std::vector<std::string> names = {});

// Counts the confusion matrix on the device:
//   confusion.update(net(inputs), labels);   // for each batch
//   train::ConfusionCounts counts = confusion.result();
// A label that is not a class and not ignored is an Error on Host. On Cuda, where labels are not
// read back, the accuracy is NaN, as is the loss.
template <class D>
class ConfusionMatrix {
 public:
  // Throws Error unless there are 1 to 2^24 classes.
  ConfusionMatrix(D& device, index_t classes, MetricOptions options = {})
      : device_(device),
        classes_(checked(classes)),
        options_(options),
        counts_(device, classes * classes + 1),
        predictions_(device) {
    reset();
  }

  // Counts a batch, as Accuracy::update().
  template <class Output>
  void update(const Output& outputs, const ViewArgument<label_t, D>& labels,
              std::optional<index_t> ignored = {}) {
    (void)detail::RequireOutput<Output>{};
    if (options_.ignore_index) ignored = options_.ignore_index;
    detail::check_batch("ConfusionMatrix", device_, classes_, outputs, labels, ignored);
    for_each(device_, ignored ? classes_ + 1 : classes_,
             CountPairs{classes_, labels.numel(), predictions_.of(outputs, classes_), labels.data(),
                        counts_.data(), ignored.value_or(ignore_nothing)});
    samples_ += labels.numel();
  }

  // Sets all counts to 0.
  void reset() {
    fill(device_, counts_.size(), index_t{0}, counts_.data());
    samples_ = 0;
  }

  // Returns the counts since the last reset. Waits for the device.
  ConfusionCounts result() const {
    std::vector<index_t> counts(static_cast<std::size_t>(counts_.size()));
    device_.download(counts.data(), counts_.data(), counts_.bytes());
    const index_t no_class = samples_ - std::accumulate(counts.begin(), counts.end(), index_t{0});
    const index_t ignored = counts.back();
    counts.pop_back();
    return {classes_, std::move(counts), no_class, ignored};
  }

  // Writes or reads the counts, for a checkpoint.
  void visit_state(StateVisitor& state) {
    detail::visit_counts(state, {classes_, classes_}, device_, counts_.data());
    state.count("samples", samples_);
  }

  // As Accuracy::all_reduce().
  template <class Communicator>
  void all_reduce(Communicator& comm) {
    comm.all_reduce(device_, View<index_t, D>(counts_.data(), {counts_.size()}));
    samples_ = comm.all_reduce(samples_);
  }

 private:
  static index_t checked(index_t classes) {
    constexpr index_t most = index_t{1} << 24;  // classes * classes * 8 bytes must not overflow
    require(classes >= 1 && classes <= most, "gpunet::train::ConfusionMatrix: ", classes,
            " classes (want 1 to ", most, ")");
    return classes;
  }

  D& device_;
  index_t classes_;
  MetricOptions options_;
  Buffer<index_t, D> counts_;  // [classes][classes], ignored
  detail::Predictions<D> predictions_;
  index_t samples_ = 0;
};

}  // namespace gpunet::train

GPUNET_EXTERN_LOOP(gpunet::train::CountPairs);

#if !GPUNET_COMPILED
#include <gpunet/train/confusion_matrix.ipp>
#endif
