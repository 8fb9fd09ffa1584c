#include <gpunet/ops/avg_pool2d/avg_pool2d.hpp>
#include <gpunet/ops/max_pool2d/max_pool2d.hpp>

#include "geometry/check.hpp"

using namespace gpunet;
using geometry::Configuration, geometry::Draw, geometry::Registered;
using nn::Value;

namespace {

struct Window {
  index_t size, outputs, kernel, stride, padding;
};

// The windows along one dimension; 0 outputs: none fits.
Window window(const Configuration& c, bool row) {
  const auto of = [&](const char* of_rows, const char* of_columns) {
    return c[row ? of_rows : of_columns];
  };
  Window w{of("height", "width"), 0, of("kernel", "kernel_width"), of("stride", "stride_width"),
           of("padding", "padding_width")};
  w.outputs = nn::detail::pool_windows(w.size, {w.kernel, w.stride, w.padding, c["ceil"] == 1});
  return w;
}

void draw_windows(Draw& d, bool is_row, bool may_be_two_by_two) {
  d.extent("channels", 20);
  const bool two_by_two = may_be_two_by_two && d.once_in("two_by_two", 3);
  d.set("ceil", two_by_two ? 0 : d.once_in("may_ceil", 2));
  for (const bool row : {true, false}) {
    if (is_row && row) continue;
    const auto name = [row](const char* of_rows, const char* of_columns) {
      return row ? of_rows : of_columns;
    };
    index_t kernel = 2, padding = 0;
    if (two_by_two) {
      d.set(name("kernel", "kernel_width"), 2);
      d.set(name("stride", "stride_width"), 2);
    } else {
      kernel = d.extent(name("kernel", "kernel_width"), 9);
      d.pick(name("stride", "stride_width"), 1, 4);
      padding = d.pick(name("padding", "padding_width"), 0, kernel / 2);
    }
    d.extent(name("height", "width"), 70, std::max<index_t>(1, kernel - 2 * padding));
  }
}

Sizes input(const Configuration& c, bool is_row) {
  return is_row ? Sizes{c["channels"], c["width"]} : Sizes{c["channels"], c["height"], c["width"]};
}
Sizes output(const Configuration& c, bool is_row, index_t rows, index_t columns) {
  return is_row ? Sizes{c["channels"], columns} : Sizes{c["channels"], rows, columns};
}

Value max_pool(const Value& x, const Configuration& c, bool is_row) {
  const Window row = is_row ? Window{1, 1, 1, 1, 0} : window(c, true), column = window(c, false);
  const MaxPool2dOp op{
      {c["channels"], row.size, column.size, row.outputs, column.outputs, row.kernel, row.stride,
       row.padding, column.kernel, column.stride, column.padding},
      c["ceil"] == 1};
  return nn::detail::add_node<MaxPool2dOp>("max_pool", op, x,
                                           output(c, is_row, row.outputs, column.outputs));
}

Value avg_pool(const Value& x, const Configuration& c, bool is_row) {
  const bool counts = c["counts_padding"] == 1;
  const Window column = window(c, false), row = is_row ? Window{1, 1, 1, 1, 0} : window(c, true);
  const auto axis = [counts](const Window& w) {
    return PoolAxis{w.size, w.outputs, w.kernel, w.stride, w.padding, counts};
  };
  return nn::detail::add_node<AvgPool2dOp>("avg_pool",
                                           AvgPool2dOp{{c["channels"], axis(row), axis(column)}}, x,
                                           output(c, is_row, row.outputs, column.outputs));
}

Value adaptive(const Value& x, const Configuration& c, bool is_row) {
  const PoolAxis rows = is_row ? PoolAxis{1, 1} : PoolAxis{c["height"], c["out_height"]};
  return nn::detail::add_node<AvgPool2dOp>(
      "adaptive_avg_pool", AvgPool2dOp{{c["channels"], rows, {c["width"], c["out_width"]}}}, x,
      output(c, is_row, c["out_height"], c["out_width"]));
}

void draw_adaptive(Draw& d, bool is_row) {
  d.extent("channels", 20);
  const bool global = d.once_in("global", 4) == 1;
  for (const bool row : {true, false}) {
    if (is_row && row) continue;
    d.extent(row ? "height" : "width", 70);
    d.extent(row ? "out_height" : "out_width", global ? 1 : 20);
  }
}

Registered pooling(const char* name, bool is_row,
                   Value (*f)(const Value&, const Configuration&, bool), bool is_max) {
  return Registered(
      name,
      [=](Draw& d) {
        if (!is_max) d.pick("counts_padding", 0, 1);
        draw_windows(d, is_row, is_max && !is_row);
      },
      [=](const Configuration& c) { return input(c, is_row); },
      [=](const Value& x, const Configuration& c) { return f(x, c, is_row); });
}

const Registered max_pool2d_family = pooling("max_pool2d", false, max_pool, true);
const Registered max_pool1d_family = pooling("max_pool1d", true, max_pool, true);
const Registered avg_pool2d_family = pooling("avg_pool2d", false, avg_pool, false);
const Registered avg_pool1d_family = pooling("avg_pool1d", true, avg_pool, false);
const Registered adaptive2d_family(
    "adaptive_avg_pool2d", [](Draw& d) { draw_adaptive(d, false); },
    [](const Configuration& c) { return input(c, false); },
    [](const Value& x, const Configuration& c) { return adaptive(x, c, false); });
const Registered adaptive1d_family(
    "adaptive_avg_pool1d", [](Draw& d) { draw_adaptive(d, true); },
    [](const Configuration& c) { return input(c, true); },
    [](const Value& x, const Configuration& c) { return adaptive(x, c, true); });

}  // namespace

TEST_CASE_TEMPLATE("random geometries of poolings", D, GPUNET_TEST_DEVICES) {
  geometry::check_families<D>({"max_pool2d", "max_pool1d", "avg_pool2d", "avg_pool1d",
                               "adaptive_avg_pool2d", "adaptive_avg_pool1d"});
}
