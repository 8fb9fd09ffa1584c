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
#include <gpunet/extras/plot/scene.hpp>

namespace gpunet::plot::detail {

// Returns the number with enough digits to distinguish it from its neighbors, which are `step`
// away.
inline std::string number_text(double value, long double step) {
  const auto power = [](long double x) {
    return static_cast<int>(std::floor(std::log10(x) + 1e-9L));
  };
  const int decimals = std::max(0, -power(step));
  if (value == 0 || (std::abs(value) < 1e6 && decimals <= 6))
    return gpunet::detail::fixed_text(value, decimals);
  return gpunet::detail::short_text(value, std::max(3, power(std::abs(value)) - power(step) + 1));
}

// Throws Error unless a length in pixels is more than 0 and at most 32768. `where` begins the
// message.
inline void check_length(std::string_view where, double length) {
  require(length > 0 && length <= 32'768, where, ": a length of ", length,
          " pixels (want more than 0 and at most 32768), give another");
}

// Returns the text in lines of at most `width` pixels, broken at spaces, a longer word anywhere. An
// empty text has none.
inline std::vector<std::string> wrapped(const std::string& text, double size, double width) {
  const auto most = static_cast<std::size_t>(std::max(1.0, width / text_width("m", size)));
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin, space = begin, count = 0;  // `space`: the last one in the line
    for (; end < text.size() && (count < most || gpunet::detail::is_continuation(text[end]));
         ++end) {
      if (text[end] == ' ' && end > begin) space = end;
      count += !gpunet::detail::is_continuation(text[end]);
    }
    if (end < text.size() && text[end] != ' ' && space > begin) end = space;
    lines.push_back(text.substr(begin, end - begin));
    begin = std::min(text.find_first_not_of(' ', end), text.size());
  }
  return lines;
}

// Returns the width of the widest line.
inline double widest_of(const std::vector<std::string>& lines, double size) {
  double widest = 0;
  for (const std::string& line : lines)
    widest = std::max(widest, text_width(line, size));
  return widest;
}

// Adds a label of several lines, one `line` below, or with `upward` right of, the other.
inline void add_lines(Scene& scene, Label label, const std::vector<std::string>& lines,
                      double line) {
  for (const std::string& text : lines) {
    label.text = text;
    scene.add(label);
    (label.upward ? label.at.x : label.at.y) += line;
  }
}

// The title of a plot, and the names of its axes, in lines that fit; and the room that they take.
struct TitleLines {
  std::vector<std::string> title, x_label, y_label;

  // `width` and `height` are the limits of lines across and upward.
  TitleLines(const Titles& titles, double width, double height)
      : title(wrapped(titles.title, 16, width)),
        x_label(wrapped(titles.x_label, 13, width)),
        y_label(wrapped(titles.y_label, 13, std::max(height, 60.0))) {}

  double top() const { return title.empty() ? 0 : 4 + 20 * static_cast<double>(title.size()); }
  double below() const {
    return x_label.empty() ? 0 : 4 + 16 * static_cast<double>(x_label.size());
  }
  double left() const { return y_label.empty() ? 0 : 8 + 16 * static_cast<double>(y_label.size()); }

  // Adds them around the rectangle of a plot.
  void add_to(Scene& scene, double left_end, double right_end, double top_end,
              double bottom_end) const {
    const auto within = [](double middle, const std::vector<std::string>& lines, double low,
                           double high) {
      const double half = widest_of(lines, 13) / 2;
      return std::max(low + half, std::min(middle, high - half));
    };
    add_lines(scene, Label{{16, 30}, {}, Anchor::start, 16}, title, 20);
    add_lines(scene,
              Label{{within((left_end + right_end) / 2, x_label, 16, scene.width - 16),
                     scene.height + 8 - below()},
                    {},
                    Anchor::middle,
                    13,
                    muted},
              x_label, 16);
    add_lines(scene,
              Label{{22, within((top_end + bottom_end) / 2, y_label, 12 + top(),
                                scene.height - 12 - below())},
                    {},
                    Anchor::middle,
                    13,
                    muted,
                    true},
              y_label, 16);
  }
};

