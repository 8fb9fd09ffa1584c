// The MNIST digits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/sizes.hpp>
#include <gpunet/data/transforms.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/gzip.hpp>
#include <gpunet/io/mapped_file.hpp>

namespace gpunet::data {

// Handwritten digits, grey, 28 x 28, from the four idx files; of any other set in the same format too (KMNIST). The images are kept as bytes and transformed when they are read.
class MNIST {
 public:
  // The 60,000 training images (train-images-idx3-ubyte and train-labels-idx1-ubyte) or the 10,000 test images (t10k-...)
  // in `folder` or its subfolder MNIST/raw, where torchvision puts them; as they are, or packed by gzip with .gz behind
  // the name (which needs <gpunet/io/zlib.hpp>). Throws Error if a file is missing, damaged, or does not fit the other.
  template <class Transform = ToTensor>
  static MNIST train(const std::string& folder, const Transform& transform = {}) {
    return MNIST(mnist, folder, "train", PixelTable(transform, 1));
  }
  template <class Transform = ToTensor>
  static MNIST test(const std::string& folder, const Transform& transform = {}) {
    return MNIST(mnist, folder, "t10k", PixelTable(transform, 1));
  }

  static constexpr std::array<std::string_view, 10> classes() {
    return {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
  }

  index_t size() const { return static_cast<index_t>(labels_.size()); }
  Sizes sample_sizes() const { return {1, height_, width_}; }

  // Writes image i, transformed, as [1, 28, 28]; returns its digit.
  label_t read(index_t i, float* sample) const {
    table_.transform(image(i), height_ * width_, sample);
    return label(i);
  }
  // The same before it is transformed, and what transforms it.
  label_t read_bytes(index_t i, std::uint8_t* sample) const {
    std::memcpy(sample, image(i), static_cast<std::size_t>(height_ * width_));
    return label(i);
  }
  const PixelTable& pixel_table() const { return table_; }

 protected:
  // One of the sets that come in these files.
  struct Name {
    std::string_view where;   // begins the messages
    std::string_view folder;  // where torchvision puts it
  };

  MNIST(const Name& name, std::string folder, const std::string& part, PixelTable table)
      : table_(std::move(table)) {
    const std::string_view where = name.where;
    if (const std::string inner = concat(folder, "/", name.folder); io::exists(inner)) folder = inner;
    auto [image_sizes, images] = read_idx(where, find(where, folder, part + "-images-idx3-ubyte"), 3);
    auto [label_sizes, labels] = read_idx(where, find(where, folder, part + "-labels-idx1-ubyte"), 1);
    require(image_sizes[0] == label_sizes[0], where, folder, " has ", image_sizes[0], " images and ",
            label_sizes[0], " labels of the part '", part,
            "' (want one label for each image), fetch both files again");
    height_ = image_sizes[1];
    width_ = image_sizes[2];
    images_ = std::move(images);
    labels_ = std::move(labels);
    for (index_t i = 0; i < size(); ++i)
      require(label(i) < 10, where, folder, ": label ", i, " of the part '", part, "' is ", label(i),
              " (want 0 to 9): the file is damaged, fetch it again");
  }

 private:
  static constexpr Name mnist{"gpunet::data::MNIST: ", "MNIST/raw"};
  static constexpr index_t most_images = 1 << 20, most_side = 1 << 10;

  // The file as it is, or else packed.
  static std::string find(std::string_view where, const std::string& folder, const std::string& name) {
    for (const char* ending : {"", ".gz"})
      if (const std::string path = concat(folder, "/", name, ending); io::exists(path)) return path;
    throw Error(concat(where, folder, " has neither ", name, " nor ", name, ".gz, fetch the four idx files"));
  }

  struct IdxFile {
    Sizes sizes;
    std::vector<std::byte> bytes;
  };
  // An array of unsigned bytes: 0, 0, 8, its rank, each extent as a big-endian number of four bytes, then the elements.
  static IdxFile read_idx(std::string_view where, const std::string& path, int rank) {
    const io::MappedFile mapped(path);
    std::vector<std::byte> file;
    const std::size_t header = 4 + 4 * static_cast<std::size_t>(rank);
    const std::size_t most = header + static_cast<std::size_t>(most_images * (rank == 3 ? 28 * 28 : 1));
    if (io::is_gzip(mapped.bytes()))
      file = io::gunzip(mapped.bytes(), path, most);
    else
      file.assign(mapped.bytes().begin(), mapped.bytes().end());
    const auto at = [&](std::size_t i) {
      return std::to_integer<index_t>(file[i]);
    };
    require(file.size() >= header && at(0) == 0 && at(1) == 0 && at(2) == 8 && at(3) == rank, where, path,
            " does not begin as an idx file of bytes with ", rank, " dimensions does, fetch it again");
    IdxFile idx;
    for (std::size_t i = 4; i < header; i += 4)
      idx.sizes.append(at(i) << 24 | at(i + 1) << 16 | at(i + 2) << 8 | at(i + 3));
    for (int d = 1; d < rank; ++d)
      require(0 < idx.sizes[d] && idx.sizes[d] <= most_side, where, path, " has images of ", idx.sizes[1], " x ",
              idx.sizes[2], " pixels (want sides of 1 to ", most_side, "): it is damaged, fetch it again");
    require(static_cast<index_t>(file.size() - header) == idx.sizes.numel(), where, path, " has ", file.size(),
            " bytes (want ", header + static_cast<std::size_t>(idx.sizes.numel()), " for the shape ",
            to_string(idx.sizes), "): it is cut short or too long, fetch it again");
    file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(header));
    idx.bytes = std::move(file);
    return idx;
  }

  const std::uint8_t* image(index_t i) const {
    GPUNET_ASSERT(0 <= i && i < size());
    return reinterpret_cast<const std::uint8_t*>(images_.data()) + i * height_ * width_;
  }
  label_t label(index_t i) const { return std::to_integer<label_t>(labels_[static_cast<std::size_t>(i)]); }

  PixelTable table_;
  index_t height_ = 0, width_ = 0;
  std::vector<std::byte> images_;  // [size()][height][width]
  std::vector<std::byte> labels_;  // [size()]
};

// Clothes, grey, 28 x 28, in the same files as the digits of MNIST: their names are the same too, so that each set wants a
// folder of its own, or the subfolder FashionMNIST/raw, where torchvision puts it.
class FashionMNIST : public MNIST {
 public:
  template <class Transform = ToTensor>
  static FashionMNIST train(const std::string& folder, const Transform& transform = {}) {
    return FashionMNIST(folder, "train", PixelTable(transform, 1));
  }
  template <class Transform = ToTensor>
  static FashionMNIST test(const std::string& folder, const Transform& transform = {}) {
    return FashionMNIST(folder, "t10k", PixelTable(transform, 1));
  }

  static constexpr std::array<std::string_view, 10> classes() {
    return {"T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
            "Sandal",      "Shirt",   "Sneaker",  "Bag",   "Ankle boot"};
  }

 private:
  FashionMNIST(const std::string& folder, const std::string& part, PixelTable table)
      : MNIST({"gpunet::data::FashionMNIST: ", "FashionMNIST/raw"}, folder, part, std::move(table)) {}
};

}  // namespace gpunet::data
