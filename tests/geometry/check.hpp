// Compares configurations in float, on a device, with the plain version in double.
#pragma once

#include <cmath>
#include <cstdlib>
#include <doctest/doctest.h>
#include <memory>
#include <optional>

#include <gpunet/graph/fuse.hpp>
#include <gpunet/nn/layer_run.hpp>

#include "geometry/family.hpp"
#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/isas.hpp"
#include "support/sanitizers.hpp"

namespace geometry {

using gpunet::Host, gpunet::Network, gpunet::Slice, gpunet::Generator, gpunet::nn::LayerRun;
using Numbers = std::vector<double>;

// The results of a configuration: outputs, gradients of the inputs, and of each parameter.
struct Results {
  Numbers y, dx;
  std::vector<Numbers> parameters;
};

// The inputs of a configuration: numbers that float and double can represent.
struct Inputs {
  Numbers x, parameters, targets;
};

// Returns n numbers of float, uniform in [-bound, bound).
inline Numbers draw_numbers(index_t n, Generator& random, float bound = 1) {
  Numbers numbers;
  for (index_t i = 0; i < n; ++i)
    numbers.push_back(random.uniform(-bound, bound));
  return numbers;
}

template <class T>
std::vector<T> as(const Numbers& numbers) {
  return std::vector<T>(numbers.begin(), numbers.end());
}

template <class T>
Numbers doubles(const std::vector<T>& numbers) {
  return Numbers(numbers.begin(), numbers.end());
}

// Returns `all` cut into the arrays of the parameters.
template <class T>
std::vector<Numbers> each_parameter(const std::vector<gpunet::ParameterInfo>& parameters,
                                    const std::vector<T>& all) {
  std::vector<Numbers> each;
  const T* from = all.data();
  for (const gpunet::ParameterInfo& parameter : parameters) {
    each.emplace_back(from, from + parameter.sizes.numel());
    from += parameter.sizes.numel();
  }
  return each;
}

// The gradient of the outputs: that of the sum of (y - t)^2.
inline Numbers output_gradients(const Numbers& y, const Numbers& targets) {
  Numbers dy;
  for (std::size_t i = 0; i < y.size(); ++i)
    dy.push_back(2 * (y[i] - targets[i]));
  return dy;
}

// Runs the forward pass; in evaluation mode after one in training mode, so that running statistics
// have a past.
template <class T, class D>
std::vector<T> forward(LayerRun<T, D>& run, gpunet::nn::Mode mode, const std::vector<T>& x) {
  run.set_mode(gpunet::nn::Mode::train);
  if (mode == gpunet::nn::Mode::eval) run.forward(x);
  run.set_mode(mode);
  return run.forward(x);
}

// The plain version of a configuration in double: one sample after another, in PyTorch's order.
class Plain {
 public:
  Plain(const Family& family, const Configuration& c, gpunet::nn::Mode mode)
      : run_(host(), family.graph(Backend::host_double, c), Slice{c["batch"], c["batch"], 1}),
        mode_(mode) {}

  // Returns random inputs.
  Inputs draw(const Family& family, const Configuration& c, Generator& random) const {
    const index_t batch = c["batch"], indices = family.indices(c);
    Inputs in;
    if (indices == 0) in.x = draw_numbers(batch * run_.in_features(), random);
    for (index_t i = 0; indices > 0 && i < batch * run_.in_features(); ++i)
      in.x.push_back(static_cast<double>(random.below(indices)));
    for (const gpunet::ParameterInfo& parameter : run_.parameters()) {
      const index_t rows =
          parameter.sizes.rank() > 1 ? parameter.sizes[0] : parameter.sizes.numel();
      const double fan_in =
          static_cast<double>(parameter.sizes.numel()) / static_cast<double>(rows);
      const auto bound = static_cast<float>(std::sqrt(fan_in > 1 ? 3 / fan_in : 1));
      const Numbers some = draw_numbers(parameter.sizes.numel(), random, bound);
      in.parameters.insert(in.parameters.end(), some.begin(), some.end());
    }
    in.targets = draw_numbers(batch * run_.out_features(), random);
    return in;
  }

