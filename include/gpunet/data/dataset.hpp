// The requirements of a dataset, and DatasetView, which refers to one of any type.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/shape.hpp>
#include <gpunet/data/sample_random.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

// Samples of one shape, each with a label. Workers of a loader read a const dataset concurrently.
template <class Set>
concept LabelDataset = requires(const Set& set, index_t i, float* sample) {
  { set.size() } -> std::same_as<index_t>;               // number of samples
  { set.sample_sizes() } -> std::convertible_to<Sizes>;  // shape of one, e.g. [3, 32, 32]
  // Writes sample i >= 0, row-major; returns its label.
  { set.read(i, sample) } -> std::same_as<label_t>;
};

// The same with targets of any other shape: numbers to predict (float), a class for each pixel
// (label_t).
template <class Set, class Target>
concept TargetDataset = requires(const Set& set, index_t i, float* sample, Target* target) {
  { set.size() } -> std::same_as<index_t>;
  { set.sample_sizes() } -> std::convertible_to<Sizes>;
  // Shape of one target, e.g. [1] or [32, 32].
  { set.target_sizes() } -> std::convertible_to<Sizes>;
  // Writes sample i >= 0 and its target, row-major.
  set.read(i, sample, target);
}
&&!requires(const Set& set, index_t i, float* sample, void* any) {
  set.read(i, sample, any);
};  // as DatasetView's

// A dataset of any of these.
template <class Set>
concept Dataset = LabelDataset<Set> || TargetDataset<Set, float> || TargetDataset<Set, label_t>;

// A dataset with random samples: its read() has the generator as a further argument. It draws from
// that, so that a batch does not depend on the worker that reads it.
template <class Set>
concept RandomDataset = Dataset<Set> && requires(const Set& set) {
  { set.is_random() } -> std::same_as<bool>;  // whether this object has random samples
};

// A dataset that stores its samples as bytes. A GPU copies those, a quarter of the data, and
// computes the floats; read() must give the same floats. Optional: read_bytes(i, sample, random),
// and has_bytes(), which returns whether this object has bytes.
template <class Set>
concept ByteDataset = LabelDataset<Set> &&
    requires(const Set& set, index_t i, std::uint8_t* sample) {
  // Writes sample i [channels, ...]; returns its label.
  { set.read_bytes(i, sample) } -> std::same_as<label_t>;
  // The float for each byte of each channel.
  { set.pixel_table() } -> std::same_as<const PixelTable&>;
};

// A sample as a value, see SampleDataset.
struct Sample {
  std::vector<float> values;  // row-major
  Sizes sizes;                // e.g. [3, 32, 32]
  label_t label;
};

// The same with a target of another shape, of float or label_t.
template <class Target>
struct SampleWithTarget {
  std::vector<float> values;   // row-major
  Sizes sizes;                 // e.g. [8]
  std::vector<Target> target;  // row-major
  Sizes target_sizes;          // e.g. [1]
};

namespace detail {
template <class Set, class S>
concept Returns = requires(const Set& set, index_t i) {
  { set.size() } -> std::same_as<index_t>;  // number of samples: __len__
  { set[i] } -> std::convertible_to<S>;     // sample i (0 to size() - 1): __getitem__
};
}  // namespace detail

// A dataset with two functions, as in PyTorch: size() and operator[]. All samples must have the
// shapes of the first one.
template <class Set>
concept SampleDataset =
    detail::Returns<Set, Sample> || detail::Returns<Set, SampleWithTarget<float>> ||
    detail::Returns<Set, SampleWithTarget<label_t>>;

// Any kind of dataset.
template <class Set>
concept AnyDataset = Dataset<Set> || SampleDataset<Set>;

namespace detail {
// The type of a dataset that is given as a value, or by std::cref(set).
template <class Set>
using SetOf = std::remove_cvref_t<std::unwrap_reference_t<std::remove_cvref_t<Set>>>;

template <class Set>
inline constexpr bool has_floats = TargetDataset<Set, float> ||
                                   (!Dataset<Set> && Returns<Set, SampleWithTarget<float>>);
}  // namespace detail

// The type of the numbers of a dataset's targets: label_t or float.
template <class Set>
using TargetOf = std::conditional_t<detail::has_floats<detail::SetOf<Set>>, float, label_t>;

