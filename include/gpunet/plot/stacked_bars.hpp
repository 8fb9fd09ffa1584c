// Bars of parts.
#pragma once

#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/plot/scene.hpp>

namespace gpunet::plot {

// One part of every bar.
struct Part {
  std::string name;
  std::vector<double> values;  // one for each bar, 0 or more
};

// How bars look; lengths in pixels of the picture.
struct BarOptions {
  Titles titles = {};                // over them and beside the axes
  double width = 640, height = 400;  // of all of it
};

// A bar over each name, its parts one above the other, the first at the bottom. Throws Error where a part has not one
// number for each bar, one that is negative or not finite, or where their sum is not finite.
Scene stacked_bars(const std::vector<std::string>& names, const std::vector<Part>& parts,
                   const BarOptions& options = {});

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/plot/stacked_bars.ipp>
#endif
