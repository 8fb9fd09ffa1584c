#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include <gpunet/extras/plot/axes.hpp>
#include <gpunet/plot.hpp>

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
    if (const auto* kind = std::get_if<Kind>(&mark); kind && kind->color == color)
      found.push_back(*kind);
  return found;
}

bool has_label(const Scene& scene, const std::string& text) {
  for (const Mark& mark : scene.marks)
    if (const auto* label = std::get_if<Label>(&mark); label && label->text == text) return true;
  return false;
}

// The rectangle of a label: text_width() wide, from 0.8 of its size above the baseline to 0.25
// below it.
struct Frame {
  double left, right, top, bottom;
};
Frame frame_of(const Label& label) {
  const double width = text_width(label.text, label.size),
               shift = static_cast<double>(label.anchor) / 2 * width;
  if (label.upward)
    return {label.at.x - 0.8 * label.size, label.at.x + 0.25 * label.size,
            label.at.y + shift - width, label.at.y + shift};
  return {label.at.x - shift, label.at.x - shift + width, label.at.y - 0.8 * label.size,
          label.at.y + 0.25 * label.size};
}

// Returns the first text of a page that is partly outside or covers another, as a sentence; empty
// if none is.
std::string problem_of_texts(const Scene& scene) {
  std::vector<Label> labels;
  for (const Mark& mark : scene.marks)
    if (const auto* label = std::get_if<Label>(&mark)) labels.push_back(*label);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const Frame a = frame_of(labels[i]);
    if (a.left < 0 || a.right > scene.width || a.top < 0 || a.bottom > scene.height)
      return "'" + labels[i].text + "' is partly outside";
    for (std::size_t j = 0; j < i; ++j) {
      const Frame b = frame_of(labels[j]);
      if (a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
        return "'" + labels[i].text + "' covers '" + labels[j].text + "'";
    }
  }
  return "";
}

const std::string sentence =
    "a sentence that is far longer than a line of the page on which it has to be read, äöü";
const Titles long_titles{sentence, "along x, " + sentence, "along y, " + sentence};

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
  CHECK(texts(plot::detail::linear_scale(0, 3e6, 3, Ends::rounded).ticks) ==
        Texts{"0", "1e+06", "2e+06", "3e+06"});
  CHECK(texts(plot::detail::linear_scale(0, 4e-4, 4, Ends::rounded).ticks) ==
        Texts{"0.0000", "0.0001", "0.0002", "0.0003", "0.0004"});
  CHECK(plot::detail::linear_scale(2, 2, 5, Ends::as_given).place(2) == 0.5);
  CHECK(plot::detail::linear_scale(0, 0, 5, Ends::rounded).place(0) == 0.5);
  CHECK(texts(plot::detail::log_scale(0.09, 1.3).ticks) == Texts{"0.1", "0.2", "0.5", "1"});
  CHECK(texts(plot::detail::log_scale(1e-3, 1e3).ticks) ==
        Texts{"0.001", "0.01", "0.1", "1", "10", "100", "1000"});
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
  const auto low = marks_of<Box>(scene, series_color(0)),
             high = marks_of<Box>(scene, series_color(1));
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
  const Scene scene =
      heat_map(2, 2, {0, 5, 10, std::nan("")},
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
  const Scene scene =
      image_grid({wide, wide, wide}, {.columns = 2, .size = 40, .captions = {"a", "b", "c"}});
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
  CHECK(contains(error_of([] {
                   stacked_bars({"x"}, {{"a", {1, 2}}});
                 }),
                 "the part 'a' has 2 values for 1 bars"));
  CHECK(contains(error_of([] {
                   stacked_bars({"x"}, {{"a", {-1}}});
                 }),
                 "the value -1 of 'a' in the bar 'x'"));
  CHECK(contains(error_of([] { heat_map(2, 2, {1}); }), "1 values for 2 x 2 cells"));
  CHECK(contains(error_of([] {
                   heat_map(1, 1, {1}, {.row_names = {"a", "b"}});
                 }),
                 "2 names for 1 rows"));
  CHECK(contains(error_of([] { image_grid({}, {.columns = 0}); }), "0 columns (want 1 or more)"));
  CHECK(contains(error_of([] { image_grid({}, {.captions = {"a"}}); }), "1 captions for 0 images"));
}

