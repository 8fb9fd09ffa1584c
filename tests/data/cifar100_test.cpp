#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include <gpunet/data/cifar.hpp>
#include <gpunet/data/dataset.hpp>

#include "io/temp_folder.hpp"

using namespace gpunet;
using data::CIFAR100;

static_assert(data::ByteDataset<CIFAR100>);

namespace {

// Image i has the coarse label i % 20, the fine one 3 i % 100, and bytes that tell it from others.
void write_file(const std::string& path, int records) {
  std::string bytes;
  for (int i = 0; i < records; ++i) {
    bytes += {static_cast<char>(i % 20), static_cast<char>(3 * i % 100)};
    for (int k = 0; k < 3072; ++k)
      bytes += static_cast<char>((7 * i + k) % 256);
  }
  std::ofstream(path, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("images have a fine and a coarse label") {
  const TempFolder folder;
  std::filesystem::create_directory(folder / "cifar-100-binary");
  write_file(folder / "train.bin", 1);  // the folder of the archive comes first
  write_file(folder / "cifar-100-binary/train.bin", 40);
  const CIFAR100 fine = CIFAR100::train(folder.path());
  CHECK(fine.size() == 40);
  CHECK(fine.sample_sizes() == Sizes{3, 32, 32});
  std::vector<float> sample(3072);
  CHECK(fine.read(39, sample.data()) == 17);
  CHECK(fine.coarse_label(39) == 19);
  for (int k : {0, 1, 1024, 3071})
    CHECK(sample[static_cast<std::size_t>(k)] == static_cast<float>((7 * 39 + k) % 256) / 255.0f);
  const CIFAR100 coarse =
      CIFAR100::train(folder.path(), data::ToTensor{}, data::CIFAR100Labels::coarse);
  std::vector<std::uint8_t> bytes(3072);
  CHECK(coarse.read_bytes(39, bytes.data()) == 19);
  CHECK(coarse.fine_label(39) == 17);
  CHECK(bytes[5] == (7 * 39 + 5) % 256);
}

TEST_CASE("the names are those of the archive") {
  const auto classes = CIFAR100::classes();
  const auto superclasses = CIFAR100::superclasses();
  CHECK(std::is_sorted(classes.begin(), classes.end()));
  CHECK(std::is_sorted(superclasses.begin(), superclasses.end()));
  CHECK(std::set(classes.begin(), classes.end()).size() == 100);
  CHECK(classes[0] == "apple");
  CHECK(classes[99] == "worm");
  CHECK(superclasses[19] == "vehicles_2");
}

TEST_CASE("what is wrong with the file is said") {
  const TempFolder folder;
  const std::string cure =
      " (cifar-100-binary.tar.gz of www.cs.toronto.edu/~kriz/cifar.html, to " + folder.path() + ")";
  const auto error = [&] {
    return error_of([&] { CIFAR100::test(folder.path()); });
  };
  CHECK(error() ==
        "gpunet::data::CIFAR100: " + folder.path() + " has no test.bin, fetch the images" + cure);
  write_file(folder / "test.bin", 2);
  // As two records of CIFAR-10 would nearly be.
  std::filesystem::resize_file(folder / "test.bin", 3074 + 3073);
  CHECK(error() ==
        "gpunet::data::CIFAR100: test.bin has 6147 bytes (want a multiple of 3074): the file is "
        "cut short, fetch it "
        "again" +
            cure);
  for (const int which : {0, 1}) {
    write_file(folder / "test.bin", 3);
    std::fstream(folder / "test.bin", std::ios::binary | std::ios::in | std::ios::out)
        .seekp(3074 + which)
        .put(static_cast<char>(100));
    CHECK(error() == "gpunet::data::CIFAR100: test.bin, record 1: " +
                         std::string(which ? "fine label 100 (want 0 to 99)"
                                           : "coarse label 100 (want 0 to 19)") +
                         ": the file is damaged, fetch it again" + cure);
  }
}
