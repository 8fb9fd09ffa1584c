#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include <gpunet/plot.hpp>
#include <gpunet/plot/axes.hpp>

#include "support/errors.hpp"

using namespace gpunet;
using namespace gpunet::plot;

namespace {

std::vector<std::string> texts(const std::vector<plot::detail::Tick>& ticks) {
  std::vector<std::string> all;
  for (const plot::detail::Tick& tick : ticks)
    all.push_back(tick.text);
  return all;
}

// The marks of one kind, those of one color only.
template <class Kind>
std::vector<Kind> marks_of(const Scene& scene, Color color) {
  std::vector<Kind> found;
  for (const Mark& mark : scene.marks)
    if (const auto* kind = std::get_if<Kind>(&mark); kind && kind->color == color) found.push_back(*kind);
  return found;
}

bool has_label(const Scene& scene, const std::string& text) {
  for (const Mark& mark : scene.marks)
    if (const auto* label = std::get_if<Label>(&mark); label && label->text == text) return true;
  return false;
}

using Texts = std::vector<std::string>;
using plot::detail::Ends;

}  // namespace

TEST_CASE("round numbers on axes") {
  CHECK(texts(plot::detail::linear_scale(0, 1.32, 5, Ends::rounded).ticks) ==
        Texts{"0.0", "0.2", "0.4", "0.6", "0.8", "1.0", "1.2", "1.4"});
  CHECK(texts(plot::detail::linear_scale(1, 100, 8, Ends::as_given).ticks) ==
        Texts{"10", "20", "30", "40", "50", "60", "70", "80", "90", "100"});
  CHECK(texts(plot::detail::linear_scale(-3, 7, 5, Ends::rounded).ticks) ==
        Texts{"-4", "-2", "0", "2", "4", "6", "8"});
  CHECK(texts(plot::detail::linear_scale(0, 3e6, 3, Ends::rounded).ticks) == Texts{"0", "1e+06", "2e+06", "3e+06"});
  CHECK(texts(plot::detail::linear_scale(0, 4e-4, 4, Ends::rounded).ticks) ==
        Texts{"0.0000", "0.0001", "0.0002", "0.0003", "0.0004"});
  CHECK(plot::detail::linear_scale(2, 2, 5, Ends::as_given).place(2) == 0.5);
  CHECK(plot::detail::linear_scale(0, 0, 5, Ends::rounded).place(0) == 0.5);
  CHECK(texts(plot::detail::log_scale(0.09, 1.3).ticks) == Texts{"0.1", "0.2", "0.5", "1"});
  CHECK(texts(plot::detail::log_scale(1e-3, 1e3).ticks) == Texts{"0.001", "0.01", "0.1", "1", "10", "100", "1000"});
  CHECK(plot::detail::log_scale(1, 100).place(10) == doctest::Approx(0.5));
  CHECK(plot::detail::log_scale(1e-30, 1e30).ticks.size() <= 10);
}

TEST_CASE("curves go through their points") {
  const Scene scene = lines({{"loss", {1, 3, 2}}}, {.titles = {"Title", "x axis", "y axis"}});
  const auto curve = marks_of<Path>(scene, series_color(0));
  REQUIRE(curve.size() == 1);
  const auto& points = curve[0].points;
  REQUIRE(points.size() == 3);
  CHECK(points[1].x - points[0].x == doctest::Approx(points[2].x - points[1].x));
  CHECK(points[0].y - points[2].y == doctest::Approx(points[2].y - points[1].y));
  for (const char* text : {"Title", "x axis", "y axis", "loss"})
    CHECK(has_label(scene, text));
  for (Point p : points)
    CHECK((p.x > 0 && p.x < scene.width && p.y > 0 && p.y < scene.height));
}

TEST_CASE("gaps where numbers are missing") {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const auto paths = [](const std::vector<double>& y, bool log_y) {
    std::vector<std::size_t> sizes;
    for (const Path& path : marks_of<Path>(lines({{"", y}}, {.log_y = log_y}), series_color(0)))
      sizes.push_back(path.points.size());
    return sizes;
  };
  CHECK(paths({1, 2, nan, 3, infinite, 4, 5, 6}, false) == std::vector<std::size_t>{2, 1, 3});
  CHECK(paths({1, -2, 3}, false) == std::vector<std::size_t>{3});
  CHECK(paths({1, -2, 3, 0}, true) == std::vector<std::size_t>{1, 1});
  CHECK(paths({nan}, false).empty());
  CHECK(paths({}, true).empty());
  CHECK(paths({5}, false) == std::vector<std::size_t>{1});
  CHECK(marks_of<Path>(lines({}), series_color(0)).empty());
  const auto alone = marks_of<Path>(lines({{"", {1, 2, nan, 3}}}), series_color(0));
  CHECK(alone[1].width > alone[0].width);
}