TEST_CASE("all texts lie on the page, and none covers another") {
  const std::vector<std::string> animals{"airplane", "automobile", "bird", "hippopotamus"};
  for (const Titles& titles : {Titles{}, Titles{"Title", "x axis", "y axis"}, long_titles}) {
    CAPTURE(titles.title);
    for (const double largest : {1.0, 12345.0, 123456789.0, 1234567890.0, 1e-30}) {
      CHECK(problem_of_texts(
                heat_map(4, 4, std::vector<double>(16, largest),
                         {.titles = titles, .row_names = animals, .column_names = animals})) == "");
      CHECK(problem_of_texts(heat_map(3, 2, std::vector<double>(6, -largest),
                                      {.titles = titles, .cell = 50})) == "");
    }
    CHECK(problem_of_texts(heat_map(2, 2, {1, 2, 3, 4},
                                    {.titles = titles,
                                     .row_names = {"r", sentence},
                                     .column_names = {sentence, "c"},
                                     .cell = 100})) == "");
    for (const bool log : {false, true})
      for (const auto& [width, height] :
           {std::pair(640.0, 400.0), std::pair(400.0, 300.0), std::pair(900.0, 900.0)})
        CHECK(problem_of_texts(lines({{"loss", {1, 0.5, 0.4, 0.33}},
                                      {"of the validation", {1e-7, 1, 2}, {1, 1e5, 1e6}}},
                                     {.titles = titles,
                                      .log_x = log,
                                      .log_y = log,
                                      .width = width,
                                      .height = height})) == "");
    CHECK(problem_of_texts(
              lines({{sentence, {1, 2}}, {"short", {1, 2}}, {sentence + sentence, {1, 2}}},
                    {.titles = titles, .height = 640})) == "");
    CHECK(problem_of_texts(stacked_bars(animals, {{"a", {1, 2, 3, 4}}},
                                        {.titles = titles, .width = 300})) == "");
    CHECK(problem_of_texts(stacked_bars({"a", sentence, "c"},
                                        {{"a", {1, 2, 3}}, {sentence, {1, 2, 0.5}}},
                                        {.titles = titles, .height = 600})) == "");
  }
  const io::Image gray{2, 2, 1, std::vector<std::uint8_t>(4)};
  CHECK(problem_of_texts(
            image_grid({gray, gray}, {.title = sentence, .captions = {"a", sentence}})) == "");
}

TEST_CASE("counts are written in full, other numbers with four digits") {
  const Scene scene = heat_map(1, 4, {12345, 99999999, 0.123456, -12345});
  for (const char* text : {"12345", "99999999", "0.1235", "-12345"})
    CHECK(has_label(scene, text));
}

TEST_CASE("axes of epochs and of counts have ticks at whole numbers only") {
  for (int epochs = 1; epochs <= 40; ++epochs)
    for (const bool log : {false, true}) {
      std::vector<double> y(static_cast<std::size_t>(epochs), 0.25);
      y[0] = 0.5;
      for (const Label& label : marks_of<Label>(lines({{"", y}}, {.log_x = log}), muted))
        if (label.anchor == Anchor::middle && label.text.find('.') != std::string::npos)
          FAIL_CHECK(epochs << " epochs: " << label.text);
    }
  CHECK(has_label(lines({{"", {3}}}), "1"));
  CHECK(has_label(lines({{"", {1, 2}, {0, 0.5}}}), "0.25") !=
        has_label(lines({{"", {1, 2}, {0, 0.5}}}), "0.3"));
  for (const char* text : {"0", "1", "2"})
    CHECK(has_label(stacked_bars({"a", "b"}, {{"", {1, 2}}}), text));
  CHECK_FALSE(has_label(stacked_bars({"a", "b"}, {{"", {1, 2}}}), "0.5"));
  CHECK(has_label(stacked_bars({"a"}, {{"", {0.5}}}), "0.5"));
}

TEST_CASE("a logarithmic axis within a decade has ticks") {
  CHECK(texts(plot::detail::log_scale(0.31, 0.42).ticks) ==
        Texts{"0.32", "0.34", "0.36", "0.38", "0.40", "0.42"});
  CHECK(texts(plot::detail::log_scale(3, 4, plot::detail::Numbers::whole).ticks) ==
        Texts{"3", "4"});
}
