#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gpunet/data/dataloader.hpp>
#include <gpunet/data/image_folder.hpp>
#include <gpunet/data/random_transforms.hpp>
#include <gpunet/data/resize.hpp>
#include <gpunet/data/subset.hpp>

#include "test_config.hpp"

#if GPUNET_TEST_ZLIB
#include <gpunet/io/zlib.hpp>
#endif

#include "io/temp_folder.hpp"
#include "support/allocations.hpp"

using namespace gpunet;
using data::ImageFolder;
namespace fs = std::filesystem;

static_assert(data::RandomDataset<ImageFolder> && data::ByteDataset<ImageFolder>);

namespace {

// A PPM file of one color, [3, height, width].
void write_image(const std::string& path, std::uint8_t red, index_t height = 2, index_t width = 3) {
  fs::create_directories(fs::path(path).parent_path());
  std::string file = concat("P6 ", width, " ", height, " 255\n");
  for (index_t i = 0; i < height * width; ++i)
    file += {static_cast<char>(red), 1, 2};
  io::write_file_atomically(path, file);
}

std::vector<std::string> paths(const ImageFolder& set, const std::string& root) {
  std::vector<std::string> names;
  for (const auto& [path, label] : set.samples())
    names.push_back(concat(path.substr(root.size() + 1), " ", label));
  return names;
}

std::vector<float> floats(const ImageFolder& set, index_t i) {
  std::vector<float> sample(static_cast<std::size_t>(set.sample_sizes().numel()));
  set.read(i, sample.data());
  return sample;
}

std::string folder_error(const std::string& root, const data::ImageFolderOptions& options = {}) {
  return error_of([&] { ImageFolder(root, data::ToTensor{}, options); });
}

// All inputs and labels of two epochs.
std::vector<float> epochs(const ImageFolder& set, int workers) {
  Host host;
  manual_seed(4);
  const data::DataLoader loader(set, {.batch_size = 3, .shuffle = true, .num_workers = workers});
  auto batches = loader.to(host);
  std::vector<float> all;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto [inputs, labels] : batches) {
      all.insert(all.end(), inputs.data(), inputs.data() + inputs.numel());
      all.insert(all.end(), labels.data(), labels.data() + labels.numel());
    }
  return all;
}

}  // namespace

// The expected order was printed by torchvision 0.29 for the same files.
TEST_CASE("classes and samples are torchvision's, in its order") {
  const TempFolder folder;
  const std::string root = folder / "root";
  for (const char* name :
       {"dog/2.ppm", "dog/10.PPM", "dog/a/1.ppm", "dog/a-b/1.ppm", "dog/a/b/2.ppm", "dog/A/1.png",
        "dog/a/.png", "dog/z.png/1.jpeg", "Cat/1.bmp", ".hidden/1.tif", "10/1.webp", "9/1.pgm",
        "a b/x.y.tiff", "stray.ppm"})
    write_image(root + "/" + name, 7);
  io::write_file_atomically(root + "/dog/notes.txt", "no image");
  write_image(folder / "elsewhere/sub/1.ppm", 7);
  fs::create_directory_symlink(folder / "elsewhere", root + "/linked");
  fs::create_directory_symlink(folder / "elsewhere", root + "/dog/linked");
  fs::create_symlink(folder / "elsewhere/sub/1.ppm", root + "/dog/l.ppm");
  const ImageFolder set(root);
  CHECK(set.classes() ==
        std::vector<std::string>{".hidden", "10", "9", "Cat", "a b", "dog", "linked"});
  CHECK(set.class_to_idx().at("dog") == 5);
  CHECK(set.class_to_idx().size() == 7);
  CHECK(paths(set, root) ==
        std::vector<std::string>{".hidden/1.tif 0", "10/1.webp 1", "9/1.pgm 2", "Cat/1.bmp 3",
                                 "a b/x.y.tiff 4", "dog/10.PPM 5", "dog/2.ppm 5", "dog/l.ppm 5",
                                 "dog/A/1.png 5", "dog/a/.png 5", "dog/a/1.ppm 5",
                                 "dog/a-b/1.ppm 5", "dog/a/b/2.ppm 5", "dog/linked/sub/1.ppm 5",
                                 "dog/z.png/1.jpeg 5", "linked/sub/1.ppm 6"});
  CHECK(set.size() == 16);
  CHECK(paths(ImageFolder(root + "/"), root) == paths(set, root));
}

