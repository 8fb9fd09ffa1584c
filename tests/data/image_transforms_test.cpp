#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <doctest/doctest.h>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gpunet/data/color_jitter.hpp>
#include <gpunet/data/crops.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/image_dataset.hpp>
#include <gpunet/data/random_transforms.hpp>
#include <gpunet/data/resize.hpp>
#include <gpunet/data/rotation.hpp>

#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;
using namespace gpunet::data;

namespace {

// As in tests/reference/image_transforms.py.
Pixels<float> image(const ImageSizes& sizes) {
  Pixels<float> x{sizes};
  for (index_t i = 0; i < sizes.numel(); ++i)
    x.values.push_back(static_cast<float>((i * 37 + i / 7 * 11) % 65) / 64);
  for (index_t c = 0; c < sizes.channels; ++c) {
    x.at(c, 0, 0) = 0.25f;
    if (sizes.width > 1) x.at(c, 0, 1) = 0;
  }
  return x;
}

const ReferenceFile& reference_file() {
  static const ReferenceFile file("image_transforms");
  return file;
}

// A transform of torchvision by its name with its parameters, of an image of those sizes, and what
// becomes of it.
struct ImageTransform {
  explicit ImageTransform(const std::string& array)
      : name(array.substr(3)), values(reference_file().values(array)) {
    const Sizes& after = reference_file().sizes(array);
    new_sizes = {after[0], after[1], after[2]};
    parameters = reference_file().values(array + ".parameters");
    const auto size = [this](std::size_t i) {
      return static_cast<index_t>(parameters[i]);
    };
    sizes = {size(0), size(1), size(2)};
    parameters.erase(parameters.begin(), parameters.begin() + 3);
  }

  std::string name;
  std::vector<double> parameters = {};
  ImageSizes sizes = {}, new_sizes = {};
  std::vector<double> values;
};

void apply(const ImageTransform& expected, Pixels<float>& x) {
  const auto& p = expected.parameters;
  const auto whole = [&](std::size_t i) {
    return static_cast<index_t>(p[i]);
  };
  if (expected.name == "crop") functional::crop(x, whole(0), whole(1), {whole(2), whole(3)});
  if (expected.name == "hflip") functional::hflip(x);
  if (expected.name == "erase")
    functional::erase(x, whole(0), whole(1), {whole(2), whole(3)}, static_cast<float>(p[4]));
  if (expected.name == "center_crop") CenterCrop({whole(0), whole(1)})(x);
  if (expected.name == "resized_crop") {
    functional::crop(x, whole(0), whole(1), {whole(2), whole(3)});
    functional::resize(x, {whole(4), whole(5)});
  }
  if (expected.name == "rotate") {
    RotateOptions options{p[1] == 0 ? Interpolation::nearest : Interpolation::bilinear,
                          std::nullopt, static_cast<float>(p[2])};
    if (p.size() > 3) options.center = {p[3], p[4]};
    functional::rotate(x, p[0], options);
  }
  if (expected.name == "resize") functional::resize(x, {whole(0), whole(1)}, p[2] != 0);
  if (expected.name == "brightness") functional::adjust_brightness(x, p[0]);
  if (expected.name == "contrast") functional::adjust_contrast(x, p[0]);
  if (expected.name == "saturation") functional::adjust_saturation(x, p[0]);
  if (expected.name == "hue") functional::adjust_hue(x, p[0]);
}

// Rounding steps of half a unit of 2^-23 that a value of at most `most` can have gone through: 11
// weights and sums in each direction of a resize; in the others at most 16 operations on numbers up
// to 6 (hue, times 6, in units of a value).
double tolerance(std::string_view name) {
  constexpr double unit = 0x1p-24;
  if (name == "crop" || name == "hflip" || name == "erase") return 0;
  if (name == "center_crop") return 0;
  if (name == "resize" || name == "resized_crop") return 2 * 2 * 11 * unit;
  return 16 * 6 * unit;
}

std::ptrdiff_t count(const std::vector<float>& values, float x) {
  return std::count(values.begin(), values.end(), x);
}

// An image set of one image, as bytes.
class One : public ImageDataset {
 public:
  template <class Transform>
  One(const Transform& transform, const ImageSizes& sizes = {1, 2, 3})
      : ImageDataset(Pipeline(transform, sizes)), sizes_(sizes) {
    for (index_t i = 0; i < sizes.numel(); ++i)
      bytes_.push_back(static_cast<std::uint8_t>(51 * i));
  }
  index_t size() const { return 1; }
  ImageBytes image(index_t, std::vector<std::uint8_t>&) const {
    return {{bytes_.data(), sizes_}, 7};
  }

