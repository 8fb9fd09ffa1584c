// Problems in the plane: points of two classes that a small network learns to tell apart.
//
// They are those of the TensorFlow Playground (github.com/tensorflow/playground, src/dataset.ts), by its formulas, with
// random numbers of our own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <gpunet/core/shape.hpp>

namespace gpunet::data {

// How points are drawn.
struct PointsOptions {
  double noise = 0;        // 0 to 0.5: by how much points are out of place, or have the other class's label
  std::uint64_t seed = 0;  // other points for another one
};

// Points and their classes, 0 or 1; a dataset. All lie between -6 and 6 but for those of make_gaussians.
struct Points {
  std::vector<float> samples;   // [n, 2]
  std::vector<label_t> labels;  // [n]

  index_t size() const { return static_cast<index_t>(labels.size()); }
  Sizes sample_sizes() const { return {2}; }
  label_t read(index_t i, float* sample) const;
};

// Class 1 is a disc of radius 2.5, class 0 a ring from 3.5 to 5 around it, as many points of each (one more in the disc
// where n is odd). With noise, a point has the class of a place up to 5 noise away in both directions: 1 within 2.5 of the
// centre.
Points make_circle(index_t n, const PointsOptions& options = {});

// Class 1 where both coordinates have the same sign, 0 where they have not; points of a square from -5.3 to 5.3 that keep
// 0.3 away from both axes. Noise does what it does to the circle.
Points make_xor(index_t n, const PointsOptions& options = {});

// Two clouds of normal numbers, class 1 around (2, 2), class 0 around (-2, -2), as many points of each (one more of class 1
// where n is odd). The variance is 0.5, and 4 with a noise of 0.5.
Points make_gaussians(index_t n, const PointsOptions& options = {});

// Two arms that wind around each other 1.75 times, from the centre to a radius of 5; class 1 begins upward. As many points
// of each (one more of class 1 where n is odd), evenly spaced in angle. Noise moves them, up to its size in both directions.
Points make_spiral(index_t n, const PointsOptions& options = {});

// By name: circle, xor, gaussians or spiral. Throws Error for any other.
Points make_points(std::string_view name, index_t n, const PointsOptions& options = {});

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/points.ipp>
#endif
