// Metrics of a classifier: accuracy and top-k accuracy.
#pragma once

#include <limits>
#include <optional>
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

// Whether a batch has a label for each place of the outputs: outputs [batch, classes, ...], labels
// [batch, ...].
template <class Output, class Labels>
bool has_places(const Output& outputs, const Labels& labels) {
  return labels.sizes().rank() > 1 && outputs.sizes().rank() > 2;
}

// Returns the number of classes; for labels [batch] all features are classes.
template <class Output, class Labels>
index_t classes_of(const Output& outputs, const Labels& labels) {
  return has_places(outputs, labels) ? outputs.sizes()[1] : outputs.features();
}

// Throws Error unless a batch matches the metric called `name`: its device, number of classes and
// labels. On Host, also if a label is not a class and not ignored; on Cuda labels are not read.
template <class D, class Output>
void check_batch(std::string_view name, D& device, index_t classes, const Output& outputs,
                 const View<const label_t, D>& labels, std::optional<index_t> ignored) {
  require(&outputs.device() == &device, "gpunet::train::", name,
          ": the outputs are on another device object, use the model's");
  const index_t found = classes_of(outputs, labels);
  require(found == classes, "gpunet::train::", name, ": outputs of ", found, " classes (want ",
          classes, "), make it for as many classes as the network has outputs");
  if (!has_places(outputs, labels)) {
    require(outputs.batch() == labels.numel(), "gpunet::train::", name, ": ", labels.numel(),
            " labels for a batch of ", outputs.batch());
    require(labels.sizes().rank() == 1, "gpunet::train::", name, ": labels of shape ",
            to_string(labels.sizes()), " (want [", outputs.batch(),
            "], a class for each sample), give labels.view().flatten()");
  } else {
    const Sizes wanted = outputs.sizes().tail().tail().with_front(outputs.batch());
    require(labels.sizes() == wanted, "gpunet::train::", name, ": labels of shape ",
            to_string(labels.sizes()), " for outputs of shape ", to_string(outputs.sizes()),
            " (want ", to_string(wanted), "), give a class for each place");
  }
  check_labels(concat("train::", name), device, labels.data(), labels.numel(), classes, ignored);
}

// Writes or reads counts and behind them the number of ignored labels, which older files lack.
template <class D>
void visit_counts(StateVisitor& state, const Sizes& sizes, D& device, index_t* counts) {
  state.counts("counts", sizes, device, counts);
  if (state.has("ignored", true)) state.counts("ignored", {}, device, counts + sizes.numel());
}

// The predicted class of each label of a batch. The memory is reused for the next batch.
template <class D>
class Predictions {
 public:
  explicit Predictions(D& device) : device_(device) {}

  // Returns the class of the largest output at each place of each sample, [batch, places]; valid
  // until the next call.
  template <class Output>
  const label_t* of(const Output& outputs, index_t classes) {
    const index_t places = outputs.features() / classes, size = outputs.batch() * places;
    if (predictions_.size() < size) predictions_.reset(device_, size);
    using T = typename Output::value_type;
    outputs.each_slice([&](const Slice& slice, index_t first, const T* x) {
      for_each(device_, slice.count * places,
               ArgMax<T>{slice, classes, x, predictions_.data() + first * places, places});
    });
    return predictions_.data();
  }

 private:
  D& device_;
  Buffer<label_t, D> predictions_;
};

}  // namespace detail

// Options of Accuracy, ConfusionMatrix and TopK.
struct MetricOptions {
  // The label that does not count, as in torchmetrics; in evaluate() and fit() by default the label
  // that the loss ignores.
  std::optional<index_t> ignore_index = {};
};

// The fraction of correct predictions, in total and per class, counted on the device:
//   accuracy.update(net(inputs), labels);
// A label that is not a class and not ignored is an Error on Host. On Cuda, where labels are not
// read back, the accuracy is NaN, as is the loss.
template <class D>
class Accuracy {
 public:
  // Throws Error unless there is at least one class.
  Accuracy(D& device, index_t classes, MetricOptions options = {})
      : device_(device),
        classes_(checked(classes)),
        options_(options),
        counts_(device, 2 * classes + 1),
        predictions_(device) {
    reset();
  }

