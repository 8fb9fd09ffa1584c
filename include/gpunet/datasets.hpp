// Small datasets without files: iris flowers, points in the plane, synthetic images of digits and
// shapes.
#pragma once

#include <gpunet/data/iris.hpp>
#include <gpunet/extras/data/digits.hpp>
#include <gpunet/extras/data/painted_shapes.hpp>
#include <gpunet/extras/data/points.hpp>
