// Numbers in a table as colors.
#pragma once

#include <string>
#include <vector>

#include <gpunet/core/config.hpp>
#include <gpunet/plot/scene.hpp>

namespace gpunet::plot {

// How a heat map looks; lengths in pixels of the picture.
struct HeatMapOptions {
  Titles titles = {};                                          // over it and beside it
  std::vector<std::string> row_names = {}, column_names = {};  // of all, or none
  bool numbers = true;                                         // written into the cells
  double cell = 44;                                            // width and height of one
};

// A table of `rows` x `columns` numbers, row by row from the top: the larger, the stronger the color, from the page's own
// at the smaller of 0 and the least number. Cells of what is not finite stay empty. Such as a confusion matrix.
Scene heat_map(index_t rows, index_t columns, const std::vector<double>& values,
               const HeatMapOptions& options = {});

}  // namespace gpunet::plot

#if !GPUNET_COMPILED
#include <gpunet/plot/heat_map.ipp>
#endif