  std::vector<float> floats(Random random = Random(0)) const {
    std::vector<float> sample(static_cast<std::size_t>(sample_sizes().numel()));
    const label_t label = read(size() - 1, sample.data(), random);
    CHECK(label == 7);
    return sample;
  }

 private:
  ImageSizes sizes_;
  std::vector<std::uint8_t> bytes_;
};
static_assert(ByteDataset<One> && RandomDataset<One>);

}  // namespace

TEST_CASE("with the same parameters images become torchvision's") {
  int transforms = 0;
  for (const std::string& array : reference_file().names()) {
    if (reference_file().sizes(array).rank() != 3) continue;
    const ImageTransform expected(array);
    ++transforms;
    CAPTURE(expected.name);
    CAPTURE(expected.parameters.size());
    Pixels<float> x = image(expected.sizes);
    apply(expected, x);
    REQUIRE(x.sizes == expected.new_sizes);
    REQUIRE(x.values.size() == expected.values.size());
    double error = 0;
    for (std::size_t i = 0; i < x.values.size(); ++i)
      error = std::max(error, std::abs(static_cast<double>(x.values[i]) - expected.values[i]));
    CHECK(error <= tolerance(expected.name));
  }
  CHECK(transforms == 90);
}

TEST_CASE("Resize of the shorter side keeps the ratio as torchvision does") {
  for (const auto& row : reference_file().rows<index_t>("resized_sides"))
    CHECK(Resize(row[0]).output({1, row[1], row[2]}) == ImageSizes{1, row[3], row[4]});
  CHECK(Resize{{4, 5}}.output({3, 9, 9}) == ImageSizes{3, 4, 5});
}

TEST_CASE("RandomCrop reaches every place, and no other") {
  const RandomCrop crop{{2, 3}, {.padding = 1}};
  const Pixels<float> whole = image({1, 3, 3});
  std::set<std::vector<float>> expected, seen;
  for (index_t top = -1; top <= 2; ++top)
    for (index_t left = -1; left <= 1; ++left) {
      Pixels<float> part = whole;
      functional::crop(part, top, left, {2, 3});
      expected.insert(part.values);
    }
  CHECK(expected.size() == 12);
  for (std::uint64_t i = 0; i < 500; ++i) {
    Pixels<float> part = whole;
    Random random(1, i);
    crop(part, random);
    seen.insert(part.values);
  }
  CHECK(seen == expected);
}

TEST_CASE("CenterCrop moves bytes as floats") {
  Pixels<std::uint8_t> bytes{{1, 3, 2}, {1, 2, 3, 4, 5, 6}};
  CenterCrop{{2, 4}}(bytes);
  CHECK(bytes.values == std::vector<std::uint8_t>{0, 1, 2, 0, 0, 3, 4, 0});
  CHECK(CenterCrop(5).output({3, 9, 9}) == ImageSizes{3, 5, 5});
  CHECK(One(Compose(CenterCrop{{1, 1}}, ToTensor{})).floats() == std::vector{51 / 255.0f});
}

TEST_CASE("what RandomResizedCrop takes is of the area and the ratio asked for") {
  const RandomResizedCrop crop(8, {.scale = {0.1, 0.2}, .ratio = {0.5, 2}});
  index_t least = 10000, most = 0, right = 0, bottom = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Random random(3, i);
    const auto [top, left, size] = crop.draw({3, 40, 50}, random);
    least = std::min(least, size.height * size.width);
    most = std::max(most, size.height * size.width);
    right = std::max(right, left + size.width);
    bottom = std::max(bottom, top + size.height);
    CHECK(static_cast<double>(size.width) + 0.5 >= 0.5 * (static_cast<double>(size.height) - 0.5));
    CHECK(static_cast<double>(size.width) - 0.5 <= 2 * (static_cast<double>(size.height) + 0.5));
    CHECK(top >= 0);
    CHECK(left >= 0);
  }
  CHECK(right == 50);
  CHECK(bottom == 40);
  CHECK((least >= 200 - 15 && least < 220 && most > 380 && most <= 400 + 29));  // sides are rounded
  const auto ratios = reference_file().rows("fallback_crops");
  const auto sides = reference_file().rows<index_t>("fallback_crops.sides");
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    Random random(0);
    const auto [top, left, size] =
        RandomResizedCrop(1, {.scale = {0, 0}, .ratio = {ratios[i][0], ratios[i][1]}})
            .draw({1, sides[i][0], sides[i][1]}, random);
    CHECK(std::vector<index_t>{top, left, size.height, size.width} ==
          std::vector<index_t>(sides[i].begin() + 2, sides[i].end()));
  }
  // The whole image.
  Pixels<float> x = image({2, 6, 6}), resized = x;
  Random random(1);
  RandomResizedCrop({3, 4}, {.scale = {1, 1}, .ratio = {1, 1}})(x, random);
  functional::resize(resized, {3, 4});
  CHECK(x.values == resized.values);
  CHECK(One(Compose(RandomResizedCrop{4}, ToTensor{})).sample_sizes() == Sizes{1, 4, 4});
}

