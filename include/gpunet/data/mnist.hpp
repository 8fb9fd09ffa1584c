// The MNIST digits, and the clothes of FashionMNIST.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/data/idx_files.hpp>
#include <gpunet/data/image_dataset.hpp>

namespace gpunet::data {

namespace detail {

// What MNIST and FashionMNIST have in common: all but their names and those of their classes.
template <class Set>
class IdxImages : public ImageDataset {
 public:
  // The 60,000 training images (train-images-idx3-ubyte and train-labels-idx1-ubyte) or the 10,000 test images (t10k-...)
  // in `folder` or its subfolder MNIST/raw (FashionMNIST/raw), where torchvision puts them; as they are, or packed by gzip
  // with .gz behind the name (which needs <gpunet/io/zlib.hpp>). Throws Error if a file is missing, damaged, or does not
  // fit the other.
  template <class Transform = ToTensor>
  static Set train(const std::string& folder, const Transform& transform = {}) {
    return Set(files(folder, "train"), transform);
  }
  template <class Transform = ToTensor>
  static Set test(const std::string& folder, const Transform& transform = {}) {
    return Set(files(folder, "t10k"), transform);
  }

  index_t size() const override { return files_.size(); }
  // Image i, [1, 28, 28], before it is transformed.
  ImageBytes image(index_t i, std::vector<std::uint8_t>&) const override {
    return {files_.image(i), files_.sizes(), files_.label(i)};
  }

 protected:
  template <class Transform>
  IdxImages(IdxFiles files, const Transform& transform)
      : ImageDataset(Pipeline(transform, files.sizes())), files_(std::move(files)) {}

 private:
  static IdxFiles files(const std::string& folder, const std::string& part) {
    return {concat("gpunet::data::", Set::name, ": "), folder, concat(Set::name, "/raw"), part};
  }

  IdxFiles files_;
};

}  // namespace detail

// Handwritten digits, grey, 28 x 28, from the four idx files; of any other set in the same format too (KMNIST). The
// images are kept as bytes and transformed when they are read.
class MNIST : public detail::IdxImages<MNIST> {
 public:
  static constexpr std::string_view name = "MNIST";  // for messages
  // The names of the labels.
  static constexpr std::array<std::string_view, 10> classes() {
    return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  }

 private:
  friend IdxImages;
  using IdxImages::IdxImages;
};

// Clothes, grey, 28 x 28, in the same files as the digits of MNIST: their names are the same too, so that each set wants a
// folder of its own, or the subfolder FashionMNIST/raw.
class FashionMNIST : public detail::IdxImages<FashionMNIST> {
 public:
  static constexpr std::string_view name = "FashionMNIST";  // for messages
  // The names of the labels.
  static constexpr std::array<std::string_view, 10> classes() {
    return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  }

 private:
  friend IdxImages;
  using IdxImages::IdxImages;
};

}  // namespace gpunet::data
