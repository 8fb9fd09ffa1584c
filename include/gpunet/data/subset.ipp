// Bodies of subset.hpp.
#pragma once

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/data/subset.hpp>

namespace gpunet::data {

GPUNET_INLINE void detail::check_subset(const std::vector<index_t>& indices, index_t n) {
  require(indices.empty() || n > 0, "gpunet::data::Subset: ", indices.size(),
          " indices into a dataset of ", n,
          " samples (there are none to take), check its path, or its size()");
  for (const index_t i : indices)
    require(0 <= i && i < n, "gpunet::data::Subset: the index ", i, " (want 0 to ", n - 1, ")");
}

GPUNET_INLINE std::vector<index_t> split_lengths(index_t n, const std::vector<double>& lengths) {
  constexpr std::string_view where = "gpunet::data::random_split: ";
  require(n >= 0, where, "a dataset of ", n, " samples (want 0 or more), check its size()");
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
    require(are_fractions || (length <= static_cast<double>(n) && length == std::floor(length)),
            where, "a part of ", length, " samples of ", n,
            " (want a whole number, no more than there are)");
    parts.push_back(
        static_cast<index_t>(std::floor(are_fractions ? static_cast<double>(n) * length : length)));
    left -= parts.back();
  }
  if (are_fractions)
    for (std::size_t i = 0; left > 0; i = (i + 1) % parts.size(), --left)
      ++parts[i];
  require(left == 0, where, "the parts have ", n - left, " samples and the dataset ", n,
          " (want as many, or fractions that add up to 1)");
  return parts;
}

GPUNET_INLINE std::vector<double> detail::decimals(const std::vector<float>& lengths) {
  std::vector<double> decimals;
  for (float length : lengths) {
    const std::string text = concat(length);
    std::from_chars(text.data(), text.data() + text.size(), decimals.emplace_back(length));
  }
  return decimals;
}

}  // namespace gpunet::data