  Results operator()(const Inputs& in) {
    run_.set_parameters(in.parameters);
    Results results{forward(run_, mode_, in.x), {}, {}};
    auto gradients = run_.backward(output_gradients(results.y, in.targets));
    results.dx = std::move(gradients.dx);
    results.parameters = each_parameter(run_.parameters(), gradients.parameters);
    return results;
  }

 private:
  static Host& host() {
    static Host one({.threads = 1});
    return one;
  }
  LayerRun<double, Host> run_;
  gpunet::nn::Mode mode_;
};

// The distances that rounding explains, of each array of the results.
struct Bounds {
  double y, dx;
  std::vector<double> parameters;
};

inline double largest(const Numbers& numbers) {
  double most = 0;
  for (const double number : numbers)
    most = std::max(most, std::abs(number));
  return most;
}

// Returns the largest difference; NaN if one is NaN or sizes differ.
inline double distance(const Numbers& a, const Numbers& b) {
  if (a.size() != b.size()) return std::nan("");
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]);
    if (!(difference <= most)) most = difference;
    if (std::isnan(most)) return most;
  }
  return most;
}

// A sum in float rounds each term and each partial sum by half a unit in the last place, 2^-24.
// Kernels add some thousand terms in 16 lanes or in parts. 64 roundings of the largest number are
// an empirical bound, not a derived one.
inline constexpr double sum_rounding = 64 * 0x1p-24;
// Where a number depends on the inputs more strongly, the plain version shows how much: inputs and
// parameters are changed by up to this part, 128 times the rounding of float.
inline constexpr double change = 0x1p-17;

inline Bounds bounds_of_sums(const Results& plain, const Inputs& in, double gain) {
  const double terms = gain * largest(output_gradients(plain.y, in.targets));
  Bounds bounds{sum_rounding * std::max(largest(plain.y), largest(in.x)),
                sum_rounding * std::max(largest(plain.dx), terms),
                {}};
  for (const Numbers& parameter : plain.parameters)
    bounds.parameters.push_back(sum_rounding * std::max(largest(parameter), terms));
  return bounds;
}

// Adds the effect of changed inputs on the plain version's results, in some directions and their
// opposites: one of each pair crosses a kink nearby, such as two almost equal numbers of a maximum.
inline void add_change(Bounds& bounds, Plain& run, const Results& plain, const Inputs& in,
                       bool whole_numbers, Generator& random) {
  Bounds changes{0, 0, std::vector<double>(plain.parameters.size())};
  for (int direction = 0; direction < 2; ++direction) {
    const Numbers of_x = draw_numbers(static_cast<index_t>(in.x.size()), random, change);
    const Numbers of_parameters =
        draw_numbers(static_cast<index_t>(in.parameters.size()), random, change);
    for (const double sign : {1.0, -1.0}) {
      Inputs changed = in;
      for (std::size_t i = 0; !whole_numbers && i < of_x.size(); ++i)
        changed.x[i] *= 1 + sign * of_x[i];
      for (std::size_t i = 0; i < of_parameters.size(); ++i)
        changed.parameters[i] *= 1 + sign * of_parameters[i];
      const Results other = run(changed);
      changes.y = std::max(changes.y, distance(other.y, plain.y));
      changes.dx = std::max(changes.dx, distance(other.dx, plain.dx));
      for (std::size_t i = 0; i < plain.parameters.size(); ++i)
        changes.parameters[i] =
            std::max(changes.parameters[i], distance(other.parameters[i], plain.parameters[i]));
    }
  }
  bounds.y += changes.y;
  bounds.dx += changes.dx;
  for (std::size_t i = 0; i < changes.parameters.size(); ++i)
    bounds.parameters[i] += changes.parameters[i];
}

// Returns the name of the first array that differs by more than its bound, with both numbers; empty
// if there is none.
inline std::string difference(const Results& a, const Results& plain, const Bounds& bounds) {
  const auto compare = [](const std::string& name, const Numbers& x, const Numbers& y,
                          double bound) {
    const double error = distance(x, y);
    return error <= bound ? std::string()
                          : gpunet::concat(name, " differs by ", error, ", bound ", bound,
                                           ", largest ", largest(y));
  };
  std::string text = compare("the output", a.y, plain.y, bounds.y);
  if (text.empty() && !a.dx.empty())
    text = compare("the gradient of the input", a.dx, plain.dx, bounds.dx);
  for (std::size_t i = 0; text.empty() && i < plain.parameters.size(); ++i)
    text = compare(gpunet::concat("the gradient of parameter ", i), a.parameters[i],
                   plain.parameters[i], bounds.parameters[i]);
  return text;
}

