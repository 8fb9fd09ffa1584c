// The frame of a diagram: title, axes with round numbers, legend.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/plot/scene.hpp>

namespace gpunet::plot {

// What every diagram can be told.
struct Titles {
  std::string title = {}, x_label = {}, y_label = {};
};

namespace detail {

inline std::string number_text(double value, int decimals) {
  if (value == 0 || (std::abs(value) < 1e6 && decimals <= 6)) return gpunet::detail::fixed_text(value, decimals);
  return gpunet::detail::short_text(value, 3);
}

// Titles and the names of the axes, around the rectangle of a diagram.
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

// Numbers to be shown on an axis and the part of it that is seen. On a logarithmic axis, powers of ten.
struct Scale {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<Tick> ticks = {};

  // 0 at `low`, 1 at `high`.
  double place(double value) const {
    return logarithmic ? (std::log(value) - std::log(low)) / (std::log(high) - std::log(low))
                       : (value - low) / (high - low);
  }
  bool shows(double value) const { return std::isfinite(value) && (!logarithmic || value > 0); }
};

// Where an axis ends: at the numbers that it is for, or at round ones beyond them.
enum class Ends { as_given, rounded };

// About `wanted` steps of 1, 2 or 5 times a power of ten from low to high.
inline Scale linear_scale(double low, double high, int wanted, Ends ends) {
  if (!(high > low)) {
    const double margin = low != 0 ? std::abs(low) / 2 : 1;
    low -= margin;
    high += margin;
  }
  const double rough = (high - low) / wanted, power = std::pow(10, std::floor(std::log10(rough)));
  const double step = power * (rough <= 1.5 * power ? 1 : rough <= 3.5 * power ? 2 : rough <= 7.5 * power ? 5 : 10);
  const int decimals = static_cast<int>(std::max(0.0, -std::floor(std::log10(step) + 1e-9)));
  double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);  // the ticks, in steps
  Scale scale{low, high};
  if (ends == Ends::rounded) {
    first = std::floor(low / step + 1e-9), last = std::ceil(high / step - 1e-9);
    scale.low = first * step, scale.high = last * step;
  }
  for (double i = first; i <= last; ++i)
    scale.ticks.push_back({i * step, number_text(i * step, decimals)});
  return scale;
}

// Powers of ten; of few decades also their doubles and halves.
inline Scale log_scale(double low, double high) {
  if (!(high > low)) {
    low /= 2;
    high *= 2;
  }
  Scale scale{low, high, true};
  const double first = std::floor(std::log10(low)), last = std::ceil(std::log10(high));
  const double stride = std::max(1.0, std::ceil((last - first) / 8));
  for (double power = first; power <= last; power += stride)
    for (double digit : {1, 2, 5}) {
      const double value = digit * std::pow(10, power);
      if ((digit == 1 || high < 300 * low) && value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9))
        scale.ticks.push_back({value, number_text(value, static_cast<int>(std::max(0.0, -power)))});
    }
  return scale;
}

// A diagram's rectangle on its page, and where numbers are in it.
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
  // Takes its lines from the diagram.
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

}  // namespace detail
}  // namespace gpunet::plot
