// Bodies of train_test_split.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include <gpunet/data/numpy_random.hpp>
#include <gpunet/data/train_test_split.hpp>

namespace gpunet::data {

namespace detail {

// The sizes of both parts. scikit-learn rounds the test set up and the training set down.
struct SplitSizes {
  index_t train, test;
};
GPUNET_INLINE SplitSizes split_sizes(index_t n, const TrainTestSplitOptions& options) {
  const auto part = [n](const char* name, double size) {
    require(
        size >= 0 && size < static_cast<double>(n) && (size < 1 || size == std::floor(size)),
        "gpunet::data::train_test_split: invalid ", name, " ", size, " for ", n,
        " samples (want a fraction less than 1, or a whole number less than that of the samples)");
    return size < 1 ? size * static_cast<double>(n) : size;
  };
  const bool has_neither = options.test_size == 0 && options.train_size == 0;
  const auto test =
      static_cast<index_t>(std::ceil(part("test_size", has_neither ? 0.25 : options.test_size)));
  const auto train = static_cast<index_t>(std::floor(part("train_size", options.train_size)));
  const SplitSizes sizes{options.train_size == 0 ? n - test : train,
                         !has_neither && options.test_size == 0 ? n - train : test};
  require(sizes.train > 0 && sizes.train + sizes.test <= n,
          "gpunet::data::train_test_split: ", sizes.train, " samples to learn from and ",
          sizes.test, " to test with, of ", n, " (want 1 or more, and no more than all)");
  return sizes;
}

// Returns the numbers of samples of each class among `draws`, if it has `counts` samples: its share
// rounded down, and one more for the classes with the largest remainders; ties are drawn at random.
GPUNET_INLINE std::vector<index_t> shares(const std::vector<index_t>& counts, index_t draws,
                                          NumpyRandomState& random) {
  double sum = 0;
  for (index_t count : counts)
    sum += static_cast<double>(count);
  std::vector<index_t> result;
  std::map<double, std::vector<std::size_t>, std::greater<>> lost;  // classes by remainder
  index_t left = draws;
  for (index_t count : counts) {
    const double share = static_cast<double>(count) / sum * static_cast<double>(draws),
                 whole = std::floor(share);
    lost[share - whole].push_back(result.size());
    result.push_back(static_cast<index_t>(whole));
    left -= result.back();
  }
  for (const auto& [rest, classes] : lost) {
    if (left <= 0) break;
    const std::vector<index_t> lots = random.permutation(static_cast<index_t>(classes.size()));
    for (std::size_t i = 0; i < lots.size() && left > 0; ++i, --left)
      ++result[classes[static_cast<std::size_t>(lots[i])]];
  }
  return result;
}

GPUNET_INLINE TrainTestSplit stratified_split(const SplitSizes& sizes,
                                              const std::vector<label_t>& labels,
                                              NumpyRandomState& random) {
  std::map<label_t, std::vector<index_t>> members;  // of each class, in order
  for (std::size_t i = 0; i < labels.size(); ++i)
    members[labels[i]].push_back(static_cast<index_t>(i));
  std::vector<index_t> counts;
  for (const auto& [label, indices] : members) {
    counts.push_back(static_cast<index_t>(indices.size()));
    require(indices.size() >= 2, "gpunet::data::train_test_split: class ", label,
            " has only 1 sample (want 2 or more, one for each part)");
  }
  require(std::min(sizes.train, sizes.test) >= static_cast<index_t>(counts.size()),
          "gpunet::data::train_test_split: parts of ", sizes.train, " and ", sizes.test,
          " samples for ", counts.size(), " classes (want one or more of each class in both)");
  const std::vector<index_t> train_counts = shares(counts, sizes.train, random);
  std::vector<index_t> rest = counts;
  for (std::size_t c = 0; c < rest.size(); ++c)
    rest[c] -= train_counts[c];
  const std::vector<index_t> test_counts = shares(rest, sizes.test, random);
  TrainTestSplit split;
  std::size_t c = 0;
  for (const auto& [label, indices] : members) {
    const std::vector<index_t> order = random.permutation(counts[c]);
    for (index_t i = 0; i < train_counts[c] + test_counts[c]; ++i)
      (i < train_counts[c] ? split.train : split.test)
          .push_back(indices[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])]);
    ++c;
  }
  random.shuffle(split.train);
  random.shuffle(split.test);
  return split;
}

}  // namespace detail

GPUNET_INLINE TrainTestSplit train_test_split(index_t n, const TrainTestSplitOptions& options) {
  constexpr index_t most = index_t{1} << 32;
  require(n >= 1 && n < most, "gpunet::data::train_test_split: ", n, " samples (want 1 to ",
          most - 1, ")");
  const detail::SplitSizes sizes = detail::split_sizes(n, options);
  require(options.stratify.empty() ||
              (options.shuffle && static_cast<index_t>(options.stratify.size()) == n),
          "gpunet::data::train_test_split: ", options.stratify.size(), " classes for ", n,
          " samples", options.shuffle ? "" : " in order",
          " (stratify wants one for each, and shuffle)");
  std::vector<index_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), index_t{0});
  const auto train_end = order.begin() + sizes.train;
  if (!options.shuffle) return {{order.begin(), train_end}, {train_end, train_end + sizes.test}};
  detail::NumpyRandomState random(options.random_state);
  if (!options.stratify.empty()) return detail::stratified_split(sizes, options.stratify, random);
  random.shuffle(order);
  const auto test_end = order.begin() + sizes.test;
  return {{test_end, test_end + sizes.train}, {order.begin(), test_end}};
}

}  // namespace gpunet::data
