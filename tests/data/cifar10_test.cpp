#include <cstdint>
#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

#include <gpunet/data/cifar.hpp>
#include <gpunet/data/dataset.hpp>

#include "io/temp_folder.hpp"

using namespace gpunet;
using data::CIFAR10;

static_assert(data::ByteDataset<CIFAR10>);

namespace {

constexpr int record_bytes = 3073;

// Writes a file of `records` images; image i has the label i % 10 and bytes that tell it from
// others.
void write_batch(const std::string& path, int records, int extra_bytes = 0) {
  std::string bytes;
  for (int i = 0; i < records; ++i) {
    bytes += static_cast<char>(i % 10);
    for (int k = 1; k < record_bytes; ++k)
      bytes += static_cast<char>((7 * i + k) % 256);
  }
  if (extra_bytes < 0) bytes.resize(bytes.size() - static_cast<std::size_t>(-extra_bytes));
  if (extra_bytes > 0) bytes.append(static_cast<std::size_t>(extra_bytes), '\0');
  std::ofstream(path, std::ios::binary) << bytes;
}

void write_training_set(const std::string& folder) {
  for (int file = 1; file <= 5; ++file)
    write_batch(folder + "/data_batch_" + std::to_string(file) + ".bin", file);
}

std::string error_of_train(const std::string& folder) {
  return error_of([&] { CIFAR10::train(folder); });
}

}  // namespace

TEST_CASE("images come file after file, channels first, with their labels") {
  TempFolder folder;
  write_training_set(folder.path());
  const CIFAR10 set = CIFAR10::train(folder.path());
  CHECK(set.size() == 1 + 2 + 3 + 4 + 5);
  CHECK(set.sample_sizes() == Sizes{3, 32, 32});
  std::vector<float> sample(3072);
  CHECK(set.read(14, sample.data()) == 4);  // the fifth of the fifth file
  for (int k : {0, 1, 1023, 1024, 3071})
    CHECK(sample[static_cast<std::size_t>(k)] ==
          static_cast<float>((7 * 4 + k + 1) % 256) / 255.0f);
  CHECK(set.read(0, sample.data()) == 0);
  CHECK(sample[0] == 1.0f / 255.0f);
}

TEST_CASE("the test set is its own file, and may lie in the folder of the archive") {
  TempFolder folder;
  std::filesystem::create_directory(folder / "cifar-10-batches-bin");
  write_batch(folder / "cifar-10-batches-bin/test_batch.bin", 3);
  CHECK(CIFAR10::test(folder.path()).size() == 3);
}

TEST_CASE("a transform is applied") {
  TempFolder folder;
  write_batch(folder / "test_batch.bin", 1);
  const auto set = CIFAR10::test(
      folder.path(),
      data::Compose{data::ToTensor{}, data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.25f}}});
  std::vector<float> sample(3072);
  set.read(0, sample.data());
  CHECK(sample[254] == 1.0f);
  CHECK(sample[255] == -1.0f);
  CHECK(sample[2048 + 254] == 2.0f);
  std::vector<std::uint8_t> bytes(3072);
  CHECK(set.read_bytes(0, bytes.data()) == 0);
  std::vector<float> transformed(3072);
  set.pixel_table().transform(bytes.data(), 1024, transformed.data());
  CHECK(transformed == sample);
  CHECK_THROWS_AS(CIFAR10::test(folder.path(),
                                data::Compose{data::ToTensor{}, data::Normalize{{0.5f}, {0.5f}}}),
                  Error);
}

TEST_CASE("the classes have the lesson's names") {
  CHECK(CIFAR10::classes().front() == "plane");
  CHECK(CIFAR10::classes()[3] == "cat");
  CHECK(CIFAR10::classes().back() == "truck");
}

TEST_CASE("a folder that is not there, or is none, is named") {
  TempFolder folder;
  CHECK(error_of_train(folder / "nowhere") ==
        "gpunet::data::CIFAR10: no folder " + folder / "nowhere" +
            ", fetch the images (scripts/get_cifar10.sh " + folder / "nowhere" + ")");
  write_batch(folder / "file", 1);
  CHECK(error_of_train(folder / "file") ==
        "gpunet::data::CIFAR10: " + folder / "file" +
            " is not a folder, give the one that holds data_batch_1.bin");
}

