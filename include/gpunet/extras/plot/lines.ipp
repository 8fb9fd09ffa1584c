// Bodies of lines.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include <gpunet/core/error.hpp>
#include <gpunet/extras/plot/axes.hpp>
#include <gpunet/extras/plot/lines.hpp>

namespace gpunet::plot {

namespace detail {

GPUNET_INLINE Point point_of(const Series& series, std::size_t i) {
  return {series.x.empty() ? static_cast<double>(i + 1) : series.x[i], series.y[i]};
}

// Returns the scale for one coordinate of all points. With Numbers::whole, ticks are at whole
// numbers if all values are.
template <class Coordinate>
Scale scale_of(const std::vector<Series>& all, bool logarithmic, int wanted, Ends ends,
               Numbers numbers, Coordinate coordinate) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const Series& series : all)
    for (std::size_t i = 0; i < series.y.size(); ++i) {
      const Point p = point_of(series, i);
      if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
      const double value = coordinate(p);
      if (logarithmic && value <= 0) continue;
      low = std::min(low, value);
      high = std::max(high, value);
      if (value != std::floor(value)) numbers = Numbers::any;
    }
  if (low > high) low = high = 1;  // nothing to show
  return logarithmic ? log_scale(low, high, numbers)
                     : linear_scale(low, high, wanted, ends, numbers);
}

}  // namespace detail

GPUNET_INLINE Scene lines(const std::vector<Series>& all, const LineOptions& options) {
  for (const double length : {options.width, options.height})
    detail::check_length("gpunet::plot::lines", length);
  std::vector<std::string> names;
  for (const Series& series : all) {
    require(series.x.empty() || series.x.size() == series.y.size(),
            "gpunet::plot::lines: the series '", series.name, "' has ", series.x.size(), " x for ",
            series.y.size(), " y (want as many, or none)");
    if (!series.name.empty()) names.push_back(series.name);
  }
  Scene scene{options.width, options.height};
  detail::Axes axes(scene, options.titles,
                    detail::scale_of(all, options.log_x, 8, detail::Ends::as_given,
                                     detail::Numbers::whole, [](Point p) { return p.x; }),
                    detail::scale_of(all, options.log_y, 5, detail::Ends::rounded,
                                     detail::Numbers::any, [](Point p) { return p.y; }),
                    names);
  axes.add_y_ticks();
  axes.add_x_ticks();
  for (std::size_t s = 0; s < all.size(); ++s) {
    Path path{{}, series_color(s), 2};
    const auto finish = [&] {
      path.width = path.points.size() == 1 ? 6 : 2;
      if (!path.points.empty()) scene.add(path);
      path.points.clear();
    };
    for (std::size_t i = 0; i < all[s].y.size(); ++i)
      if (const Point p = detail::point_of(all[s], i); axes.shows(p))
        path.points.push_back({axes.x(p.x), axes.y(p.y)});
      else
        finish();
    finish();
  }
  return scene;
}

}  // namespace gpunet::plot
