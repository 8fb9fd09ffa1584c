// Bodies of image_folder.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cerrno>
#include <dirent.h>
#include <memory>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <utility>

#include <gpunet/core/text.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/image_folder.hpp>
#include <gpunet/io/file.hpp>

namespace gpunet::data {

namespace detail {

inline constexpr std::string_view image_folder_error = "gpunet::data::ImageFolder: ";

// The endings that torchvision knows, so that the samples have the same indices.
inline constexpr std::array<std::string_view, 9> image_name_endings{
    ".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp"};
GPUNET_INLINE bool is_image_name(std::string name) {
  name = gpunet::detail::lower_case(std::move(name));
  return std::ranges::any_of(image_name_endings,
                             [&](std::string_view ending) { return name.ends_with(ending); });
}
GPUNET_INLINE std::string image_endings() {
  std::string text;
  for (const std::string_view ending : image_name_endings)
    text += concat(text.empty() ? "" : " ", ending);
  return text;
}

// Returns the names in a folder, sorted. Throws Error with its path if it cannot be read.
GPUNET_INLINE std::vector<std::string> names_in(const std::string& folder) {
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::opendir(folder.c_str()), &::closedir);
  require(stream != nullptr, image_folder_error, "the folder ", folder, " cannot be read (",
          std::generic_category().message(errno), "), check the path and its permissions");
  std::vector<std::string> names;
  const auto next = [&] {
    errno = 0;  // readdir returns null at the end and for an error, which only errno distinguishes
    return ::readdir(stream.get());
  };
  while (const dirent* entry = next())
    if (const std::string name = entry->d_name; name != "." && name != "..") names.push_back(name);
  require(errno == 0, image_folder_error, "the folder ", folder, " cannot be read to its end (",
          std::generic_category().message(errno), "), check its disk");
  std::sort(names.begin(), names.end());
  return names;
}

// Appends the folder and its subfolders to `found`, each with its image files. Follows links.
// `above`: the enclosing folders.
GPUNET_INLINE void walk(const std::string& folder, std::vector<std::pair<dev_t, ino_t>>& above,
                        std::vector<std::pair<std::string, std::vector<std::string>>>& found) {
  struct stat status {};
  ::stat(folder.c_str(), &status);
  const std::pair<dev_t, ino_t> identity(status.st_dev, status.st_ino);
  require(std::find(above.begin(), above.end(), identity) == above.end(), image_folder_error,
          folder, " is a link to a folder that it is in (there would be no end), remove it");
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

}  // namespace detail

GPUNET_INLINE ImageFolder::Files::Files(const std::string& root, const ImageFolderOptions& options)
    : max_pixels(options.max_pixels) {
  for (const std::string& name : detail::names_in(root))
    if (io::is_folder(io::join(root, name))) {
      class_to_idx[name] = static_cast<label_t>(classes.size());
      classes.push_back(name);
    }
  require(!classes.empty(), detail::image_folder_error, root,
          " has no folder in it (each class is one), put the images of each class into a folder "
          "with its name");
  std::string empty;
  for (const std::string& name : classes) {
    const std::size_t before = samples.size();
    add_samples(io::join(root, name), class_to_idx[name]);
    if (samples.size() == before) empty += concat(empty.empty() ? "" : ", ", name);
  }
  require(empty.empty() || options.allow_empty, detail::image_folder_error, root,
          ": no image in the folders of these classes: ", empty,
          " (each class needs one), put files there that end in ", detail::image_endings(),
          ", remove the folders, or give {.allow_empty = true} to keep the classes");
  require(!samples.empty(), detail::image_folder_error, root,
          " has no image at all (the first one sets the size), put some there");
}

GPUNET_INLINE void ImageFolder::Files::add_samples(const std::string& folder, label_t label) {
  std::vector<std::pair<std::string, std::vector<std::string>>> found;
  std::vector<std::pair<dev_t, ino_t>> above;
  detail::walk(folder, above, found);
  std::sort(found.begin(), found.end());
  for (auto& [inner, names] : found)
    for (const std::string& name : names)
      samples.push_back({io::join(inner, name), label});
}

GPUNET_INLINE ImageBytes ImageFolder::Files::image(std::size_t i,
                                                   std::vector<std::uint8_t>& buffer) const {
  buffer = std::vector<std::uint8_t>();  // frees the previous image
  io::Image image = io::read_image(samples[i].path, {.max_pixels = max_pixels});
  buffer = std::move(image.pixels);
  const index_t channel_step =
      image.channels < 3 ? 0 : 1;  // the bytes are [height, width, channels]; gray is every channel
  return {{buffer.data(), {3, image.height, image.width}, channel_step, image.channels},
          samples[i].label,
          samples[i].path};
}

GPUNET_INLINE ImageBytes ImageFolder::image(index_t i, std::vector<std::uint8_t>& buffer) const {
  detail::check_sample(i, size());
  return files_->image(static_cast<std::size_t>(i), buffer);
}

}  // namespace gpunet::data