TEST_CASE("RandomRotation draws its angle as torchvision does") {
  for (const auto& [transform, low, high] : {std::tuple(RandomRotation(30), -30.0, 30.0),
                                             std::tuple(RandomRotation({10, 20}), 10.0, 20.0)}) {
    Pixels<float> x = image({1, 8, 8}), expected = x;
    Random random(7), again(7);
    transform(x, random);
    functional::rotate(expected, again.uniform(low, high));
    CHECK(x.values == expected.values);
  }
  Pixels<float> filled = image({1, 9, 9});
  Random random(7);
  RandomRotation({45, 45}, {.fill = 9})(filled, random);
  CHECK(filled.at(0, 0, 0) == 9);
  CHECK(filled.at(0, 4, 4) == image({1, 9, 9}).at(0, 4, 4));
}

TEST_CASE("RandomHorizontalFlip and RandomErasing come as often as they should") {
  // Four standard deviations of the number among n draws.
  constexpr int n = 4000;
  const auto check = [](int count, double p) {
    CHECK(std::abs(count - n * p) <= 4 * std::sqrt(n * p * (1 - p)));
  };
  for (const double p : {0.0, 0.3, 1.0}) {
    const RandomHorizontalFlip flip(p);
    const RandomErasing erasing({.p = p, .value = 9});
    int flipped = 0, erased = 0;
    for (std::uint64_t i = 0; i < n; ++i) {
      Random random(2, i);
      Pixels<float> x{{1, 1, 2}, {0, 1}};
      flip(x, random);
      flipped += x.values[0] == 1;
      Pixels<float> y{{1, 8, 8}, std::vector<float>(64)};
      erasing(y, random);
      erased += count(y.values, 9) > 0;
    }
    check(flipped, p);
    check(erased, p);
  }
}

TEST_CASE("what RandomErasing fills is of the area and the ratio asked for") {
  const RandomErasing erasing({.scale = {0.1, 0.2}, .ratio = {0.5, 2}});
  index_t least = 1000, most = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    Random random(3, i);
    const auto rectangle = erasing.draw({3, 40, 50}, random);
    REQUIRE(rectangle);
    const auto [height, width] = rectangle->size;
    least = std::min(least, height * width);
    most = std::max(most, height * width);
    // Sides are rounded: by half a pixel each.
    CHECK(static_cast<double>(height) + 0.5 >= 0.5 * (static_cast<double>(width) - 0.5));
    CHECK(static_cast<double>(height) - 0.5 <= 2 * (static_cast<double>(width) + 0.5));
    CHECK(rectangle->top >= 0);
    CHECK(rectangle->left >= 0);
    CHECK(rectangle->top + height <= 40);
    CHECK(rectangle->left + width <= 50);
  }
  CHECK(least >= 200 - 15);  // 14 x 14 with half a pixel less each way
  CHECK(least < 220);
  CHECK(most > 380);
  CHECK(most <= 400 + 29);
  Random random(0);
  // Never the whole image.
  CHECK(!RandomErasing({.scale = {1, 1}, .ratio = {1, 1}}).draw({1, 4, 4}, random));
}

TEST_CASE("ColorJitter changes what it is told to and stays between 0 and 1") {
  const Pixels<float> before = image({3, 4, 4});
  std::set<std::vector<float>> seen;
  for (std::uint64_t i = 0; i < 100; ++i) {
    Pixels<float> none = before, all = before;
    Random random(4, i);
    ColorJitter({})(none, random);
    CHECK(none.values == before.values);
    ColorJitter({.brightness = 0.4, .contrast = 0.4, .saturation = 0.4, .hue = 0.5})(all, random);
    seen.insert(all.values);
    for (const float x : all.values)
      CHECK((0 <= x && x <= 1));
  }
  CHECK(seen.size() == 100);
  Pixels<float> brighter = before;
  Random random(5), again(5);
  ColorJitter({.brightness = 0.5})(brighter, random);
  for (int i = 0; i < 3; ++i)
    again.next();  // the order
  Pixels<float> expected = before;
  functional::adjust_brightness(expected, again.uniform(0.5, 1.5));
  CHECK(brighter.values == expected.values);
}

