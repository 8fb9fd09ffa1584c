// Curves.
#pragma once

#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/plot/scene.hpp>

namespace gpunet::plot {

// A curve through (x[i], y[i]); without x, x[i] is i + 1. What is not finite leaves a gap; a point between two gaps is a
// dot.
struct Series {
  std::string name = {};
  std::vector<double> y = {};
  std::vector<double> x = {};
};

// How curves look; lengths in pixels of the picture.
struct LineOptions {
  Titles titles = {};                 // over them and beside the axes
  bool log_x = false, log_y = false;  // logarithmic axes leave out what is not over 0
  double width = 640, height = 400;   // of all of it
};

// A diagram of curves. Throws Error where a series has not as many x as y.
Scene lines(const std::vector<Series>& all, const LineOptions& options = {});

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/plot/lines.ipp>
#endif
