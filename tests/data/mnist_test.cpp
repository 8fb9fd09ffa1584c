#include <doctest/doctest.h>
#include <fstream>
#include <string>
#include <vector>

#include <gpunet/data/dataset.hpp>
#include <gpunet/data/mnist.hpp>

#include "io/temp_folder.hpp"
#include "support/stored_deflate.hpp"

using namespace gpunet;
using data::MNIST;

static_assert(data::ByteDataset<MNIST>);

namespace {

void write(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8)
    bytes += static_cast<char>(value >> shift & 0xFFu);
  return bytes;
}

// An idx file of bytes: element i is (i * 7) % modulus.
std::string idx(const std::vector<std::uint32_t>& sizes, int modulus) {
  std::string bytes{'\0', '\0', '\x08', static_cast<char>(sizes.size())};
  std::uint32_t n = 1;
  for (std::uint32_t size : sizes) {
    bytes += big_endian(size);
    n *= size;
  }
  for (std::uint32_t i = 0; i < n; ++i)
    bytes += static_cast<char>(i * 7 % static_cast<std::uint32_t>(modulus));
  return bytes;
}

void write_test_set(const std::string& folder, std::uint32_t images = 4) {
  write(folder + "/t10k-images-idx3-ubyte", idx({images, 3, 2}, 251));
  write(folder + "/t10k-labels-idx1-ubyte", idx({images}, 10));
}

}  // namespace

TEST_CASE("images and labels come from two files") {
  const TempFolder folder;
  write_test_set(folder.path());
  const MNIST set =
      MNIST::test(folder.path(), data::Compose(data::ToTensor{}, data::Normalize{{0.5f}, {0.25f}}));
  CHECK(set.size() == 4);
  CHECK(set.sample_sizes() == Sizes{1, 3, 2});
  std::vector<float> sample(6);
  CHECK(set.read(3, sample.data()) == 1);
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(sample[i] == (static_cast<float>((18 + i) * 7 % 251) / 255.0f - 0.5f) / 0.25f);
  std::vector<std::uint8_t> bytes(6);
  CHECK(set.read_bytes(2, bytes.data()) == 4);
  CHECK(bytes[5] == 17 * 7);
}

TEST_CASE("the files may lie where torchvision puts them") {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "MNIST/raw");
  write_test_set(folder / "MNIST/raw");
  CHECK(MNIST::test(folder.path()).size() == 4);
}

TEST_CASE("the names of the files may have a dot") {
  const TempFolder folder;
  write(folder / "t10k-images.idx3-ubyte", idx({4, 3, 2}, 251));
  write(folder / "t10k-labels.idx1-ubyte", idx({4}, 10));
  CHECK(MNIST::test(folder.path()).size() == 4);
  // Kaggle's archive has folders with the other names beside them.
  std::filesystem::create_directories(folder / "t10k-images-idx3-ubyte");
  std::filesystem::create_directories(folder / "t10k-labels-idx1-ubyte");
  CHECK(MNIST::test(folder.path()).size() == 4);
  const UseCodec stored(&stored_deflate);
  std::filesystem::remove(folder / "t10k-images.idx3-ubyte");
  write(folder / "t10k-images.idx3-ubyte.gz", gzip_stored(idx({4, 3, 2}, 251)));
  CHECK(MNIST::test(folder.path()).size() == 4);
}

TEST_CASE("FashionMNIST has the same files in a folder of its own") {
  static_assert(data::ByteDataset<data::FashionMNIST>);
  const TempFolder folder;
  CHECK(contains(
      error_of([&] { data::FashionMNIST::test(folder.path()); }),
      "gpunet::data::FashionMNIST: " + folder.path() + " has neither t10k-images-idx3-ubyte nor"));
  std::filesystem::create_directories(folder / "MNIST/raw");
  std::filesystem::create_directories(folder / "FashionMNIST/raw");
  write_test_set(folder / "MNIST/raw", 4);
  write_test_set(folder / "FashionMNIST/raw", 5);
  const auto clothes = data::FashionMNIST::test(folder.path());
  CHECK(clothes.size() == 5);
  CHECK(clothes.classes()[9] == "Ankle boot");
  CHECK(MNIST::test(folder.path()).size() == 4);
}

