#include <gpunet/ops/row_norm/row_norm.hpp>

#include "geometry/check.hpp"

using namespace gpunet;
using geometry::Configuration, geometry::Draw, geometry::Registered;
using nn::Value;

namespace {

// Sizes of one to three dimensions.
void draw_sizes(Draw& d, index_t most_channels) {
  const index_t rank = d.pick("rank", 1, 3);
  d.extent("channels", most_channels);
  if (rank > 2) d.extent("height", 30);
  if (rank > 1) d.extent("width", 70);
  // In thousandths: two numbers that are almost equal are not divided by almost 0.
  d.one_of("eps", {1, 10, 100});
}
Sizes sizes(const Configuration& c) {
  Sizes sizes{c["channels"]};
  if (c["rank"] > 2) sizes.append(c["height"]);
  if (c["rank"] > 1) sizes.append(c["width"]);
  return sizes;
}
double eps(const Configuration& c) {
  return static_cast<double>(c["eps"]) / 1000;
}
// Gradients are multiplied by 1 / sqrt(variance + eps), and terms of that size cancel.
double gain(const Configuration& c) {
  return 1 / std::sqrt(eps(c));
}

Value row_norm(const Value& x, const Configuration& c, RowNormKind kind, RowNormGeometry g,
               int dims, const Sizes& of) {
  const bool weight = c["affine"] == 1, bias = weight && c["bias"] == 1;
  const std::array parameters{nn::constant("weight", of, 1), nn::constant("bias", of, 0)};
  return nn::detail::add_node<nn::LayerNorm<>>(
      "norm", RowNormOp{kind, g, dims, eps(c), weight, bias}, x, x.sizes(),
      std::span(parameters).first(weight ? bias ? 2 : 1 : 0));
}

Value norm_of_last(const Value& x, const Configuration& c, RowNormKind kind) {
  const Sizes in = x.sizes();
  const int dims = static_cast<int>(std::min<index_t>(c["dims"], in.rank()));
  Sizes row;
  for (int i = in.rank() - dims; i < in.rank(); ++i)
    row.append(in[i]);
  return row_norm(x, c, kind, {in.numel() / row.numel(), row.numel()}, dims, row);
}

Registered last(const char* name, RowNormKind kind) {
  return Registered(
      name,
      [=](Draw& d) {
        draw_sizes(d, 70);
        d.pick("dims", 1, 3);
        d.pick("affine", 0, 1);
        if (kind == RowNormKind::layer) d.pick("bias", 0, 1);
      },
      sizes, [=](const Value& x, const Configuration& c) { return norm_of_last(x, c, kind); },
      gain);
}

const Registered layer_norm_family = last("layer_norm", RowNormKind::layer);
const Registered rms_norm_family = last("rms_norm", RowNormKind::rms);
const Registered group_norm_family(
    "group_norm",
    [](Draw& d) {
      const index_t groups = d.extent("groups", 9);
      d.set("channels", groups * d.extent("of_group", 9));
      d.set("rank", 3);
      d.extent("height", 20);
      d.extent("width", 70);
      d.one_of("eps", {1, 10, 100});
      d.set("bias", d.pick("affine", 0, 1));
    },
    sizes,
    [](const Value& x, const Configuration& c) {
      const index_t groups = c["groups"];
      return row_norm(x, c, RowNormKind::group, {groups, x.sizes().numel() / groups, c["of_group"]},
                      0, {c["channels"]});
    },
    gain);
const Registered batch_norm_family(
    "batch_norm",
    [](Draw& d) {
      draw_sizes(d, 40);
      d.once_in("eval", 4);
      d.once_in("relu", 3);
      // One number of each channel has no variance.
      if (d["batch"] * std::max<index_t>(1, d["height"]) * std::max<index_t>(1, d["width"]) == 1)
        d.set("batch", 2);
    },
    sizes,
    [](const Value& x, const Configuration& c) {
      const Value y = batch_norm(x, {.eps = eps(c)});
      return c["relu"] ? relu(y) : y;
    },
    gain);

}  // namespace

TEST_CASE_TEMPLATE("random geometries of normalizations", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"layer_norm", "rms_norm", "group_norm", "batch_norm"});
}
