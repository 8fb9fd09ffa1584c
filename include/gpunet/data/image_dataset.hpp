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

// What datasets of images share. Set::image(i, room) gives image i; `room` is for those that have to make it.
template <class Set>
class ImageDataset {
 public:
  Sizes sample_sizes() const { return pipeline_.output(); }

  // Writes image i, transformed, as [channels, height, width]; returns its class. Random transforms draw from `random`, and
  // where there is none from a generator of their own, which the default generator seeds.
  label_t read(index_t i, float* sample) const {
    Random random = pipeline_.is_random() ? any_random() : Random(0);
    return read(i, sample, random);
  }
  label_t read(index_t i, float* sample, Random& random) const {
    const ImageBytes image = this->image(i);
    with_path(image.path, [&] { pipeline_.read(image, sample, random); });
    return image.label;
  }

  // The same as bytes, and what makes floats of them, where there is no transform that wants floats.
  bool has_bytes() const { return pipeline_.has_bytes(); }
  label_t read_bytes(index_t i, std::uint8_t* sample) const {
    Random random = pipeline_.is_random() ? any_random() : Random(0);
    return read_bytes(i, sample, random);
  }
  label_t read_bytes(index_t i, std::uint8_t* sample, Random& random) const {
    const ImageBytes image = this->image(i);
    with_path(image.path, [&] { pipeline_.read_bytes(image, sample, random); });
    return image.label;
  }
  const PixelTable& pixel_table() const { return pipeline_.table(); }

  // Whether two reads of one sample differ.
  bool is_random() const { return pipeline_.is_random(); }

 protected:
  explicit ImageDataset(Pipeline pipeline) : pipeline_(std::move(pipeline)) {}

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
  ImageBytes image(index_t i) const {
    static thread_local std::vector<std::uint8_t> room;
    return static_cast<const Set*>(this)->image(i, room);
  }

  Pipeline pipeline_;
};

}  // namespace gpunet::data
