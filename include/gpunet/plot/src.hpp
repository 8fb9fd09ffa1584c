// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/plot/heat_map.ipp>
#include <gpunet/plot/image_grid.ipp>
#include <gpunet/plot/lines.ipp>
#include <gpunet/plot/raster.ipp>
#include <gpunet/plot/save.ipp>
#include <gpunet/plot/scene.ipp>
#include <gpunet/plot/stacked_bars.ipp>
#include <gpunet/plot/svg.ipp>
#include <gpunet/plot/terminal.ipp>
