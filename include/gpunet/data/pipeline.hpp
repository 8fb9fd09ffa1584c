// What becomes of the images of a dataset on their way into a batch.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/pixels.hpp>
#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

namespace detail {

template <class Transform>
std::tuple<Transform> list_of(const Transform& transform) {
  return {transform};
}
template <class... Transforms>
const std::tuple<Transforms...>& list_of(const Compose<Transforms...>& transform) {
  return transform.transforms();
}

// In which part of a pipeline each transform of a list is done.
enum class Part { bytes, table, floats };

// Pixels may be moved while they are bytes, until something else than ToTensor comes. What is done value by value before the
// first transform of whole images in floats becomes part of the table. ToTensor itself may stand behind transforms of images,
// as in torchvision, where those get bytes; here they compute in floats.
template <class... Transforms>
struct Parts {
  static constexpr std::size_t count = sizeof...(Transforms);
  template <class T>
  static constexpr bool is_to_tensor = std::same_as<T, ToTensor>;
  static constexpr bool images[count] = {TransformsImages<Transforms, float>...};
  static constexpr bool moves[count] = {
      (TransformsImages<Transforms, float> && TransformsImages<Transforms, std::uint8_t>)...};
  static constexpr bool draws[count] = {DrawsForImages<Transforms, float>...};
  static constexpr bool to_tensor[count] = {is_to_tensor<Transforms>...};

  static constexpr Part part(std::size_t i) {
    bool values = false;
    for (std::size_t k = 0; k < i; ++k) {
      if (images[k] && (values || !moves[k])) return to_tensor[i] ? Part::table : Part::floats;
      values |= !images[k] && !to_tensor[k];
    }
    if (!images[i]) return Part::table;
    return values || !moves[i] ? Part::floats : Part::bytes;
  }
  // The first transform of a part; `count` if there is none.
  static constexpr std::size_t first(Part which) {
    std::size_t i = 0;
    while (i < count && part(i) != which)
      ++i;
    return i;
  }
  static constexpr bool any(Part which) { return first(which) < count; }
  static constexpr bool any_images() { return std::ranges::any_of(images, std::identity{}); }
  // Whether values come behind ToTensor, of which there is one.
  static constexpr bool is_in_order() {
    int seen = 0;
    for (std::size_t i = 0; i < count; ++i) {
      seen += to_tensor[i];
      if (!images[i] && seen != 1) return false;
    }
    return seen == 1;
  }
};

}  // namespace detail

// The transforms of a dataset of images: those that move pixels, a table of what becomes of each byte, and those that want
// floats. Of any type, so that datasets are none the more templates.
class Pipeline {
 public:
  // For images of such sizes, like the first one where they differ. Throws Error if a transform is not made for them.
  template <class Transform>
  Pipeline(const Transform& transform, const ImageSizes& input)
      : Pipeline(
            std::make_shared<std::remove_cvref_t<decltype(detail::list_of(transform))>>(detail::list_of(transform)),
            transform, input) {}

  // Of the samples.
  const ImageSizes& output() const { return output_; }
  bool is_random() const { return is_random_; }
  // Whether samples may travel as bytes, to become floats by the table.
  bool has_bytes() const { return !work_; }
  const PixelTable& table() const { return table_; }

  // Writes what becomes of an image. Throws Error if it has not the sizes of output().
  void read(const ByteImage& image, float* sample, Random& random) const {
    const ByteImage moved = move(image, random);
    if (!work_) {
      check(moved.sizes, image.sizes);
      table_.transform(moved, sample);
      return;
    }
    Pixels<float>& floats = scratch().floats;
    work_(list_.get(), moved, table_, floats, random);
    check(floats.sizes, image.sizes);
    std::copy(floats.values.begin(), floats.values.end(), sample);
  }
  // The same before the table, where has_bytes(), as [channels, height, width].
  void read_bytes(const ByteImage& image, std::uint8_t* sample, Random& random) const {
    const ByteImage moved = move(image, random);
    check(moved.sizes, image.sizes);
    moved.copy_to(sample);
  }

 private:
  struct Scratch {
    Pixels<std::uint8_t> bytes;
    Pixels<float> floats;
  };
  static Scratch& scratch() {
    static thread_local Scratch scratch;
    return scratch;
  }

  template <class... Transforms, class Transform>
  Pipeline(std::shared_ptr<std::tuple<Transforms...>> list, const Transform& transform, const ImageSizes& input)
      : list_(list), table_(table_of(*list, transform, input.channels)), output_(input) {
    using Parts = detail::Parts<Transforms...>;
    if constexpr (Parts::any_images()) {
      is_random_ = std::ranges::any_of(Parts::draws, std::identity{});
      if constexpr (Parts::any(detail::Part::bytes)) move_ = run_bytes<Transforms...>;
      if constexpr (Parts::any(detail::Part::floats)) work_ = run_floats<Transforms...>;
      std::apply([this](const auto&... each) { (this->follow(each), ...); }, *list);
    }
  }

