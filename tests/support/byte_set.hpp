// A dataset of bytes for tests.
#pragma once

#include <cstdint>
#include <vector>

#include <gpunet/data/dataset.hpp>
#include <gpunet/data/transforms.hpp>

// Images of random bytes with a different normalization per channel. Sample i has the label i.
struct ByteSet {
  explicit ByteSet(gpunet::index_t samples, const gpunet::Sizes& of_one = {3, 5, 7})
      : n(samples), sizes(of_one) {}

  gpunet::index_t size() const { return n; }
  gpunet::Sizes sample_sizes() const { return sizes; }
  gpunet::label_t read(gpunet::index_t i, float* sample) const {
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(sizes.numel()));
    const gpunet::label_t label = read_bytes(i, bytes.data());
    table.transform(bytes.data(), sizes.numel() / sizes[0], sample);
    return label;
  }
  gpunet::label_t read_bytes(gpunet::index_t i, std::uint8_t* sample) const {
    auto state = static_cast<std::uint32_t>(i);
    for (gpunet::index_t k = 0; k < sizes.numel(); ++k)
      sample[k] = static_cast<std::uint8_t>((state = state * 1664525 + 1013904223) >> 24);
    return static_cast<gpunet::label_t>(i);
  }
  const gpunet::data::PixelTable& pixel_table() const { return table; }

  gpunet::index_t n;
  gpunet::Sizes sizes;
  gpunet::data::PixelTable table{
      gpunet::data::Compose{gpunet::data::ToTensor{}, normalize(sizes[0])}, sizes[0]};

 private:
  static gpunet::data::Normalize normalize(gpunet::index_t channels) {
    std::vector<float> mean, std;
    for (gpunet::index_t c = 0; c < channels; ++c) {
      mean.push_back(0.4f + 0.03f * static_cast<float>(c));
      std.push_back(0.2f + 0.07f * static_cast<float>(c));
    }
    return {mean, std};
  }
};
static_assert(gpunet::data::ByteDataset<ByteSet>);
