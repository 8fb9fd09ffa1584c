// Random geometries of losses: in float, on every vector path, in every order of samples, against
// one sample after another in double.
#include "geometry/check.hpp"
#include "support/loss_reference.hpp"

using namespace gpunet;
using geometry::Configuration, geometry::Draw, geometry::Numbers;

namespace {

// What outputs and targets of a loss are.
enum class Domain {
  any,
  probabilities,
  logits,
  log_probabilities,
  logarithms,
  distances,
  labels,
  shares
};

Sizes output_sizes(const Configuration& c) {
  Sizes sizes{c["classes"]};
  if (c["rank"] > 1) sizes.append(c["height"]);
  if (c["rank"] > 2) sizes.append(c["width"]);
  return sizes;
}

std::vector<double> class_weights(const Configuration& c) {
  std::vector<double> weights;
  for (index_t k = 0; c["weighted"] && k < c["classes"]; ++k)
    weights.push_back(0.25 + static_cast<double>(k % 5));
  return weights;
}

nn::CrossEntropyLossOptions label_options(const Configuration& c) {
  nn::CrossEntropyLossOptions options{.reduction = static_cast<nn::Reduction>(c["sum"]),
                                      .weight = class_weights(c)};
  if (c["ignores"]) options.ignore_index = c["ignores"] == 1 ? -100 : 0;
  return options;
}

// Returns f(loss, domain) for the loss of a configuration.
constexpr index_t losses = 12;
template <class F>
std::string with_loss(const Configuration& c, F f) {
  const auto reduction = static_cast<nn::Reduction>(c["sum"]);
  nn::CrossEntropyLossOptions labels = label_options(c);
  const double smoothing = 0.1 * static_cast<double>(c["smoothing"]);
  switch (c["loss"]) {
    case 0:
      return f(nn::MSELoss({.reduction = reduction}), Domain::any);
    case 1:
      return f(nn::L1Loss({.reduction = reduction}), Domain::any);
    case 2:
      return f(nn::SmoothL1Loss({.reduction = reduction, .beta = 0.7}), Domain::any);
    case 3:
      return f(nn::HuberLoss({.reduction = reduction, .delta = 1.3}), Domain::any);
    case 4:
      return f(nn::BCELoss({.reduction = reduction}), Domain::probabilities);
    case 5: {
      const std::vector<double> weights = class_weights(c);
      return f(nn::BCEWithLogitsLoss({.reduction = reduction,
                                      .pos_weight = weights.empty() ? std::vector{2.5} : weights}),
               Domain::logits);
    }
    case 6:
      return f(nn::KLDivLoss({.reduction = reduction}), Domain::log_probabilities);
    case 7:
      return f(nn::KLDivLoss({.reduction = reduction, .log_target = true}), Domain::logarithms);
    case 8:
      return f(nn::HingeEmbeddingLoss({.reduction = reduction, .margin = 1.5}), Domain::distances);
    case 9:
      labels.label_smoothing = smoothing;
      return f(nn::CrossEntropyLoss(labels), Domain::labels);
    case 10:
      return f(nn::NLLLoss(labels), Domain::labels);
    default:
      return f(
          nn::SoftCrossEntropyLoss(
              {.reduction = reduction, .weight = class_weights(c), .label_smoothing = smoothing}),
          Domain::shares);
  }
}

Configuration draw_loss(const std::string& family, std::uint64_t seed, index_t i) {
  Generator random = geometry::generator_of(seed, i);
  while (true) {
    Configuration c{family, {}};
    Draw d(random, c);
    d.batch();
    d.pick("loss", 0, losses - 1);
    d.pick("sum", 0, 1);
    d.once_in("weighted", 3);
    d.one_of("ignores", {0, 0, 1, 2});  // no label, -100, 0
    d.one_of("smoothing", {0, 0, 1, 3});
    d.pick("rank", 1, 3);
    d.extent("classes", 300);
    d.extent("height", 40);
    d.extent("width", 40);
    if (c["batch"] * output_sizes(c).numel() <= 20000) return c;
  }
}

Numbers draw_between(index_t n, Generator& random, float low, float high) {
  Numbers numbers;
  for (index_t i = 0; i < n; ++i)
    numbers.push_back(random.uniform(low, high));
  return numbers;
}

// Returns targets of a loss for n outputs: labels, or numbers that float can represent.
template <class Target>
std::vector<Target> draw_targets(const Configuration& c, Domain domain, index_t n,
                                 Generator& random) {
  std::vector<Target> targets;
  for (index_t i = 0; i < n; ++i) {
    if constexpr (std::is_same_v<Target, label_t>) {
      const bool is_ignored = c["ignores"] == 1 && random.below(3) == 0;
      targets.push_back(is_ignored ? -100 : static_cast<label_t>(random.below(c["classes"])));
    } else {
      const float number = random.uniform(-1.f, 1.f);
      targets.push_back(domain == Domain::any          ? 4 * number
                        : domain == Domain::logarithms ? 1.5f * number - 1.5f
                        : domain == Domain::distances  ? (number > 0 ? 1.f : -1.f)
                                                       : std::abs(number));
    }
  }
  return targets;
}

// Whether a number differs by more than `bound`; NaN is equal to itself.
bool differs(double a, double b, double bound) {
  return std::isnan(a) || std::isnan(b) ? std::isnan(a) != std::isnan(b)
                                        : !(std::abs(a - b) <= bound);
}

template <class D>
std::string compare_loss(const Configuration& c, std::uint64_t seed) {
  return with_loss(c, [&](const auto& loss, Domain domain) {
    using Loss = std::remove_cvref_t<decltype(loss)>;
    constexpr bool has_labels = std::is_same_v<typename Loss::target_type, label_t>;
    using Target = std::conditional_t<has_labels, label_t, float>;
    using Plain = std::conditional_t<has_labels, label_t, double>;
    const KeepIsa keep;
    Generator random(seed);
    const Sizes output = output_sizes(c);
    const index_t batch = c["batch"], features = output.numel();
    const float low = domain == Domain::probabilities || domain == Domain::distances ? 0 : -4;
    const float high = domain == Domain::probabilities                                       ? 1
                       : domain >= Domain::log_probabilities && domain <= Domain::logarithms ? 0
                                                                                             : 4;
    const Numbers x = draw_between(batch * features, random, low, high);
    const auto targets =
        draw_targets<Target>(c, domain, batch * loss.traits(output).target.numel(), random);
    const auto plain = run_loss(geometry::device_of<Host>(1), loss, Slice{batch, batch, 1}, output,
                                x, std::vector<Plain>(targets.begin(), targets.end()));
    // Losses are sums of numbers of one sign, or of logarithms up to 6; each number of a gradient
    // has a few roundings, which count in its largest term.
    const double terms = std::max({1.0, geometry::largest(plain.loss),
                                   6 * (c["sum"] ? static_cast<double>(batch * features) : 1.0)});
    const double bound =
        geometry::sum_rounding * std::max(geometry::largest(plain.dx), c["sum"] ? 1.0 : 0.0);
    for (const Isa path : geometry::paths<D>()) {
      set_isa(path);
      const index_t threads = 1 + random.below(3);
      const Slice slice = geometry::draw_slice<D>(batch, random);
      const auto result = run_loss(geometry::device_of<D>(threads), loss, slice, output,
                                   geometry::as<float>(x), targets);
      const std::string where =
          concat(", inner ", slice.inner, ", ", geometry::where(path, threads));
      if (differs(result.loss[0], plain.loss[0], geometry::sum_rounding * terms))
        return concat("the loss is ", result.loss[0], ", want ", plain.loss[0], where);
      for (std::size_t i = 0; i < plain.dx.size(); ++i)
        if (differs(result.dx[i], plain.dx[i], bound))
          return concat("gradient ", i, " is ", result.dx[i], ", want ", plain.dx[i], ", bound ",
                        bound, where);
      for (std::size_t i = plain.dx.size(); i < result.dx.size(); ++i)
        if (result.dx[i] != 0) return concat("a gradient of padding is ", result.dx[i], where);
    }
    return std::string();
  });
}

}  // namespace

TEST_CASE_TEMPLATE("random geometries of losses", D, GPUNET_TEST_DEVICES) {
  geometry::check_configurations<D>(
      "losses", [](std::uint64_t seed, index_t i) { return draw_loss("losses", seed, i); },
      compare_loss<D>);
}
