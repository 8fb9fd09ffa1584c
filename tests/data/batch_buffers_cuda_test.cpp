#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <algorithm>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

#include <gpunet/data/batch_buffers.cuh>
#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/tensor/tensor.hpp>

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

void fill(data::BatchBuffers<Cuda>& buffers, index_t slot, index_t batch) {
  buffers.wait_reusable(slot);
  for (index_t i = 0; i < batch_size * sample_size; ++i)
    buffers.host_inputs(slot)[i] = input_of(batch, i);
  for (index_t i = 0; i < batch_size; ++i)
    buffers.host_labels(slot)[i] = label_of(batch, i);
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

  void add(index_t batch, const data::Batch<Cuda>& seen) {
    for_each(device_, seen.inputs.numel(),
             CopyInputs{seen.inputs.data(), inputs_.data() + batch * batch_size * sample_size});
    for_each(device_, seen.labels.numel(), CopyLabels{seen.labels.data(), labels_.data() + batch * batch_size});
  }
  bool is_right(index_t batches) const {
    const std::vector<float> inputs = inputs_.to_vector();
    const std::vector<label_t> labels = labels_.to_vector();
    bool right = true;
    for (index_t batch = 0; batch < batches; ++batch) {
      for (index_t i = 0; i < batch_size * sample_size; ++i)
        right &= inputs[static_cast<std::size_t>(batch * batch_size * sample_size + i)] == input_of(batch, i);
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
    data::BatchBuffers<Cuda> buffers(device, slots, {batch_size, 2, 4});
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
  data::BatchBuffers<Cuda> buffers(device, slots, {batch_size, 2, 4});
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

TEST_CASE("a short batch on Cuda has its own size") {
  Cuda device;
  data::BatchBuffers<Cuda> buffers(device, 2, {batch_size, 2, 4});
  fill(buffers, 0, 7);
  const auto [inputs, labels] = buffers.send(0, 2);
  CHECK(inputs.sizes() == Sizes{2, 2, 4});
  CHECK(labels.sizes() == Sizes{2});
  std::vector<label_t> seen(2);
  device.download(seen.data(), labels.data(), 2 * sizeof(label_t));
  CHECK(seen == std::vector<label_t>{70, 71});
  buffers.release(0);
}

TEST_CASE("batch buffers of a Cuda device may go while work is left, or be filled in vain") {
  Cuda device;
  Record record(device, 1);
  {
    data::BatchBuffers<Cuda> buffers(device, 3, {batch_size, 2, 4});
    fill(buffers, 0, 0);
    record.add(0, buffers.send(0, batch_size));
    buffers.release(0);
    fill(buffers, 1, 1);
    fill(buffers, 1, 2);
  }
  CHECK(record.is_right(1));
}

#endif
