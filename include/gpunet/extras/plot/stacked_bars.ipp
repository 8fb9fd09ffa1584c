// Bodies of stacked_bars.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <gpunet/core/error.hpp>
#include <gpunet/extras/plot/axes.hpp>
#include <gpunet/extras/plot/stacked_bars.hpp>

namespace gpunet::plot {

GPUNET_INLINE Scene stacked_bars(const std::vector<std::string>& names,
                                 const std::vector<Part>& parts, const BarOptions& options) {
  for (const double length : {options.width, options.height})
    detail::check_length("gpunet::plot::stacked_bars", length);
  std::vector<std::string> legend;
  std::vector<double> totals(names.size());
  detail::Numbers numbers = detail::Numbers::whole;
  for (const Part& part : parts) {
    require(part.values.size() == names.size(), "gpunet::plot::stacked_bars: the part '", part.name,
            "' has ", part.values.size(), " values for ", names.size(), " bars (want one each)");
    for (std::size_t i = 0; i < names.size(); ++i) {
      require(part.values[i] >= 0 && std::isfinite(part.values[i]),
              "gpunet::plot::stacked_bars: the value ", part.values[i], " of '", part.name,
              "' in the bar '", names[i], "' (want a number of 0 or more)");
      if (part.values[i] != std::floor(part.values[i])) numbers = detail::Numbers::any;
      totals[i] += part.values[i];
      require(std::isfinite(totals[i]), "gpunet::plot::stacked_bars: the parts of the bar '",
              names[i], "' add up to more than a double holds, give them in a larger unit");
    }
    legend.push_back(part.name);
  }
  const double highest = totals.empty() ? 0 : *std::max_element(totals.begin(), totals.end());
  Scene scene{options.width, options.height};
  const auto count = static_cast<double>(std::max<std::size_t>(names.size(), 1));
  detail::Axes axes(
      scene, options.titles, {0, count},
      detail::linear_scale(0, highest > 0 ? highest : 1, 5, detail::Ends::rounded, numbers), legend,
      names);
  axes.add_y_ticks();
  axes.add_x_ticks();
  const double slot = (axes.right() - axes.left()) / count;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double middle = axes.x(static_cast<double>(i) + 0.5), reach = std::min(slot * 0.35, 40.0);
    double above = totals[i];
    for (std::size_t p = parts.size(); p-- > 0;
         above -= parts[p].values[i])  // each box goes down to 0, so that no seam shows
      scene.add(Box{{middle - reach, axes.y(above)},
                    2 * reach,
                    axes.bottom() - axes.y(above),
                    series_color(p)});
    axes.add_name(i, middle);
  }
  return scene;
}

}  // namespace gpunet::plot
