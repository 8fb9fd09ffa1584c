// Line plots.
#pragma once

#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/extras/plot/scene.hpp>

namespace gpunet::plot {

// A curve through the points (x[i], y[i]). Without x, x[i] is i + 1. A value that is not finite
// leaves a gap; a point between two gaps is a dot.
struct Series {
  std::string name = {};
  std::vector<double> y = {};
  std::vector<double> x = {};
};

// Options of a line plot. Lengths are in pixels.
struct LineOptions {
  Titles titles = {};                 // title, and names of the axes
  bool log_x = false, log_y = false;  // logarithmic axes omit values <= 0
  double width = 640, height = 400;   // of the whole plot
};

// Returns a plot of the curves. Where all x are whole numbers, such as epochs, ticks are at whole
// numbers too. Throws Error if a series has x, but of another number than y.
Scene lines(const std::vector<Series>& all, const LineOptions& options = {});

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/extras/plot/lines.ipp>
#endif
