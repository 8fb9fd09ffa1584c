// Random rotations of images.
#pragma once

#include <array>
#include <optional>

#include <gpunet/data/transforms.hpp>

namespace gpunet::data {

// How the value between pixels is found, as torchvision's InterpolationMode.
enum class Interpolation { nearest, bilinear };

// Options of functional::rotate, as in torchvision.
struct RotateOptions {
  Interpolation interpolation = Interpolation::nearest;
  // x and y from the top left corner; default: the middle
  std::optional<std::array<double, 2>> center = std::nullopt;
  float fill = 0;  // the value outside of the image
};

namespace functional {

// Rotates the image counterclockwise by an angle in degrees; its size stays.
void rotate(Pixels<float>& image, double angle, const RotateOptions& options = {});

}  // namespace functional

// Rotates the image by a random angle, in degrees counterclockwise:
//   data::RandomRotation{10}                        from -10 to 10
//   data::RandomRotation{{0, 90}, {.fill = 0.5f}}   from 0 to 90
class RandomRotation {
 public:
  // Throws Error if degrees are not finite, if the larger angle is first, and if a single one is
  // negative.
  explicit RandomRotation(double degrees, const RotateOptions& options = {});
  explicit RandomRotation(const std::array<double, 2>& degrees, const RotateOptions& options = {});

  void operator()(Pixels<float>& image, Random& random) const;

 private:
  std::array<double, 2> degrees_;
  RotateOptions options_;
};

}  // namespace gpunet::data

#if !GPUNET_COMPILED
#include <gpunet/data/rotation.ipp>
#endif