TEST_CASE("every image becomes three channels of floats") {
  const TempFolder folder;
  write_image(folder / "a/1.ppm", 255, 1, 2);
  io::write_file_atomically(folder / "a/2.pgm", "P2 2 1 255 51 102");
  const ImageFolder set(folder.path());
  CHECK(set.sample_sizes() == Sizes{3, 1, 2});
  CHECK(floats(set, 0) == std::vector<float>{1, 1, 1 / 255.0f, 1 / 255.0f, 2 / 255.0f, 2 / 255.0f});
  CHECK(floats(set, 1) == std::vector<float>{0.2f, 0.4f, 0.2f, 0.4f, 0.2f, 0.4f});
}

TEST_CASE("images of different sizes want a Resize, and the error names the file") {
  const TempFolder folder;
  write_image(folder / "a/1.ppm", 1, 4, 4);
  write_image(folder / "b/2.ppm", 2, 5, 3);
  const ImageFolder as_they_are(folder.path());
  CHECK(floats(as_they_are, 0).size() == 48);
  const std::string message = concat(
      "gpunet::data: an image of shape [3, 5, 3] where the first one became [3, 4, "
      "4] "
      "(a batch has one shape), put a Resize to one height and width, as Resize{{32, 32}}, into "
      "the transform (the "
      "image is ",
      folder / "b/2.ppm", ")");
  CHECK(error_of([&] { floats(as_they_are, 1); }) == message);
  Host host;
  for (int workers : {0, 2}) {
    const data::DataLoader loader(as_they_are, {.batch_size = 2, .num_workers = workers});
    CHECK(error_of([&] {
            auto batches = loader.to(host);
            (void)batches.begin();
          }) == message);
  }
  const ImageFolder same(folder.path(), data::Compose(data::Resize{{2, 2}}, data::ToTensor{}));
  CHECK(floats(same, 1).size() == 12);
  CHECK(contains(
      error_of([&] {
        floats(ImageFolder(folder.path(), data::Compose(data::Resize{4}, data::ToTensor{})), 1);
      }),
      "becomes one of shape [3, "));
  CHECK(contains(
      error_of([&] {
        ImageFolder(folder.path(), data::Compose(data::RandomCrop{8}, data::ToTensor{}));
      }),
      "give more padding or put Resize before it (the image is " + folder / "a/1.ppm" + ")"));
}

TEST_CASE("any number of workers gives the same batches, random transforms included") {
  const TempFolder folder;
  for (int i = 0; i < 20; ++i)
    write_image(concat(folder.path(), "/", i % 3, "/", i, ".ppm"), static_cast<std::uint8_t>(i),
                4 + i % 5, 9 - i % 4);
  const ImageFolder set(folder.path(),
                        data::Compose(data::Resize{{6, 6}}, data::RandomCrop{5, {.padding = 2}},
                                      data::RandomHorizontalFlip{}, data::ToTensor{}));
  CHECK(set.is_random());
  const std::vector<float> expected = epochs(set, 0);
  CHECK(expected.size() == 2 * 20 * (3 * 5 * 5 + 1));
  for (int workers : {1, 2, 5, 16}) {
    CAPTURE(workers);
    CHECK(epochs(set, workers) == expected);
  }
}

TEST_CASE("an image that cannot be read reaches the loop with its name") {
  const TempFolder folder;
  write_image(folder / "a/1.ppm", 1);
  io::write_file_atomically(folder / "a/2.ppm", "P6 3 2 255 cut");
  fs::create_symlink(folder / "nowhere", folder / "a/3.ppm");
  io::write_file_atomically(folder / "a/4.webp", "RIFF....WEBPVP8 ");
  const ImageFolder set(folder.path());
  REQUIRE(set.size() == 4);
  const std::vector<std::string> expected{
      "", folder / "a/2.ppm, byte 11: 3 x 2 pixels where 3 bytes are left",
      "gpunet::io: cannot read " + folder / "a/3.ppm: No such file",
      folder / "a/4.webp is a WebP image"};
  Host host;
  for (int workers : {0, 1, 4})
    for (index_t i = 0; i < set.size(); ++i) {
      const data::Subset<ImageFolder> one(set, {0, i});
      const data::DataLoader loader(one, {.num_workers = workers});
      const std::string error = error_of([&] {
        for ([[maybe_unused]] auto batch : loader.to(host)) {
        }
      });
      CHECK(error.empty() == (i == 0));
      CHECK(contains(error, expected[static_cast<std::size_t>(i)]));
    }
}

