// Plots of numbers, images and networks, as SVG, as PNG and in a terminal.
#pragma once

#include <gpunet/io/atomic_file.hpp>
#include <gpunet/model/diagram.hpp>
#include <gpunet/plot/heat_map.hpp>
#include <gpunet/plot/image_grid.hpp>
#include <gpunet/plot/lines.hpp>
#include <gpunet/plot/save.hpp>
#include <gpunet/plot/stacked_bars.hpp>
#include <gpunet/plot/svg.hpp>
#include <gpunet/plot/terminal.hpp>
