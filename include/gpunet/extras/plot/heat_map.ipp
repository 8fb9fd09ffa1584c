// Bodies of heat_map.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/extras/plot/axes.hpp>
#include <gpunet/extras/plot/heat_map.hpp>

namespace gpunet::plot {

namespace detail {

// Returns the number in a cell.
inline std::string cell_text(double value) {
  const bool counts = std::abs(value) < 1e9 && value == std::floor(value);
  return counts ? gpunet::detail::fixed_text(value, 0) : gpunet::detail::short_text(value, 4);
}

}  // namespace detail

GPUNET_INLINE Scene heat_map(index_t rows, index_t columns, const std::vector<double>& values,
                             const HeatMapOptions& options) {
  const auto cells = static_cast<index_t>(values.size());
  require(rows >= 1 && columns >= 1 && cells % columns == 0 && cells / columns == rows,
          "gpunet::plot::heat_map: ", values.size(), " values for ", rows, " x ", columns,
          " cells (want one each, and 1 cell or more)");
  detail::check_length("gpunet::plot::heat_map", options.cell);
  const auto check_names = [](const char* what, const std::vector<std::string>& names,
                              index_t count) {
    require(names.empty() || static_cast<index_t>(names.size()) == count,
            "gpunet::plot::heat_map: ", names.size(), " names for ", count, " ", what,
            " (want one each, or none)");
  };
  check_names("rows", options.row_names, rows);
  check_names("columns", options.column_names, columns);

  // In long double, which holds the difference of any two doubles.
  long double low = 0, high = -std::numeric_limits<long double>::infinity();
  for (const long double value : values)
    if (std::isfinite(value)) low = std::min(low, value), high = std::max(high, value);
  double cell = options.cell;
  if (options.numbers)
    for (const double value : values)
      if (std::isfinite(value)) cell = std::max(cell, text_width(detail::cell_text(value), 12) + 6);
  const double widest = detail::widest_of(options.row_names, 12);
  const double across = static_cast<double>(columns) * cell,
               down = static_cast<double>(rows) * cell;
  const detail::TitleLines titles(options.titles, std::max(across + widest, 240.0), down);
  const detail::ColumnNames names(options.column_names, cell);
  const double left = 16 + titles.left() + (widest > 0 ? widest + 8 : 0), right = left + across;
  const double top = 16 + (titles.title.empty() ? 0 : titles.top() + 6), bottom = top + down;
  const double width = std::max({right, 16 + detail::widest_of(titles.title, 16),
                                 16 + detail::widest_of(titles.x_label, 13)});
  Scene scene{width + 16, bottom + names.height() + titles.below() + 12};
  titles.add_to(scene, left, right, top, bottom);

  for (index_t r = 0; r < rows; ++r)
    for (index_t c = 0; c < columns; ++c) {
      const double value = values[static_cast<std::size_t>(r * columns + c)];
      if (!std::isfinite(value)) continue;
      const double share = high > low ? static_cast<double>((value - low) / (high - low)) : 0;
      const Point corner{left + static_cast<double>(c) * cell, top + static_cast<double>(r) * cell};
      scene.add(Box{corner, cell, cell, mix(paper, series_color(0), share)});
      if (!options.numbers) continue;
      scene.add(Label{{corner.x + cell / 2, corner.y + cell / 2 + 4},
                      detail::cell_text(value),
                      Anchor::middle,
                      12,
                      share > 0.5 ? paper : ink});
    }
  for (auto [a, b] : {std::pair(Point{left, top}, Point{right, top}),
                      std::pair(Point{left, bottom}, Point{right, bottom}),
                      std::pair(Point{left, top}, Point{left, bottom}),
                      std::pair(Point{right, top}, Point{right, bottom})})
    scene.add(Path{{a, b}, faint});

  for (std::size_t r = 0; r < options.row_names.size(); ++r)
    scene.add(Label{{left - 8, top + (static_cast<double>(r) + 0.5) * cell + 4},
                    options.row_names[r],
                    Anchor::end,
                    12,
                    muted});
  for (std::size_t c = 0; c < options.column_names.size(); ++c)
    names.add_to(scene, c, left + (static_cast<double>(c) + 0.5) * cell, bottom);
  return scene;
}

}  // namespace gpunet::plot