  template <class... Transforms, class Transform>
  static PixelTable table_of(const std::tuple<Transforms...>& list, const Transform& transform, index_t channels) {
    using Parts = detail::Parts<Transforms...>;
    if constexpr (!Parts::any_images()) {
      return PixelTable(transform, channels);
    } else {
      static_assert(
          Parts::is_in_order(),
          "gpunet::data: a list of transforms wants ToTensor once, before those of values (Normalize, Lambda "
          "of a value)");
      return std::apply(
          [channels](const auto&... each) {
            return PixelTable(Compose<std::remove_cvref_t<decltype(each)>...>(each...), channels);
          },
          of_table(list, std::index_sequence_for<Transforms...>{}));
    }
  }
  // ToTensor and what else makes the table.
  template <class List, std::size_t... I>
  static auto of_table(const List& list, std::index_sequence<I...>) {
    return std::tuple_cat(std::tuple(ToTensor{}), one_of_table<I>(list)...);
  }
  template <std::size_t I, class... Transforms>
  static auto one_of_table(const std::tuple<Transforms...>& list) {
    using Parts = detail::Parts<Transforms...>;
    if constexpr (Parts::part(I) == detail::Part::table && !Parts::to_tensor[I])
      return std::tuple(std::get<I>(list));
    else
      return std::tuple<>();
  }

  // Makes output_ the sizes behind a transform.
  template <class Transform>
  void follow(const Transform& transform) {
    if constexpr (requires { transform.output(output_); })
      output_ = transform.output(output_);
    else if constexpr (requires { transform.check(output_.channels); })
      transform.check(output_.channels);
  }

  // Moves pixels.
  template <class... Transforms>
  static void run_bytes(const void* list, Pixels<std::uint8_t>& image, Random& random) {
    run_part<detail::Part::bytes, 0>(*static_cast<const std::tuple<Transforms...>*>(list), image, random,
                                     std::index_sequence_for<Transforms...>{});
  }
  // Makes floats of the bytes, and does what wants them: the first of it from the bytes where it can.
  template <class... Transforms>
  static void run_floats(const void* list, const ByteImage& bytes, const PixelTable& table, Pixels<float>& image,
                         Random& random) {
    constexpr std::size_t first = detail::Parts<Transforms...>::first(detail::Part::floats);
    const auto& transforms = *static_cast<const std::tuple<Transforms...>*>(list);
    constexpr std::index_sequence_for<Transforms...> all;
    if constexpr (requires { std::get<first>(transforms)(bytes, table, image); }) {
      std::get<first>(transforms)(bytes, table, image);
      run_part<detail::Part::floats, first + 1>(transforms, image, random, all);
    } else {
      image.renew(bytes.sizes);
      table.transform(bytes, image.values.data());
      run_part<detail::Part::floats, first>(transforms, image, random, all);
    }
  }
  // One part of the list, from a transform on.
  template <detail::Part part, std::size_t begin, class T, class... Transforms, std::size_t... I>
  static void run_part(const std::tuple<Transforms...>& list, Pixels<T>& image, Random& random,
                       std::index_sequence<I...>) {
    (run_one<part, begin, I>(list, image, random), ...);
  }
  template <detail::Part part, std::size_t begin, std::size_t i, class T, class... Transforms>
  static void run_one([[maybe_unused]] const std::tuple<Transforms...>& list, [[maybe_unused]] Pixels<T>& image,
                      [[maybe_unused]] Random& random) {
    if constexpr (i >= begin && detail::Parts<Transforms...>::part(i) == part)
      apply(std::get<i>(list), image, random);
  }
  template <class Transform, class T>
  static void apply(const Transform& transform, Pixels<T>& image, Random& random) {
    if constexpr (DrawsForImages<Transform, T>) {
      transform(image, random);
    } else if constexpr (TransformsImages<Transform, T>) {
      transform(image);
    } else {
      for (index_t c = 0; c < image.sizes.channels; ++c)
        for (index_t i = c * image.sizes.pixels(); i < (c + 1) * image.sizes.pixels(); ++i)
          image.values[static_cast<std::size_t>(i)] = transform(image.values[static_cast<std::size_t>(i)], c);
    }
  }

  // The image with its pixels moved: in scratch memory, or where it is if nothing moves them.
  ByteImage move(const ByteImage& from, Random& random) const {
    if (!move_) return from;
    Pixels<std::uint8_t>& image = scratch().bytes;
    image.sizes = from.sizes;
    image.values.resize(static_cast<std::size_t>(from.sizes.numel()));
    from.copy_to(image.values.data());
    move_(list_.get(), image, random);
    return {image.values.data(), image.sizes};
  }
  void check(const ImageSizes& sizes, const ImageSizes& input) const {
    if (sizes == output_) return;
    const std::string becomes = sizes == input ? "" : concat(" becomes one of shape ", to_string(sizes), ",");
    throw Error(concat("gpunet::data: an image of shape ", to_string(input), becomes,
                       " where the first one became ", to_string(output_),
                       " (a batch has one shape), put a Resize to one height and width, as "
                       "Resize{{32, 32}}, into the transform"));
  }

  std::shared_ptr<const void> list_;  // std::tuple<Transforms...>
  void (*move_)(const void* list, Pixels<std::uint8_t>&, Random&) = nullptr;
  void (*work_)(const void* list, const ByteImage&, const PixelTable&, Pixels<float>&, Random&) = nullptr;
  PixelTable table_;
  ImageSizes output_;
  bool is_random_ = false;
};

}  // namespace gpunet::data
