// Bodies of heat_map.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/plot/axes.hpp>
#include <gpunet/plot/heat_map.hpp>

namespace gpunet::plot {

GPUNET_INLINE Scene heat_map(index_t rows, index_t columns, const std::vector<double>& values,
                             const HeatMapOptions& options) {
  const auto cells = static_cast<index_t>(values.size());
  require(rows >= 1 && columns >= 1 && cells % columns == 0 && cells / columns == rows,
          "gpunet::plot::heat_map: ", values.size(), " values for ", rows, " x ", columns,
          " cells (want one each, and 1 cell or more)");
  detail::check_length("gpunet::plot::heat_map", options.cell);
  const auto check_names = [](const char* what, const std::vector<std::string>& names, index_t count) {
    require(names.empty() || static_cast<index_t>(names.size()) == count, "gpunet::plot::heat_map: ", names.size(),
            " names for ", count, " ", what, " (want one each, or none)");
  };
  check_names("rows", options.row_names, rows);
  check_names("columns", options.column_names, columns);

  // In long double, which holds the difference of any two doubles.
  long double low = 0, high = -std::numeric_limits<long double>::infinity();
  for (const long double value : values)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  double widest = 0;
  for (const std::string& name : options.row_names)
    widest = std::max(widest, text_width(name, 12));
  const double left = 16 + (options.titles.y_label.empty() ? 0 : 24) + (widest > 0 ? widest + 8 : 0);
  const double top = 16 + (options.titles.title.empty() ? 0 : 30);
  const double right = left + static_cast<double>(columns) * options.cell;
  const double bottom = top + static_cast<double>(rows) * options.cell;
  const double below = (options.column_names.empty() ? 0 : 24) + (options.titles.x_label.empty() ? 0 : 24);
  Scene scene{std::max(right, 16 + text_width(options.titles.title, 16)) + 16, bottom + below + 12};
  detail::add_titles(scene, options.titles, left, right, top, bottom);

  for (index_t r = 0; r < rows; ++r)
    for (index_t c = 0; c < columns; ++c) {
      const double value = values[static_cast<std::size_t>(r * columns + c)];
      if (!std::isfinite(value)) continue;
      const double share = high > low ? static_cast<double>((value - low) / (high - low)) : 0;
      const Point corner{left + static_cast<double>(c) * options.cell, top + static_cast<double>(r) * options.cell};
      scene.add(Box{corner, options.cell, options.cell, mix(paper, series_color(0), share)});
      if (!options.numbers) continue;
      scene.add(Label{{corner.x + options.cell / 2, corner.y + options.cell / 2 + 4},
                      gpunet::detail::short_text(value, 4),
                      Anchor::middle,
                      12,
                      share > 0.5 ? paper : ink});
    }
  for (auto [a, b] :
       {std::pair(Point{left, top}, Point{right, top}), std::pair(Point{left, bottom}, Point{right, bottom}),
        std::pair(Point{left, top}, Point{left, bottom}), std::pair(Point{right, top}, Point{right, bottom})})
    scene.add(Path{{a, b}, faint});

  for (std::size_t r = 0; r < options.row_names.size(); ++r)
    scene.add(Label{{left - 8, top + (static_cast<double>(r) + 0.5) * options.cell + 4},
                    options.row_names[r],
                    Anchor::end,
                    12,
                    muted});
  for (std::size_t c = 0; c < options.column_names.size(); ++c)
    scene.add(Label{{left + (static_cast<double>(c) + 0.5) * options.cell, bottom + 18},
                    options.column_names[c],
                    Anchor::middle,
                    12,
                    muted});
  return scene;
}

}  // namespace gpunet::plot
