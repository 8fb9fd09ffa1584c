// docs/layers.md is written from tests/support/layer_list.hpp. After a change:
//   GPUNET_WRITE_DOCS=1 ctest --test-dir build/host -R docs/layers
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include <gpunet/graph/fuse.hpp>
#include <gpunet/nn/gradient_check.hpp>

#include "docs/error_page.hpp"
#include "support/layer_list.hpp"

using namespace gpunet;

namespace {

class LayerPage {
 public:
  std::set<std::string> names;

  void section(const std::string& title) {
    page_ += "\n## " + title +
             "\n\n| layer | in PyTorch | gradients of | fused with | differs from PyTorch "
             "|\n|---|---|---|---|---|\n";
  }
  template <class L, class In>
  void layer(const L& layer, In in, const LayerText& text = {}) {
    Lowering<Host, float> builder(in.sizes());
    builder.enter("layer");
    const value_t y = nn::lower(builder, layer, GraphBuilder::input, in);
    Graph graph = std::move(builder).finish(y);
    const std::string name = name_of<L>(text);
    CAPTURE(name);
    row(name, text, {gradients(std::move(graph), text), fused(layer, in)});
  }

  void losses() {
    page_ +=
        "\n## Losses\n\n| loss | in PyTorch | targets | `each` | differs from PyTorch "
        "|\n|---|---|---|---|---|\n";
  }
  template <class Loss>
  void loss(const Loss& loss, const LayerText& text = {}) {
    const std::string name = name_of<Loss>(text);
    CAPTURE(name);
    const double low = text.pairs ? 1 : 0.1, high = text.pairs ? 1 : 0.9;
    nn::check_loss_gradients(host_, loss, Sizes{3}, Slice{2, 2, 1}, {0.1, 0.9, low, high});
    const nn::LossTraits traits = AnyLoss<Host, float>(loss).traits(Sizes{3, 4});
    const auto shape = [](const Sizes& sizes) {
      return sizes.rank() == 2 ? "as the outputs" : sizes.rank() == 1 ? "[batch, ...]" : "[batch]";
    };
    const bool labels = std::is_same_v<typename Loss::target_type, label_t>;
    row(name, text,
        {std::string(labels ? "labels " : "numbers, ") + shape(traits.target), shape(traits.each)});
  }

  std::string text() const {
    return "# Layers and losses\n\n"
           "Each layer and loss is written once and runs forward and backward on `Host` and on "
           "`Cuda`, in `float` "
           "and `double`; a test made this "
           "page from\n[tests/support/layer_list.hpp](../tests/support/layer_list.hpp), running "
           "every example. "
           "*Gradients of*: x is the input, the other names "
           "are parameters. *Fused\nwith*: the layers behind it that run in the same kernel "
           "(element-wise: on "
           "`Cuda`, a neighbor of your own; BatchNorm also with ReLU6 and Hardtanh). Where the "
           "last "
           "column is empty, options\nand results are those of PyTorch. [pytorch.md](pytorch.md) "
           "has the "
           "options side by side, "
           "[adding_a_layer.md](adding_a_layer.md) your own layers.\n" +
           page_;
  }

 private:
  void row(const std::string& name, const LayerText& text, const std::vector<std::string>& cells) {
    CHECK_MESSAGE(names.insert(name).second, "two lines");
    page_ += "| `" + name + "` | ";
    if (!text.pytorch.empty())
      page_ += "`" + (text.pytorch == "nn" ? "nn." + name : text.pytorch) + "`";
    for (const std::string& cell : cells)
      page_ += " | " + cell;
    page_ += " | " + text.differs + " |\n";
  }