// Returns a slice of `batch` samples in one of the orders of a device.
template <class D>
Slice draw_slice(index_t batch, Generator& random) {
  if (gpunet::DeviceTraits<D>::most_inner == 1) return {batch, batch, 1};
  const index_t inner = std::array<index_t, 3>{1, 4, 16}[static_cast<std::size_t>(random.below(3))];
  return {batch, gpunet::ceil_div(batch, inner), inner};
}

// One run of the fused graph in float on a slice.
template <class D>
Results run_slice(D& device, const Family& family, const Configuration& c, const Inputs& in,
                  const Numbers& dy, gpunet::nn::Mode mode, const Slice& slice) {
  Graph graph = gpunet::fuse(family.graph(gpunet::nn::detail::backend_of<D, float>(), c),
                             gpunet::fuse_policy<D, float>);
  LayerRun<float, D> run(device, std::move(graph), slice);
  run.set_parameters(as<float>(in.parameters));
  Results results{doubles(forward(run, mode, as<float>(in.x))), {}, {}};
  const auto gradients = run.backward(as<float>(dy));
  results.dx = doubles(gradients.dx);
  results.parameters = each_parameter(run.parameters(), gradients.parameters);
  REQUIRE(largest(doubles(gradients.padding)) == 0);
  return results;
}

// A network of a configuration, as a program has it.
template <class D>
class InNetwork {
 public:
  InNetwork(D& device, const Family& family, const Configuration& c, const Inputs& in,
            gpunet::nn::Mode mode)
      : device_(device),
        net_(device, family.graph(gpunet::nn::detail::backend_of<D, float>(), c),
             gpunet::Drawn::no),
        x_(device, family.input(c).with_front(c["batch"]), as<float>(in.x)),
        targets_(device, net_.output_sizes().with_front(c["batch"]), as<float>(in.targets)) {
    std::vector<float> arena(static_cast<std::size_t>(net_.parameters().numel()));
    const double* from = in.parameters.data();
    for (const gpunet::ParameterInfo& parameter : net_.named_parameters())
      for (index_t i = 0; i < parameter.sizes.numel(); ++i)
        arena[static_cast<std::size_t>(parameter.offset + i)] = static_cast<float>(*from++);
    device.upload(net_.parameters().data(), arena.data(), arena.size() * sizeof(float));
    net_.note_update();
    if (mode == gpunet::nn::Mode::train) return;
    net_(x_);  // as in forward() above
    net_.eval();
  }

  Results operator()() {
    const auto numbers = static_cast<double>(targets_.numel());
    const auto y = net_(x_);
    Results results{doubles(y.to_vector()), {}, {}};
    loss_(y, targets_).backward(numbers);
    results.parameters = gradients();
    net_.zero_grad();
    net_.forward_backward(x_, loss_, targets_, numbers);
    REQUIRE(gradients() == results.parameters);
    return results;
  }

  // Returns the outputs of a Predictor and the outputs of the network in evaluation mode.
  std::pair<Numbers, Numbers> predictions() {
    gpunet::Predictor<D, float> predict(net_);
    net_.eval();
    return {doubles(predict(x_).to_vector()), doubles(net_(x_).to_vector())};
  }

 private:
  std::vector<Numbers> gradients() const {
    std::vector<float> arena(static_cast<std::size_t>(net_.parameters().numel()));
    device_.download(arena.data(), net_.gradients().data(), arena.size() * sizeof(float));
    std::vector<Numbers> each;
    for (const gpunet::ParameterInfo& parameter : net_.named_parameters()) {
      const float* from = arena.data() + parameter.offset;
      each.emplace_back(from, from + parameter.sizes.numel());
    }
    return each;
  }

