// Small datasets that need no file: iris flowers, points in the plane, drawn digits and shapes.
#pragma once

#include <gpunet/data/digits.hpp>
#include <gpunet/data/iris.hpp>
#include <gpunet/data/painted_shapes.hpp>
#include <gpunet/data/points.hpp>