TEST_CASE("transforms are done in their order, on bytes as long as pixels only move") {
  const auto negative = Lambda([](float x) { return -x; });
  const RandomHorizontalFlip flip(1.0);
  const RandomCrop wider({2, 5}, {.padding = 1});
  const std::vector<float> plain = One(ToTensor{}).floats();
  CHECK(plain == std::vector<float>{0, 0.2f, 0.4f, 0.6f, 0.8f, 1});
  const std::vector<float> flipped{0.4f, 0.2f, 0, 1, 0.8f, 0.6f};
  CHECK(One(Compose(flip, ToTensor{})).floats() == flipped);
  CHECK(One(Compose(ToTensor{}, flip)).floats() == flipped);
  CHECK(One(Compose(ToTensor{}, flip)).has_bytes());
  CHECK(One(Compose(ToTensor{}, flip)).is_random());
  CHECK(!One(Compose(ToTensor{}, negative)).is_random());
  CHECK(One(Compose(ToTensor{}, flip, negative)).has_bytes());
  // 0 in the margin of a crop would become -0.
  CHECK(!One(Compose(ToTensor{}, negative, flip)).has_bytes());
  CHECK(!One(Compose(RandomErasing{}, ToTensor{})).has_bytes());
  const One margin(Compose(wider, ToTensor{}, Normalize({0.5f}, {0.5f})));
  CHECK(margin.has_bytes());
  CHECK(margin.sample_sizes() == Sizes{1, 2, 5});
  CHECK(count(margin.floats(), -1.0f) >= 4);  // black is -1
  const One late(Compose(ToTensor{}, Normalize({0.5f}, {0.5f}), wider));
  CHECK(count(late.floats(), 0.0f) >= 4);  // the margin is 0

  const Compose tail(ToTensor{}, Compose(Normalize({0.5f}, {0.5f})));
  const One nested(Compose{Compose{wider}, tail});
  CHECK(nested.has_bytes());
  CHECK(nested.floats() == margin.floats());

  // Bytes and the table are the same as floats.
  std::vector<std::uint8_t> bytes(10);
  std::vector<float> floats(10);
  for (std::uint64_t i = 0; i < 10; ++i) {
    Random a(6, i);
    margin.read_bytes(0, bytes.data(), a);
    margin.pixel_table().transform(bytes.data(), 10, floats.data());
    CHECK(floats == margin.floats(Random(6, i)));
  }
}

TEST_CASE(
    "a Lambda takes a value, a value and its channel, an image, or an image and random numbers") {
  const ImageSizes sizes{2, 1, 2};
  CHECK(
      One(Compose(ToTensor{}, Lambda([](float x, index_t c) { return static_cast<float>(c) - x; })),
          sizes)
          .floats() == std::vector<float>{0, -0.2f, 1 - 0.4f, 1 - 0.6f});
  const One whole(Compose(ToTensor{}, Lambda([](Pixels<float>& x) { x.at(1, 0, 0) = 5; })), sizes);
  CHECK(whole.floats()[2] == 5);
  CHECK(!whole.is_random());
  const One noisy(Compose(ToTensor{}, Lambda([](Pixels<float>& x, Random& random) {
                            for (float& value : x.values)
                              value = static_cast<float>(random.uniform(0, 1));
                          })));
  CHECK(noisy.is_random());
  CHECK(noisy.floats(Random(1)) == noisy.floats(Random(1)));
  CHECK(noisy.floats(Random(1)) != noisy.floats(Random(2)));
  std::vector<float> first(6), second(6), third(6);
  manual_seed(1);
  noisy.read(0, first.data());
  noisy.read(0, second.data());
  manual_seed(1);
  noisy.read(0, third.data());
  CHECK(first != second);
  CHECK(first == third);
  const Compose larger(ToTensor{}, Lambda([](Pixels<float>& x) { x.renew({1, 3, 3}); }));
  CHECK(contains(error_of([&] { One(larger).floats(); }),
                 "an image of shape [1, 2, 3] becomes one of shape [1, 3, 3], where the first one "
                 "became [1, 2, 3] (a "
                 "batch has one shape)"));
}
