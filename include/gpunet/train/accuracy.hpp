// How often a classifier is right.
#pragma once

#include <limits>
#include <vector>

#include <gpunet/train/predictions.hpp>

namespace gpunet::train {

// Right answers over all samples and per class, counted on the device: accuracy.update(net(inputs), labels).
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
    detail::check_batch("Accuracy", device_, counts_.size() / 2, outputs, labels.numel());
    sum_each(device_, counts_.size(), labels.numel(),
             CountClass{predictions_.of(outputs), labels.data(), counts_.data()});
  }

  void reset() { fill(device_, counts_.size(), index_t{0}, counts_.data()); }

  // What was counted so far.
  struct Result {
    // Of one class: all samples with this label, and those that were taken for it.
    struct Class {
      index_t total, correct;
      double accuracy() const { return ratio(correct, total); }
    };
    std::vector<Class> classes;

    index_t total() const { return sum(&Class::total); }
    index_t correct() const { return sum(&Class::correct); }
    // From 0 to 1; NaN when nothing was counted.
    double accuracy() const { return ratio(correct(), total()); }

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
};

}  // namespace gpunet::train
