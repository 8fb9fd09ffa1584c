// The data of 05_playground: points in the plane, their features, and the accuracy of a network on
// them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/shape.hpp>
#include <gpunet/data/train_test_split.hpp>
#include <gpunet/datasets.hpp>

namespace examples {

using gpunet::concat, gpunet::index_t, gpunet::label_t, gpunet::require;

// Settings of the user; noise and train_ratio in percent.
struct PlaygroundSettings {
  std::string data = "circle", features = "x1,x2", layers = "4,2", activation = "tanh";
  std::string device = "auto", html = "playground.html";
  index_t points = 500, epochs = 100, batch_size = 10;
  float noise = 0, train_ratio = 50, lr = 0.03f, l1 = 0, l2 = 0;
  std::uint32_t seed = 0;
  bool watch = false;
};

// A feature of a point (x, y), an input of the network.
struct Feature {
  std::string_view name;
  float (*of)(float x, float y);
};

inline constexpr std::array<Feature, 7> features_of_points{{
    {"x1",
     [](float x, float) {
       return x;
     }},
    {"x2",
     [](float, float y) {
       return y;
     }},
    {"x1^2",
     [](float x, float) {
       return x * x;
     }},
    {"x2^2",
     [](float, float y) {
       return y * y;
     }},
    {"x1x2",
     [](float x, float y) {
       return x * y;
     }},
    {"sinx1",
     [](float x, float) {
       return std::sin(x);
     }},
    {"sinx2",
     [](float, float y) {
       return std::sin(y);
     }},
}};

// Returns the parts between commas.
inline std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts(1);
  for (const char c : list)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

// Parses features, "x1,x2": one or more, without repetition.
inline std::vector<Feature> read_features(const std::string& list) {
  std::vector<Feature> features;
  for (const std::string& name : parts_of(list)) {
    const auto has_name = [&](const Feature& feature) {
      return feature.name == name;
    };
    const auto known = std::find_if(features_of_points.begin(), features_of_points.end(), has_name);
    require(known != features_of_points.end(), "05_playground: --features ", list, ": '", name,
            "' is no feature (want some of x1,x2,x1^2,x2^2,x1x2,sinx1,sinx2)");
    require(std::none_of(features.begin(), features.end(), has_name), "05_playground: --features ",
            list, ": ", name, " is there twice (want each once)");
    features.push_back(*known);
  }
  return features;
}

inline constexpr std::size_t most_hidden_layers = 6;

// Parses the neurons of each hidden layer, "4,2"; "none" for no layer.
inline std::vector<index_t> read_layers(const std::string& list) {
  std::vector<index_t> layers;
  if (list == "none") return layers;
  for (const std::string& size : parts_of(list)) {
    require(size.size() == 1 && size[0] >= '1' && size[0] <= '8', "05_playground: --layers ", list,
            ": '", size,
            "' (want 1 to 8 neurons for each hidden layer, as 4,2; none for no hidden layer)");
    layers.push_back(size[0] - '0');
  }
  require(layers.size() <= most_hidden_layers, "05_playground: --layers ", list, ": ",
          layers.size(), " hidden layers (want ", most_hidden_layers, " or fewer)");
  return layers;
}

// The points, training points first; as a dataset, only these.
struct Problem {
  std::vector<Feature> features;
  gpunet::data::Points points;
  index_t train_size = 0;

  explicit Problem(const PlaygroundSettings& settings)
      : features(read_features(settings.features)) {
    const auto made =
        gpunet::data::make_points(settings.data, settings.points,
                                  {.noise = double{settings.noise} / 100, .seed = settings.seed});
    const auto split = gpunet::data::train_test_split(
        made.size(),
        {.test_size = 1 - double{settings.train_ratio} / 100, .random_state = settings.seed});
    for (const auto& part : {split.train, split.test})
      for (const index_t i : part) {
        const float* const sample = made.samples.data() + 2 * i;
        points.samples.insert(points.samples.end(), sample, sample + 2);
        points.labels.push_back(made.labels[static_cast<std::size_t>(i)]);
      }
    train_size = static_cast<index_t>(split.train.size());
  }

  index_t width() const { return static_cast<index_t>(features.size()); }

  index_t size() const { return train_size; }
  gpunet::Sizes sample_sizes() const { return {width()}; }
  label_t read(index_t i, float* sample) const {
    const float* const at = points.samples.data() + 2 * i;
    for (const Feature& feature : features)
      *sample++ = feature.of(at[0], at[1]);
    return points.labels[static_cast<std::size_t>(i)];
  }

  // Returns the features of places [n, 2]: [n, features].
  std::vector<float> inputs(const std::vector<float>& places) const {
    std::vector<float> values;
    for (std::size_t i = 0; i + 1 < places.size(); i += 2)
      for (const Feature& feature : features)
        values.push_back(feature.of(places[i], places[i + 1]));
    return values;
  }
};

// The losses and accuracies of a network after some epochs.
struct Moment {
  index_t epoch = 0;
  // Accuracies from 0 to 1.
  float train_loss = 0, test_loss = 0, train_accuracy = 0, test_accuracy = 0;
  std::vector<float> parameters = {};

  // logits [n, 2] of all points. The losses are means of the cross-entropy, -log
  // softmax(logits)[class].
  Moment(index_t epochs_done, const Problem& problem, const std::vector<float>& logits,
         std::vector<float> all_parameters)
      : epoch(epochs_done), parameters(std::move(all_parameters)) {
    double losses[2] = {}, right[2] = {};
    const auto n = problem.points.labels.size(),
               train = static_cast<std::size_t>(problem.train_size);
    for (std::size_t i = 0; i < n; ++i) {
      const auto label = static_cast<std::size_t>(problem.points.labels[i]);
      const double lead = double{logits[2 * i + label]} - double{logits[2 * i + 1 - label]};
      losses[i >= train] += std::log1p(std::exp(-std::abs(lead))) + std::max(-lead, 0.0);
      right[i >= train] += lead > 0 || (lead == 0 && label == 0);
    }
    const double sizes[2] = {static_cast<double>(train), static_cast<double>(n - train)};
    train_loss = static_cast<float>(losses[0] / sizes[0]),
    test_loss = static_cast<float>(losses[1] / sizes[1]);
    train_accuracy = static_cast<float>(right[0] / sizes[0]);
    test_accuracy = static_cast<float>(right[1] / sizes[1]);
    require(std::isfinite(train_loss + test_loss), "05_playground: the loss of epoch ", epoch,
            " is not finite (NaN or infinite), use a smaller --lr");
  }
};

// Returns the parameters of a model in the order of its state dict.
template <class Model>
std::vector<float> parameters_of(const Model& net) {
  std::vector<float> arena(static_cast<std::size_t>(net.parameters().numel())), parameters;
  net.device().download(arena.data(), net.parameters().data(), arena.size() * sizeof(float));
  for (const auto& parameter : net.named_parameters()) {
    const float* const first = arena.data() + parameter.offset;
    parameters.insert(parameters.end(), first, first + parameter.sizes.numel());
  }
  return parameters;
}

}  // namespace examples
