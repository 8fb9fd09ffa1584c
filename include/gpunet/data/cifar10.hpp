// The CIFAR-10 images.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include <gpunet/core/sizes.hpp>
#include <gpunet/data/cifar_files.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

// 32x32 colour photographs of ten kinds of things, from the official binary version (cifar-10-binary.tar.gz). The
// images are kept as bytes and transformed when they are read.
class CIFAR10 {
 public:
  // The 50,000 training images (data_batch_1.bin to data_batch_5.bin) or the 10,000 test images (test_batch.bin) in
  // `folder` or its subfolder cifar-10-batches-bin. Files with fewer images are taken as they are. Throws Error if
  // a file is missing, cannot be read, is no file of CIFAR-10, or holds a label over 9.
  template <class Transform = ToTensor>
  static CIFAR10 train(const std::string& folder, const Transform& transform = {}) {
    return CIFAR10(
        folder,
        {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
        PixelTable(transform, CifarFiles::channels));
  }
  template <class Transform = ToTensor>
  static CIFAR10 test(const std::string& folder, const Transform& transform = {}) {
    return CIFAR10(folder, {"test_batch.bin"}, PixelTable(transform, CifarFiles::channels));
  }

  static constexpr std::array<std::string_view, 10> classes() {
    return {"plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  }

  index_t size() const { return files_.size(); }
  Sizes sample_sizes() const { return {CifarFiles::channels, side, side}; }

  // Writes image i, transformed, as [3, 32, 32]; returns its class.
  label_t read(index_t i, float* sample) const {
    table_.transform(files_.image(i), side * side, sample);
    return files_.label(i, 0);
  }
  // The same before it is transformed, and what transforms it.
  label_t read_bytes(index_t i, std::uint8_t* sample) const {
    std::copy_n(files_.image(i), CifarFiles::channels * side * side, sample);
    return files_.label(i, 0);
  }
  const PixelTable& pixel_table() const { return table_; }

 private:
  static constexpr index_t side = CifarFiles::side;
  static constexpr CifarFiles::Format format{
      "gpunet::data::CIFAR10: ", "cifar-10-batches-bin", "scripts/get_cifar10.sh ", 10000, {10, 0}, {"label", ""}};

  CIFAR10(const std::string& folder, std::initializer_list<std::string_view> names, PixelTable table)
      : table_(std::move(table)), files_(format, folder, names) {}

  PixelTable table_;
  CifarFiles files_;
};

}  // namespace gpunet::data
