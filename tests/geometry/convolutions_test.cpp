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
  return {c["channels"], c["height"], c["width"]};
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

// The sizes of a convolution with all options.
struct Options {
  index_t rows_kernel, columns_kernel;

  static void draw(Draw& d, bool is_row, bool transposed) {
    const index_t groups = d.one_of("groups", {1, 1, 2, 3, 5});
    const index_t depthwise = d.once_in("depthwise", 4);
    const index_t channels = groups * d.extent("ins", depthwise ? 12 : 8);
    d.set("channels", channels);
    d.set("parts", depthwise ? channels : groups);
    d.set("out", (depthwise ? channels : groups) * d.extent("outs", 6));
    for (const bool row : {true, false}) {
      if (is_row && row) continue;
      const auto name = [row](const char* of_rows, const char* of_columns) {
        return row ? of_rows : of_columns;
      };
      const index_t kernel = d.pick(name("kernel", "kernel_width"), 1, 6);
      const index_t stride = d.one_of(name("stride", "stride_width"), {1, 1, 2, 3});
      const index_t dilation = d.one_of(name("dilation", "dilation_width"), {1, 1, 2, 3});
      const index_t padding = d.pick(name("padding", "padding_width"), 0, 4);
      const index_t reach = (kernel - 1) * dilation + 1;
      if (transposed) {
        d.pick(name("more", "more_width"), 0, std::max(stride, dilation) - 1);
        d.extent(name("height", "width"), 40,
                 std::max<index_t>(1, (2 * padding - reach + 1 + stride) / stride + 1));
      } else {
        d.extent(name("height", "width"), 70, std::max<index_t>(1, reach - 2 * padding));
      }
    }
    d.pick("bias", 0, 1);
    d.once_in("relu", 3);
  }
};

// The sizes along one dimension. For a transposed convolution, the outputs are its inputs.
ConvAxis axis(const Configuration& c, bool row, bool transposed) {
  const auto of = [&](const char* of_rows, const char* of_columns) {
    return c[row ? of_rows : of_columns];
  };
  ConvAxis a{of("height", "width"),          0,
             of("kernel", "kernel_width"),   of("stride", "stride_width"),
             of("padding", "padding_width"), of("dilation", "dilation_width")};
  const index_t reach = (a.kernel - 1) * a.dilation + 1;
  if (transposed) {
    a.outputs = a.size;
    a.size = (a.outputs - 1) * a.stride - 2 * a.padding + reach + of("more", "more_width");
  } else {
    a.outputs = (a.size + 2 * a.padding - reach) / a.stride + 1;
  }
  return a;
}

Value any_convolution(const Value& x, const Configuration& c, bool is_row, bool transposed) {
  Conv2dGeometry g{c["channels"], c["out"], c["parts"],
                   is_row ? ConvAxis{} : axis(c, true, transposed), axis(c, false, transposed)};
  if (transposed) std::swap(g.in_channels, g.out_channels);
  Sizes out{c["out"]}, weight{g.out_channels, g.ins()};
  if (!is_row) {
    out.append(transposed ? g.rows.size : g.rows.outputs);
    weight.append(g.rows.kernel);
  }
  out.append(transposed ? g.columns.size : g.columns.outputs);
  weight.append(g.columns.kernel);
  const std::array parameters{nn::constant("weight", weight, 1),
                              nn::constant("bias", {c["out"]}, 0)};
  const auto specified = std::span(parameters).first(c["bias"] == 1 ? 2 : 1);
  const Value y = nn::detail::add_node<nn::Conv2d<>, Conv2dOp, Conv2dKernels<WideConv2dGeometry>>(
      "convolution", Conv2dOp{g, c["bias"] == 1, transposed}, x, out, specified);
  return c["relu"] ? relu(y) : y;
}

Registered with_options(const char* name, bool is_row, bool transposed) {
  return Registered(
      name, [=](Draw& d) { Options::draw(d, is_row, transposed); },
      [=](const Configuration& c) {
        return is_row ? Sizes{c["channels"], c["width"]} : image(c);
      },
      [=](const Value& x, const Configuration& c) {
        return any_convolution(x, c, is_row, transposed);
      });
}

const Registered conv2d_options_family = with_options("conv2d_options", false, false);
const Registered conv1d_family = with_options("conv1d", true, false);
const Registered conv_transpose2d_family = with_options("conv_transpose2d", false, true);
const Registered conv_transpose1d_family = with_options("conv_transpose1d", true, true);

}  // namespace

TEST_CASE_TEMPLATE("random geometries of convolutions", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"conv2d", "conv2d_of_few", "conv2d_options", "conv1d",
                               "conv_transpose2d", "conv_transpose1d"});
}
