#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>
#include <gpunet/ops/pool3d.hpp>

#include "geometry/check.hpp"

using namespace gpunet;
using geometry::Configuration, geometry::Dimension, geometry::Draw, geometry::Registered;
using nn::Value;

namespace {

struct Window {
  index_t size, outputs, kernel, stride, padding;
};

// The windows along one dimension; 0 outputs: none fits.
Window window(const Configuration& c, const Dimension& along) {
  Window w{c[along.size], 0, c[along("kernel")], c[along("stride")], c[along("padding")]};
  w.outputs = nn::detail::pool_windows(w.size, {w.kernel, w.stride, w.padding, c["ceil"] == 1});
  return w;
}

index_t most_extent(int count) {
  return count == 3 ? 14 : 70;
}

void draw_windows(Draw& d, int count, bool may_be_two_by_two) {
  d.extent("channels", count == 3 ? 8 : 20);
  const bool two_by_two = may_be_two_by_two && d.once_in("two_by_two", 3);
  d.set("ceil", two_by_two ? 0 : d.once_in("may_ceil", 2));
  for (const Dimension& along : geometry::dimensions(count)) {
    index_t kernel = 2, padding = 0;
    if (two_by_two) {
      d.set(along("kernel"), 2);
      d.set(along("stride"), 2);
    } else {
      kernel = d.extent(along("kernel"), count == 3 ? 6 : 9);
      d.pick(along("stride"), 1, 4);
      padding = d.pick(along("padding"), 0, kernel / 2);
    }
    // PyTorch's avg_pool3d refuses images smaller than the kernel, also padded ones.
    const index_t least = count == 3 ? kernel : kernel - 2 * padding;
    d.extent(along.size, most_extent(count), std::max<index_t>(1, least));
  }
}

// Returns the windows of all three dimensions, of one element along those that are not there.
std::array<Window, 3> windows(const Configuration& c, int count) {
  std::array<Window, 3> all;
  all.fill({1, 1, 1, 1, 0});
  for (int i = 3 - count; i < 3; ++i)
    all[static_cast<std::size_t>(i)] =
        window(c, geometry::dimensions(3)[static_cast<std::size_t>(i)]);
  return all;
}

Sizes output(const Configuration& c, int count, const std::array<index_t, 3>& extents) {
  Sizes sizes{c["channels"]};
  for (int i = 3 - count; i < 3; ++i)
    sizes.append(extents[static_cast<std::size_t>(i)]);
  return sizes;
}

Value max_pool(const Value& x, const Configuration& c, int count) {
  const auto [plane, row, column] = windows(c, count);
  const index_t channels = c["channels"] * plane.size, pixels = row.outputs * column.outputs;
  const Pool2dGeometry planes{channels,       row.size,      column.size,   row.outputs,
                              column.outputs, row.kernel,    row.stride,    row.padding,
                              column.kernel,  column.stride, column.padding};
  const Pool2dGeometry depth{c["channels"],
                             plane.size,
                             pixels,
                             plane.outputs,
                             pixels,
                             plane.kernel,
                             plane.stride,
                             plane.padding,
                             1,
                             1,
                             0};
  const bool ceil = c["ceil"] == 1;
  const Sizes out = output(c, count, {plane.outputs, row.outputs, column.outputs});
  return count == 3
             ? nn::detail::add_node<MaxPool3dOp>("max_pool", MaxPool3dOp{planes, depth, ceil}, x,
                                                 out)
             : nn::detail::add_node<MaxPool2dOp>("max_pool", MaxPool2dOp{planes, ceil}, x, out);
}

Value average(const Value& x, const Configuration& c, int count,
              const std::array<PoolAxis, 3>& axes) {
  const Sizes out = output(c, count, {axes[0].outputs, axes[1].outputs, axes[2].outputs});
  return count == 3 ? nn::detail::add_node<AvgPool3dOp>(
                          "average", AvgPool3dOp{c["channels"], axes[0], axes[1], axes[2]}, x, out)
                    : nn::detail::add_node<AvgPool2dOp>(
                          "average", AvgPool2dOp{{c["channels"], axes[1], axes[2]}}, x, out);
}

Value avg_pool(const Value& x, const Configuration& c, int count) {
  std::array<PoolAxis, 3> axes;
  for (std::size_t i = 0; i < 3; ++i) {
    const Window w = windows(c, count)[i];
    axes[i] = {w.size, w.outputs, w.kernel, w.stride, w.padding, c["counts_padding"] == 1};
  }
  return average(x, c, count, axes);
}

Value adaptive(const Value& x, const Configuration& c, int count) {
  std::array<PoolAxis, 3> axes;
  axes.fill({1, 1});
  for (std::size_t i = 3 - static_cast<std::size_t>(count); i < 3; ++i) {
    const Dimension along = geometry::dimensions(3)[i];
    axes[i] = {c[along.size], c["out_" + along.size]};
  }
  return average(x, c, count, axes);
}

void draw_adaptive(Draw& d, int count) {
  d.extent("channels", count == 3 ? 8 : 20);
  const bool global = d.once_in("global", 4) == 1;
  for (const Dimension& along : geometry::dimensions(count)) {
    d.extent(along.size, most_extent(count));
    d.extent("out_" + along.size, global ? 1 : count == 3 ? 6 : 20);
  }
}

Registered family(const char* name, int count, std::function<void(Draw&)> draw,
                  Value (*f)(const Value&, const Configuration&, int)) {
  return Registered(
      name, std::move(draw), [=](const Configuration& c) { return geometry::image(c, count); },
      [=](const Value& x, const Configuration& c) { return f(x, c, count); });
}
Registered max_family(const char* name, int count) {
  return family(
      name, count, [=](Draw& d) { draw_windows(d, count, count > 1); }, max_pool);
}
Registered avg_family(const char* name, int count) {
  return family(
      name, count,
      [=](Draw& d) {
        d.pick("counts_padding", 0, 1);
        draw_windows(d, count, false);
      },
      avg_pool);
}
Registered adaptive_family(const char* name, int count) {
  return family(
      name, count, [=](Draw& d) { draw_adaptive(d, count); }, adaptive);
}

const Registered all_families[] = {
    max_family("max_pool1d", 1),
    max_family("max_pool2d", 2),
    max_family("max_pool3d", 3),
    avg_family("avg_pool1d", 1),
    avg_family("avg_pool2d", 2),
    avg_family("avg_pool3d", 3),
    adaptive_family("adaptive_avg_pool1d", 1),
    adaptive_family("adaptive_avg_pool2d", 2),
    adaptive_family("adaptive_avg_pool3d", 3),
};

}  // namespace

TEST_CASE_TEMPLATE("random geometries of poolings", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"max_pool2d", "max_pool1d", "avg_pool2d", "avg_pool1d",
                               "adaptive_avg_pool2d", "adaptive_avg_pool1d"});
}

TEST_CASE_TEMPLATE("random geometries of poolings in three dimensions", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"max_pool3d", "avg_pool3d", "adaptive_avg_pool3d"});
}
