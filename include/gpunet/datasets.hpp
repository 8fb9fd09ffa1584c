// Small datasets without files: iris flowers, points in the plane, synthetic images of digits and
// shapes.
#pragma once

#include <gpunet/data/digits.hpp>
#include <gpunet/data/iris.hpp>
#include <gpunet/data/painted_shapes.hpp>
#include <gpunet/data/points.hpp>
