// How often a classifier is right.
#pragma once

#include <limits>
#include <vector>

#include <gpunet/train/predictions.hpp>

namespace gpunet::train {

// Right answers over all samples and per class, counted on the device: accuracy.update(net(inputs), labels). A label that is
// no class is an Error on Host; on Cuda, where no label is read, the accuracy is NaN, as the loss is.
template <class D>
class Accuracy {
 public:
  Accuracy(D& device, index_t classes)
      : device_(device), counts_(device, 2 * checked(classes)), predictions_(device) {
    reset();
  }

  // Counts a batch: outputs [batch, classes], labels [batch].
  template <class Output>
  void update(const Output& outputs, const ViewArgument<label_t, D>& labels) {
    detail::check_batch("Accuracy", device_, counts_.size() / 2, outputs, labels);
    sum_each(device_, counts_.size(), labels.numel(),
             CountClass{predictions_.of(outputs), labels.data(), counts_.data()});
    samples_ += labels.numel();
  }

  // Forgets what was counted.
  void reset() {
    fill(device_, counts_.size(), index_t{0}, counts_.data());
    samples_ = 0;
  }

  // What was counted so far.
  struct Result {
    // Of one class: all samples with this label, and those that were taken for it.
    struct Class {
      index_t total, correct;
      double accuracy() const { return ratio(correct, total); }
    };
    std::vector<Class> classes;
    index_t no_class = 0;  // samples whose label is no class, which none of these counts

    index_t total() const { return sum(&Class::total); }
    index_t correct() const { return sum(&Class::correct); }
    // From 0 to 1; NaN when nothing was counted, or a label was no class.
    double accuracy() const { return no_class > 0 ? ratio(0, 0) : ratio(correct(), total()); }

   private:
    static double ratio(index_t part, index_t whole) {
      return static_cast<double>(part) / static_cast<double>(whole);
    }
    index_t sum(index_t Class::*count) const {
      index_t all = 0;
      for (const Class& c : classes)
        all += c.*count;
      return all;
    }
  };

  // Waits for the device.
  Result result() const {
    std::vector<index_t> counts(static_cast<std::size_t>(counts_.size()));
    device_.download(counts.data(), counts_.data(), counts_.bytes());
    Result result;
    for (std::size_t i = 0; i < counts.size(); i += 2)
      result.classes.push_back({counts[i], counts[i + 1]});
    result.no_class = samples_ - result.total();
    return result;
  }

 private:
  static index_t checked(index_t classes) {
    constexpr index_t most = std::numeric_limits<label_t>::max();
    require(0 < classes && classes <= most, "gpunet::train::Accuracy: ", classes, " classes (want 1 to ", most,
            ")");
    return classes;
  }

  D& device_;
  Buffer<index_t, D> counts_;  // [classes][total, correct]
  detail::Predictions<D> predictions_;
  index_t samples_ = 0;
};

}  // namespace gpunet::train
