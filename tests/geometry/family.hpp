// Random geometries: the numbers that describe one configuration of a family of ops, and the
// families.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>

namespace geometry {

using gpunet::index_t, gpunet::Sizes, gpunet::Graph, gpunet::nn::Value;
using gpunet::nn::detail::Backend;

// One configuration: a family and its numbers by name. As text, which can be replayed:
// "conv2d batch=3 channels=2 height=7 ...".
struct Configuration {
  std::string family;
  std::vector<std::pair<std::string, index_t>> numbers;

  // Returns a number; 0 for one that the family has not drawn.
  index_t operator[](std::string_view name) const {
    for (const auto& [key, number] : numbers)
      if (key == name) return number;
    return 0;
  }
  std::string text() const {
    std::string text = family;
    for (const auto& [key, number] : numbers)
      text += gpunet::concat(" ", key, "=", number);
    return text;
  }
  static Configuration of_text(const std::string& text) {
    std::istringstream words(text);
    Configuration c;
    words >> c.family;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      c.numbers.emplace_back(word.substr(0, equals), std::stol(word.substr(equals + 1)));
    }
    return c;
  }
};

// Draws the numbers of a configuration.
class Draw {
 public:
  Draw(gpunet::Generator& generator, Configuration& into) : generator_(generator), into_(into) {}

  // Sets a number, also one that was drawn before.
  index_t set(const std::string& name, index_t number) {
    for (auto& [key, drawn] : into_.numbers)
      if (key == name) return drawn = number;
    into_.numbers.emplace_back(name, number);
    return number;
  }
  index_t operator[](const std::string& name) const { return into_[name]; }
  // A number from `low` to `high`.
  index_t pick(const std::string& name, index_t low, index_t high) {
    return set(name, between(low, high));
  }
  index_t one_of(const std::string& name, std::initializer_list<index_t> numbers) {
    return set(name, numbers.begin()[generator_.below(static_cast<index_t>(numbers.size()))]);
  }
  // 1 once in `n` times, else 0.
  index_t once_in(const std::string& name, index_t n) {
    return set(name, generator_.below(n) == 0 ? 1 : 0);
  }
  // A size up to `most`, of any magnitude alike, often 1, a power of two, or beside one.
  index_t extent(const std::string& name, index_t most, index_t least = 1) {
    return set(name, size(most, least));
  }
  // 1 to 33, or 64.
  index_t batch() {
    const index_t kind = between(0, 9);
    return set("batch", kind == 0 ? 64 : kind < 3 ? 1 : kind < 6 ? size(33, 1) : between(1, 33));
  }

 private:
  index_t between(index_t low, index_t high) {
    return low + generator_.below(std::max<index_t>(1, high - low + 1));
  }
  index_t size(index_t most, index_t least) {
    const index_t kind = between(0, 7);
    if (kind == 0) return least;
    if (kind == 1)
      return std::clamp((index_t{1} << between(0, 6)) + between(-1, 1), least,
                        std::max(least, most));
    const double low = std::log(static_cast<double>(least)),
                 high = std::log(static_cast<double>(most) + 1);
    const auto number =
        static_cast<index_t>(std::exp(generator_.uniform(low, std::max(low, high))));
    return std::clamp(number, least, std::max(least, most));
  }

  gpunet::Generator& generator_;
  Configuration& into_;
};

// One dimension of images: the names of its numbers.
struct Dimension {
  std::string size, suffix;

  // Returns the name of a number along this dimension: "kernel_width" for "kernel".
  std::string operator()(const std::string& name) const { return name + suffix; }
};

// Returns the last `count` of the three dimensions.
inline std::vector<Dimension> dimensions(int count) {
  std::vector<Dimension> all{{"depth", "_depth"}, {"height", ""}, {"width", "_width"}};
  return {all.end() - count, all.end()};
}

// Returns the sizes of an image of so many dimensions.
inline Sizes image(const Configuration& c, int count) {
  Sizes sizes{c["channels"]};
  for (const Dimension& along : dimensions(count))
    sizes.append(c[along.size]);
  return sizes;
}

// A family of ops: draws configurations and makes their graphs.
struct Family {
  // Numbers of every family: batch, and `scale`, 1 where a parameter before the op needs its input
  // gradient.
  std::function<void(Draw&)> draw;
  std::function<Sizes(const Configuration&)> input;
  std::function<Graph(Backend, const Configuration&)> graph;
  // How much larger than the gradients of the outputs the terms may be whose sum is a gradient.
  std::function<double(const Configuration&)> gain = [](const Configuration&) {
    return 1.0;
  };
  // How many times the usual work a configuration may have.
  index_t effort = 1;
  // 0: inputs are numbers between -1 and 1; otherwise they are whole numbers below this.
  std::function<index_t(const Configuration&)> indices = [](const Configuration&) {
    return index_t{0};
  };
};

// All families of this program, by name.
inline std::map<std::string, Family>& families() {
  static std::map<std::string, Family> all;
  return all;
}

// A family that is a function of one value.
using Function = std::function<Value(const Value&, const Configuration&)>;

// Registers a family. `draw` draws its own numbers.
struct Registered {
  Registered(const char* name, Family family) { families()[name] = std::move(family); }
  Registered(const char* name, std::function<void(Draw&)> draw,
             std::function<Sizes(const Configuration&)> input, Function f,
             std::function<double(const Configuration&)> gain = {}) {
    Family family;
    family.draw = [draw](Draw& d) {
      d.batch();
      d.once_in("scale", 2);
      draw(d);
    };
    family.input = input;
    family.graph = [input, f](Backend backend, const Configuration& c) {
      auto function = [&](const Value& x) {
        if (!c["scale"]) return f(x, c);
        return f(x * parameter(x, gpunet::nn::constant("scale", x.sizes(), 1)), c);
      };
      return gpunet::nn::detail::graph_of_function(backend, function, {input(c)});
    };
    if (gain) family.gain = gain;
    families()[name] = std::move(family);
  }
};

}  // namespace geometry
