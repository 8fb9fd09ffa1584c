#include <doctest/doctest.h>
#include <vector>

#include <gpunet/ops/argmax.hpp>
#include <gpunet/tensor/tensor.hpp>

#include "support/arrays.hpp"
#include "support/devices.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("the class of the largest output, the first of equals", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::vector<float> rows{1, 3, 2, 5, 5, 4, -3, -2, -1, 0, 0, 0, 9, 1, 9};
  for (const Slice& slice : {Slice{5, 5, 1}, Slice{5, 2, 4}, Slice{5, 1, 16}}) {
    const Tensor<float, D> x(device, {slice.samples() * 3}, to_slice_order(slice, 3, rows));
    Tensor<label_t, D> predictions(device, {6}, {-1, -1, -1, -1, -1, -1});
    for_each(device, slice.count, ArgMax<float>{slice, 3, x.data(), predictions.data()});
    CHECK(predictions.to_vector() == std::vector<label_t>{1, 0, 2, 0, 0, -1});
  }
}

TEST_CASE_TEMPLATE("samples and right predictions of every class are counted on", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const Tensor<label_t, D> predictions(device, {6}, {0, 1, 1, 2, 0, 0}),
      labels(device, {6}, {0, 1, 2, 2, 0, 1});
  Tensor<index_t, D> counts(device, {6}, {0, 0, 0, 0, 100, 0});
  sum_each(device, 6, 6, CountClass{predictions.data(), labels.data(), counts.data(), 3});
  CHECK(counts.to_vector() == std::vector<index_t>{2, 2, 2, 1, 102, 1});
}
