// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/extras/data/digits.ipp>
#include <gpunet/extras/data/painted_shapes.ipp>
#include <gpunet/extras/data/points.ipp>
#include <gpunet/extras/diagram.ipp>
#include <gpunet/extras/plot/heat_map.ipp>
#include <gpunet/extras/plot/image_grid.ipp>
#include <gpunet/extras/plot/lines.ipp>
#include <gpunet/extras/plot/raster.ipp>
#include <gpunet/extras/plot/save.ipp>
#include <gpunet/extras/plot/scene.ipp>
#include <gpunet/extras/plot/stacked_bars.ipp>
#include <gpunet/extras/plot/svg.ipp>
#include <gpunet/extras/plot/terminal.ipp>
#include <gpunet/extras/tensorboard/summary_writer.ipp>
#include <gpunet/extras/tensorboard/tensorboard_callback.ipp>