// The names of columns, centered below a plot; upward, in lines of at most 160 pixels, if one is
// wider than its column.
class ColumnNames {
 public:
  ColumnNames(const std::vector<std::string>& names, double column)
      : upward_(widest_of(names, 12) > column - 4) {
    for (const std::string& name : names) {
      lines_.push_back(upward_ ? wrapped(name, 12, 160) : std::vector{name});
      widest_ = std::max(widest_, widest_of(lines_.back(), 12));
    }
  }
  // Returns the height that they take.
  double height() const { return lines_.empty() ? 0 : upward_ ? widest_ + 12 : 24; }
  // Adds name i around x, below `bottom`.
  void add_to(Scene& scene, std::size_t i, double x, double bottom) const {
    const double first = x + 4 - 7 * (static_cast<double>(lines_[i].size()) - 1);
    add_lines(scene,
              upward_ ? Label{{first, bottom + 8}, {}, Anchor::end, 12, muted, true}
                      : Label{{x, bottom + 18}, {}, Anchor::middle, 12, muted},
              lines_[i], 14);
  }

 private:
  std::vector<std::vector<std::string>> lines_;  // of each name
  double widest_ = 0;
  bool upward_;
};

struct Tick {
  double value;
  std::string text;
};

// The visible range of an axis and its ticks; on a logarithmic axis, ticks are at powers of ten.
// Computed in long double, which can represent the difference of any two doubles.
struct Scale {
  long double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<Tick> ticks = {};