TEST_CASE("folders that hold no dataset say so") {
  const TempFolder folder;
  const std::string here = "gpunet::data::ImageFolder: ";
  CHECK(folder_error(folder / "none") ==
        here + "the folder " + folder / "none" +
            " cannot be read (No such file or directory), check the path and its "
            "permissions");
  io::write_file_atomically(folder / "file", "x");
  CHECK(contains(folder_error(folder / "file"), "/file cannot be read (Not a directory)"));
  CHECK(contains(folder_error(folder.path()), " has no folder in it (each class is one)"));
  fs::create_directory(folder / "empty");
  fs::create_directory(folder / "notes");
  io::write_file_atomically(folder / "notes/a.txt", "x");
  CHECK(folder_error(folder.path(), {.allow_empty = true}) ==
        here + folder.path() +
            " has no image at all (the first one sets the size), put some there");
  write_image(folder / "full/1.ppm", 1);
  CHECK(folder_error(folder.path()) ==
        here + folder.path() +
            ": no image in the folders of these classes: empty, notes (each class "
            "needs one), put files there that end "
            "in .jpg .jpeg .png .ppm .bmp .pgm .tif .tiff .webp, remove the "
            "folders, or give {.allow_empty = true} to "
            "keep the classes");
  const ImageFolder set(folder.path(), data::ToTensor{}, {.allow_empty = true});
  CHECK(set.classes() == std::vector<std::string>{"empty", "full", "notes"});
  CHECK(set.samples()[0].label == 1);
  fs::create_directory_symlink(folder.path(), folder / "full/again");
  CHECK(folder_error(folder.path()) ==
        here + folder / "full/again/full" +
            " is a link to a folder that it is in (there would be no end), remove it");
}

// A transform that keeps the image as it is, but wants floats of all of it.
struct AllFloats {
  void operator()(data::Pixels<float>&) const {}
};

TEST_CASE("Resize of bytes and of floats is bitwise identical, for every kind of image") {
  const TempFolder folder;
  std::vector<std::string> files{"P5 7 5 255\n", "P6 7 5 255\n"};
  for (std::size_t i = 0; i < files.size(); ++i)
    for (int k = 0; k < 35 * (i == 0 ? 1 : 3); ++k)
      files[i] += static_cast<char>(k * k * 31 / 7);
#if GPUNET_TEST_ZLIB
  for (index_t channels = 1; channels <= 4; ++channels) {
    io::Image image{7, 5, channels};
    for (index_t k = 0; k < 35 * channels; ++k)
      image.pixels.push_back(static_cast<std::uint8_t>(k * k * 29 / 5));
    files.push_back(io::encode_png(image));
  }
#endif
  fs::create_directories(folder / "c");
  for (std::size_t i = 0; i < files.size(); ++i)
    io::write_file_atomically(folder / "c" + concat("/", i, ".png"), files[i]);
  const data::Normalize normalize{{0.5f, 0.25f, 0.1f}, {0.5f, 2, 3}};
  for (const data::HeightWidth size : {data::HeightWidth{3, 2}, {5, 7}, {5, 3}, {11, 20}, {1, 1}})
    for (const bool antialias : {true, false}) {
      const data::Resize resize(size, {.antialias = antialias});
      const ImageFolder bytes(folder.path(), data::Compose(data::ToTensor{}, normalize, resize)),
          floats_of_all(folder.path(),
                        data::Compose(data::ToTensor{}, normalize, AllFloats{}, resize));
      for (index_t i = 0; i < bytes.size(); ++i)
        CHECK(floats(bytes, i) == floats(floats_of_all, i));
    }
}

TEST_CASE("an image of a folder takes a byte for each sample, and what Resize makes of it") {
  const TempFolder folder;
  write_image(folder / "c/1.ppm", 7, 1000, 2000);
  const data::Compose transform(data::Resize{{8, 8}}, data::ToTensor{});
  const ImageFolder set(folder.path(), transform);
  std::vector<float> sample(192);
  const Count count;
  set.read(0, sample.data());
  const std::size_t once = count.bytes();
  CHECK(once < 2 * 6'000'000 + (1 << 18));  // the file and the image
  CHECK(count.largest() < 6'000'000 + (1 << 10));
  set.read(0, sample.data());
  CHECK(count.bytes() <= 2 * once);
}

TEST_CASE("larger images than the limit are refused, the first one too") {
  const TempFolder folder;
  write_image(folder / "c/1.ppm", 7, 2, 3);
  write_image(folder / "c/2.ppm", 7, 3, 3);
  const data::Resize resize{{1, 1}};
  const data::Compose transform(resize, data::ToTensor{});
  const ImageFolder set(folder.path(), transform, {.max_pixels = 6});
  CHECK(floats(set, 0).size() == 3);
  CHECK(contains(error_of([&] { floats(set, 1); }),
                 "2.ppm: an image of 3 x 3 pixels (want at most 6)"));
  CHECK(contains(error_of([&] { ImageFolder(folder.path(), transform, {.max_pixels = 5}); }),
                 "want at most 5"));
}