  // Counts a batch: outputs [batch, classes], labels [batch]; or [batch, classes, ...] and [batch,
  // ...], such as images. `ignored`: the label that does not count, unless the options have one.
  // Does not wait for the device.
  template <class Output>
  void update(const Output& outputs, const ViewArgument<label_t, D>& labels,
              std::optional<index_t> ignored = {}) {
    (void)detail::RequireOutput<Output>{};
    if (options_.ignore_index) ignored = options_.ignore_index;
    detail::check_batch("Accuracy", device_, classes_, outputs, labels, ignored);
    sum_each(device_, counts_.size(), labels.numel(),
             CountClass{predictions_.of(outputs, classes_), labels.data(), counts_.data(), classes_,
                        ignored.value_or(ignore_nothing)});
    samples_ += labels.numel();
  }

  // Sets all counts to 0.
  void reset() {
    fill(device_, counts_.size(), index_t{0}, counts_.data());
    samples_ = 0;
  }

  // The counts since the last reset.
  struct Result {
    // Of one class: its labels, and the number predicted correctly.
    struct Class {
      index_t total, correct;
      double accuracy() const { return ratio(correct, total); }
    };
    std::vector<Class> classes;
    index_t no_class = 0;  // labels that are not a class; in no other count
    index_t ignored = 0;   // labels that do not count

    // Return the number of labels that count, and the number predicted correctly.
    index_t total() const { return sum(&Class::total); }
    index_t correct() const { return sum(&Class::correct); }
    // Returns the accuracy from 0 to 1; NaN if no label counts, or if a label was not a class.
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

  // Returns the number of ignored labels, on the device.
  const index_t* ignored() const { return counts_.data() + 2 * classes_; }
  // Returns the counts. Waits for the device.
  Result result() const {
    std::vector<index_t> counts(static_cast<std::size_t>(counts_.size()));
    device_.download(counts.data(), counts_.data(), counts_.bytes());
    Result result;
    for (std::size_t i = 0; i + 1 < counts.size(); i += 2)
      result.classes.push_back({counts[i], counts[i + 1]});
    result.ignored = counts.back();
    result.no_class = samples_ - result.total() - result.ignored;
    return result;
  }

  // Writes or reads the counts, for a checkpoint.
  void visit_state(StateVisitor& state) {
    detail::visit_counts(state, {2 * classes_}, device_, counts_.data());
    state.count("samples", samples_);
  }

  // Adds the counts of all ranks of a distributed::Communicator, on all of them; reset() before the
  // next batch.
  template <class Communicator>
  void all_reduce(Communicator& comm) {
    comm.all_reduce(device_, View<index_t, D>(counts_.data(), {counts_.size()}));
    samples_ = comm.all_reduce(samples_);
  }

 private:
  static index_t checked(index_t classes) {
    constexpr index_t most = std::numeric_limits<label_t>::max();
    require(0 < classes && classes <= most, "gpunet::train::Accuracy: ", classes,
            " classes (want 1 to ", most, ")");
    return classes;
  }

  D& device_;
  index_t classes_;
  MetricOptions options_;
  Buffer<index_t, D> counts_;  // [classes][total, correct], ignored
  detail::Predictions<D> predictions_;
  index_t samples_ = 0;
};

// Three sums:
//   correct    labels for which fewer than k classes rank before the label's class
//   no_class   labels that are not a class
//   ignored    labels to ignore
// Classes rank by output; ties: the first; NaN before all, as in ArgMax.
template <class T>
struct CountTopK {
  Slice slice;
  index_t classes, k;
  const T* x;
  const label_t* labels;  // [count, places]
  index_t* counts;        // [correct, no_class, ignored]
  index_t places, ignored;

