#include <cmath>
#include <doctest/doctest.h>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/core/text.hpp>
#include <gpunet/extras/plot/lines.hpp>
#include <gpunet/extras/plot/save.hpp>
#include <gpunet/extras/plot/strokes.hpp>
#include <gpunet/extras/plot/svg.hpp>
#include <gpunet/io/deflate.hpp>

#include "io/temp_folder.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using namespace gpunet::plot;

namespace {

// The red, green and blue of a pixel.
std::uint32_t pixel(const io::Image& image, index_t x, index_t y) {
  const std::uint8_t* rgb = image.pixels.data() + (y * image.width + x) * 3;
  return static_cast<std::uint32_t>(rgb[0] << 16 | rgb[1] << 8 | rgb[2]);
}

constexpr Color red{0xFF0000, 0x800000};

}  // namespace

TEST_CASE("a scene as SVG") {
  Scene scene{10, 20};
  scene.add(Path{{{1, 2}, {3.456, -0.001}}, red, 1.5});
  scene.add(Label{{1, 2}, "a<b> & \"c\"\n", Anchor::end, 12, red, true});
  CHECK(
      to_svg(scene) ==
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"10\" height=\"20\" viewBox=\"0 0 10 20\" "
      "font-family=\"system-ui, sans-serif\">\n"
      "<style>.f0{fill:#ffffff}.s0{fill:none;stroke:#ffffff}.f1{fill:#ff0000}.s1{fill:none;stroke:#"
      "ff0000}"
      "@media (prefers-color-scheme: dark){.f0{fill:#0d1117}.s0{fill:none;stroke:#0d1117}"
      ".f1{fill:#800000}.s1{fill:none;stroke:#800000}}</style>\n"
      "<rect class=\"f0\" x=\"0\" y=\"0\" width=\"10\" height=\"20\"/>\n"
      "<polyline class=\"s1\" stroke-width=\"1.5\" stroke-linejoin=\"round\" "
      "stroke-linecap=\"round\" "
      "points=\"1,2 3.46,0\"/>\n"
      "<text class=\"f1\" x=\"1\" y=\"2\" font-size=\"12\" text-anchor=\"end\" "
      "transform=\"rotate(-90 1 2)\">"
      "a&lt;b&gt; &amp; &quot;c&quot; </text>\n</svg>\n");
}

// RFC 4648, 10.
TEST_CASE("bytes as letters") {
  CHECK(gpunet::detail::base64("").empty());
  CHECK(gpunet::detail::base64("f") == "Zg==");
  CHECK(gpunet::detail::base64("fo") == "Zm8=");
  CHECK(gpunet::detail::base64("foo") == "Zm9v");
  CHECK(gpunet::detail::base64("foobar") == "Zm9vYmFy");
  CHECK(gpunet::detail::base64("\xFF\xFE") == "//4=");
}

TEST_CASE("a path of one point is a dot") {
  Scene scene{4, 4};
  scene.add(Path{{{2, 2}}, red, 2});
  CHECK(contains(to_svg(scene), "points=\"2,2 2,2\""));
  const io::Image image = rasterize(scene, 4);
  CHECK(pixel(image, 8, 8) == 0xFF0000);
  CHECK(pixel(image, 1, 8) == 0xFFFFFF);
}

TEST_CASE("pictures are in the SVG") {
  Scene scene{4, 4};
  const io::Image image{1, 1, 1, {7}};
  scene.add(Picture{{1, 1}, 2, 2, image});
  CHECK(contains(to_svg(scene), "href=\"data:image/png;base64," +
                                    gpunet::detail::base64(io::encode_png(image)) + "\""));
}

TEST_CASE("colors between two") {
  CHECK(mix({0x000000, 0x102030}, {0xFF8000, 0x102030}, 0.5) == Color{0x804000, 0x102030});
  CHECK(mix(paper, ink, 0) == paper);
  CHECK(mix(paper, ink, 1) == ink);
  CHECK(series_color(8) == series_color(0));
}

TEST_CASE("a box covers what it covers") {
  Scene scene{4, 3};
  scene.add(Box{{1, 1}, 1.5, 1, red});
  const io::Image image = rasterize(scene, 1);
  CHECK(image.width == 4);
  CHECK(image.height == 3);
  CHECK(pixel(image, 1, 1) == 0xFF0000);
  CHECK(pixel(image, 2, 1) == 0xFF8080);  // half of it
  CHECK(pixel(image, 3, 1) == 0xFFFFFF);
  CHECK(pixel(image, 1, 0) == 0xFFFFFF);
  CHECK(pixel(rasterize(scene, 1, Theme::dark), 1, 1) == 0x800000);
  CHECK(pixel(rasterize(scene, 1, Theme::dark), 0, 0) == 0x0D1117);
  // What is left of the page at its edges is paper.
  CHECK(pixel(rasterize(scene, 1.1), 4, 3) == 0xFFFFFF);
}

