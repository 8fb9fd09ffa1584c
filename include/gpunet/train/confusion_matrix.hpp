// Which classes a classifier takes for which.
#pragma once

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include <gpunet/train/predictions.hpp>

namespace gpunet::train {

// counts[k][p] += samples of class k for which p was predicted. One index = one class k: its row is nobody else's, so
// the counts need no atomics.
struct CountPairs {
  static constexpr bool one_copy = true;
  index_t classes, samples;
  const label_t* predictions;
  const label_t* labels;
  index_t* counts;  // [classes][classes]

  GPUNET_FN void operator()(index_t k) const {
    for (index_t n = 0; n < samples; ++n)
      if (labels[n] == k) ++counts[k * classes + predictions[n]];
  }
};

// Scores of one class, or their average over classes; as in scikit-learn's precision_recall_fscore_support with
// zero_division=0: what would be 0 / 0 is 0.
struct Scores {
  double precision = 0;  // of the samples that were taken for this class, how many are of it
  double recall = 0;     // of the samples of this class, how many were found
  double f1 = 0;         // the harmonic mean of both: 2 right / (samples of this class + samples taken for it)
  index_t support = 0;   // samples of this class
};

// What a ConfusionMatrix counted, as scikit-learn's confusion_matrix: (k, p) samples of class k for which p was
// predicted. Samples whose label is no class are in none of these counts.
class ConfusionCounts {
 public:
  ConfusionCounts(index_t classes, std::vector<index_t> counts, index_t no_class = 0)
      : classes_(classes), counts_(std::move(counts)), no_class_(no_class) {}

  index_t classes() const { return classes_; }
  // Throws Error for a class that does not exist.
  index_t operator()(index_t label, index_t predicted) const;

  // Samples that were counted, and those of them that were classified correctly.
  index_t total() const;
  index_t correct() const;
  index_t no_class() const { return no_class_; }
  // From 0 to 1; NaN if nothing was counted, or if a label was not a class.
  double accuracy() const;

  // Of class k.
  Scores scores(index_t k) const;
  // The mean over all classes with equal weights, including those that never occur.
  Scores macro_average() const;
  // The mean over all classes, weighted by their numbers of samples.
  Scores weighted_average() const;

 private:
  index_t at(index_t label, index_t predicted) const {
    return counts_[static_cast<std::size_t>(label * classes_ + predicted)];
  }
  index_t support(index_t k) const;
  Scores average(bool by_support) const;

  index_t classes_;
  std::vector<index_t> counts_;  // [classes][classes]
  index_t no_class_;             // samples whose label is no class
};

// Counts on the device how often each class is taken for each: confusion.update(net(inputs), labels), in the end
// confusion.result(). A label that is no class is an Error on Host; on Cuda, where no label is read, the accuracy is NaN, as
// the loss is.
template <class D>
class ConfusionMatrix {
 public:
  ConfusionMatrix(D& device, index_t classes)
      : device_(device), classes_(checked(classes)), counts_(device, classes * classes), predictions_(device) {
    reset();
  }

  // Counts a batch: outputs [batch, classes], labels [batch]. Waits for nothing.
  template <class Output>
  void update(const Output& outputs, const ViewArgument<label_t, D>& labels) {
    detail::check_batch("ConfusionMatrix", device_, classes_, outputs, labels);
    for_each(device_, classes_,
             CountPairs{classes_, labels.numel(), predictions_.of(outputs), labels.data(), counts_.data()});
    samples_ += labels.numel();
  }

  // Forgets what was counted.
  void reset() {
    fill(device_, counts_.size(), index_t{0}, counts_.data());
    samples_ = 0;
  }

  // What was counted so far. Waits for the device.
  ConfusionCounts result() const {
    std::vector<index_t> counts(static_cast<std::size_t>(counts_.size()));
    device_.download(counts.data(), counts_.data(), counts_.bytes());
    const index_t counted = std::accumulate(counts.begin(), counts.end(), index_t{0});
    return {classes_, std::move(counts), samples_ - counted};
  }

 private:
  static index_t checked(index_t classes) {
    constexpr index_t most = index_t{1} << 24;  // their square is still a number of bytes
    require(classes >= 1 && classes <= most, "gpunet::train::ConfusionMatrix: ", classes, " classes (want 1 to ",
            most, ")");
    return classes;
  }

  D& device_;
  index_t classes_;
  Buffer<index_t, D> counts_;  // [classes][classes]
  detail::Predictions<D> predictions_;
  index_t samples_ = 0;
};

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/confusion_matrix.ipp>
#endif
