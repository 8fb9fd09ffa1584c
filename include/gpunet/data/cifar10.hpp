// The CIFAR-10 images.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/data/cifar_files.hpp>
#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

// 32x32 colour photographs of ten kinds of things, from the official binary version (cifar-10-binary.tar.gz). The
// images are kept as bytes and transformed when they are read.
class CIFAR10 : public ImageDataset {
 public:
  // The 50,000 training images (data_batch_1.bin to data_batch_5.bin) or the 10,000 test images (test_batch.bin) in
  // `folder` or its subfolder cifar-10-batches-bin. Files with fewer images are taken as they are. Throws Error if
  // a file is missing, cannot be read, is no file of CIFAR-10, or holds a label over 9.
  template <class Transform = ToTensor>
  static CIFAR10 train(const std::string& folder, const Transform& transform = {}) {
    return CIFAR10(
        folder,
        {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin"},
        Pipeline(transform, CifarFiles::sizes));
  }
  template <class Transform = ToTensor>
  static CIFAR10 test(const std::string& folder, const Transform& transform = {}) {
    return CIFAR10(folder, {"test_batch.bin"}, Pipeline(transform, CifarFiles::sizes));
  }

  // The names of the labels.
  static constexpr std::array<std::string_view, 10> classes() {
    return {"plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"};
  }

  index_t size() const override { return files_.size(); }
  // Image i, [3, 32, 32], before it is transformed.
  ImageBytes image(index_t i, std::vector<std::uint8_t>&) const override {
    return {files_.image(i), CifarFiles::sizes, files_.label(i, 0)};
  }

 private:
  static constexpr CifarFiles::Format format{
      "gpunet::data::CIFAR10: ", "cifar-10-batches-bin", "scripts/get_cifar10.sh ", 10000, {10, 0}, {"label", ""}};

  CIFAR10(const std::string& folder, std::initializer_list<std::string_view> names, Pipeline pipeline)
      : ImageDataset(std::move(pipeline)), files_(format, folder, names) {}

  CifarFiles files_;
};

}  // namespace gpunet::data
