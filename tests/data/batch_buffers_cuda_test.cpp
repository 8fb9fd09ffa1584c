#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <algorithm>
#include <cstring>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include <gpunet/data/batch_buffers.hpp>
#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/tensor/tensor.hpp>

#include "support/byte_set.hpp"

using namespace gpunet;

namespace {

constexpr index_t batch_size = 3;
constexpr index_t sample_size = 8;  // [2, 4]

float input_of(index_t batch, index_t i) {
  return static_cast<float>(100 * batch + i);
}
label_t label_of(index_t batch, index_t i) {
  return static_cast<label_t>(10 * batch + i);
}

// A dataset of such samples; only its shape counts here.
struct Floats {
  index_t size() const { return batch_size; }
  Sizes sample_sizes() const { return {2, 4}; }
  label_t read(index_t, float*) const { return 0; }
};
const Floats floats;

data::BatchBuffers<Cuda> make_buffers(Cuda& device, index_t slots) {
  return {device, slots, batch_size, {floats, true}};
}

void fill(data::BatchBuffers<Cuda>& buffers, index_t slot, index_t batch) {
  buffers.wait_reusable(slot);
  for (index_t i = 0; i < batch_size * sample_size; ++i)
    static_cast<float*>(buffers.host_inputs(slot))[i] = input_of(batch, i);
  for (index_t i = 0; i < batch_size; ++i)
    static_cast<label_t*>(buffers.host_targets(slot))[i] = label_of(batch, i);
}

struct CopyInputs {
  const float* from;
  float* to;
  GPUNET_FN void operator()(index_t i) const { to[i] = from[i]; }
};
struct CopyLabels {
  const label_t* from;
  label_t* to;
  GPUNET_FN void operator()(index_t i) const { to[i] = from[i]; }
};

// What the device saw, batch by batch.
class Record {
 public:
  Record(Cuda& device, index_t batches)
      : device_(device),
        inputs_(device, {batches, batch_size, sample_size}),
        labels_(device, {batches, batch_size}) {}

  void add(index_t batch, const data::BatchMemory& seen) {
    for_each(device_, batch_size * sample_size,
             CopyInputs{seen.inputs, inputs_.data() + batch * batch_size * sample_size});
    for_each(
        device_, batch_size,
        CopyLabels{static_cast<const label_t*>(seen.targets), labels_.data() + batch * batch_size});
  }
  bool is_right(index_t batches) const {
    const std::vector<float> inputs = inputs_.to_vector();
    const std::vector<label_t> labels = labels_.to_vector();
    bool right = true;
    for (index_t batch = 0; batch < batches; ++batch) {
      for (index_t i = 0; i < batch_size * sample_size; ++i)
        right &= inputs[static_cast<std::size_t>(batch * batch_size * sample_size + i)] ==
                 input_of(batch, i);
      for (index_t i = 0; i < batch_size; ++i)
        right &= labels[static_cast<std::size_t>(batch * batch_size + i)] == label_of(batch, i);
    }
    return right;
  }

 private:
  Cuda& device_;
  Tensor<float, Cuda> inputs_;
  Tensor<label_t, Cuda> labels_;
};

}  // namespace

TEST_CASE("batches reach Cuda whole and in order") {
  Cuda device;
  constexpr index_t batches = 12;
  for (index_t slots : {1, 2, 3, 5}) {
    CAPTURE(slots);
    Record record(device, batches);
    data::BatchBuffers<Cuda> buffers = make_buffers(device, slots);
    for (index_t batch = 0; batch < batches; ++batch) {
      fill(buffers, batch % slots, batch);
      record.add(batch, buffers.send(batch % slots, batch_size));
      buffers.release(batch % slots);
    }
    CHECK(record.is_right(batches));
  }
}

TEST_CASE("batches that a thread fills ahead reach Cuda") {
  Cuda device;
  constexpr index_t slots = 4, rounds = 5;
  Record record(device, slots * rounds);
  data::BatchBuffers<Cuda> buffers = make_buffers(device, slots);
  for (index_t round = 0; round < rounds; ++round) {
    std::thread([&] {
      for (index_t slot = 0; slot < slots; ++slot)
        fill(buffers, slot, round * slots + slot);
    }).join();
    for (index_t slot = 0; slot < slots; ++slot) {
      record.add(round * slots + slot, buffers.send(slot, batch_size));
      buffers.release(slot);
    }
  }
  CHECK(record.is_right(slots * rounds));
}

TEST_CASE("a short batch reaches Cuda") {
  Cuda device;
  data::BatchBuffers<Cuda> buffers = make_buffers(device, 2);
  fill(buffers, 0, 7);
  const auto [inputs, targets] = buffers.send(0, 2);
  std::vector<label_t> seen(2);
  device.download(seen.data(), targets, 2 * sizeof(label_t));
  CHECK(seen == std::vector<label_t>{70, 71});
  buffers.release(0);
}

TEST_CASE("batch buffers of a Cuda device may go while work is left, or be filled in vain") {
  Cuda device;
  Record record(device, 1);
  {
    data::BatchBuffers<Cuda> buffers = make_buffers(device, 3);
    fill(buffers, 0, 0);
    record.add(0, buffers.send(0, batch_size));
    buffers.release(0);
    fill(buffers, 1, 1);
    fill(buffers, 1, 2);
  }
  CHECK(record.is_right(1));
}

TEST_CASE("bytes become floats on Cuda, with the bits of the host") {
  Cuda device;
  const ByteSet set(6, {2, 3, 4});
  data::BatchBuffers<Cuda> buffers(device, 2, 4, {set, true});
  for (index_t batch = 0; batch < 5; ++batch) {
    const index_t slot = batch % 2, n = batch % 3 + 2, features = 24;
    buffers.wait_reusable(slot);
    std::vector<float> expected(static_cast<std::size_t>(n * features));
    for (index_t i = 0; i < n; ++i) {
      static_cast<label_t*>(buffers.host_targets(slot))[i] = set.read_bytes(
          batch + i, static_cast<std::uint8_t*>(buffers.host_inputs(slot)) + i * features);
      set.read(batch + i, expected.data() + i * features);
    }
    const auto [inputs, targets] = buffers.send(slot, n);
    std::vector<float> seen(expected.size());
    device.download(seen.data(), inputs, seen.size() * sizeof(float));
    CHECK(std::memcmp(seen.data(), expected.data(), seen.size() * sizeof(float)) == 0);
    buffers.release(slot);
  }
}

#endif