namespace detail {
// A compile error for a type that is not a dataset.
template <class Set, bool is_dataset = AnyDataset<Set>>
struct RequireDataset {
  static_assert(is_dataset,
                "gpunet::data: this is not a dataset, give its type two functions, both const: "
                "index_t size() const, and data::Sample operator[](index_t i) const");
};

// Returns the dataset of a part, a join or a loader of `set`: a temporary itself, else a copy (the
// datasets of gpunet share their data with their copies); for std::cref(set) a reference to `set`,
// which must outlive it.
template <class Set>
std::shared_ptr<const SetOf<Set>> held(Set&& set) {
  using S = SetOf<Set>;
  (void)RequireDataset<S>{};
  if constexpr (!std::is_same_v<S, std::remove_cvref_t<Set>>) {
    return {std::shared_ptr<void>(), &set.get()};
  } else if constexpr (AnyDataset<S>) {
    static_assert(std::is_constructible_v<S, Set>,
                  "gpunet::data: the dataset cannot be copied (a part or a loader of it has a "
                  "copy, so that it does not dangle), move it there: std::move(set), or give "
                  "std::cref(set) and keep the set as long");
    return std::make_shared<const S>(std::forward<Set>(set));
  } else {
    return {};
  }
}

// Data that a dataset shares with its copies. A moved-from dataset still has them.
template <class T>
class SharedData {
 public:
  explicit SharedData(T data) : data_(std::make_shared<const T>(std::move(data))) {}
  SharedData(const SharedData&) = default;
  SharedData& operator=(const SharedData&) = default;

  const T& operator*() const { return *data_; }
  const T* operator->() const { return data_.get(); }

 private:
  std::shared_ptr<const T> data_;
};

// Throws Error unless a dataset of n samples has sample i.
inline void check_sample(index_t i, index_t n) {
  require(n > 0, "gpunet::data: sample ", i, " of a dataset of ", n,
          " samples, check its path, or its size()");
  require(0 <= i && i < n, "gpunet::data: sample ", i, " of a dataset of ", n,
          " samples (want 0 to ", n - 1, ")");
}

// Writes sample i of a dataset and its target. Each kind of dataset has some of these functions.
template <class Set, class Target>
void read_sample(const Set& set, index_t i, float* sample, Target* target,
                 [[maybe_unused]] Random& random) {
  if constexpr (requires { set.read(i, sample, target, random); })
    set.read(i, sample, target, random);
  else if constexpr (requires { set.read(i, sample, target); })
    set.read(i, sample, target);
  else if constexpr (requires { set.read(i, sample, random); })
    *target = set.read(i, sample, random);
  else
    *target = set.read(i, sample);
}
}  // namespace detail

// A dataset of any type, so that loaders are not templates of the dataset. Copies share it.
class DatasetView {
 public:
  // Has a copy of the dataset, or a temporary itself; for std::cref(set) a reference to `set`,
  // which must outlive the view.
  template <class Set>
  requires(!std::same_as<std::remove_cvref_t<Set>, DatasetView>)
      DatasetView(Set&& set)  // implicit, as from string to string_view
      : DatasetView(detail::held(std::forward<Set>(set))) {}
  // The same of a dataset that is shared.
  template <class Set>
  requires Dataset<Set> DatasetView(std::shared_ptr<const Set> shared)
      : set_(shared),
        size_(shared->size()),
        sample_sizes_(shared->sample_sizes()),
        has_labels_(std::same_as<TargetOf<Set>, label_t>) {
    const Set& set = *shared;
    if constexpr (requires { set.target_sizes(); }) target_sizes_ = set.target_sizes();
    read_ = [](const DatasetView& view, index_t i, float* sample, void* target, Random& random) {
      detail::read_sample(*static_cast<const Set*>(view.set_.get()), i, sample,
                          static_cast<TargetOf<Set>*>(target), random);
    };
    if constexpr (RandomDataset<Set>) is_random_ = set.is_random();
    if constexpr (ByteDataset<Set>) {
      if constexpr (requires { set.has_bytes(); })
        if (!set.has_bytes()) return;
      pixel_table_ = &set.pixel_table();
      read_bytes_ = [](const DatasetView& view, index_t i, std::uint8_t* sample,
                       [[maybe_unused]] Random& random) -> label_t {
        const Set& of = *static_cast<const Set*>(view.set_.get());
        if constexpr (requires { of.read_bytes(i, sample, random); })
          return of.read_bytes(i, sample, random);
        else
          return of.read_bytes(i, sample);
      };
    }
  }
  // The same; reads the first sample for the shapes.
  template <class Set>
  requires(!Dataset<Set>) DatasetView(std::shared_ptr<const Set> set)
      : set_(set), has_labels_(std::same_as<TargetOf<Set>, label_t>) {
    if constexpr (SampleDataset<Set>) {
      using S =
          std::conditional_t<detail::Returns<Set, Sample>, Sample, SampleWithTarget<TargetOf<Set>>>;
      size_ = set->size();
      if (size_ > 0) set_sizes(S((*set)[0]));
      read_ = [](const DatasetView& view, index_t i, float* sample, void* target, Random&) {
        view.copy(i, S((*static_cast<const Set*>(view.set_.get()))[i]), sample,
                  static_cast<TargetOf<Set>*>(target));
      };
    }
  }
  // The same dataset, as floats unless `takes_bytes`.
  DatasetView(const DatasetView& set, bool takes_bytes) : DatasetView(set) {
    if (!takes_bytes) pixel_table_ = nullptr;
  }

