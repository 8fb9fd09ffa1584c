// The MNIST digits, and the clothes of FashionMNIST.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/data/idx_files.hpp>
#include <gpunet/data/pipeline.hpp>

namespace gpunet::data {

// Handwritten digits, grey, 28 x 28, from the four idx files; of any other set in the same format too (KMNIST). The
// images are kept as bytes and transformed when they are read.
class MNIST : public ImageDataset<MNIST> {
 public:
  // The 60,000 training images (train-images-idx3-ubyte and train-labels-idx1-ubyte) or the 10,000 test images (t10k-...)
  // in `folder` or its subfolder MNIST/raw, where torchvision puts them; as they are, or packed by gzip with .gz behind
  // the name (which needs <gpunet/io/zlib.hpp>). Throws Error if a file is missing, damaged, or does not fit the other.
  template <class Transform = ToTensor>
  static MNIST train(const std::string& folder, const Transform& transform = {}) {
    return MNIST(files(folder, "train"), transform);
  }
  template <class Transform = ToTensor>
  static MNIST test(const std::string& folder, const Transform& transform = {}) {
    return MNIST(files(folder, "t10k"), transform);
  }

  static constexpr std::array<std::string_view, 10> classes() {
    return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  }

  index_t size() const { return files_.size(); }
  // Image i, [1, 28, 28], before it is transformed.
  ImageBytes image(index_t i, std::vector<std::uint8_t>&) const {
    return {files_.image(i), files_.sizes(), files_.label(i)};
  }

 private:
  static IdxFiles files(const std::string& folder, const std::string& part) {
    return {"gpunet::data::MNIST: ", folder, "MNIST/raw", part};
  }
  template <class Transform>
  MNIST(IdxFiles files, const Transform& transform)
      : ImageDataset(Pipeline(transform, files.sizes())), files_(std::move(files)) {}

  IdxFiles files_;
};

// Clothes, grey, 28 x 28, in the same files as the digits of MNIST: their names are the same too, so that each set wants a
// folder of its own, or the subfolder FashionMNIST/raw, where torchvision puts it.
class FashionMNIST : public ImageDataset<FashionMNIST> {
 public:
  template <class Transform = ToTensor>
  static FashionMNIST train(const std::string& folder, const Transform& transform = {}) {
    return FashionMNIST(files(folder, "train"), transform);
  }
  template <class Transform = ToTensor>
  static FashionMNIST test(const std::string& folder, const Transform& transform = {}) {
    return FashionMNIST(files(folder, "t10k"), transform);
  }

  static constexpr std::array<std::string_view, 10> classes() {
    return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  }

  index_t size() const { return files_.size(); }
  // Image i, [1, 28, 28], before it is transformed.
  ImageBytes image(index_t i, std::vector<std::uint8_t>&) const {
    return {files_.image(i), files_.sizes(), files_.label(i)};
  }

 private:
  static IdxFiles files(const std::string& folder, const std::string& part) {
    return {"gpunet::data::FashionMNIST: ", folder, "FashionMNIST/raw", part};
  }
  template <class Transform>
  FashionMNIST(IdxFiles files, const Transform& transform)
      : ImageDataset(Pipeline(transform, files.sizes())), files_(std::move(files)) {}

  IdxFiles files_;
};

}  // namespace gpunet::data
