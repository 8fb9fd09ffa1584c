// Images in folders, one for each class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/image_dataset.hpp>
#include <gpunet/io/read_image.hpp>

namespace gpunet::data {

// As torchvision takes them.
struct ImageFolderOptions {
  bool allow_empty = false;  // a folder without images is a class too
  // A larger image is an Error, see io::ReadImageOptions. What a worker holds is an image as its file has it, a byte for each
  // channel of each pixel, and what the transforms make of it: Resize, if it is the first of those that need floats, takes
  // rows of the bytes, and so nothing but its result is added.
  std::int64_t max_pixels = io::ReadImageOptions{}.max_pixels;
};

// As torchvision.datasets.ImageFolder: each folder in `root` is a class, the images in it and in folders below are its
// samples, in the same order. Images are read when they are asked for, three channels each: gray ones get three equal
// channels, and alpha is left out (as Pillow's convert('RGB') does). They may have any sizes if the transform brings them to
// one:
//   data::ImageFolder set("data/pets", data::Compose(data::Resize{{64, 64}}, data::ToTensor{}));
class ImageFolder : public ImageDataset {
 public:
  // An image file and its class.
  struct Item {
    std::string path;
    label_t label;
  };

  // Reads the first image for its sizes. Throws Error if `root` is missing, cannot be read, or has no folder in it, if a
  // class has no image, or if the transform is not made for the first one. What is wrong with another one is thrown when that
  // one is read.
  template <class Transform = ToTensor>
  explicit ImageFolder(const std::string& root, const Transform& transform = {},
                       const ImageFolderOptions& options = {})
      : ImageFolder(Files(root, options), transform) {}

  index_t size() const override { return static_cast<index_t>(files_.samples.size()); }
  // The names of the folders, sorted; class i is the i-th one.
  const std::vector<std::string>& classes() const { return files_.classes; }
  const std::map<std::string, label_t>& class_to_idx() const { return files_.class_to_idx; }
  const std::vector<Item>& samples() const { return files_.samples; }

  // Image i, three channels, before it is transformed, as its file has it; it is put into `room`.
  ImageBytes image(index_t i, std::vector<std::uint8_t>& room) const override {
    GPUNET_ASSERT(0 <= i && i < size());
    return files_.image(static_cast<std::size_t>(i), room);
  }

 private:
  struct Files {
    Files(const std::string& root, const ImageFolderOptions& options);

    // The images of a class: by folder and then by name, both by their bytes.
    void add_samples(const std::string& folder, label_t label);

    ImageBytes image(std::size_t i, std::vector<std::uint8_t>& room) const;

    std::int64_t max_pixels;
    std::vector<std::string> classes;
    std::map<std::string, label_t> class_to_idx;
    std::vector<Item> samples;
  };

  template <class Transform>
  ImageFolder(Files files, const Transform& transform)
      : ImageDataset(pipeline(files, transform)), files_(std::move(files)) {}

  template <class Transform>
  static Pipeline pipeline(const Files& files, const Transform& transform) {
    std::vector<std::uint8_t> room;
    const ImageBytes first = files.image(0, room);
    return with_path(first.path, [&] { return Pipeline(transform, first.sizes); });
  }

  Files files_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/image_folder.ipp>
#endif
