// A convolution as a line of a test's report.
#pragma once

#include <string>

#include <gpunet/ops/conv2d/plain.hpp>

inline std::string text_of(const gpunet::Conv2dGeometry& g) {
  return gpunet::concat(g.in_channels, "-", g.out_channels, " on ", g.height, " x ", g.width,
                        ", kernel ", g.kernel, ", stride ", g.stride, ", padding ", g.padding);
}
