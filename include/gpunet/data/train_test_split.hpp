// Splits samples into a training and a test set, as scikit-learn.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::data {

// Options of train_test_split, as in scikit-learn.
struct TrainTestSplitOptions {
  // A fraction of the samples if less than 1, else a number of samples; 0: the rest. Both 0:
  // test_size 0.25.
  double test_size = 0, train_size = 0;
  // A seed; without it, drawn from the default generator.
  std::optional<std::uint32_t> random_state = std::nullopt;
  bool shuffle = true;
  // Classes of the samples; both parts get the same fractions of each class.
  std::vector<label_t> stratify = {};
};

// Indices of samples.
struct TrainTestSplit {
  std::vector<index_t> train, test;
};

namespace detail {

// Returns some rows of a tensor, in the given order.
template <class T>
Tensor<T, Host> rows_of(const Tensor<T, Host>& all, const std::vector<index_t>& rows) {
  const Sizes row = all.sizes().tail();
  const index_t width = all.sizes().rank() > 1 ? row.numel() : 1;
  std::vector<T> values;
  values.reserve(rows.size() * static_cast<std::size_t>(width));
  for (const index_t i : rows)
    values.insert(values.end(), all.data() + i * width, all.data() + (i + 1) * width);
  const auto n = static_cast<index_t>(rows.size());
  return {all.device(), row.with_front(n), values};
}

}  // namespace detail

// Splits n samples at random, with the same indices as sklearn.model_selection.train_test_split:
//   auto [train, test] =
//       data::train_test_split(set.size(), {.test_size = 0.2, .random_state = 33});
//   const data::Subset train_set(set, train);
TrainTestSplit train_test_split(index_t n, const TrainTestSplitOptions& options = {});

// Samples and targets of both parts, copied to new tensors.
template <class X, class Y>
struct SplitTensors {
  Tensor<X, Host> X_train, X_test;
  Tensor<Y, Host> y_train, y_test;
};

// The same for samples [n, ...] and their targets [n, ...]:
//   auto [X_train, X_test, y_train, y_test] =
//       data::train_test_split(X, y, {.test_size = 0.2, .random_state = 33});
// Throws Error unless there is one target per sample.
template <class X, class Y>
SplitTensors<X, Y> train_test_split(const Tensor<X, Host>& samples, const Tensor<Y, Host>& targets,
                                    const TrainTestSplitOptions& options = {}) {
  require(samples.sizes().rank() >= 1 && targets.sizes().rank() >= 1 &&
              samples.size(0) == targets.size(0),
          "gpunet::data::train_test_split: samples of shape ", to_string(samples.sizes()),
          " and targets of shape ", to_string(targets.sizes()),
          " (want the same number of both in front)");
  const TrainTestSplit split = train_test_split(targets.size(0), options);
  return {detail::rows_of(samples, split.train), detail::rows_of(samples, split.test),
          detail::rows_of(targets, split.train), detail::rows_of(targets, split.test)};
}

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/train_test_split.ipp>
#endif
