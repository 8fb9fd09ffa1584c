// The frame of a plot: title, axes with round numbers, legend.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/plot/scene.hpp>

namespace gpunet::plot::detail {

// Returns the number with enough digits to distinguish it from its neighbors, which are `step` away.
inline std::string number_text(double value, long double step) {
  const auto power = [](long double x) {
    return static_cast<int>(std::floor(std::log10(x) + 1e-9L));
  };
  const int decimals = std::max(0, -power(step));
  if (value == 0 || (std::abs(value) < 1e6 && decimals <= 6)) return gpunet::detail::fixed_text(value, decimals);
  return gpunet::detail::short_text(value, std::max(3, power(std::abs(value)) - power(step) + 1));
}

// Throws Error unless a length in pixels is more than 0 and at most 32768. `where` begins the message.
inline void check_length(std::string_view where, double length) {
  require(length > 0 && length <= 32'768, where, ": a length of ", length,
          " pixels (want more than 0 and at most 32768), give another");
}

// Adds the title and the names of the axes around the rectangle of a plot.
inline void add_titles(Scene& scene, const Titles& titles, double left, double right, double top, double bottom) {
  if (!titles.title.empty()) scene.add(Label{{16, 30}, titles.title, Anchor::start, 16});
  if (!titles.x_label.empty())
    scene.add(Label{{(left + right) / 2, scene.height - 12}, titles.x_label, Anchor::middle, 13, muted});
  if (!titles.y_label.empty())
    scene.add(Label{{22, (top + bottom) / 2}, titles.y_label, Anchor::middle, 13, muted, true});
}

struct Tick {
  double value;
  std::string text;
};

// The visible range of an axis and its ticks; on a logarithmic axis, ticks are at powers of ten. Computed in long
// double, which can represent the difference of any two doubles.
struct Scale {
  long double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<Tick> ticks = {};

  // Returns the position of a value: 0 at `low`, 1 at `high`.
  double place(double value) const {
    const long double x = value;
    return static_cast<double>(logarithmic ? (std::log(x) - std::log(low)) / (std::log(high) - std::log(low))
                                           : (x - low) / (high - low));
  }
  bool shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }

  void add_tick(long double value, long double step) {
    const auto tick = static_cast<double>(value);
    if (std::isfinite(tick)) ticks.push_back({tick, number_text(tick, step)});
  }
};

// Where an axis ends: at the given numbers, or at round numbers beyond them.
enum class Ends { as_given, rounded };

// Two doubles that differ by no more than this share of the larger one have too few doubles between them for an axis:
// they are shown as one number. (Matplotlib has the same bounds in ticker.MaxNLocator.view_limits.)
inline constexpr long double narrowest_axis = 1e-13L, shortest_axis = 1e-290L;

// Returns a scale with about `wanted` steps of 1, 2 or 5 times a power of ten from low to high, which are finite.
inline Scale linear_scale(double low_number, double high_number, int wanted, Ends ends) {
  long double low = low_number, high = high_number;
  const long double most = std::max(std::abs(low), std::abs(high));
  if (!(high - low > std::max(most * narrowest_axis, shortest_axis))) {
    const long double margin = most > shortest_axis ? most / 2 : 1;
    low -= margin;
    high += margin;
  }
  const long double rough = (high - low) / wanted, power = std::pow(10.0L, std::floor(std::log10(rough)));
  const long double step = power * (rough <= 1.5L * power   ? 1
                                    : rough <= 3.5L * power ? 2
                                    : rough <= 7.5L * power ? 5
                                                            : 10);
  long double first = std::ceil(low / step - 1e-9L), last = std::floor(high / step + 1e-9L);  // the ticks, in steps
  Scale scale{low, high};
  if (ends == Ends::rounded) {
    first = std::floor(low / step + 1e-9L), last = std::ceil(high / step - 1e-9L);
    scale.low = first * step, scale.high = last * step;
  }
  for (int i = 0; first + i <= last; ++i)
    scale.add_tick((first + i) * step, step);
  return scale;
}

// Returns a logarithmic scale with ticks at powers of ten; for few decades also at 2 and 5 times those. Both numbers
// are finite and positive.
inline Scale log_scale(double low_number, double high_number) {
  long double low = low_number, high = high_number;
  if (!(high - low > high * narrowest_axis)) {
    low /= 2;
    high *= 2;
  }
  Scale scale{low, high, true};
  const long double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  const long double stride = std::max(1.0L, std::ceil((last - first) / 8));
  for (long double power = first; power <= last; power += stride)
    for (int digit : {1, 2, 5}) {
      const long double unit = std::pow(10.0L, power), value = digit * unit;
      if ((digit == 1 || high < 300 * low) && value >= low * (1 - 1e-9L) && value <= high * (1 + 1e-9L))
        scale.add_tick(value, unit);
    }
  return scale;
}

// The rectangle of a plot on its page. Maps numbers to positions in it.
class Axes {
 public:
  Axes(Scene& scene, const Titles& titles, Scale x, Scale y, const std::vector<std::string>& legend)
      : scene_(scene), x_(std::move(x)), y_(std::move(y)) {
    double widest = 0;
    for (const Tick& tick : y_.ticks)
      widest = std::max(widest, text_width(tick.text, 12));
    left_ = 16 + widest + (titles.y_label.empty() ? 0 : 24);
    right_ = scene.width - 24;
    top_ = 20 + (titles.title.empty() ? 0 : 24);
    add_legend(legend);
    bottom_ = scene.height - 36 - (titles.x_label.empty() ? 0 : 20);
    add_titles(scene, titles, left_, right_, top_, bottom_);
  }

  double x(double value) const { return left_ + x_.place(value) * (right_ - left_); }
  double y(double value) const { return bottom_ - y_.place(value) * (bottom_ - top_); }
  double left() const { return left_; }
  double right() const { return right_; }
  double bottom() const { return bottom_; }
  bool shows(Point value) const { return x_.shows(value.x) && y_.shows(value.y); }

  void add_y_ticks() {
    for (const Tick& tick : y_.ticks) {
      scene_.add(Path{{{left_, y(tick.value)}, {right_, y(tick.value)}}, faint});
      scene_.add(Label{{left_ - 8, y(tick.value) + 4}, tick.text, Anchor::end, 12, muted});
    }
  }
  void add_x_ticks() {
    scene_.add(Path{{{left_, bottom_}, {right_, bottom_}}, muted});
    for (const Tick& tick : x_.ticks) {
      scene_.add(Path{{{x(tick.value), bottom_}, {x(tick.value), bottom_ + 5}}, muted});
      scene_.add(Label{{x(tick.value), bottom_ + 20}, tick.text, Anchor::middle, 12, muted});
    }
  }

 private:
  // Adds the legend above the plot, which shrinks by its lines.
  void add_legend(const std::vector<std::string>& names) {
    double at = left_;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double width = 44 + text_width(names[i], 13);
      if (i == 0 || at + width > right_) {
        at = left_;
        top_ += i == 0 ? 24 : 20;
      }
      scene_.add(Box{{at, top_ - 22}, 14, 5, series_color(i)});
      scene_.add(Label{{at + 20, top_ - 15}, names[i], Anchor::start, 13});
      at += width;
    }
  }

  Scene& scene_;
  Scale x_, y_;
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
};

}  // namespace gpunet::plot::detail