TEST_CASE("long legends take several lines") {
  std::vector<Series> all;
  for (int i = 0; i < 8; ++i)
    all.push_back({"a name of some length " + std::to_string(i), {1, 2}});
  const Scene scene = lines(all);
  for (std::size_t i = 0; i < 8; ++i)
    for (const Box& swatch : marks_of<Box>(scene, series_color(i)))
      CHECK(swatch.corner.x + 20 + text_width(all[i].name, 13) < scene.width);
}

TEST_CASE("bars are as high as their parts") {
  const Scene scene = stacked_bars({"a", "b"}, {{"low", {1, 2}}, {"high", {3, 0}}});
  const auto low = marks_of<Box>(scene, series_color(0)), high = marks_of<Box>(scene, series_color(1));
  REQUIRE(low.size() == 3);  // one in the legend
  REQUIRE(high.size() == 3);
  const double unit = low[1].height;
  CHECK(low[2].height == doctest::Approx(2 * unit));
  CHECK(high[1].height == doctest::Approx(4 * unit));  // down to the base, behind the low part
  CHECK(high[2].height == doctest::Approx(2 * unit));
  CHECK(low[1].corner.y + low[1].height == doctest::Approx(high[1].corner.y + high[1].height));
  CHECK(marks_of<Box>(stacked_bars({}, {}), series_color(0)).empty());
}

TEST_CASE("cells are the stronger the larger their numbers") {
  const Scene scene = heat_map(2, 2, {0, 5, 10, std::nan("")},
                               {.row_names = {"r0", "r1"}, .column_names = {"c0", "c1"}, .cell = 50});
  CHECK(marks_of<Box>(scene, paper).size() == 1);
  CHECK(marks_of<Box>(scene, mix(paper, series_color(0), 0.5)).size() == 1);
  CHECK(marks_of<Box>(scene, series_color(0)).size() == 1);
  for (const char* text : {"0", "5", "10", "r0", "r1", "c0", "c1"})
    CHECK(has_label(scene, text));
  CHECK_FALSE(has_label(scene, "nan"));
  CHECK_FALSE(has_label(heat_map(1, 1, {3}, {.numbers = false}), "3"));
}

TEST_CASE("images lie in rows and keep their proportions") {
  const io::Image wide{4, 2, 1, std::vector<std::uint8_t>(8)};
  const Scene scene = image_grid({wide, wide, wide}, {.columns = 2, .size = 40, .captions = {"a", "b", "c"}});
  std::vector<Picture> pictures;
  for (const Mark& mark : scene.marks)
    if (const auto* picture = std::get_if<Picture>(&mark)) pictures.push_back(*picture);
  REQUIRE(pictures.size() == 3);
  CHECK(pictures[0].width == 40);
  CHECK(pictures[0].height == 20);
  CHECK(pictures[0].corner.y == pictures[1].corner.y);
  CHECK(pictures[2].corner.y > pictures[1].corner.y);
  CHECK(pictures[2].corner.x == pictures[0].corner.x);
  CHECK(has_label(scene, "c"));
}

TEST_CASE("what makes no diagram") {
  CHECK(contains(error_of([] { lines({{"a", {1, 2}, {1}}}); }), "the series 'a' has 1 x for 2 y"));
  CHECK(contains(error_of([] { stacked_bars({"x"}, {{"a", {1, 2}}}); }), "the part 'a' has 2 values for 1 bars"));
  CHECK(contains(error_of([] { stacked_bars({"x"}, {{"a", {-1}}}); }), "the value -1 of 'a' in the bar 'x'"));
  CHECK(contains(error_of([] { heat_map(2, 2, {1}); }), "1 values for 2 x 2 cells"));
  CHECK(contains(error_of([] { heat_map(1, 1, {1}, {.row_names = {"a", "b"}}); }), "2 names for 1 rows"));
  CHECK(contains(error_of([] { image_grid({}, {.columns = 0}); }), "0 columns (want 1 or more)"));
  CHECK(contains(error_of([] { image_grid({}, {.captions = {"a"}}); }), "1 captions for 0 images"));
}
