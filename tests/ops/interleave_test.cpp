#include <doctest/doctest.h>
#include <numeric>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/nn/layer_run.hpp>
#include <gpunet/ops/interleave.hpp>

#include "support/devices.hpp"
#include "support/isas.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("rows go into the order of a slice and come back", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const KeepIsa keep;
  for (Isa path : isas())
    for (const Slice& slice :
         {Slice{1, 1, 1}, Slice{3, 3, 1}, Slice{4, 1, 4}, Slice{3, 1, 4}, Slice{16, 1, 16},
          Slice{11, 1, 16}, Slice{8, 2, 4}, Slice{5, 2, 4}, Slice{32, 2, 16}})
      for (index_t features : {1, 3, 17}) {
        set_isa(path);
        CAPTURE(static_cast<int>(path));
        CAPTURE(slice.count);
        CAPTURE(slice.inner);
        CAPTURE(features);
        std::vector<float> values(static_cast<std::size_t>(slice.count * features));
        std::iota(values.begin(), values.end(), 1.0f);
        GuardedBuffer<float, D> rows(device, slice.count * features),
            y(device, slice.samples() * features);
        rows.upload(values);
        interleave(device, slice, features, static_cast<const float*>(rows.data()), y.data());
        CHECK(y.download() == nn::to_slice_order(slice, features, values));
        rows.fill_with_nan();
        deinterleave(device, slice, features, static_cast<const float*>(y.data()), rows.data());
        CHECK(rows.download() == values);
      }
}
