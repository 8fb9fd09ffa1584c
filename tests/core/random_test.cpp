#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>

#include <gpunet/core/random.hpp>

// All expected values were printed by PyTorch 2.15 on a CPU.

using namespace gpunet;

namespace {

std::uint64_t bits(float x) {
  std::uint32_t word;
  std::memcpy(&word, &x, sizeof word);
  return word;
}
std::uint64_t bits(double x) {
  std::uint64_t word;
  std::memcpy(&word, &x, sizeof word);
  return word;
}

// A hash of many numbers, computed in Python as h = (h * 31 + bits) % 2**64.
template <class T>
std::uint64_t hash_of_uniforms(int n, T low, T high) {
  Generator generator(0);
  std::uint64_t hash = 0;
  for (int i = 0; i < n; ++i)
    hash = hash * 31 + bits(generator.uniform(low, high));
  return hash;
}

std::uint64_t hash_of(const std::vector<index_t>& numbers) {
  std::uint64_t hash = 0;
  for (index_t x : numbers)
    hash = hash * 31 + static_cast<std::uint64_t>(x);
  return hash;
}

}  // namespace

TEST_CASE("words are those of mt19937 and the high word of 64 bits is drawn first") {
  Generator generator(0);
  CHECK(generator.random() == 2357136044u);
  CHECK(generator.random() == 2546248239u);
  CHECK(generator.random64() == (std::uint64_t{3071714933u} << 32 | 3626093760u));
}

TEST_CASE("random63 is torch.empty((), dtype=torch.int64).random_()") {
  Generator generator(0);
  CHECK(generator.random63() == 900450186894289455);
  generator.manual_seed((std::uint64_t{1} << 40) + 7);
  CHECK(generator.random63() == 1407639518939636932);
  CHECK(generator.random63() == 5163590386780219894);
  CHECK(generator.random63() == 8087222774582268115);
  CHECK(Generator().random63() == 883951781600517636);  // torch.Generator() without a seed
}

TEST_CASE("any integer is a seed, and its low 32 bits decide") {
  CHECK(Generator(1).random63() == 7692698082559361259);
  CHECK(Generator((std::int64_t{1} << 32) + 1).random63() == 7692698082559361259);
  CHECK(Generator(std::uint64_t{1} << 32).random63() == 900450186894289455);
  CHECK(Generator(std::uint32_t{1} << 31).random63() == 2803958173589050372);
  for (std::uint64_t seed : {~std::uint64_t{0}, std::uint64_t{0xffffffff}})
    CHECK(Generator(seed).random63() == 1800993050274709794);
  CHECK(Generator(-1).random63() == 1800993050274709794);
  CHECK(Generator(std::numeric_limits<std::int64_t>::max()).random63() == 1800993050274709794);
  CHECK(Generator(std::numeric_limits<std::int64_t>::min()).random63() == 900450186894289455);
}

TEST_CASE("uniform is uniform_ of a float tensor to the last bit") {
  Generator generator(0);
  for (float expected :
       {0x1.91eef8p-3f, 0x1.df7588p-2f, -0x1.b132c0p-3f, -0x1.580068p-3f, 0x1.e67600p-8f})
    CHECK(generator.uniform(-0.3f, 0.7f) == expected);
  generator.manual_seed(0);
  const float bound = 0x1.d8f720p-4f;  // 1 / sqrt(75), of the lesson's first convolution
  for (float expected :
       {-0x1.c53fb2p-11f, 0x1.fb703ep-5f, -0x1.854596p-4f, -0x1.5c12dap-4f, -0x1.6c544ep-5f})
    CHECK(generator.uniform(-bound, bound) == expected);
  CHECK(hash_of_uniforms(20000, -0.3f, 0.7f) == 1902987773338447803u);
  CHECK(hash_of_uniforms(20000, 0.1f, 3.3f) == 11977413908202122168u);
}

TEST_CASE("uniform is uniform_ of a double tensor to the last bit") {
  Generator generator(0);
  for (double expected :
       {0x1.57112fe2b1096p-1, 0x1.a19b87d10664dp-2, 0x1.466a90822e586p-3, 0x1.3dd2a3f4be3cep-1})
    CHECK(generator.uniform(-0.3, 0.7) == expected);
  CHECK(hash_of_uniforms(20000, -0.3, 0.7) == 11331865604398561216u);
  CHECK(hash_of_uniforms(20000, 0.1, 3.3) == 12987799063113365437u);
}

TEST_CASE("randperm is torch.randperm") {
  Generator generator(0);
  CHECK(randperm(0, generator).empty());
  CHECK(randperm(1, generator) == std::vector<index_t>{0});
  CHECK(generator.random() == 2357136044u);  // neither drew a word
  for (auto [seed, expected] :
       {std::pair{0, std::vector<index_t>{0, 1}}, std::pair{5, std::vector<index_t>{1, 0}}}) {
    generator.manual_seed(seed);
    CHECK(randperm(2, generator) == expected);
  }
  generator.manual_seed(0);
  CHECK(randperm(10, generator) == std::vector<index_t>{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
  generator.manual_seed(0);
  CHECK(hash_of(randperm(1000, generator)) == 3893175014210019628u);
  generator.manual_seed(0);
  CHECK(hash_of(randperm(50000, generator)) == 9674666253295566056u);
  generator.manual_seed(0);
  CHECK(hash_of(randperm(100000, generator)) == 15457189788124108326u);
}

TEST_CASE("randperm refuses what it cannot do") {
  CHECK_THROWS_WITH_AS(randperm(-1), "gpunet::randperm: -1 numbers (want 0 to 214748363)", Error);
  CHECK_THROWS_AS(randperm(index_t{1} << 40), Error);
}

TEST_CASE("manual_seed seeds the default generator") {
  manual_seed(0);
  CHECK(default_generator().random63() == 900450186894289455);
  manual_seed(0);
  CHECK(randperm(10) == std::vector<index_t>{4, 1, 7, 5, 3, 9, 0, 8, 6, 2});
}