TEST_CASE("files packed by gzip are unpacked by the program's codec") {
  const TempFolder folder;
  const std::string images = idx({2, 28, 28}, 256), labels = idx({2}, 10);
  write(folder / "train-images-idx3-ubyte.gz", gzip_stored(images, "a name"));
  write(folder / "train-labels-idx1-ubyte.gz", gzip_stored(labels));
  {
    const UseCodec none(nullptr);
    CHECK(contains(error_of([&] { MNIST::train(folder.path()); }),
                   "train-images-idx3-ubyte.gz is compressed by gzip, which this program cannot "
                   "read: decompress it"));
  }
  const UseCodec stored(&stored_deflate);
  const MNIST set = MNIST::train(folder.path());
  CHECK(set.size() == 2);
  std::vector<std::uint8_t> bytes(784);
  CHECK(set.read_bytes(1, bytes.data()) == 7);
  CHECK(bytes[783] == static_cast<std::uint8_t>(1567 * 7));

  std::string damaged = gzip_stored(images);
  damaged[100] ^= 1;
  write(folder / "train-images-idx3-ubyte.gz", damaged);
  CHECK(contains(error_of([&] { MNIST::train(folder.path()); }), "its checksum is wrong"));
  for (std::size_t cut = 2; cut < 40; ++cut) {
    write(folder / "train-images-idx3-ubyte.gz", damaged.substr(0, cut));
    CHECK(contains(error_of([&] { MNIST::train(folder.path()); }), "train-images-idx3-ubyte.gz"));
  }
}

// RFC 1952, section 2.3: what may stand between the first ten bytes and the data.
TEST_CASE("headers of gzip: extra field, name, comment, checksum of the header") {
  const TempFolder folder;
  const UseCodec stored(&stored_deflate);
  const std::string plain = gzip_stored(idx({2, 28, 28}, 256)), data = plain.substr(10);
  write(folder / "train-labels-idx1-ubyte", idx({2}, 10));
  const auto error = [&](const std::string& parts, int flags, int method = 8) {
    std::string header = plain.substr(0, 10);
    header[2] = static_cast<char>(method);
    header[3] = static_cast<char>(flags);
    write(folder / "train-images-idx3-ubyte.gz", header + parts + data);
    return error_of([&] { MNIST::train(folder.path()); });
  };
  const std::string extra{3, 0, 'a', 'b', 'c'}, name("name\0", 5), comment("a comment\0", 10),
      crc = "12";
  CHECK(error("", 0) == "");
  CHECK(error(extra, 4) == "");
  CHECK(error(comment, 16) == "");
  CHECK(error(crc, 2) == "");
  CHECK(error(extra + name + comment + crc, 4 + 8 + 16 + 2) == "");
  for (const int reserved : {0x20, 0x40, 0x80})
    CHECK(contains(error("", reserved), "has a damaged gzip header, fetch it again"));
  CHECK(contains(error("", 0, 7), "has a damaged gzip header"));
  // An extra field longer than the file.
  CHECK(contains(error("\xFF\xFF", 4), "has a damaged gzip header"));
  write(folder / "train-images-idx3-ubyte.gz", plain.substr(0, 3) + '\4' + std::string(14, '\0'));
  CHECK(contains(error_of([&] { MNIST::train(folder.path()); }),
                 "has a damaged gzip header"));  // no room for its length
  write(folder / "train-images-idx3-ubyte.gz", plain.substr(0, 3) + '\x08' + std::string(40, 'n'));
  CHECK(contains(error_of([&] { MNIST::train(folder.path()); }),
                 "has a damaged gzip header"));  // a name without an end
}

TEST_CASE("what is wrong with the files is said") {
  const TempFolder folder;
  const auto error = [&] {
    return error_of([&] { MNIST::test(folder.path()); });
  };
  const auto images = [&](const std::string& bytes) {
    write(folder / "t10k-images-idx3-ubyte", bytes);
  };
  CHECK(contains(error(), "has neither t10k-images-idx3-ubyte nor t10k-images-idx3-ubyte.gz"));
  write_test_set(folder.path(), 3);
  images(idx({2, 28, 28}, 256));
  CHECK(contains(error(), "has 2 images and 3 labels of the part 't10k'"));
  images(idx({3, 28, 28}, 256) + "x");
  CHECK(contains(error(), "has 2369 bytes (want 2368 for the shape [3, 28, 28])"));
  images(idx({3, 28}, 256));
  CHECK(contains(error(), "does not begin as an idx file of bytes with 3 dimensions does"));
  for (const std::size_t byte : {0u, 1u, 2u}) {  // 0, 0, 8: the type of the numbers
    std::string other = idx({2, 28, 28}, 256);
    other[byte] = 1;
    images(other);
    CHECK(contains(error(), "does not begin as an idx file"));
  }
  images("");
  CHECK(contains(error(), "does not begin as an idx file"));
  images(idx({3, 0, 28}, 256));
  CHECK(contains(error(), "has images of 0 x 28 pixels"));
  images(std::string{'\0', '\0', '\x08', '\x03'} + big_endian(~0u) + big_endian(1024) +
         big_endian(1024));
  CHECK(contains(error(), "has 16 bytes (want"));
  write_test_set(folder.path(), 3);
  write(folder / "t10k-labels-idx1-ubyte", idx({3}, 256));
  CHECK(contains(error(), "label 2 of the part 't10k' is 14 (want 0 to 9)"));
}
