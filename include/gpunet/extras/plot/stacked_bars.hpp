// Stacked bar charts.
#pragma once

#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/extras/plot/scene.hpp>

namespace gpunet::plot {

// One part of every bar.
struct Part {
  std::string name;
  std::vector<double> values;  // one for each bar, 0 or more
};

// Options of a bar chart. Lengths are in pixels.
struct BarOptions {
  Titles titles = {};                // title, and names of the axes
  double width = 640, height = 400;  // of the whole chart
};

// Returns a chart with a bar for each name, its parts stacked from the bottom in their order.
// Throws Error if a part does not have one value per bar, or a value or the sum of a bar is
// negative or not finite.
Scene stacked_bars(const std::vector<std::string>& names, const std::vector<Part>& parts,
                   const BarOptions& options = {});

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/extras/plot/stacked_bars.ipp>
#endif
