// The base class of datasets of images.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/image_scratch.hpp>
#include <gpunet/data/pipeline.hpp>

namespace gpunet::data {

// An image of a dataset and its class.
struct ImageBytes {
  ByteImage image;
  label_t label;
  std::string_view path = {};  // of its file, if it has one
};

// A dataset of images, which are transformed when they are read. A derived class has size() and
// image(), and shares its data with its copies.
class ImageDataset {
 public:
  virtual ~ImageDataset();

  // Returns the number of images.
  virtual index_t size() const = 0;
  // Returns image i before it is transformed. A dataset that has to decode or draw it stores the
  // bytes in `buffer`.
  virtual ImageBytes image(index_t i, std::vector<std::uint8_t>& buffer) const = 0;
  // Returns the shape of a transformed image, [channels, height, width].
  Sizes sample_sizes() const { return pipeline_.output(); }

  // Writes image i, transformed, and returns its class. Random transforms draw from `random`;
  // without it, from a generator that the default generator seeds.
  label_t read(index_t i, float* sample, Random& random) const;
  label_t read(index_t i, float* sample) const;
  // Returns whether there are random transforms.
  bool is_random() const { return pipeline_.is_random(); }

  // The same as bytes, with the table that maps them to floats. Only if has_bytes(): no transform
  // needs the floats of an image.
  bool has_bytes() const { return pipeline_.has_bytes(); }
  label_t read_bytes(index_t i, std::uint8_t* sample, Random& random) const;
  label_t read_bytes(index_t i, std::uint8_t* sample) const;
  const PixelTable& pixel_table() const { return pipeline_.table(); }

 protected:
  explicit ImageDataset(Pipeline pipeline);
  // Moves copy, so that a moved-from dataset can be read.
  ImageDataset(const ImageDataset& other);
  ImageDataset& operator=(const ImageDataset& other);

  // Returns work(). If that throws an Error, appends the path of the image's file.
  template <class Work>
  static auto with_path(std::string_view path, Work work) {
    return gpunet::detail::attempt<Error>(work, [&](const Error& error) -> decltype(work()) {
      if (path.empty()) gpunet::detail::rethrow();
      throw_error(Error(concat(error.what(), " (the image is ", path, ")")));
    });
  }

 private:
  Pipeline pipeline_;
  std::shared_ptr<detail::ImageScratches> scratches_;  // copies share it
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/image_dataset.ipp>
#endif