  // Returns the position of a value: 0 at `low`, 1 at `high`.
  double place(double value) const {
    const long double x = value;
    return static_cast<double>(logarithmic ? (std::log(x) - std::log(low)) /
                                                 (std::log(high) - std::log(low))
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

// Two doubles that differ by no more than this share of the larger one have too few doubles between
// them for an axis: they are shown as one number. (Matplotlib has the same bounds in
// ticker.MaxNLocator.view_limits.)
inline constexpr long double narrowest_axis = 1e-13L, shortest_axis = 1e-290L;

// The numbers on an axis: any, or only whole ones, such as epochs, which have ticks at whole
// numbers.
enum class Numbers { any, whole };

// Returns a scale with about `wanted` steps of 1, 2 or 5 times a power of ten from low to high,
// which are finite.
inline Scale linear_scale(double low_number, double high_number, int wanted, Ends ends,
                          Numbers numbers = Numbers::any) {
  long double low = low_number, high = high_number;
  const long double most = std::max(std::abs(low), std::abs(high));
  if (!(high - low > std::max(most * narrowest_axis, shortest_axis))) {
    const long double margin = most > shortest_axis ? most / 2 : 1;
    low -= margin;
    high += margin;
  }
  const long double rough = (high - low) / wanted,
                    power = std::pow(10.0L, std::floor(std::log10(rough)));
  long double step = power * (rough <= 1.5L * power   ? 1
                              : rough <= 3.5L * power ? 2
                              : rough <= 7.5L * power ? 5
                                                      : 10);
  if (numbers == Numbers::whole) step = std::max(step, 1.0L);
  // The ticks, in steps.
  long double first = std::ceil(low / step - 1e-9L), last = std::floor(high / step + 1e-9L);
  Scale scale{low, high};
  if (ends == Ends::rounded) {
    first = std::floor(low / step + 1e-9L), last = std::ceil(high / step - 1e-9L);
    scale.low = first * step, scale.high = last * step;
  }
  for (int i = 0; first + i <= last; ++i)
    scale.add_tick((first + i) * step, step);
  return scale;
}

// Returns a logarithmic scale with ticks at powers of ten; for few decades also at 2 and 5 times
// powers of ten, and within one decade at the ticks of a linear scale. Both numbers are finite and
// positive.
inline Scale log_scale(double low_number, double high_number, Numbers numbers = Numbers::any) {
  long double low = low_number, high = high_number;
  if (!(high - low > high * narrowest_axis)) {
    low /= 2;
    high *= 2;
  }
  Scale scale{low, high, true};
  const long double first = std::max(std::floor(std::log10(low)),
                                     numbers == Numbers::whole ? 0 : -5000.0L),
                    last = std::ceil(std::log10(high));
  const long double stride = std::max(1.0L, std::ceil((last - first) / 8));
  for (long double power = first; power <= last; power += stride)
    for (int digit : {1, 2, 5}) {
      const long double unit = std::pow(10.0L, power), value = digit * unit;
      if ((digit == 1 || high < 300 * low) && value >= low * (1 - 1e-9L) &&
          value <= high * (1 + 1e-9L))
        scale.add_tick(value, unit);
    }
  if (scale.ticks.size() < 2) {
    std::vector<Tick> linear = linear_scale(static_cast<double>(low), static_cast<double>(high), 4,
                                            Ends::as_given, numbers)
                                   .ticks;
    std::erase_if(linear, [&](const Tick& tick) { return tick.value < low || tick.value > high; });
    if (linear.size() >= scale.ticks.size()) scale.ticks = std::move(linear);
  }
  return scale;
}

// The rectangle of a plot on its page. Maps numbers to positions in it.
class Axes {
 public:
  // `names` are below the plot, in the place of the ticks of x.
  Axes(Scene& scene, const Titles& titles, Scale x, Scale y, const std::vector<std::string>& legend,
       const std::vector<std::string>& names = {})
      : scene_(scene), x_(std::move(x)), y_(std::move(y)) {
    const TitleLines lines(titles, scene.width - 32, scene.height / 2);
    double widest = 0;
    for (const Tick& tick : y_.ticks)
      widest = std::max(widest, text_width(tick.text, 12));
    left_ = 16 + widest + lines.left();
    right_ = scene.width - 24;
    names_ = {names,
              (right_ - left_) / static_cast<double>(std::max<std::size_t>(names.size(), 1))};
    top_ = 20 + lines.top();
    add_legend(legend);
    bottom_ = scene.height - 12 - std::max(names_.height(), 24.0) - lines.below();
    lines.add_to(scene, left_, right_, top_, bottom_);
  }

  double x(double value) const { return left_ + x_.place(value) * (right_ - left_); }
  double y(double value) const { return bottom_ - y_.place(value) * (bottom_ - top_); }
  double left() const { return left_; }
  double right() const { return right_; }
  double bottom() const { return bottom_; }
  bool shows(Point value) const { return x_.shows(value.x) && y_.shows(value.y); }

  // Adds ticks with their texts, except texts that would cover the one before.
  void add_y_ticks() {
    double free = scene_.height;
    for (const Tick& tick : y_.ticks) {
      scene_.add(Path{{{left_, y(tick.value)}, {right_, y(tick.value)}}, faint});
      if (y(tick.value) > free) continue;
      free = y(tick.value) - 14;
      scene_.add(Label{{left_ - 8, y(tick.value) + 4}, tick.text, Anchor::end, 12, muted});
    }
  }
  void add_x_ticks() {
    scene_.add(Path{{{left_, bottom_}, {right_, bottom_}}, muted});
    double free = 0;
    for (const Tick& tick : x_.ticks) {
      scene_.add(Path{{{x(tick.value), bottom_}, {x(tick.value), bottom_ + 5}}, muted});
      const double half = text_width(tick.text, 12) / 2,
                   middle = std::min(x(tick.value), scene_.width - 2 - half);
      if (middle - half < free) continue;
      free = middle + half + 6;
      scene_.add(Label{{middle, bottom_ + 20}, tick.text, Anchor::middle, 12, muted});
    }
  }
  // Adds name i around x.
  void add_name(std::size_t i, double x_place) { names_.add_to(scene_, i, x_place, bottom_); }

 private:
  // Adds the legend above the plot, which shrinks by its lines.
  void add_legend(const std::vector<std::string>& names) {
    double at = left_;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto lines = wrapped(names[i], 13, right_ - left_ - 20);
      const double width = 44 + (lines.empty() ? 0 : text_width(lines[0], 13));
      if (i == 0 || at + width > right_ + 24) {
        at = left_;
        top_ += i == 0 ? 24 : 20;
      }
      scene_.add(Box{{at, top_ - 22}, 14, 5, series_color(i)});
      add_lines(scene_, Label{{at + 20, top_ - 15}, {}, Anchor::start, 13}, lines, 16);
      if (lines.size() > 1) top_ += 16 * static_cast<double>(lines.size() - 1);
      at += lines.size() > 1 ? right_ : width;
    }
  }

  Scene& scene_;
  Scale x_, y_;
  ColumnNames names_{{}, 0};
  double left_ = 0, right_ = 0, top_ = 0, bottom_ = 0;
};

}  // namespace gpunet::plot::detail
