// Subsets of a dataset, and random_split.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/data/dataset.hpp>

namespace gpunet::data {

namespace detail {
// Throws Error for an index outside of 0 to n - 1.
void check_subset(const std::vector<index_t>& indices, index_t n);
}  // namespace detail

// Some samples of a dataset: a dataset with the same optional functions. It has a copy of the
// original, which shares the data of gpunet's datasets; the original itself, if that is a
// temporary; for std::cref(set) a reference to `set`.
template <class Set>
class Subset : detail::RequireDataset<Set> {
 public:
  // Sample i is sample indices[i] of `set`. Throws Error for an index out of range.
  Subset(const Set& set, std::vector<index_t> indices)
      : Subset(detail::held(set), std::move(indices)) {}
  Subset(Set&& set, std::vector<index_t> indices)
      : Subset(detail::held(std::move(set)), std::move(indices)) {}
  Subset(std::reference_wrapper<const Set> set, std::vector<index_t> indices)
      : Subset(detail::held(set), std::move(indices)) {}
  // The same of a dataset that is shared.
  Subset(std::shared_ptr<const Set> set, std::vector<index_t> indices)
      : set_(std::move(set)), indices_(std::move(indices)) {
    detail::check_subset(indices_, set_->size());
  }

  index_t size() const { return static_cast<index_t>(indices_.size()); }
  auto operator[](index_t i) const requires SampleDataset<Set> { return (*set_)[of_set(i)]; }
  Sizes sample_sizes() const requires Dataset<Set> { return set_->sample_sizes(); }
  Sizes target_sizes() const requires requires(const Set& set) { set.target_sizes(); }
  { return set_->target_sizes(); }
  // The further arguments are the original's: targets and a generator, or none.
  template <class... More>
  auto read(index_t i, float* sample, More&&... more) const requires requires(const Set& set) {
    set.read(i, sample, more...);
  }
  { return set_->read(of_set(i), sample, more...); }
  bool is_random() const requires RandomDataset<Set> { return set_->is_random(); }
  template <class... More>
  label_t read_bytes(index_t i, std::uint8_t* sample, More&&... more) const requires
      requires(const Set& set) {
    set.read_bytes(i, sample, more...);
  }
  { return set_->read_bytes(of_set(i), sample, more...); }
  bool has_bytes() const requires requires(const Set& set) { set.has_bytes(); }
  { return set_->has_bytes(); }
  const PixelTable& pixel_table() const requires ByteDataset<Set> { return set_->pixel_table(); }

  const std::vector<index_t>& indices() const { return indices_; }
  // Returns the dataset that the samples are of.
  const Set& dataset() const { return *set_; }

 private:
  index_t of_set(index_t i) const {
    detail::check_sample(i, size());
    return indices_[static_cast<std::size_t>(i)];
  }

  std::shared_ptr<const Set> set_;
  std::vector<index_t> indices_;
};

// Returns the sizes of the parts that torch.utils.data.random_split makes of n samples. If the
// lengths add up to 1 (at most 1e-9 less), they are fractions of n, rounded down; the first parts
// get one of the remaining samples each. Throws Error for lengths that do not add up to n or 1.
std::vector<index_t> split_lengths(index_t n, const std::vector<double>& lengths);

namespace detail {
// Returns the doubles with the same shortest decimal text: 0.1 for 0.1f.
std::vector<double> decimals(const std::vector<float>& lengths);

template <class Set>
std::vector<Subset<Set>> random_split(const std::shared_ptr<const Set>& set,
                                      const std::vector<double>& lengths, Generator& generator) {
  const std::vector<index_t> parts = split_lengths(set->size(), lengths),
                             order = randperm(set->size(), generator);
  std::vector<Subset<Set>> subsets;
  auto first = order.begin();
  for (index_t part : parts) {
    subsets.emplace_back(set, std::vector<index_t>(first, first + part));
    first += part;
  }
  return subsets;
}
}  // namespace detail

// Splits a dataset at random into subsets, the same ones as torch.utils.data.random_split:
//   auto parts = data::random_split(set, {0.8, 0.2});   // or numbers of samples
// The parts share one dataset, see Subset. 0.8f is taken as 0.8. Throws Error as split_lengths.
template <class Set>
auto random_split(Set&& set, const std::vector<double>& lengths,
                  Generator& generator = default_generator()) {
  return detail::random_split(detail::held(std::forward<Set>(set)), lengths, generator);
}
template <class Set, std::integral Length>
auto random_split(Set&& set, std::initializer_list<Length> lengths,
                  Generator& generator = default_generator()) {
  return random_split(std::forward<Set>(set), std::vector<double>(lengths.begin(), lengths.end()),
                      generator);
}
template <class Set, std::same_as<float> Length>
auto random_split(Set&& set, std::initializer_list<Length> lengths,
                  Generator& generator = default_generator()) {
  return random_split(std::forward<Set>(set), detail::decimals({lengths.begin(), lengths.end()}),
                      generator);
}

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/subset.ipp>
#endif
