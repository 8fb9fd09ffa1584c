// Images in folders, one for each class.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <dirent.h>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/data/image_dataset.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/read_image.hpp>

namespace gpunet::data {

// As torchvision takes them.
struct ImageFolderOptions {
  bool allow_empty = false;  // a folder without images is a class too
  // A larger image is an Error, see io::ReadImageOptions. What a worker holds is an image as its file has it, a byte for each
  // channel of each pixel, and what the transforms make of it: Resize, if it is the first of those that need floats, takes
  // rows of the bytes, and so nothing but its result is added.
  std::int64_t max_pixels = io::ReadImageOptions{}.max_pixels;
};

// As torchvision.datasets.ImageFolder: each folder in `root` is a class, the images in it and in folders below are its
// samples, in the same order. Images are read when they are asked for, three channels each: gray ones get three equal
// channels, and alpha is left out (as Pillow's convert('RGB') does). They may have any sizes if the transform brings them to
// one:
//   data::ImageFolder set("data/pets", data::Compose(data::Resize{{64, 64}}, data::ToTensor{}));
class ImageFolder : public ImageDataset<ImageFolder> {
 public:
  // An image file and its class.
  struct Item {
    std::string path;
    label_t label;
  };

  // Reads the first image for its sizes. Throws Error if `root` is missing, cannot be read, or has no folder in it, if a
  // class has no image, or if the transform is not made for the first one. What is wrong with another one is thrown when that
  // one is read.
  template <class Transform = ToTensor>
  explicit ImageFolder(const std::string& root, const Transform& transform = {},
                       const ImageFolderOptions& options = {})
      : ImageFolder(Files(root, options), transform) {}

  index_t size() const { return static_cast<index_t>(files_.samples.size()); }
  // The names of the folders, sorted; class i is the i-th one.
  const std::vector<std::string>& classes() const { return files_.classes; }
  const std::map<std::string, label_t>& class_to_idx() const { return files_.class_to_idx; }
  const std::vector<Item>& samples() const { return files_.samples; }

  // Image i, three channels, before it is transformed, as its file has it; it is put into `room`.
  ImageBytes image(index_t i, std::vector<std::uint8_t>& room) const {
    GPUNET_ASSERT(0 <= i && i < size());
    return files_.image(static_cast<std::size_t>(i), room);
  }

 private:
  static constexpr std::string_view where = "gpunet::data::ImageFolder: ";

  struct Files {
    Files(const std::string& root, const ImageFolderOptions& options) : max_pixels(options.max_pixels) {
      for (const std::string& name : names_in(root))
        if (io::is_folder(io::join(root, name))) {
          class_to_idx[name] = static_cast<label_t>(classes.size());
          classes.push_back(name);
        }
      require(!classes.empty(), where, root,
              " has no folder in it (each class is one), put the images of each class into a folder with its name");
      std::string empty;
      for (const std::string& name : classes) {
        const std::size_t before = samples.size();
        add_samples(io::join(root, name), class_to_idx[name]);
        if (samples.size() == before) empty += concat(empty.empty() ? "" : ", ", name);
      }
      require(empty.empty() || options.allow_empty, where, root,
              ": no image in the folders of these classes: ", empty,
              " (each class needs one), put files there that end in ", endings_text(),
              ", remove the folders, or give {.allow_empty = true} to keep the classes");
      require(!samples.empty(), where, root,
              " has no image at all (the first one tells the sizes), put some there");
    }

    // The images of a class: by folder and then by name, both by their bytes.
    void add_samples(const std::string& folder, label_t label) {
      std::vector<std::pair<std::string, std::vector<std::string>>> found;
      std::vector<std::pair<dev_t, ino_t>> above;
      walk(folder, above, found);
      std::sort(found.begin(), found.end());
      for (auto& [inner, names] : found)
        for (const std::string& name : names)
          samples.push_back({io::join(inner, name), label});
    }

    ImageBytes image(std::size_t i, std::vector<std::uint8_t>& room) const {
      room = std::vector<std::uint8_t>();  // without the one before, which is not needed any more
      io::Image image = io::read_image(samples[i].path, {.max_pixels = max_pixels});
      room = std::move(image.pixels);
      return {room.data(), {3, image.height, image.width}, samples[i].label, samples[i].path, image.channels};
    }

    std::int64_t max_pixels;
    std::vector<std::string> classes;
    std::map<std::string, label_t> class_to_idx;
    std::vector<Item> samples;
  };

  template <class Transform>
  ImageFolder(Files files, const Transform& transform)
      : ImageDataset(pipeline(files, transform)), files_(std::move(files)) {}

  template <class Transform>
  static Pipeline pipeline(const Files& files, const Transform& transform) {
    std::vector<std::uint8_t> room;
    const ImageBytes first = files.image(0, room);
    return with_path(first.path, [&] { return Pipeline(transform, first.sizes); });
  }

  // What is in a folder, sorted. Throws Error naming it where it cannot be read.
  static std::vector<std::string> names_in(const std::string& folder) {
    const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
    require(stream != nullptr, where, "the folder ", folder, " cannot be read (",
            std::generic_category().message(errno), "), check the path and its permissions");
    std::vector<std::string> names;
    const auto next = [&] {
      errno = 0;  // which alone tells an error from the end
      return ::readdir(stream.get());
    };
    while (const dirent* entry = next())
      if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
    require(errno == 0, where, "the folder ", folder, " cannot be read to its end (",
            std::generic_category().message(errno), "), look after its disk");
    std::sort(names.begin(), names.end());
    return names;
  }

  // The folder and those below it, each with the image files in it; links are followed. `above`: those that it is in.
  static void walk(const std::string& folder, std::vector<std::pair<dev_t, ino_t>>& above,
                   std::vector<std::pair<std::string, std::vector<std::string>>>& found) {
    struct stat status {};
    ::stat(folder.c_str(), &status);
    const std::pair<dev_t, ino_t> identity(status.st_dev, status.st_ino);
    require(std::find(above.begin(), above.end(), identity) == above.end(), where, folder,
            " is a link to a folder that it is in (there would be no end), remove it");
    above.push_back(identity);
    std::vector<std::string> images;
    for (const std::string& name : names_in(folder)) {
      const std::string path = io::join(folder, name);
      if (io::is_folder(path))
        walk(path, above, found);
      else if (is_image_name(name))
        images.push_back(name);
    }
    above.pop_back();
    found.emplace_back(folder, std::move(images));
  }

  // Those of torchvision, so that the samples have the same numbers.
  static constexpr std::array<std::string_view, 9> endings{".jpg", ".jpeg", ".png",  ".ppm", ".bmp",
                                                           ".pgm", ".tif",  ".tiff", ".webp"};
  static bool is_image_name(std::string name) {
    for (char& c : name)
      if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return std::ranges::any_of(endings, [&](std::string_view ending) { return name.ends_with(ending); });
  }
  static std::string endings_text() {
    std::string text;
    for (const std::string_view ending : endings)
      text += concat(text.empty() ? "" : " ", ending);
    return text;
  }

  Files files_;
};

}  // namespace gpunet::data
