#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>

#include <gpunet/data/transforms.hpp>

// All expected values were printed by torchvision 0.30 with PyTorch 2.15.

using namespace gpunet;
using namespace gpunet::data;

namespace {

// Every byte value once in each of three channels, transformed.
template <class Transform>
std::vector<float> all_bytes(const Transform& transform) {
  std::vector<std::uint8_t> bytes(3 * 256);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  std::vector<float> sample(bytes.size());
  PixelTable(transform, 3).transform(bytes.data(), 256, sample.data());
  return sample;
}

// Computed in Python as h = (h * 31 + bits) % 2**64.
std::uint64_t hash_of(const std::vector<float>& values) {
  std::uint64_t hash = 0;
  for (float x : values) {
    std::uint32_t word;
    std::memcpy(&word, &x, sizeof word);
    hash = hash * 31 + word;
  }
  return hash;
}

const Compose lesson{ToTensor{}, Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}}};

}  // namespace

TEST_CASE("ToTensor divides by 255") {
  std::vector<float> sample = all_bytes(ToTensor{});
  CHECK(sample[255] == 1.0f);
  CHECK(sample[256] == 0.0f);
  sample.resize(256);
  CHECK(hash_of(sample) == 14607076885114562145u);
}

TEST_CASE("the lesson's pipeline gives torchvision's floats") {
  const std::vector<float> sample = all_bytes(lesson);
  CHECK(sample[0] == -1.0f);
  CHECK(sample[100] == -0.21568626165390015f);
  CHECK(sample[128] == 0.003921627998352051f);
  CHECK(sample[255] == 1.0f);
  CHECK(hash_of(sample) == 1924948545365728064u);
}

TEST_CASE("every channel has its own mean and std") {
  const Compose transform{ToTensor{},
                          Normalize{{0.4914f, 0.4822f, 0.4465f}, {0.2470f, 0.2435f, 0.2616f}}};
  const std::vector<float> sample = all_bytes(transform);
  CHECK(sample[0] == -0x1.fd4e26p+0f);
  CHECK(sample[256 + 1] == -0x1.f6d4aap+0f);
  CHECK(sample[512 + 255] == 0x1.0ed362p+1f);
  CHECK(hash_of(sample) == 1428298208675499148u);
}

TEST_CASE("a list that does not fit the channels is refused") {
  CHECK_THROWS_WITH_AS(
      (Normalize{{0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}}),
      "gpunet::data::Normalize: 2 means and 3 stds (want one of each for every channel)", Error);
  CHECK_THROWS_WITH_AS(PixelTable(lesson, 1),
                       "gpunet::data::Normalize: 3 means and stds for images of 1 channels (want "
                       "one of each for every channel)",
                       Error);
}

TEST_CASE("a std of zero is refused") {
  CHECK_THROWS_WITH_AS(
      (Normalize{{0.5f, 0.5f}, {0.5f, 0.0f}}),
      "gpunet::data::Normalize: the std of channel 1 is 0 (values are divided by it), give another",
      Error);
}

TEST_CASE("a mean that is not finite is refused") {
  CHECK_THROWS_WITH_AS((Normalize{{0.5f, std::numeric_limits<float>::infinity()}, {0.5f, 0.5f}}),
                       "gpunet::data::Normalize: the mean of channel 1 is inf (every value would "
                       "be NaN or infinite), give another",
                       Error);
}
