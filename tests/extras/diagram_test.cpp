#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/plot.hpp>

#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

using Small = nn::Sequential<nn::Input<1, 4, 4>, nn::Named<"conv", nn::Conv2d<2, 3>>, nn::ReLU,
                             nn::BatchNorm2d>;
// Everything that means something in one of the languages.
using Hostile =
    nn::Sequential<nn::Input<4>,
                   nn::Named<"a \"b\" <i> & &lt; \\N #35; `c` *d*\ne%%", nn::Linear<1>>>;

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("a network in Graphviz's language") {
  CHECK(to_dot(Small{}) == R"(digraph network {
  node [shape=box, style=rounded, fontname="Helvetica"];
  edge [fontname="Helvetica", fontsize=11];
  input [shape=plaintext];
  layer0 [label="conv: Conv2d\n1, 2, kernel_size=(3, 3), stride=(1, 1)\n20 parameters"];
  input -> layer0 [label=" [1, 4, 4]"];
  layer1 [label="ReLU"];
  layer0 -> layer1 [label=" [2, 2, 2]"];
  layer2 [label="BatchNorm2d\n2, eps=1e-05, momentum=0.1, affine=True,\nbias=True, track_running_stats=True\n4 parameters"];
  layer1 -> layer2 [label=" [2, 2, 2]"];
  output [shape=plaintext];
  layer2 -> output [label=" [2, 2, 2]"];
}
)");
  CHECK(contains(to_dot(Hostile{}),
                 R"([label="a \"b\" <i> &amp; &amp;lt; \\N #35; `c` *d*\ne%%: Linear\n)"));
}

TEST_CASE("a network as a flowchart of Mermaid") {
  CHECK(to_mermaid(Small{}) == R"(flowchart TD
  input(["input"])
  layer0["conv: Conv2d<br/>1, 2, kernel_size=(3, 3), stride=(1, 1)<br/>20 parameters"]
  input -->|"[1, 4, 4]"| layer0
  layer1["ReLU"]
  layer0 -->|"[2, 2, 2]"| layer1
  layer2["BatchNorm2d<br/>2, eps=1e-05, momentum=0.1, affine=True,<br/>bias=True, track_running_stats=True<br/>4 parameters"]
  layer1 -->|"[2, 2, 2]"| layer2
  output(["output"])
  layer2 -->|"[2, 2, 2]"| output
)");
  CHECK(contains(to_mermaid(Hostile{}),
                 R"(["a #quot;b#quot; #lt;i#gt; #amp; #amp;lt; #92;N #35;35; )"
                 R"(#96;c#96; #42;d#42;<br/>e#37;#37;: Linear<br/>in_features)"));
}

TEST_CASE("a network as a picture") {
  const std::string svg = to_svg(Small{});
  CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(count(svg, "<rect ") == 3);
  CHECK(count(svg, "class=\"learns\"") == 2);
  CHECK(count(svg, "<path ") == 4);
  CHECK(count(svg, ">[1, 4, 4]</text>") == 1);
  CHECK(count(svg, ">[2, 2, 2]</text>") == 3);
  CHECK(count(svg, "class=\"title\"") == 3);
  CHECK(contains(svg, "class=\"title\" x=\"184\" y=\"85\">conv: Conv2d</text>"));
  CHECK(contains(svg, ">20 parameters</text>"));
  CHECK(contains(svg, "@media (prefers-color-scheme: dark)"));
  CHECK(contains(to_svg(Hostile{}),
                 ">a &quot;b&quot; &lt;i&gt; &amp; &amp;lt; \\N #35; `c` *d*\ne%%: Linear<"));
}

TEST_CASE("the box is as wide as its longest line, and the picture as high as all boxes") {
  const std::string one = to_svg(nn::Sequential<nn::Input<4>, nn::ReLU>{});
  const std::string two = to_svg(nn::Sequential<nn::Input<4>, nn::ReLU, nn::ReLU>{});
  const std::string named =
      to_svg(nn::Sequential<nn::Input<4>, nn::Named<"0123456789012345678901234", nn::ReLU>>{});
  // input and output 19 each, an arrow 34, a box of one line 31, margins 12
  CHECK(contains(one, "width=\"184\" height=\"161\" viewBox=\"0 0 184 161\""));
  CHECK(contains(two, "width=\"184\" height=\"226\""));
  // 31 characters of 8, margins inside and outside.
  CHECK(contains(named, "width=\"296\" height=\"161\""));
}

TEST_CASE("umlauts count as one character") {
  CHECK(to_svg(nn::Sequential<nn::Input<4>, nn::Named<"ääääääääääääääääää", nn::ReLU>>{}).size() ==
        to_svg(nn::Sequential<nn::Input<4>, nn::Named<"aaaaaaaaaaaaaaaaaa", nn::ReLU>>{}).size() +
            18);
}

TEST_CASE_TEMPLATE("a model is drawn as its network is", D, GPUNET_TEST_DEVICES) {
  const Model<Small, D> net(test_device<D>());
  CHECK(to_dot(net) == to_dot(Small{}));
  CHECK(to_mermaid(net) == to_mermaid(Small{}));
  CHECK(to_svg(net) == to_svg(Small{}));
}

TEST_CASE("long options are broken behind commas") {
  const auto drawn = [](std::string options) {
    Summary one;
    one.layers.resize(1);
    one.layers[0].extra_repr = std::move(options);
    return to_dot(one);
  };
  std::string unbroken(60, 'x');
  unbroken.append(", y");
  CHECK(drawn(unbroken).find(unbroken) != std::string::npos);  // nowhere to break early enough
  const std::string word(22, 'x');
  CHECK(drawn(word + ", " + word + ", " + word).find(word + ", " + word + ",\\n" + word) !=
        std::string::npos);
}