  D& device_;
  Network<D, float> net_;
  gpunet::Tensor<float, D> x_, targets_;
  gpunet::nn::MSELoss loss_;
};

// Returns a device of kind D with `threads` threads.
template <class D>
D& device_of(index_t threads) {
  if constexpr (std::same_as<D, Host>) {
    static Host one({.threads = 1}), two({.threads = 2}), three({.threads = 3});
    return threads == 1 ? one : threads == 2 ? two : three;
  } else {
    return test_device<D>();
  }
}

// Returns the vector paths of a device.
template <class D>
std::vector<gpunet::Isa> paths() {
  if constexpr (std::same_as<D, Host>) return isas();
  return {gpunet::isa()};
}
inline std::string where(gpunet::Isa path, index_t threads) {
  return gpunet::concat("path ", static_cast<int>(path), ", ", threads, " threads");
}

// Compares a configuration with its plain version, on every vector path.
template <class D>
class Comparison {
 public:
  Comparison(const Configuration& c, std::uint64_t seed)
      : family_(families().at(c.family)),
        c_(c),
        random_(seed),
        mode_(c["eval"] ? gpunet::nn::Mode::eval : gpunet::nn::Mode::train),
        plain_(family_, c, mode_) {}

  // Returns a text about the first difference; empty if there is none.
  std::string operator()() {
    const KeepIsa keep;
    // Numbers near a kink of a maximum or a ReLU decide nothing: others are drawn for the same
    // geometry.
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      const Inputs in = plain_.draw(family_, c_, random_);
      const Results plain = plain_(in);
      if (const std::optional<std::string> text = compare(in, plain)) return *text;
    }
    return "all numbers that were drawn are near a kink";
  }

 private:
  static constexpr int most_attempts = 30;

  // Returns nothing if the numbers are near a kink.
  std::optional<std::string> compare(const Inputs& in, const Results& plain) {
    Bounds bounds = bounds_of_sums(plain, in, family_.gain(c_));
    bool is_final = false;
    for (const gpunet::Isa path : paths<D>()) {
      gpunet::set_isa(path);
      const index_t threads = 1 + random_.below(3);
      const Slice slice = draw_slice<D>(c_["batch"], random_);
      for (const bool whole : {false, true}) {
        D& device = device_of<D>(threads);
        Results results;
        if (whole) {
          InNetwork<D> network(device, family_, c_, in, mode_);
          results = network();
          const auto [predicted, computed] = network.predictions();
          if (predicted != computed)
            return "a Predictor's outputs are not the network's in " + where(path, threads);
        } else {
          results = run_slice(device, family_, c_, in, output_gradients(plain.y, in.targets), mode_,
                              slice);
        }
        std::string text = difference(results, plain, bounds);
        if (!text.empty() && !is_final) {
          add_change(bounds, plain_, plain, in, family_.indices(c_) > 0, random_);
          is_final = true;
          if (decides_nothing(plain, bounds)) return std::nullopt;
          text = difference(results, plain, bounds);
        }
        if (!text.empty())
          return gpunet::concat(text, whole ? " in a network, " : " in a slice, inner ",
                                whole ? std::string() : gpunet::concat(slice.inner, ", "),
                                where(path, threads));
      }
    }
    return std::string();
  }

  // Returns whether a bound is so large that a wrong number could pass.
  static bool decides_nothing(const Results& plain, const Bounds& bounds) {
    constexpr double part = 0.02;
    const auto too_large = [](double bound, const Numbers& numbers) {
      const double most = largest(numbers);
      return most > 0 && bound > part * most && bound > 1e-3;
    };
    bool result = too_large(bounds.y, plain.y) || too_large(bounds.dx, plain.dx);
    for (std::size_t i = 0; i < plain.parameters.size(); ++i)
      result = result || too_large(bounds.parameters[i], plain.parameters[i]);
    return result;
  }

  const Family& family_;
  const Configuration& c_;
  Generator random_;
  gpunet::nn::Mode mode_;
  Plain plain_;
};

