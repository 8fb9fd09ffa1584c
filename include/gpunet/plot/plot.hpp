// Diagrams as SVG and PNG, of any numbers. Not part of gpunet.hpp.
#pragma once

#include <gpunet/plot/heat_map.hpp>
#include <gpunet/plot/image_grid.hpp>
#include <gpunet/plot/lines.hpp>
#include <gpunet/plot/save.hpp>
#include <gpunet/plot/stacked_bars.hpp>
#include <gpunet/plot/svg.hpp>
#include <gpunet/plot/terminal.hpp>
