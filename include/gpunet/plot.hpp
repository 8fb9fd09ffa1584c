// Plots of numbers, images and networks, as SVG, as PNG and in a terminal.
#pragma once

#include <gpunet/extras/diagram.hpp>
#include <gpunet/extras/plot/heat_map.hpp>
#include <gpunet/extras/plot/image_grid.hpp>
#include <gpunet/extras/plot/lines.hpp>
#include <gpunet/extras/plot/save.hpp>
#include <gpunet/extras/plot/stacked_bars.hpp>
#include <gpunet/extras/plot/svg.hpp>
#include <gpunet/extras/plot/terminal.hpp>
#include <gpunet/io/atomic_file.hpp>