// Returns how many multiplications or numbers a configuration has.
inline index_t work_of(const Configuration& c) {
  const Graph graph = families().at(c.family).graph(Backend::host_double, c);
  index_t work = 0;
  for (const Sizes& sizes : graph.values)
    work += 4 * sizes.numel();
  for (const gpunet::Node& node : graph.nodes) {
    index_t weights = 0;
    for (const gpunet::ParameterInfo& parameter : graph.parameters_of(node))
      weights += parameter.sizes.numel();
    work += node.type->multiply_adds(node.op.data(), graph.input_of(node), graph.output_of(node),
                                     weights);
  }
  return work * c["batch"];
}

// Returns the generator of configuration `number`.
inline Generator generator_of(std::uint64_t seed, index_t number) {
  return Generator(seed * 1000003 + static_cast<std::uint64_t>(number));
}

// Returns configuration `number` of a family: every seed and number gives another one, the same on
// all machines.
template <class D>
Configuration draw_configuration(const std::string& family, std::uint64_t seed, index_t number) {
  Generator random = generator_of(seed, number);
  const index_t kind = random.below(20);
  // A GPU may be simulated.
  const index_t most_work = kind < 12 || !std::same_as<D, Host> ? 20000
                            : kind < 17                         ? 100000
                            : kind < 19                         ? 500000
                                                                : 3000000;
  while (true) {
    Configuration c{family, {}};
    Draw draw(random, c);
    families().at(family).draw(draw);
    if (work_of(c) <= most_work * families().at(family).effort) return c;
  }
}

// Returns the number in an environment variable, or `otherwise`.
inline index_t number_of_environment(const char* name, index_t otherwise) {
  const char* text = std::getenv(name);
  return text && *text ? std::strtol(text, nullptr, 10) : otherwise;
}

// What compares a configuration: returns a text about the first difference; empty if there is none.
using Compare = std::function<std::string(const Configuration&, std::uint64_t seed)>;

// Compares one configuration; a failure prints how to repeat it.
inline void check_configuration(const Configuration& c, std::uint64_t seed,
                                const Compare& compare) {
  std::string text;
  try {
    text = compare(c, seed);
  } catch (const gpunet::Error& error) {
    text = error.what();
  }
  if (!text.empty())
    FAIL_CHECK("scripts/geometry.sh " << seed << " '" << c.text() << "': " << text);
}

// Configurations of a family in every run of the tests, unless GPUNET_GEOMETRY_COUNT is set. The
// simulator of GPUs and sanitizers are slow.
template <class D>
inline constexpr index_t usual_count = std::same_as<D, Host> && !under_sanitizers ? 300 : 10;

// Compares random configurations of a family: draw(seed, i) returns one. scripts/geometry.sh sets
// the environment for other seeds and counts, or for one configuration.
template <class D>
void check_configurations(const std::string& family,
                          const std::function<Configuration(std::uint64_t seed, index_t i)>& draw,
                          const Compare& compare) {
  if (const char* replay = std::getenv("GPUNET_GEOMETRY"); replay && *replay) {
    const Configuration c = Configuration::of_text(replay);
    if (c.family == family)
      check_configuration(
          c, static_cast<std::uint64_t>(number_of_environment("GPUNET_GEOMETRY_SEED", 1)), compare);
    return;
  }
  if (const char* only = std::getenv("GPUNET_GEOMETRY_FAMILY"); only && *only && family != only)
    return;
  const auto seed = static_cast<std::uint64_t>(number_of_environment("GPUNET_GEOMETRY_SEED", 1));
  const index_t count = number_of_environment("GPUNET_GEOMETRY_COUNT", usual_count<D>);
  MESSAGE(family << ": seed " << seed << ", " << count << " configurations");
  for (index_t i = 0; i < count; ++i)
    check_configuration(draw(seed, i), seed, compare);
}

// Compares random configurations of a family of graphs.
template <class D>
void check_family(const std::string& family) {
  check_configurations<D>(
      family, [&](std::uint64_t seed, index_t i) { return draw_configuration<D>(family, seed, i); },
      [](const Configuration& c, std::uint64_t seed) { return Comparison<D>(c, seed)(); });
}

template <class D>
void check_families(std::initializer_list<const char*> names) {
  for (const char* name : names)
    check_family<D>(name);
}

}  // namespace geometry
