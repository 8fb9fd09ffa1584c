#include <gpunet/ops/conv3d/conv3d.hpp>

#include "geometry/check.hpp"

using namespace gpunet;
using geometry::Configuration, geometry::Draw, geometry::Registered;
using nn::Value;

namespace {

// Layers after a convolution that may be fused with it.
void draw_followers(Draw& d) {
  d.once_in("relu", 2);
  d.once_in("pool", 3);
}

Value followed(Value y, const Configuration& c) {
  if (c["relu"]) y = relu(y);
  if (c["pool"] && y.size(2) >= 2 && y.size(3) >= 2) y = max_pool2d(y, 2);
  return y;
}

Sizes image(const Configuration& c) {
  return geometry::image(c, 2);
}

Value square_convolutions(const Value& x, const Configuration& c) {
  const Value y =
      followed(conv2d(x, c["out"], c["kernel"],
                      {.stride = c["stride"], .padding = c["padding"], .bias = c["bias"] == 1}),
               c);
  return c["more"] ? conv2d(y, c["out2"], 3, {.padding = 1}) : y;
}

void draw_square(Draw& d, index_t least_out, index_t most_side) {
  d.extent("channels", 40);
  const index_t kernel = d.pick("kernel", 1, 7), padding = d.pick("padding", 0, 3);
  const index_t least = std::max<index_t>(1, kernel - 2 * padding);
  d.extent("height", most_side, least);
  d.extent("width", most_side, least);
  d.extent("out", 40, least_out);
  d.one_of("stride", {1, 1, 1, 2, 3, 4});
  d.pick("bias", 0, 1);
  draw_followers(d);
  // A second convolution, which hands a gradient down to the first.
  if (d.once_in("more", 3)) d.extent("out2", 20);
}

const Registered conv2d_family(
    "conv2d", [](Draw& d) { draw_square(d, 1, 70); }, image, square_convolutions);

// Samples one by one, between some channels: as matrix products of windows.
const Registered conv2d_of_few_family(
    "conv2d_of_few",
    [](Draw& d) {
      d.one_of("batch", {1, 1, 1, 1, 2, 3, 5});
      draw_square(d, 16, 20);
    },
    image, square_convolutions);

// The sizes of a convolution with all options, in 1, 2 or 3 dimensions.
void draw_options(Draw& d, int dimensions, bool transposed) {
  const index_t groups = d.one_of("groups", {1, 1, 2, 3, 5});
  const index_t depthwise = d.once_in("depthwise", 4);
  const index_t channels = groups * d.extent("ins", depthwise ? 12 : 8);
  d.set("channels", channels);
  d.set("parts", depthwise ? channels : groups);
  d.set("out", (depthwise ? channels : groups) * d.extent("outs", 6));
  const index_t most = dimensions == 3 ? 12 : transposed ? 40 : 70;
  for (const geometry::Dimension& along : geometry::dimensions(dimensions)) {
    const index_t kernel = d.pick(along("kernel"), 1, dimensions == 3 ? 4 : 6);
    const index_t stride = d.one_of(along("stride"), {1, 1, 2, 3});
    const index_t dilation = d.one_of(along("dilation"), {1, 1, 2, 3});
    const index_t padding = d.pick(along("padding"), 0, 4);
    const index_t reach = (kernel - 1) * dilation + 1;
    if (transposed) {
      d.pick(along("more"), 0, std::max(stride, dilation) - 1);
      d.extent(along.size, most,
               std::max<index_t>(1, (2 * padding - reach + 1 + stride) / stride + 1));
    } else {
      d.extent(along.size, most, std::max<index_t>(1, reach - 2 * padding));
    }
  }
  d.pick("bias", 0, 1);
  d.once_in("relu", 3);
}

// The sizes along one dimension. For a transposed convolution, the outputs are its inputs.
ConvAxis axis(const Configuration& c, const geometry::Dimension& along, bool transposed) {
  ConvAxis a{c[along.size],       0, c[along("kernel")], c[along("stride")], c[along("padding")],
             c[along("dilation")]};
  const index_t reach = (a.kernel - 1) * a.dilation + 1;
  if (transposed) {
    a.outputs = a.size;
    a.size = (a.outputs - 1) * a.stride - 2 * a.padding + reach + c[along("more")];
  } else {
    a.outputs = (a.size + 2 * a.padding - reach) / a.stride + 1;
  }
  return a;
}

Value any_convolution(const Value& x, const Configuration& c, int dimensions, bool transposed) {
  Conv2dGeometry g{c["channels"], c["out"], c["parts"], {}, {}};
  if (transposed) std::swap(g.in_channels, g.out_channels);
  Sizes out{c["out"]}, weight{g.out_channels, g.ins()};
  std::vector<ConvAxis> axes;
  for (const geometry::Dimension& along : geometry::dimensions(dimensions)) {
    axes.push_back(axis(c, along, transposed));
    out.append(transposed ? axes.back().size : axes.back().outputs);
    weight.append(axes.back().kernel);
  }
  g.columns = axes.back();
  if (dimensions > 1) g.rows = axes[axes.size() - 2];
  const std::array parameters{nn::constant("weight", weight, 1),
                              nn::constant("bias", {c["out"]}, 0)};
  const auto specified = std::span(parameters).first(c["bias"] == 1 ? 2 : 1);
  if (dimensions == 3) g.in_channels *= axes[0].kernel;
  const Value y =
      dimensions == 3
          ? nn::detail::add_node<Conv3dOp>(
                "convolution", Conv3dOp{axes[0], g, c["bias"] == 1, transposed}, x, out, specified)
          : nn::detail::add_node<nn::Conv2d<>, Conv2dOp, Conv2dKernels<WideConv2dGeometry>>(
                "convolution", Conv2dOp{g, c["bias"] == 1, transposed}, x, out, specified);
  return c["relu"] ? relu(y) : y;
}

Registered with_options(const char* name, int dimensions, bool transposed) {
  return Registered(
      name, [=](Draw& d) { draw_options(d, dimensions, transposed); },
      [=](const Configuration& c) { return geometry::image(c, dimensions); },
      [=](const Value& x, const Configuration& c) {
        return any_convolution(x, c, dimensions, transposed);
      });
}

const Registered conv1d_family = with_options("conv1d", 1, false);
const Registered conv2d_options_family = with_options("conv2d_options", 2, false);
const Registered conv3d_family = with_options("conv3d", 3, false);
const Registered conv_transpose1d_family = with_options("conv_transpose1d", 1, true);
const Registered conv_transpose2d_family = with_options("conv_transpose2d", 2, true);
const Registered conv_transpose3d_family = with_options("conv_transpose3d", 3, true);

}  // namespace

TEST_CASE_TEMPLATE("random geometries of convolutions", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"conv2d", "conv2d_of_few", "conv2d_options", "conv1d",
                               "conv_transpose2d", "conv_transpose1d"});
}

TEST_CASE_TEMPLATE("random geometries of convolutions in three dimensions", D,
                   GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"conv3d", "conv_transpose3d"});
}
