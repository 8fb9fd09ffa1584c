// Metrics of a classifier: accuracy and top-k accuracy.
#pragma once

#include <limits>
#include <string_view>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/state.hpp>
#include <gpunet/ops/argmax.hpp>
#include <gpunet/ops/cross_entropy/cross_entropy.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/tensor/buffer.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::train {

namespace detail {

// A compile error for outputs that are not a model's.
template <class Output>
struct RequireOutput {
  static_assert(
      requires(const Output& outputs) { outputs.features(); },
      "gpunet::train: a metric takes what a model returns (it computes the classes itself), write "
      "update(net(inputs), labels)");
};

// Throws Error unless a batch matches the metric called `name`: its device, number of classes and labels. On Host, also
// if a label is not a class; on Cuda labels are not read.
template <class D, class Output>
void check_batch(std::string_view name, D& device, index_t classes, const Output& outputs,
                 const View<const label_t, D>& labels) {
  require(&outputs.device() == &device, "gpunet::train::", name,
          ": the outputs are on another device object, use the model's");
  require(outputs.features() == classes, "gpunet::train::", name, ": outputs of ", outputs.features(),
          " classes (want ", classes, "), make it for as many classes as the network has outputs");
  require(outputs.batch() == labels.numel(), "gpunet::train::", name, ": ", labels.numel(),
          " labels for a batch of ", outputs.batch());
  require(labels.sizes().rank() == 1, "gpunet::train::", name, ": labels of shape ", to_string(labels.sizes()),
          " (want [", outputs.batch(), "], a class for each sample), give labels.view().flatten()");
  check_labels(concat("train::", name), device, labels.data(), labels.numel(), classes);
}

// The predicted class of each sample of a batch. The memory is reused for the next batch.
template <class D>
class Predictions {
 public:
  explicit Predictions(D& device) : device_(device) {}

  // Returns the index of the largest output of each sample, [batch]; valid until the next call.
  template <class Output>
  const label_t* of(const Output& outputs) {
    if (predictions_.size() < outputs.batch()) predictions_.reset(device_, outputs.batch());
    using T = typename Output::value_type;
    outputs.each_slice([&](const Slice& slice, index_t first, const T* x) {
      for_each(device_, slice.count, ArgMax<T>{slice, outputs.features(), x, predictions_.data() + first});
    });
    return predictions_.data();
  }

 private:
  D& device_;
  Buffer<label_t, D> predictions_;
};

}  // namespace detail

// The fraction of correct predictions, in total and per class, counted on the device:
//   accuracy.update(net(inputs), labels);
// A label that is not a class is an Error on Host. On Cuda, where labels are not read back, the accuracy is NaN, as is
// the loss.
template <class D>
class Accuracy {
 public:
  // Throws Error unless there is at least one class.
  Accuracy(D& device, index_t classes)
      : device_(device), counts_(device, 2 * checked(classes)), predictions_(device) {
    reset();
  }

  // Counts a batch: outputs [batch, classes], labels [batch]. Does not wait for the device.
  template <class Output>
  void update(const Output& outputs, const ViewArgument<label_t, D>& labels) {
    (void)detail::RequireOutput<Output>{};
    detail::check_batch("Accuracy", device_, counts_.size() / 2, outputs, labels);
    sum_each(device_, counts_.size(), labels.numel(),
             CountClass{predictions_.of(outputs), labels.data(), counts_.data()});
    samples_ += labels.numel();
  }

  // Sets all counts to 0.
  void reset() {
    fill(device_, counts_.size(), index_t{0}, counts_.data());
    samples_ = 0;
  }

  // The counts since the last reset.
  struct Result {
    // Of one class: the samples with this label, and those of them that were predicted correctly.
    struct Class {
      index_t total, correct;
      double accuracy() const { return ratio(correct, total); }
    };
    std::vector<Class> classes;
    index_t no_class = 0;  // samples whose label is not a class; in no other count

    index_t total() const { return sum(&Class::total); }
    index_t correct() const { return sum(&Class::correct); }
    // Returns the accuracy from 0 to 1; NaN if there are no samples, or if a label was not a class.
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

  // Returns the counts. Waits for the device.
  Result result() const {
    std::vector<index_t> counts(static_cast<std::size_t>(counts_.size()));
    device_.download(counts.data(), counts_.data(), counts_.bytes());
    Result result;
    for (std::size_t i = 0; i < counts.size(); i += 2)
      result.classes.push_back({counts[i], counts[i + 1]});
    result.no_class = samples_ - result.total();
    return result;
  }

  // Writes or reads the counts, for a checkpoint.
  void visit_state(StateVisitor& state) {
    state.counts("counts", {counts_.size()}, device_, counts_.data());
    state.count("samples", samples_);
  }

  // Adds the counts of all ranks of a distributed::Communicator, on all of them; reset() before the next batch.
  template <class Communicator>
  void all_reduce(Communicator& comm) {
    comm.all_reduce(device_, View<index_t, D>(counts_.data(), {counts_.size()}));
    samples_ = comm.all_reduce(samples_);
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

// correct += samples for which fewer than k classes rank before the label's class, no_class += samples whose label is
// not a class. Classes rank by output; ties: the first; NaN before all, as in ArgMax. Two sums.
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

// The fraction of samples whose class is among the k largest outputs, counted on the device:
//   train::TopK top5(device, 5);
//   top5.update(net(inputs), labels);
// k = 1 gives the accuracy. A label that is not a class is an Error on Host. On Cuda the accuracy is NaN, as is the
// loss.
template <class D>
class TopK {
 public:
  // Throws Error if k is less than 1.
  TopK(D& device, index_t k) : device_(device), k_(k), counts_(device, 2) {
    require(k >= 1, "gpunet::train::TopK: k = ", k, " (want 1 or more)");
    reset();
  }

  // Counts a batch: outputs [batch, classes], labels [batch]. Does not wait for the device.
  template <class Output>
  void update(const Output& outputs, const ViewArgument<label_t, D>& labels) {
    (void)detail::RequireOutput<Output>{};
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

  // Sets all counts to 0.
  void reset() {
    fill(device_, 2, index_t{0}, counts_.data());
    total_ = 0;
  }

  // The counts since the last reset.
  struct Result {
    index_t total, correct;
    index_t no_class = 0;  // samples whose label is not a class
    // Returns the accuracy from 0 to 1; NaN if there are no samples, or if a label was not a class.
    double accuracy() const {
      return no_class > 0 ? std::numeric_limits<double>::quiet_NaN()
                          : static_cast<double>(correct) / static_cast<double>(total);
    }
  };
  // Returns the counts. Waits for the device.
  Result result() const {
    index_t counts[2];
    device_.download(counts, counts_.data(), counts_.bytes());
    return {total_, counts[0], counts[1]};
  }

  // Writes or reads the counts, for a checkpoint.
  void visit_state(StateVisitor& state) {
    state.counts("counts", {counts_.size()}, device_, counts_.data());
    state.count("samples", total_);
  }

  // As Accuracy::all_reduce().
  template <class Communicator>
  void all_reduce(Communicator& comm) {
    comm.all_reduce(device_, View<index_t, D>(counts_.data(), {counts_.size()}));
    total_ = comm.all_reduce(total_);
  }

 private:
  D& device_;
  index_t k_;
  Buffer<index_t, D> counts_;  // correct, no class
  index_t total_ = 0;
};

}  // namespace gpunet::train

GPUNET_EXTERN_SUM(gpunet::train::CountTopK<float>);
GPUNET_EXTERN_SUM(gpunet::train::CountTopK<double>);
