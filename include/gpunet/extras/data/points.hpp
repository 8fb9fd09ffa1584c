// Points in the plane with two classes that a small network learns to separate.
//
// The formulas of the TensorFlow Playground (github.com/tensorflow/playground,
// src/dataset.ts); the random numbers are different ones.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <gpunet/core/shape.hpp>

namespace gpunet::data {

// Options of the functions below.
struct PointsOptions {
  double noise = 0;        // 0 to 0.5; moves points or flips labels, see each function
  std::uint64_t seed = 0;  // of the random numbers
};

// Points and their classes, 0 or 1: a dataset. Coordinates are from -6 to 6, except those of
// make_gaussians.
struct Points {
  std::vector<float> samples;   // [n, 2]
  std::vector<label_t> labels;  // [n]

  index_t size() const { return static_cast<index_t>(labels.size()); }
  Sizes sample_sizes() const { return {2}; }
  label_t read(index_t i, float* sample) const;
};

// Returns n points: class 1 is a disc of radius 2.5, class 0 a ring from 3.5 to 5 around it, half
// of the points each (one more in the disc if n is odd). With noise, the class is that of a
// position up to 5 * noise away in each coordinate: 1 within 2.5 of the center.
Points make_circle(index_t n, const PointsOptions& options = {});

// Returns n points of a square from -5.3 to 5.3, at least 0.3 away from both axes. Class 1 if both
// coordinates have the same sign, else 0. Noise as in make_circle.
Points make_xor(index_t n, const PointsOptions& options = {});

// Returns n normally distributed points: class 1 around (2, 2), class 0 around (-2, -2), half of
// the points each (one more of class 1 if n is odd). The variance is 0.5 + 7 * noise.
Points make_gaussians(index_t n, const PointsOptions& options = {});

// Returns n points on two spiral arms with 1.75 turns, from the center to radius 5; class 1 begins
// upward. Half of the points each (one more of class 1 if n is odd), evenly spaced in angle. Noise
// moves points by up to `noise` in each coordinate.
Points make_spiral(index_t n, const PointsOptions& options = {});

// Returns the points of one of these functions by name: circle, xor, gaussians or spiral. Throws
// Error for another name.
Points make_points(std::string_view name, index_t n, const PointsOptions& options = {});

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/extras/data/points.ipp>
#endif