  index_t size() const { return size_; }
  const Sizes& sample_sizes() const { return sample_sizes_; }
  // Returns the shape of one target; [] is a label.
  const Sizes& target_sizes() const { return target_sizes_; }
  // Returns whether targets are of label_t; else they are of float.
  bool has_labels() const { return has_labels_; }
  // Returns whether two reads of one sample may differ.
  bool is_random() const { return is_random_; }
  // Writes sample i and its target, row-major. Without `random`, the default generator seeds one.
  void read(index_t i, float* sample, void* target, Random& random) const {
    read_(*this, i, sample, target, random);
  }
  void read(index_t i, float* sample, void* target) const;
  // Writes sample i and returns its label. Throws Error if its target is not one.
  label_t read(index_t i, float* sample) const;

  // Returns the table that maps bytes of samples to floats; null if read_raw() writes floats.
  const PixelTable* pixel_table() const { return pixel_table_; }
  // Returns the size of a sample as read_raw() writes it.
  std::size_t sample_bytes() const {
    return static_cast<std::size_t>(sample_sizes_.numel()) * (pixel_table_ ? 1 : sizeof(float));
  }
  // Returns the size of a target.
  std::size_t target_bytes() const {
    static_assert(sizeof(label_t) == sizeof(float));
    return static_cast<std::size_t>(target_sizes_.numel()) * sizeof(float);
  }
  // Writes sample i, as bytes if there is a pixel_table(), else as floats, and its target.
  void read_raw(index_t i, void* sample, void* target, Random& random) const {
    if (pixel_table_)
      *static_cast<label_t*>(target) =
          read_bytes_(*this, i, static_cast<std::uint8_t*>(sample), random);
    else
      read_(*this, i, static_cast<float*>(sample), target, random);
  }

 private:
  void set_sizes(const Sample& first) { sample_sizes_ = first.sizes; }
  template <class Target>
  void set_sizes(const SampleWithTarget<Target>& first) {
    sample_sizes_ = first.sizes;
    target_sizes_ = first.target_sizes;
  }

  // Writes a sample and its target. Throws Error if a shape is not that of the first one.
  void copy(index_t i, const Sample& from, float* sample, label_t* label) const;
  template <class Target>
  void copy(index_t i, const SampleWithTarget<Target>& from, float* sample, Target* target) const {
    copy_numbers("sample ", i, from.values, from.sizes, sample_sizes_, sample);
    copy_numbers("the target of sample ", i, from.target, from.target_sizes, target_sizes_, target);
  }
  // Copies the numbers of sample or target i; `what` names it. Throws Error if their shape is not
  // the first one's.
  template <class T>
  static void copy_numbers(std::string_view what, index_t i, const std::vector<T>& from,
                           const Sizes& sizes, const Sizes& first, T* to) {
    check_sizes(what, i, static_cast<index_t>(from.size()), sizes, first);
    std::copy(from.begin(), from.end(), to);
  }
  static void check_sizes(std::string_view what, index_t i, index_t count, const Sizes& sizes,
                          const Sizes& first);

  std::shared_ptr<const void> set_;
  index_t size_ = 0;
  Sizes sample_sizes_, target_sizes_;
  bool has_labels_ = true, is_random_ = false;
  void (*read_)(const DatasetView&, index_t i, float* sample, void* target, Random&) = nullptr;
  const PixelTable* pixel_table_ = nullptr;
  label_t (*read_bytes_)(const DatasetView&, index_t i, std::uint8_t* sample, Random&) = nullptr;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/dataset.ipp>
#endif
