// Parts of a dataset.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/data/dataset.hpp>

namespace gpunet::data {

namespace detail {
// Throws Error for an index that a dataset of n samples has not.
void check_subset(const std::vector<index_t>& indices, index_t n);
}  // namespace detail

// Some samples of a dataset, which must outlive it; a dataset of its own, with the functions that the set has.
template <AnyDataset Set>
class Subset {
 public:
  // Sample i is indices[i] of the set.
  Subset(const Set& set, std::vector<index_t> indices) : set_(&set), indices_(std::move(indices)) {
    detail::check_subset(indices_, set.size());
  }
  Subset(const Set&&, std::vector<index_t>) = delete;  // it would be gone before it is read

  index_t size() const { return static_cast<index_t>(indices_.size()); }
  Sample operator[](index_t i) const requires SampleDataset<Set> { return (*set_)[of_set(i)]; }
  Sizes sample_sizes() const requires Dataset<Set> { return set_->sample_sizes(); }
  label_t read(index_t i, float* sample) const requires Dataset<Set> { return set_->read(of_set(i), sample); }
  label_t read(index_t i, float* sample, Random& random) const requires RandomDataset<Set> {
    return set_->read(of_set(i), sample, random);
  }
  bool is_random() const requires RandomDataset<Set> { return set_->is_random(); }
  label_t read_bytes(index_t i, std::uint8_t* sample) const requires ByteDataset<Set> {
    return set_->read_bytes(of_set(i), sample);
  }
  label_t read_bytes(index_t i, std::uint8_t* sample, Random& random) const requires requires(const Set& set) {
    set.read_bytes(i, sample, random);
  }
  { return set_->read_bytes(of_set(i), sample, random); }
  bool has_bytes() const requires requires(const Set& set) { set.has_bytes(); }
  { return set_->has_bytes(); }
  const PixelTable& pixel_table() const requires ByteDataset<Set> { return set_->pixel_table(); }

  const std::vector<index_t>& indices() const { return indices_; }

 private:
  index_t of_set(index_t i) const { return indices_[static_cast<std::size_t>(i)]; }

  const Set* set_;
  std::vector<index_t> indices_;
};

// How many samples torch.utils.data.random_split puts into each part: the lengths, or where they add up to 1 (not more,
// and less by 1e-9 at most) these fractions of n, rounded down, and one more for the first parts until all are given.
std::vector<index_t> split_lengths(index_t n, const std::vector<double>& lengths);

namespace detail {
// The decimal numbers that floats are written as, 0.1 for 0.1f.
std::vector<double> decimals(const std::vector<float>& lengths);
}  // namespace detail

// Parts of a dataset, at random, the same as torch.utils.data.random_split:
//   auto parts = data::random_split(set, {0.8, 0.2});
// Fractions that are floats stand for the decimal numbers that they are written as.
template <AnyDataset Set>
std::vector<Subset<Set>> random_split(const Set& set, const std::vector<double>& lengths,
                                      Generator& generator = default_generator()) {
  const std::vector<index_t> parts = split_lengths(set.size(), lengths), order = randperm(set.size(), generator);
  std::vector<Subset<Set>> subsets;
  auto first = order.begin();
  for (index_t part : parts) {
    subsets.emplace_back(set, std::vector<index_t>(first, first + part));
    first += part;
  }
  return subsets;
}
template <AnyDataset Set, std::integral Length>
std::vector<Subset<Set>> random_split(const Set& set, std::initializer_list<Length> lengths,
                                      Generator& generator = default_generator()) {
  return random_split(set, std::vector<double>(lengths.begin(), lengths.end()), generator);
}

template <AnyDataset Set, std::same_as<float> Length>
std::vector<Subset<Set>> random_split(const Set& set, std::initializer_list<Length> lengths,
                                      Generator& generator = default_generator()) {
  return random_split(set, detail::decimals({lengths.begin(), lengths.end()}), generator);
}

template <AnyDataset Set, class Lengths>
std::vector<Subset<Set>> random_split(const Set&&, const Lengths&,
                                      Generator& = default_generator()) =
    delete;  // it would be gone before it is read
template <AnyDataset Set, class Length>
std::vector<Subset<Set>> random_split(const Set&&, std::initializer_list<Length>,
                                      Generator& = default_generator()) = delete;

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/subset.ipp>
#endif
