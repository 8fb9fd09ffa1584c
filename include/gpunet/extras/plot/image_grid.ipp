// Bodies of image_grid.hpp.
#pragma once

#include <algorithm>
#include <cstddef>

#include <gpunet/core/error.hpp>
#include <gpunet/extras/plot/axes.hpp>
#include <gpunet/extras/plot/image_grid.hpp>

namespace gpunet::plot {

GPUNET_INLINE Scene image_grid(const std::vector<io::Image>& images,
                               const ImageGridOptions& options) {
  require(options.columns >= 1, "gpunet::plot::image_grid: ", options.columns,
          " columns (want 1 or more)");
  require(options.captions.empty() || options.captions.size() == images.size(),
          "gpunet::plot::image_grid: ", options.captions.size(), " captions for ", images.size(),
          " images (want one each, or none)");
  detail::check_length("gpunet::plot::image_grid", options.size);
  for (const io::Image& image : images)
    io::detail::check_image("gpunet::plot::image_grid", image);
  const double widest = std::max(options.size, detail::widest_of(options.captions, 12));
  const double gap = 8, across = widest + gap,
               down = options.size + gap + (options.captions.empty() ? 0 : 18);
  const auto count = static_cast<index_t>(images.size());
  const index_t columns = std::clamp(count, index_t{1}, options.columns),
                rows = (count + columns - 1) / columns;
  const double inside = static_cast<double>(columns) * across - gap;
  const detail::TitleLines titles({options.title}, std::max(inside, 240.0), 0);
  const double top = 16 + (options.title.empty() ? 0 : titles.top() + 6);
  Scene scene{32 + std::max(inside, detail::widest_of(titles.title, 16)),
              top + static_cast<double>(rows) * down + 16 - gap};
  titles.add_to(scene, 16, 16 + inside, top, scene.height);
  for (index_t i = 0; i < count; ++i) {
    const io::Image& image = images[static_cast<std::size_t>(i)];
    const auto width = static_cast<double>(image.width), height = static_cast<double>(image.height);
    const double scale = options.size / std::max(width, height);
    const Point middle{16 + static_cast<double>(i % columns) * across + widest / 2,
                       top + static_cast<double>(i / columns) * down + options.size / 2};
    scene.add(Picture{{middle.x - width * scale / 2, middle.y - height * scale / 2},
                      width * scale,
                      height * scale,
                      image});
    if (!options.captions.empty())
      scene.add(Label{{middle.x, middle.y + options.size / 2 + 14},
                      options.captions[static_cast<std::size_t>(i)],
                      Anchor::middle,
                      12,
                      muted});
  }
  return scene;
}

}  // namespace gpunet::plot
