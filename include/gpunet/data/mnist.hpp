// The MNIST digits and the FashionMNIST clothes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/data/dataset.hpp>
#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

namespace detail {

// Grayscale images of one size with a label from 0 to 9 each, read from two idx files.
struct IdxFiles {
  // Reads PART-images-idx3-ubyte and PART-labels-idx1-ubyte in `folder` or its subfolder SET/raw,
  // also compressed by gzip (name ending in .gz, at most 1 GiB decompressed). Throws Error if a
  // file is missing or damaged, or if the two do not match.
  IdxFiles(std::string_view set, std::string folder, const std::string& part);

  ImageSizes sizes;
  std::vector<std::byte> images;  // [n, height, width]
  std::vector<std::byte> labels;  // [n]
};

// A dataset of the images of idx files.
class IdxImages : public ImageDataset {
 public:
  GPUNET_INLINE_VIRTUAL index_t size() const override;
  // Returns image i, [1, 28, 28], before it is transformed.
  GPUNET_INLINE_VIRTUAL ImageBytes image(index_t i, std::vector<std::uint8_t>&) const override;

 protected:
  template <class Transform>
  IdxImages(IdxFiles files, const Transform& transform)
      : ImageDataset(Pipeline(transform, files.sizes)), files_(std::move(files)) {}

 private:
  SharedData<IdxFiles> files_;
};

}  // namespace detail

// Handwritten digits, grayscale, 28 x 28, or any other dataset in the same format (KMNIST). Images
// are stored as bytes and transformed when they are read.
class MNIST : public detail::IdxImages {
 public:
  // The 60,000 training images (train-images-idx3-ubyte and train-labels-idx1-ubyte) or the 10,000
  // test images (t10k-...) in `folder` or its subfolder MNIST/raw, where torchvision stores them.
  // Files compressed by gzip, with names ending in .gz, are read if <gpunet/io/zlib.hpp> is
  // included. Names with a dot, train-images.idx3-ubyte, are read too. Throws Error if a file is
  // missing or damaged, or if the two do not match.
  template <class Transform = ToTensor>
  static MNIST train(const std::string& folder, const Transform& transform = {}) {
    return {{"MNIST", folder, "train"}, transform};
  }
  template <class Transform = ToTensor>
  static MNIST test(const std::string& folder, const Transform& transform = {}) {
    return {{"MNIST", folder, "t10k"}, transform};
  }

  // The names of the classes.
  static constexpr std::array<std::string_view, 10> classes() {
    return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  }

 private:
  using IdxImages::IdxImages;
};

// Clothes, grayscale, 28 x 28. The files have the same names as MNIST's, so each dataset needs a
// folder of its own or the subfolder FashionMNIST/raw.
class FashionMNIST : public detail::IdxImages {
 public:
  // As MNIST::train and MNIST::test.
  template <class Transform = ToTensor>
  static FashionMNIST train(const std::string& folder, const Transform& transform = {}) {
    return {{"FashionMNIST", folder, "train"}, transform};
  }
  template <class Transform = ToTensor>
  static FashionMNIST test(const std::string& folder, const Transform& transform = {}) {
    return {{"FashionMNIST", folder, "t10k"}, transform};
  }

  // The names of the classes.
  static constexpr std::array<std::string_view, 10> classes() {
    return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  }

 private:
  using IdxImages::IdxImages;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/mnist.ipp>
#endif
