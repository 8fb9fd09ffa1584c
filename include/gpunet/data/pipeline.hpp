// The transforms of a dataset, prepared for its images.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/data/image_scratch.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

namespace detail {

// A type-erased transform.
class AnyTransform {
 public:
  bool is_of_images;  // else of values, see transforms.hpp
  bool moves_pixels;  // accepts images of bytes too
  bool draws;         // uses random numbers

  AnyTransform(bool of_images, bool moves, bool random)
      : is_of_images(of_images), moves_pixels(moves), draws(random) {}
  virtual ~AnyTransform() = default;

  // Transforms an image. For images of bytes only if moves_pixels.
  virtual void run(Pixels<std::uint8_t>& image, Random& random) const = 0;
  virtual void run(Pixels<float>& image, Random& random) const = 0;
  // Writes the transformed floats of `from` to `to`. Returns false if it needs an image of floats
  // instead.
  virtual bool run(const ByteImage& from, const PixelTable& table, Pixels<float>& to) const = 0;
  // Returns the transformed value. Only if not is_of_images.
  virtual float value(float x, index_t channel) const = 0;
  // Returns the size of the transformed image. Throws Error if the transform does not accept the
  // image.
  virtual ImageSizes output(const ImageSizes& input) const = 0;
};

template <class Transform>
class TransformOf final : public AnyTransform {
  static constexpr bool of_images = TransformsImages<Transform, float>;
  static constexpr bool moves = of_images && TransformsImages<Transform, std::uint8_t>;
  static_assert(of_images || std::is_invocable_r_v<float, const Transform&, float, index_t>,
                "gpunet::data: a transform after ToTensor takes neither a value (float, index_t) "
                "nor an image (Pixels<float>&)");

 public:
  explicit TransformOf(const Transform& transform)
      : AnyTransform(of_images, moves, DrawsForImages<Transform, float>), transform_(transform) {}

  void run([[maybe_unused]] Pixels<std::uint8_t>& image,
           [[maybe_unused]] Random& random) const override {
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

// Appends a transform to a list.
void append(AnyTransforms& list, std::unique_ptr<const AnyTransform> transform);

// The transforms on bytes, and the transforms on floats.
struct PipelineParts {
  AnyTransforms bytes, floats;
};

// Returns the transforms of a list without ToTensor.
template <class... Transforms>
AnyTransforms list_of(const Compose<Transforms...>& transform) {
  AnyTransforms list;
  const auto add = [&list]<class Transform>(const Transform& each) {
    if constexpr (!std::same_as<Transform, ToTensor>)
      append(list, std::make_unique<TransformOf<Transform>>(each));
  };
  std::apply([&add](const auto&... each) { (add(each), ...); }, transform.transforms());
  return list;
}

// Returns a transform, or all transforms of a Compose, nested ones included.
template <class Transform>
std::tuple<Transform> transforms_of(const Transform& transform) {
  return {transform};
}
template <class... Transforms>
auto transforms_of(const Compose<Transforms...>& transform) {
  return std::apply([](const auto&... each) { return std::tuple_cat(transforms_of(each)...); },
                    transform.transforms());
}

template <class Transform>
inline constexpr bool is_compose = false;
template <class... Transforms>
inline constexpr bool is_compose<Compose<Transforms...>> = true;

// Returns whether there is one ToTensor, and no transform of values before it.
template <class... Transforms>
constexpr bool is_in_order() {
  int seen = 0;
  bool right = true;
  ((seen += std::same_as<Transforms, ToTensor>,
    right &= TransformsImages<Transforms, float> || seen == 1),
   ...);
  return right && seen == 1;
}

}  // namespace detail

// The transforms of a dataset of images in three parts: moves of pixels (bytes), a table of the
// transforms of values, and transforms of the floats of an image. Type-erased, so datasets need no
// template parameter for them.
class Pipeline {
 public:
  // `input`: the size of the images, or of the first one if they differ. Throws Error if a
  // transform does not accept it.
  template <class Transform>
  Pipeline(const Transform& transform, const ImageSizes& input)
      : table_(transform, input.channels), output_(input) {}
  template <class... Transforms>
  requires(detail::is_compose<Transforms> || ...)
      Pipeline(const Compose<Transforms...>& transform, const ImageSizes& input)
      : Pipeline(std::apply([](const auto&... each) { return Compose(each...); },
                            detail::transforms_of(transform)),
                 input) {}
  template <class... Transforms>
  requires(!(detail::is_compose<Transforms> || ...) && (TransformsImages<Transforms, float> || ...))
      Pipeline(const Compose<Transforms...>& transform, const ImageSizes& input)
      : Pipeline(detail::list_of(transform), input) {
    static_assert(detail::is_in_order<Transforms...>(),
                  "gpunet::data: a list of transforms wants ToTensor once, before those of values "
                  "(Normalize, Lambda of a value)");
  }

  // Returns the size of the samples.
  const ImageSizes& output() const { return output_; }
  bool is_random() const { return is_random_; }
  // Returns whether samples can be copied to a device as bytes: table() then maps them to floats.
  bool has_bytes() const { return !parts_ || parts_->floats.empty(); }
  const PixelTable& table() const { return table_; }

  // Writes the transformed image; uses `scratch` as it likes. Throws Error if its size is not
  // output().
  void transform(const ByteImage& image, float* sample, Random& random,
                 detail::ImageScratch& scratch) const;
  // Writes the bytes before the table is applied, [channels, height, width]. Only if has_bytes().
  void transform(const ByteImage& image, std::uint8_t* sample, Random& random,
                 detail::ImageScratch& scratch) const;

 private:
  Pipeline(detail::AnyTransforms list, const ImageSizes& input);

  // Runs the transforms that move pixels. The result is in scratch memory, or `from` if there are
  // none.
  ByteImage move(const ByteImage& from, Random& random, Pixels<std::uint8_t>& scratch) const;
  void check(const ImageSizes& sizes, const ImageSizes& input) const;

  // Null if there are only transforms of values.
  std::shared_ptr<const detail::PipelineParts> parts_;
  PixelTable table_;
  ImageSizes output_;
  bool is_random_ = false;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/pipeline.ipp>
#endif