TEST_CASE("the version for Python is named") {
  const TempFolder folder;
  const auto message = [](const std::string& path) {
    return "gpunet::data::CIFAR10: " + path +
           " has the images in the version for Python (pickles, which can execute anything), fetch "
           "the binary "
           "version "
           "(scripts/get_cifar10.sh " +
           path + ")";
  };
  const std::string inner = folder / "cifar-10-batches-py";
  std::filesystem::create_directory(inner);
  CHECK(error_of_train(folder.path()) == message(folder.path()));
  write_batch(inner + "/data_batch_1", 1);
  write_batch(inner + "/test_batch", 1);
  CHECK(error_of_train(inner) == message(inner));
  CHECK(error_of([&] { CIFAR10::test(inner); }) == message(inner));
  write_batch(folder / "test_batch.bin", 1);
  CHECK(CIFAR10::test(folder.path()).size() == 1);  // both versions
}

TEST_CASE("all missing files are named at once") {
  TempFolder folder;
  const std::string cure = ", fetch the images (scripts/get_cifar10.sh " + folder.path() + ")";
  CHECK(error_of_train(folder.path()) ==
        "gpunet::data::CIFAR10: " + folder.path() +
            " has no data_batch_1.bin, data_batch_2.bin, data_batch_3.bin, " +
            "data_batch_4.bin, data_batch_5.bin" + cure);
  write_training_set(folder.path());
  std::filesystem::remove(folder / "data_batch_2.bin");
  std::filesystem::remove(folder / "data_batch_5.bin");
  std::filesystem::create_symlink(folder / "nowhere", folder / "data_batch_5.bin");
  CHECK(error_of_train(folder.path()) == "gpunet::data::CIFAR10: " + folder.path() +
                                             " has no data_batch_2.bin, data_batch_5.bin" + cure);
}

TEST_CASE("a file of another length is named with what was wanted") {
  TempFolder folder;
  write_training_set(folder.path());
  const std::string cure = ", fetch it again (scripts/get_cifar10.sh " + folder.path() + ")";
  write_batch(folder / "data_batch_3.bin", 3, -1);
  CHECK(error_of_train(folder.path()) ==
        "gpunet::data::CIFAR10: data_batch_3.bin has 9218 bytes (want a multiple of 3073): the "
        "file is cut short" +
            cure);
  write_batch(folder / "data_batch_3.bin", 0);
  CHECK(error_of_train(folder.path()) ==
        "gpunet::data::CIFAR10: data_batch_3.bin has 0 bytes (want a multiple of 3073): the file "
        "is cut short" +
            cure);
  std::filesystem::resize_file(folder / "data_batch_3.bin", 10001 * record_bytes);  // sparse
  CHECK(error_of_train(folder.path()) ==
        "gpunet::data::CIFAR10: data_batch_3.bin has 30733073 bytes (want at most 30730000): the "
        "file is too long" +
            cure);
}

TEST_CASE("a file that cannot be read is named") {
  TempFolder folder;
  write_training_set(folder.path());
  std::filesystem::remove(folder / "data_batch_4.bin");
  std::filesystem::create_directory(folder / "data_batch_4.bin");
  CHECK(contains(error_of_train(folder.path()),
                 "gpunet::data::CIFAR10: data_batch_4.bin cannot be read (Is a directory"));
}

TEST_CASE("a label over 9 is named with its record") {
  TempFolder folder;
  write_batch(folder / "test_batch.bin", 4);
  std::fstream file(folder / "test_batch.bin", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(2 * record_bytes);
  file.put(static_cast<char>(200));
  file.close();
  CHECK(error_of([&] { CIFAR10::test(folder.path()); }) ==
        "gpunet::data::CIFAR10: test_batch.bin, record 2: label 200 (want 0 to 9): the file is "
        "damaged, fetch it "
        "again "
        "(scripts/get_cifar10.sh " +
            folder.path() + ")");
}
