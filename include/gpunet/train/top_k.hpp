// How often the right class is among the k most likely ones.
#pragma once

#include <limits>

#include <gpunet/train/predictions.hpp>

namespace gpunet::train {

// correct += samples for which fewer than k classes come before the right one: those with a larger output, of equal
// ones the first, a NaN before all, as ArgMax has it; no_class += samples whose label is no class. Two sums.
template <class T>
struct CountTopK {
  Slice slice;
  index_t classes, k;
  const T* x;
  const label_t* labels;  // [count]
  index_t* counts;        // [correct, no_class]

  GPUNET_FN index_t operator()(index_t i, index_t n) const {
    const index_t label = labels[n];
    const bool no_class = label < 0 || label >= classes;
    if (i == 1 || no_class) return i == 1 && no_class ? 1 : 0;
    const index_t first = slice.offset(n, 0, classes);
    const T own = x[first + label * slice.inner];
    index_t before = 0;
    for (index_t j = 0; j < classes; ++j) {
      const T other = x[first + j * slice.inner];
      const bool same = own != own ? other != other : other == own;
      before += same ? j < label : own == own && !(other <= own);
    }
    return before < k ? 1 : 0;
  }
  GPUNET_FN void store(index_t i, index_t sum) const { counts[i] += sum; }
};

// Counts on the device how often the right class is among the k largest outputs: TopK top5(device, 5);
// top5.update(net(inputs), labels). With k = 1 it is Accuracy. A label that is no class is an Error on Host; on Cuda, where
// no label is read, the accuracy is NaN, as the loss is.
template <class D>
class TopK {
 public:
  TopK(D& device, index_t k) : device_(device), k_(k), counts_(device, 2) {
    require(k >= 1, "gpunet::train::TopK: k = ", k, " (want 1 or more)");
    reset();
  }

  // Counts a batch: outputs [batch, classes], labels [batch]. Waits for nothing.
  template <class Output>
  void update(const Output& outputs, const ViewArgument<label_t, D>& labels) {
    require(outputs.features() >= k_, "gpunet::train::TopK: the ", k_, " most likely of ", outputs.features(),
            " classes (want k of 1 to ", outputs.features(), ")");
    detail::check_batch("TopK", device_, outputs.features(), outputs, labels);
    using T = typename Output::value_type;
    outputs.each_slice([&](const Slice& slice, index_t first, const T* x) {
      sum_each(device_, 2, slice.count,
               CountTopK<T>{slice, outputs.features(), k_, x, labels.data() + first, counts_.data()});
    });
    total_ += labels.numel();
  }

  // Forgets what was counted.
  void reset() {
    fill(device_, 2, index_t{0}, counts_.data());
    total_ = 0;
  }

  // What was counted so far.
  struct Result {
    index_t total, correct;
    index_t no_class = 0;  // samples whose label is no class
    // From 0 to 1; NaN when nothing was counted, or a label was no class.
    double accuracy() const {
      return no_class > 0 ? std::numeric_limits<double>::quiet_NaN()
                          : static_cast<double>(correct) / static_cast<double>(total);
    }
  };
  // Waits for the device.
  Result result() const {
    index_t counts[2];
    device_.download(counts, counts_.data(), counts_.bytes());
    return {total_, counts[0], counts[1]};
  }

 private:
  D& device_;
  index_t k_;
  Buffer<index_t, D> counts_;  // correct, no class
  index_t total_ = 0;
};

}  // namespace gpunet::train
