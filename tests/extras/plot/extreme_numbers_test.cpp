// Diagrams of any numbers that a double holds: bounded work, readable axes, and no NaN or infinity
// in the SVG.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/extras/plot/axes.hpp>
#include <gpunet/plot.hpp>

#include "support/errors.hpp"

using namespace gpunet;
using namespace gpunet::plot;
using plot::detail::Ends;
using plot::detail::Scale;

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity(),
                 largest = std::numeric_limits<double>::max(),
                 least = std::numeric_limits<double>::denorm_min(),
                 normal = std::numeric_limits<double>::min();

// Pairs of the values that break axes, of neighboring numbers, and of random bits.
std::vector<std::pair<double, double>> pairs() {
  std::vector<std::pair<double, double>> all{
      {0.3, 0.1 + 0.2}, {0.1, 1 - 0.9}, {1, 1 + 2.2e-16}, {1e9, 1e9 + 1e-6}};
  const std::vector<double> special{0,      -0.0,    least,    -least,   normal,    -normal,
                                    1e-300, 1,       -1,       0.1,      1e300,     1e308,
                                    -1e308, largest, -largest, infinite, -infinite, std::nan("")};
  for (const double a : special)
    for (const double b : special)
      all.emplace_back(a, b);
  std::mt19937_64 random(15);
  const auto any = [&] {
    return std::bit_cast<double>(random());
  };
  for (int i = 0; i < 3000; ++i) {
    const double a = any();
    all.emplace_back(a, any());
    all.emplace_back(a, std::nextafter(a, infinite));
    all.emplace_back(a, a * (1 + std::ldexp(1, -static_cast<int>(random() % 53))));
    all.emplace_back(a, -a);
    all.emplace_back(std::ldexp(a, -500), std::ldexp(a, -501));
  }
  return all;
}

bool has_no_number(const Scene& scene) {
  const std::string svg = to_svg(scene);
  return contains(svg, "nan") || contains(svg, "inf");
}

// How far a tick may be from its axis, as a share of its length: half a unit in the last place of
// the narrowest axis.
const double rounding = static_cast<double>(std::ldexp(1, -53) / plot::detail::narrowest_axis);

// What is wrong with the scale of an axis that has to show `low` and `high`; empty if nothing is.
std::string problem_of(const Scale& scale, double low, double high, std::size_t most_ticks) {
  if (scale.ticks.size() > most_ticks) return concat(scale.ticks.size(), " ticks");
  for (std::size_t i = 0; i < scale.ticks.size(); ++i) {
    const auto& tick = scale.ticks[i];
    if (!std::isfinite(tick.value)) return "a tick that is not finite";
    if (!(scale.place(tick.value) >= -rounding && scale.place(tick.value) <= 1 + rounding))
      return "a tick beside the axis";
    if (i > 0 && !(tick.value > scale.ticks[i - 1].value)) return "ticks that do not increase";
    if (i > 0 && tick.text == scale.ticks[i - 1].text) return concat("two ticks '", tick.text, "'");
  }
  for (const double value : {low, high})
    // Of a step, which counts as round.
    if (!(scale.place(value) >= -1e-9 && scale.place(value) <= 1 + 1e-9))
      return "a number beside the axis";
  return scale.place(low) <= scale.place(high) ? "" : "the wrong order";
}

}  // namespace

TEST_CASE("axes of any two numbers have a few increasing ticks with texts of their own") {
  for (const auto& [a, b] : pairs()) {
    if (!std::isfinite(a) || !std::isfinite(b)) continue;
    const double low = std::min(a, b), high = std::max(a, b);
    CAPTURE(gpunet::detail::short_text(low, 17));
    CAPTURE(gpunet::detail::short_text(high, 17));
    for (const int wanted : {5, 8})
      for (const Ends ends : {Ends::as_given, Ends::rounded}) {
        const Scale scale = plot::detail::linear_scale(low, high, wanted, ends);
        std::string problem = problem_of(scale, low, high, static_cast<std::size_t>(3 * wanted));
        if (scale.ticks.size() < 2) problem = concat(scale.ticks.size(), " ticks");
        if (!problem.empty()) FAIL_CHECK(problem);
      }
    if (low > 0)
      if (const std::string problem = problem_of(plot::detail::log_scale(low, high), low, high, 24);
          !problem.empty())
        FAIL_CHECK("logarithmic: " << problem);
  }
}

TEST_CASE("diagrams of any numbers hold finite coordinates") {
  for (const auto& pair : pairs()) {
    const double a = pair.first, b = pair.second;
    CAPTURE(gpunet::detail::short_text(a, 17));
    CAPTURE(gpunet::detail::short_text(b, 17));
    for (const bool log : {false, true})
      if (has_no_number(lines({{"", {a, b}, {b, a}}}, {.log_x = log, .log_y = log})))
        FAIL_CHECK("lines");
    if (has_no_number(heat_map(1, 2, {a, b}))) FAIL_CHECK("heat_map");
    if (a >= 0 && b >= 0 && std::isfinite(a / 2 + b / 2) && std::isfinite(a + b))
      if (has_no_number(stacked_bars({"x"}, {{"a", {a}}, {"b", {b}}}))) FAIL_CHECK("stacked_bars");
  }
}

TEST_CASE("neighboring numbers share the middle of an axis, distant ones its ends") {
  CHECK(plot::detail::linear_scale(0.3, 0.1 + 0.2, 5, Ends::as_given).place(0.3) ==
        doctest::Approx(0.5));
  CHECK(plot::detail::linear_scale(0, least, 5, Ends::as_given).place(0) == doctest::Approx(0.5));
  const Scale widest = plot::detail::linear_scale(-largest, largest, 5, Ends::as_given);
  CHECK(widest.place(-largest) == 0);
  CHECK(widest.place(0) == 0.5);
  CHECK(widest.place(largest) == 1);
  CHECK(plot::detail::linear_scale(1e6, 1e6 + 4, 4, Ends::rounded).ticks[1].text == "1000001");
}

TEST_CASE("sums and sizes that no diagram can show are refused") {
  CHECK(contains(error_of([] {
                   stacked_bars({"x"}, {{"a", {1e308}}, {"b", {1e308}}});
                 }),
                 "the parts of the bar 'x' add up to more than a double holds"));
  CHECK(contains(error_of([] { heat_map(index_t{1} << 32, index_t{1} << 32, {}); }),
                 "0 values for 4294967296 x"));
  for (const io::Image& image : {io::Image{}, io::Image{0, 3, 3, {}}, io::Image{2, 2, 3, {1}}})
    CHECK(
        contains(error_of([&] { image_grid({image}); }), "gpunet::plot::image_grid: an image of "));
  for (const double size : {0.0, -1.0, infinite, std::nan(""), 1e9}) {
    CHECK(contains(error_of([&] { lines({}, {.width = size}); }), "gpunet::plot::lines: "));
    CHECK(contains(error_of([&] { stacked_bars({}, {}, {.height = size}); }),
                   "gpunet::plot::stacked_bars: "));
    CHECK(contains(error_of([&] { heat_map(1, 1, {1}, {.cell = size}); }),
                   "gpunet::plot::heat_map: "));
    CHECK(
        contains(error_of([&] { image_grid({}, {.size = size}); }), "gpunet::plot::image_grid: "));
  }
}