  // Runs the layer on Host. Returns what has gradients.
  std::string gradients(Graph graph, const LayerText& text) {
    nn::LayerRun<float, Host> run(host_, std::move(graph), Slice{2, 2, 1});
    Generator generator(1);
    run.set_parameters(nn::random_values<float>(run.parameter_count(), generator, -1, 1));
    std::vector<float> x = nn::random_values<float>(2 * run.in_features(), generator, -2, 2);
    if (text.takes_indices) x.assign(x.size(), 1);
    for (const float y : run.forward(x))
      CHECK(std::isfinite(y));
    const auto gradients =
        run.backward(nn::random_values<float>(2 * run.out_features(), generator, -1, 1));
    for (const auto* some : {&gradients.dx, &gradients.parameters})
      for (const float gradient : *some)
        CHECK(std::isfinite(gradient));
    std::set<std::string> seen;
    std::string result;
    if (std::any_of(gradients.dx.begin(), gradients.dx.end(), [](float dx) { return dx != 0; }))
      result = "x";
    for (const ParameterInfo& parameter : run.parameters()) {
      const std::string name = parameter.name.substr(parameter.name.find_last_of('.') + 1);
      if (seen.insert(name).second) result += (result.empty() ? "" : ", ") + name;
    }
    return result;
  }

  // Returns the layers of x -> layer -> ReLU -> MaxPool2d<2> that run in the layer's node.
  template <class L, class In>
  std::string fused(const L& layer, In in) {
    if constexpr (requires { layer.function(); }) {
      return "element-wise";
    } else {
      const auto after = layer.output(in);
      Lowering<Host, float> builder(in.sizes());
      builder.enter("layer");
      value_t y = nn::lower(builder, layer, GraphBuilder::input, in);
      builder.leave();
      builder.enter("relu");
      y = nn::lower(builder, nn::ReLU{}, y, after);
      builder.leave();
      if constexpr (decltype(after)::rank == 3) {
        builder.enter("pool");
        y = nn::lower(builder, nn::MaxPool2d<2>{}, y, after);
      }
      const Graph graph =
          fuse(std::move(builder).finish(y), {.blocks = true, .keeps_relu_bits = false});
      std::string result;
      for (const Node& node : graph.nodes)
        for (const char* next : node.fused)
          result += (result.empty() ? "" : ", ") + gpunet::detail::class_of(next);
      return result;
    }
  }

  Host host_;
  std::string page_;
};

// Returns the classes of nn, without detail, in the headers that gpunet.hpp includes.
std::set<std::string> classes_of_nn() {
  const std::filesystem::path include = GPUNET_PROJECT "/include";
  const std::string all = slurp(include / "gpunet/gpunet.hpp");
  const std::regex header("#include <(gpunet/(?:nn/|functions/activations)[^>]*)>");
  const std::regex definition("(?:class|struct|using) (\\w+)(?: =.*|[^;]*|.*\\{.*\\};)");
  std::set<std::string> classes;
  for (std::sregex_iterator at(all.begin(), all.end(), header), end; at != end; ++at) {
    std::istringstream lines(slurp(include / (*at)[1].str()));
    bool inside = true;
    std::smatch found;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("namespace detail {")) inside = false;
      if (line.starts_with("}  // namespace detail")) inside = true;
      if (inside && std::regex_match(line, found, definition)) classes.insert(found[1]);
    }
  }
  return classes;
}

}  // namespace

TEST_CASE("docs/layers.md shows all layers and losses") {
  LayerPage page;
  list_layers(page);
  const std::set<std::string> classes = classes_of_nn();
  CHECK(classes.size() > 70);
  for (const std::string& name : classes) {
    const bool listed =
        page.names.contains(name) || not_layers().contains(name) || name.ends_with("Options");
    CHECK_MESSAGE(listed, name << " has no line in tests/support/layer_list.hpp: add one");
  }
  for (const std::string& name : page.names)
    CHECK_MESSAGE(classes.contains(name),
                  name << " of tests/support/layer_list.hpp is in no header of gpunet.hpp");
  const std::string path = GPUNET_PROJECT "/docs/layers.md";
  if (std::getenv("GPUNET_WRITE_DOCS")) write(path, page.text());
  CHECK_MESSAGE(page.text() == slurp(path),
                "docs/layers.md is out of date: GPUNET_WRITE_DOCS=1 ctest --test-dir build/host -R "
                "docs/layers");
}