  GPUNET_FN index_t operator()(index_t i, index_t n) const {
    const index_t label = labels[n];
    const index_t kind = label == ignored ? 2 : label < 0 || label >= classes ? 1 : 0;
    if (i != kind) return 0;
    if (kind != 0) return 1;
    const index_t first = slice.offset(n / places, n % places, classes * places),
                  step = places * slice.inner;
    const T own = x[first + label * step];
    index_t before = 0;
    for (index_t j = 0; j < classes; ++j) {
      const T other = x[first + j * step];
      const bool same = own != own ? other != other : other == own;
      before += same ? j < label : own == own && !(other <= own);
    }
    return before < k ? 1 : 0;
  }
  GPUNET_FN void store(index_t i, index_t sum) const { counts[i] += sum; }
};

// The fraction of labels that are among the k largest outputs, counted on the device:
//   train::TopK top5(device, 5);
//   top5.update(net(inputs), labels);
// k = 1 gives the accuracy. A label that is not a class and not ignored is an Error on Host. On
// Cuda the accuracy is NaN, as is the loss.
template <class D>
class TopK {
 public:
  // Throws Error if k is less than 1.
  TopK(D& device, index_t k, MetricOptions options = {})
      : device_(device), k_(k), options_(options), counts_(device, 3) {
    require(k >= 1, "gpunet::train::TopK: k = ", k, " (want 1 or more)");
    reset();
  }

  // Counts a batch, as Accuracy::update().
  template <class Output>
  void update(const Output& outputs, const ViewArgument<label_t, D>& labels,
              std::optional<index_t> ignored = {}) {
    (void)detail::RequireOutput<Output>{};
    if (options_.ignore_index) ignored = options_.ignore_index;
    const index_t classes = detail::classes_of(outputs, labels),
                  places = outputs.features() / classes;
    require(classes >= k_, "gpunet::train::TopK: the ", k_, " most likely of ", classes,
            " classes (want k of 1 to ", classes, ")");
    detail::check_batch("TopK", device_, classes, outputs, labels, ignored);
    using T = typename Output::value_type;
    outputs.each_slice([&](const Slice& slice, index_t first, const T* x) {
      sum_each(device_, counts_.size(), slice.count * places,
               CountTopK<T>{slice, classes, k_, x, labels.data() + first * places, counts_.data(),
                            places, ignored.value_or(ignore_nothing)});
    });
    samples_ += labels.numel();
  }

  // Sets all counts to 0.
  void reset() {
    fill(device_, counts_.size(), index_t{0}, counts_.data());
    samples_ = 0;
  }

  // The counts since the last reset.
  struct Result {
    index_t total, correct;  // labels that count
    index_t no_class = 0;    // of them, labels that are not a class
    index_t ignored = 0;     // labels that do not count
    // Returns the accuracy from 0 to 1; NaN if no label counts, or if a label was not a class.
    double accuracy() const {
      return no_class > 0 ? std::numeric_limits<double>::quiet_NaN()
                          : static_cast<double>(correct) / static_cast<double>(total);
    }
  };
  // Returns the counts. Waits for the device.
  Result result() const {
    index_t counts[3];
    device_.download(counts, counts_.data(), counts_.bytes());
    return {samples_ - counts[2], counts[0], counts[1], counts[2]};
  }

  // Writes or reads the counts, for a checkpoint.
  void visit_state(StateVisitor& state) {
    detail::visit_counts(state, {2}, device_, counts_.data());
    state.count("samples", samples_);
  }

  // As Accuracy::all_reduce().
  template <class Communicator>
  void all_reduce(Communicator& comm) {
    comm.all_reduce(device_, View<index_t, D>(counts_.data(), {counts_.size()}));
    samples_ = comm.all_reduce(samples_);
  }

 private:
  D& device_;
  index_t k_;
  MetricOptions options_;
  Buffer<index_t, D> counts_;  // correct, no class, ignored
  index_t samples_ = 0;
};

}  // namespace gpunet::train

GPUNET_EXTERN_SUM(gpunet::train::CountTopK<float>);
GPUNET_EXTERN_SUM(gpunet::train::CountTopK<double>);