TEST_CASE("a line has its width, whatever its direction") {
  Scene scene{20, 20};
  scene.add(Path{{{2, 10}, {18, 10}}, red, 4});
  const io::Image flat = rasterize(scene, 1);
  for (index_t y = 0; y < 20; ++y)
    CHECK(pixel(flat, 10, y) == (y >= 8 && y < 12 ? 0xFF0000u : 0xFFFFFFu));
  scene.marks = {Path{{{10, 2}, {10, 18}}, red, 4}};
  const io::Image upright = rasterize(scene, 1);
  for (index_t x = 0; x < 20; ++x)
    for (index_t y = 0; y < 20; ++y)
      CHECK(pixel(upright, x, y) == pixel(flat, y, x));
}

TEST_CASE("lines beyond the page are cut, and of no points nothing is drawn") {
  Scene scene{4, 4};
  scene.add(Path{{{-1000, 2}, {1000, 2}}, red, 2});
  scene.add(Path{{}, red, 2});
  scene.add(Path{{{50, 50}, {60, 60}}, red, 2});
  const io::Image image = rasterize(scene, 1);
  CHECK(pixel(image, 0, 2) == 0xFF0000);
  CHECK(pixel(image, 3, 2) == 0xFF0000);
  CHECK(pixel(image, 3, 0) == 0xFFFFFF);
}

TEST_CASE("every letter has strokes of points on their grid, and lies where its label says") {
  for (int letter = 33; letter < 127; ++letter) {
    const std::string_view strokes = plot::detail::strokes_of(static_cast<char>(letter));
    CAPTURE(static_cast<char>(letter));
    CHECK_FALSE(strokes.empty());
    for (std::size_t begin = 0; begin < strokes.size();) {
      const std::size_t end = std::min(strokes.find(' ', begin), strokes.size());
      CHECK((end - begin) % 2 == 0);
      for (std::size_t i = begin; i < end; i += 2)
        CHECK((strokes[i] >= '0' && strokes[i] <= '4' && strokes[i + 1] >= '0' &&
               strokes[i + 1] <= '8'));
      begin = end + 1;
    }
  }
  CHECK(plot::detail::strokes_of('\xC3') ==
        plot::detail::strokes_of('\t'));  // the frame of a letter that is not there

  Scene scene{40, 40};
  scene.add(Label{{20, 20}, "E", Anchor::middle, 16, red});
  const io::Image image = rasterize(scene, 1);
  index_t left = 40, right = 0, top = 40, bottom = 0;
  for (index_t y = 0; y < 40; ++y)
    for (index_t x = 0; x < 40; ++x)
      if (pixel(image, x, y) != 0xFFFFFF) {
        left = std::min(left, x), right = std::max(right, x);
        top = std::min(top, y), bottom = std::max(bottom, y);
      }
  CHECK(left >= 14);
  CHECK(right <= 24);
  CHECK(top == 7);  // 6 rows of 0.118 16 over the baseline, and half a line
  CHECK(bottom == 20);
}

TEST_CASE("pictures are drawn with their alpha") {
  Scene scene{4, 2};
  scene.add(Picture{{0, 0}, 4, 2, {2, 1, 4, {255, 0, 0, 255, 0, 0, 255, 0}}});
  scene.add(Picture{{1, 1}, 1, 1, {1, 1, 1, {9}}});
  const io::Image image = rasterize(scene, 1);
  CHECK(pixel(image, 0, 0) == 0xFF0000);
  CHECK(pixel(image, 1, 0) == 0xFF0000);
  CHECK(pixel(image, 2, 0) == 0xFFFFFF);
  CHECK(pixel(image, 1, 1) == 0x090909);
}

TEST_CASE("the PNG file of a curve is small without zlib") {
  const io::DeflateCodec* const codec = std::exchange(io::deflate_codec(), nullptr);
  std::vector<double> train, test;
  for (int i = 0; i < 200; ++i)
    train.push_back(std::exp(-i / 40.0)), test.push_back(0.1 + std::exp(-i / 50.0));
  const io::Image image = rasterize(
      lines({{"train", train}, {"test", test}}, {.titles = {"Loss", "epoch", "loss"}}), 2);
  CHECK(image.pixels.size() > 3'000'000);
  CHECK(io::encode_png(image).size() < 50'000);
  io::deflate_codec() = codec;
}

TEST_CASE("scenes are saved by their names' suffix") {
  const TempFolder folder;
  const Scene scene{3, 2};
  save(folder / "a.svg", scene);
  save(folder / "a.png", scene);
  CHECK(read_text(folder / "a.svg") == to_svg(scene));
  CHECK(read_text(folder / "a.png") == io::encode_png(rasterize(scene, 2)));
  CHECK(contains(error_of([&] { save(folder / "a.jpg", scene); }),
                 "a.jpg ends neither in .svg nor in .png"));
  CHECK(contains(error_of([&] { save(folder / "no/a.svg", scene); }), "no/a.svg"));
  CHECK(contains(error_of([] {
                   rasterize({0, 5});
                 }),
                 "a picture of 0 x 10 pixels (want 1 to 32768 each way)"));
}
