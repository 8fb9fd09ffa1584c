// Heat maps: tables of numbers as colors.
#pragma once

#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/extras/plot/scene.hpp>

namespace gpunet::plot {

// Options of a heat map. Lengths are in pixels.
struct HeatMapOptions {
  Titles titles = {};                                          // title, and names of the axes
  std::vector<std::string> row_names = {}, column_names = {};  // one for each, or none
  bool numbers = true;                                         // whether cells show their numbers
  double cell = 44;  // width and height of a cell; more if a number needs it
};

// Returns a table of `rows` x `columns` cells for `values`, row-major from the top, such as a
// confusion matrix. Colors go from that of the page, for the minimum (at most 0), to the strongest,
// for the maximum. Cells of values that are not finite stay empty. Whole numbers below 1e9 are
// written in full, others with four digits. Throws Error if a size does not fit.
Scene heat_map(index_t rows, index_t columns, const std::vector<double>& values,
               const HeatMapOptions& options = {});

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/extras/plot/heat_map.ipp>
#endif
