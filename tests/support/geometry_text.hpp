// Convolutions for tests, and a convolution as a line of a test's report.
#pragma once

#include <algorithm>
#include <string>

#include <gpunet/ops/conv2d/plain.hpp>

// One dimension whose padding is the same before and behind.
inline gpunet::ConvAxis conv_axis(gpunet::index_t size, gpunet::index_t kernel,
                                  gpunet::index_t stride = 1, gpunet::index_t padding = 0,
                                  gpunet::index_t dilation = 1) {
  gpunet::ConvAxis axis{size, 1, kernel, stride, padding, dilation};
  axis.outputs = (size + 2 * padding - axis.reach()) / stride + 1;
  return axis;
}

inline gpunet::Conv2dGeometry square_convolution(gpunet::index_t in, gpunet::index_t height,
                                                 gpunet::index_t width, gpunet::index_t out,
                                                 gpunet::index_t kernel, gpunet::index_t stride = 1,
                                                 gpunet::index_t padding = 0) {
  return {in, out, 1, conv_axis(height, kernel, stride, padding),
          conv_axis(width, kernel, stride, padding)};
}

// How random_geometry draws.
struct GeometryRange {
  gpunet::index_t most_kernel, most_stride, most_padding;
  gpunet::index_t more_rows, more_columns;  // of the image than the least
  gpunet::index_t least_outputs = 1;
};

// Draws rows and columns: in two of four cases square, else with numbers of their own, dilations,
// and PaddingSame of any kernel, which pads more behind than before.
template <class Random>
gpunet::Conv2dGeometry random_axes(Random& random, const GeometryRange& range) {
  using gpunet::index_t;
  struct Numbers {
    index_t kernel, stride, padding, dilation;
  };
  const bool square = random.pick(0, 1) == 1;
  const auto numbers = [&]() -> Numbers {
    const index_t kernel = random.pick(1, range.most_kernel);
    return {kernel, random.pick(0, 2) > 0 ? 1 : random.pick(1, range.most_stride),
            random.pick(0, range.most_padding),
            square || random.pick(0, 1) ? 1 : random.pick(1, 3)};
  };
  const Numbers rows = numbers(), columns = square ? rows : numbers();
  const bool same = !square && random.pick(0, 3) == 0;
  const auto axis = [&](const Numbers& n, index_t more) {
    gpunet::ConvAxis drawn{1, 1, n.kernel, same ? 1 : n.stride, n.padding, n.dilation};
    if (same) drawn.padding = (drawn.reach() - 1) / 2;
    const index_t least = std::max(index_t{1}, drawn.reach() - 2 * drawn.padding) +
                          (range.least_outputs - 1) * drawn.stride;
    drawn.size = least + random.pick(0, more);
    drawn.outputs =
        same ? drawn.size : (drawn.size + 2 * drawn.padding - drawn.reach()) / drawn.stride + 1;
    return drawn;
  };
  return {1, 1, 1, axis(rows, range.more_rows), axis(columns, range.more_columns)};
}

inline std::string text_of(const gpunet::ConvAxis& axis) {
  return gpunet::concat(axis.size, " to ", axis.outputs, " by kernel ", axis.kernel, ", stride ",
                        axis.stride, ", padding ", axis.padding, ", dilation ", axis.dilation);
}

inline std::string text_of(const gpunet::Conv2dGeometry& g) {
  return gpunet::concat(g.in_channels, "-", g.out_channels, " in ", g.groups, " groups, rows ",
                        text_of(g.rows), ", columns ", text_of(g.columns));
}
