// What datasets of images have in common.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/pipeline.hpp>

namespace gpunet::data {

// An image of a dataset, [channels, height, width], and its class.
struct ImageBytes {
  const std::uint8_t* bytes;
  ImageSizes sizes;
  label_t label;
  std::string_view path = {};  // of its file, if it has one
  // How many bytes a pixel has where its channels lie side by side, [height, width, interleaved]: 3 or 4, of which the
  // first ones are the channels, or 1 or 2, of which the first one is every channel. 0 for [channels, height, width].
  index_t interleaved = 0;

  // The same with steps.
  operator ByteImage() const {
    if (interleaved == 0) return {bytes, sizes};
    return {bytes, sizes, interleaved < 3 ? 0 : 1, interleaved};
  }
};

// A dataset of images, which are transformed when they are read.
class ImageDataset {
 public:
  virtual ~ImageDataset() = default;

  virtual index_t size() const = 0;
  // Image i, before it is transformed; `room` is for sets that have to make it.
  virtual ImageBytes image(index_t i, std::vector<std::uint8_t>& room) const = 0;
  // Of a transformed image: [channels, height, width].
  Sizes sample_sizes() const { return pipeline_.output(); }

  // Writes image i, transformed; returns its class. Random transforms draw from `random`, and where there is none from a
  // generator of their own, which the default generator seeds.
  label_t read(index_t i, float* sample, Random& random) const;
  label_t read(index_t i, float* sample) const;
  // Whether two reads of one sample differ.
  bool is_random() const { return pipeline_.is_random(); }

  // The same as bytes, and what makes floats of them, where there is no transform that wants floats.
  bool has_bytes() const { return pipeline_.has_bytes(); }
  label_t read_bytes(index_t i, std::uint8_t* sample, Random& random) const;
  label_t read_bytes(index_t i, std::uint8_t* sample) const;
  const PixelTable& pixel_table() const { return pipeline_.table(); }

 protected:
  explicit ImageDataset(Pipeline pipeline) : pipeline_(std::move(pipeline)) {}
  ImageDataset(const ImageDataset&) = default;
  ImageDataset(ImageDataset&&) = default;
  ImageDataset& operator=(const ImageDataset&) = default;
  ImageDataset& operator=(ImageDataset&&) = default;

  // The result of work(); an Error that it throws tells the image's file too, if there is one.
  template <class Work>
  static auto with_path(std::string_view path, Work work) {
    try {
      return work();
    } catch (const Error& error) {
      if (path.empty()) throw;
      throw Error(concat(error.what(), " (the image is ", path, ")"));
    }
  }

 private:
  Pipeline pipeline_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/image_dataset.ipp>
#endif
