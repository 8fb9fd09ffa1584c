// From the images of a dataset to samples.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/data/pixels.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

namespace detail {

// A transform of any type, as a pipeline applies it.
class AnyTransform {
 public:
  // Properties of the type.
  bool is_of_images;  // else of values: see transforms.hpp
  bool moves_pixels;  // whether it takes images of bytes too
  bool draws;         // whether it takes random numbers

  AnyTransform(bool of_images, bool moves, bool random)
      : is_of_images(of_images), moves_pixels(moves), draws(random) {}
  virtual ~AnyTransform() = default;

  // Changes an image; of bytes only if it moves pixels.
  virtual void run(Pixels<std::uint8_t>& image, Random& random) const = 0;
  virtual void run(Pixels<float>& image, Random& random) const = 0;
  // Makes `to` of bytes and what becomes of them. Returns false if it wants floats.
  virtual bool run(const ByteImage& from, const PixelTable& table, Pixels<float>& to) const = 0;
  // Returns what becomes of a value; only of a transform of values.
  virtual float value(float x, index_t channel) const = 0;
  // Returns what images of such sizes become. Throws Error if it is not made for them.
  virtual ImageSizes output(const ImageSizes& input) const = 0;
};

template <class Transform>
class TransformOf final : public AnyTransform {
  static constexpr bool of_images = TransformsImages<Transform, float>;
  static constexpr bool moves = of_images && TransformsImages<Transform, std::uint8_t>;
  static_assert(of_images || std::is_invocable_r_v<float, const Transform&, float, index_t>,
                "gpunet::data: a transform behind ToTensor takes neither a value (float, index_t) nor an image "
                "(Pixels<float>&)");

 public:
  explicit TransformOf(const Transform& transform)
      : AnyTransform(of_images, moves, DrawsForImages<Transform, float>), transform_(transform) {}

  void run([[maybe_unused]] Pixels<std::uint8_t>& image, [[maybe_unused]] Random& random) const override {
    if constexpr (moves) change(image, random);
  }
  void run(Pixels<float>& image, [[maybe_unused]] Random& random) const override {
    if constexpr (of_images) {
      change(image, random);
    } else {
      float* x = image.values.data();
      for (index_t c = 0; c < image.sizes.channels; ++c)
        for (index_t i = 0; i < image.sizes.pixels(); ++i, ++x)
          *x = transform_(*x, c);
    }
  }
  bool run([[maybe_unused]] const ByteImage& from, [[maybe_unused]] const PixelTable& table,
           [[maybe_unused]] Pixels<float>& to) const override {
    if constexpr (requires { transform_(from, table, to); }) {
      transform_(from, table, to);
      return true;
    }
    return false;
  }
  float value(float x, [[maybe_unused]] index_t channel) const override {
    if constexpr (of_images)
      return x;
    else
      return transform_(x, channel);
  }
  ImageSizes output(const ImageSizes& input) const override {
    if constexpr (requires { transform_.output(input); })
      return transform_.output(input);
    else if constexpr (requires { transform_.check(input.channels); })
      transform_.check(input.channels);
    return input;
  }

 private:
  template <class T>
  void change(Pixels<T>& image, [[maybe_unused]] Random& random) const {
    if constexpr (DrawsForImages<Transform, T>)
      transform_(image, random);
    else
      transform_(image);
  }

  Transform transform_;
};

using AnyTransforms = std::vector<std::unique_ptr<const AnyTransform>>;

// Adds a transform to a list.
void append(AnyTransforms& list, std::unique_ptr<const AnyTransform> transform);

// Transforms by where they are done: while an image is bytes, and when it is floats.
struct PipelineParts {
  AnyTransforms bytes, floats;
};

// All transforms of a list but ToTensor.
template <class... Transforms>
AnyTransforms list_of(const Compose<Transforms...>& transform) {
  AnyTransforms list;
  const auto add = [&list]<class Transform>(const Transform& each) {
    if constexpr (!std::same_as<Transform, ToTensor>) append(list, std::make_unique<TransformOf<Transform>>(each));
  };
  std::apply([&add](const auto&... each) { (add(each), ...); }, transform.transforms());
  return list;
}

// Whether values come behind ToTensor, of which there is one.
template <class... Transforms>
constexpr bool is_in_order() {
  int seen = 0;
  bool right = true;
  ((seen += std::same_as<Transforms, ToTensor>, right &= TransformsImages<Transforms, float> || seen == 1), ...);
  return right && seen == 1;
}

}  // namespace detail

// The transforms of a dataset of images: those that move pixels, a table of what becomes of each byte, and those that want
// floats. Type-erased, so datasets need no template parameter for them.
class Pipeline {
 public:
  // For images of such sizes, like the first one where they differ. Throws Error if a transform is not made for them.
  template <class Transform>
  Pipeline(const Transform& transform, const ImageSizes& input)
      : table_(transform, input.channels), output_(input) {}
  template <class... Transforms>
  requires(TransformsImages<Transforms, float> || ...)
      Pipeline(const Compose<Transforms...>& transform, const ImageSizes& input)
      : Pipeline(detail::list_of(transform), input) {
    static_assert(
        detail::is_in_order<Transforms...>(),
        "gpunet::data: a list of transforms wants ToTensor once, before those of values (Normalize, Lambda "
        "of a value)");
  }

  // Of the samples.
  const ImageSizes& output() const { return output_; }
  bool is_random() const { return is_random_; }
  // Whether samples may travel as bytes, to become floats by the table.
  bool has_bytes() const { return !parts_ || parts_->floats.empty(); }
  const PixelTable& table() const { return table_; }

  // Writes what becomes of an image. Throws Error if it has not the sizes of output().
  void transform(const ByteImage& image, float* sample, Random& random) const;
  // The same before the table, where has_bytes(), as [channels, height, width].
  void transform(const ByteImage& image, std::uint8_t* sample, Random& random) const;

 private:
  Pipeline(detail::AnyTransforms list, const ImageSizes& input);

  ByteImage move(const ByteImage& from, Random& random) const;
  void check(const ImageSizes& sizes, const ImageSizes& input) const;

  std::shared_ptr<const detail::PipelineParts> parts_;  // null where the table is all
  PixelTable table_;
  ImageSizes output_;
  bool is_random_ = false;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/pipeline.ipp>
#endif
