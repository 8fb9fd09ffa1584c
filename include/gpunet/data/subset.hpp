// Parts of a dataset.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/random.hpp>
#include <gpunet/data/dataset.hpp>

namespace gpunet::data {

// Some samples of a dataset, which must outlive it; a dataset of its own, with the functions that the set has.
template <AnyDataset Set>
class Subset {
 public:
  // Sample i is indices[i] of the set.
  Subset(const Set& set, std::vector<index_t> indices) : set_(&set), indices_(std::move(indices)) {
    for (index_t i : indices_)
      require(0 <= i && i < set.size(), "gpunet::data::Subset: the index ", i, " (want 0 to ", set.size() - 1, ")");
  }
  Subset(const Set&&, std::vector<index_t>) = delete;  // it would be gone before it is read

  index_t size() const { return static_cast<index_t>(indices_.size()); }
  Sample operator[](index_t i) const requires SampleDataset<Set> { return (*set_)[of_set(i)]; }
  Sizes sample_sizes() const requires Dataset<Set> { return set_->sample_sizes(); }
  label_t read(index_t i, float* sample) const requires Dataset<Set> { return set_->read(of_set(i), sample); }
  label_t read(index_t i, float* sample, Random& random) const requires Dataset<Set> {
    return data::read(*set_, of_set(i), sample, random);
  }
  bool is_random() const requires Dataset<Set> { return data::is_random(*set_); }
  label_t read_bytes(index_t i, std::uint8_t* sample) const requires ByteDataset<Set> {
    return set_->read_bytes(of_set(i), sample);
  }
  label_t read_bytes(index_t i, std::uint8_t* sample, Random& random) const requires ByteDataset<Set> {
    return data::read_bytes(*set_, of_set(i), sample, random);
  }
  bool has_bytes() const requires Dataset<Set> { return data::has_bytes(*set_); }
  const PixelTable& pixel_table() const requires ByteDataset<Set> { return set_->pixel_table(); }

  const std::vector<index_t>& indices() const { return indices_; }

 private:
  index_t of_set(index_t i) const { return indices_[static_cast<std::size_t>(i)]; }

  const Set* set_;
  std::vector<index_t> indices_;
};

// How many samples torch.utils.data.random_split puts into each part: the lengths, or where they add up to 1 (not more,
// and less by 1e-9 at most) these fractions of n, rounded down, and one more for the first parts until all are given.
inline std::vector<index_t> split_lengths(index_t n, const std::vector<double>& lengths) {
  constexpr std::string_view where = "gpunet::data::random_split: ";
  require(n <= most_elements, where, "a dataset of ", n, " samples (want ", most_elements,
          " or fewer, no memory holds the parts of more), check its size()");
  long double exact = 0;
  bool all_below_one = !lengths.empty();
  for (double length : lengths) {
    require(length >= 0, where, "a part of ", length, " (want 0 or more)");
    all_below_one &= length < 1;
    exact += length;
  }
  const double sum = static_cast<double>(exact);
  const bool are_fractions = sum <= 1 && sum >= 1 - 1e-9;
  require(are_fractions || !all_below_one || sum == 0, where, "the fractions add up to ", sum,
          " (want 1), write them as double, or give numbers of samples");
  std::vector<index_t> parts;
  index_t left = n;
  for (double length : lengths) {
    require(are_fractions || (length <= static_cast<double>(n) && length == std::floor(length)), where,
            "a part of ", length, " samples of ", n, " (want a whole number, no more than there are)");
    parts.push_back(static_cast<index_t>(std::floor(are_fractions ? static_cast<double>(n) * length : length)));
    left -= parts.back();
  }
  if (are_fractions)
    for (std::size_t i = 0; left > 0; i = (i + 1) % parts.size(), --left)
      ++parts[i];
  require(left == 0, where, "the parts have ", n - left, " samples and the dataset ", n,
          " (want as many, or fractions that add up to 1)");
  return parts;
}

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
  std::vector<double> decimals;
  for (float length : lengths) {
    const std::string text = concat(length);
    std::from_chars(text.data(), text.data() + text.size(), decimals.emplace_back(length));
  }
  return random_split(set, decimals, generator);
}

template <AnyDataset Set, class Lengths>
std::vector<Subset<Set>> random_split(const Set&&, const Lengths&,
                                      Generator& = default_generator()) =
    delete;  // it would be gone before it is read
template <AnyDataset Set, class Length>
std::vector<Subset<Set>> random_split(const Set&&, std::initializer_list<Length>,
                                      Generator& = default_generator()) = delete;

}  // namespace gpunet::data
