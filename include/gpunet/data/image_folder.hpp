// Images in folders, one folder per class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/image_dataset.hpp>
#include <gpunet/io/read_image.hpp>

namespace gpunet::data {

// Options of ImageFolder, as in torchvision.
struct ImageFolderOptions {
  bool allow_empty = false;  // a folder without images is a class too
  // A larger image is an Error, see io::ReadImageOptions. Each worker needs memory for one image as
  // bytes and for its transformed floats. If Resize is the first transform that needs floats, these
  // are only the resized ones.
  std::int64_t max_pixels = io::ReadImageOptions{}.max_pixels;
};

// As torchvision.datasets.ImageFolder: each folder in `root` is a class; the images in it and in
// its subfolders are its samples, in the same order. An image is read from its file each time, with
// three channels: gray images get three equal channels, alpha is dropped (as Pillow's
// convert('RGB') does). If images have different sizes, the transform
// must resize them:
//   data::ImageFolder set("data/pets", data::Compose(data::Resize{{64, 64}}, data::ToTensor{}));
class ImageFolder : public ImageDataset {
 public:
  // An image file and its class.
  struct Item {
    std::string path;
    label_t label;
  };

  // Reads the first image, for the shape of the samples. Throws Error if `root` is missing,
  // unreadable or has no subfolder, if a class has no image, or if the transform does not accept
  // the first image. Errors in other images are thrown when those are read.
  template <class Transform = ToTensor>
  explicit ImageFolder(const std::string& root, const Transform& transform = {},
                       const ImageFolderOptions& options = {})
      : ImageFolder(Files(root, options), transform) {}

  index_t size() const override { return static_cast<index_t>(files_->samples.size()); }
  // Returns the names of the folders, sorted; the index is the class.
  const std::vector<std::string>& classes() const { return files_->classes; }
  const std::map<std::string, label_t>& class_to_idx() const { return files_->class_to_idx; }
  const std::vector<Item>& samples() const { return files_->samples; }

  // Reads image i into `buffer`, with three channels, before it is transformed.
  GPUNET_INLINE_VIRTUAL ImageBytes image(index_t i,
                                         std::vector<std::uint8_t>& buffer) const override;

 private:
  struct Files {
    Files(const std::string& root, const ImageFolderOptions& options);

    // Appends the images of a class, sorted by folder and then by name, bytewise.
    void add_samples(const std::string& folder, label_t label);

    ImageBytes image(std::size_t i, std::vector<std::uint8_t>& buffer) const;

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
    std::vector<std::uint8_t> buffer;
    const ImageBytes first = files.image(0, buffer);
    return with_path(first.path, [&] { return Pipeline(transform, first.image.sizes); });
  }

  detail::SharedData<Files> files_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/image_folder.ipp>
#endif
