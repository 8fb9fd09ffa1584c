// Writes a training as a web page: one self-contained HTML file. It contains the points and, for
// each stored moment, the losses and the parameters; its script computes the network's output
// everywhere.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/core/text.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/binary.hpp>
#include <gpunet/io/json.hpp>

#include "playground.hpp"

namespace examples {

// The stored moments of a training: more of the early epochs, in which most happens, than of later
// ones.
class Recording {
 public:
  static constexpr double most = 150;

  explicit Recording(index_t epochs) : epochs_(epochs) {}

  // Returns whether the epoch is stored permanently.
  bool keeps(index_t epoch) const {
    const auto whole = static_cast<double>(epochs_);
    const double place =
        std::round(most * std::sqrt(static_cast<double>(epoch) / std::max(whole, 1.0)));
    return epoch == epochs_ || std::llround(whole * (place / most) * (place / most)) == epoch;
  }

  // The last one is stored too, until the next.
  void add(Moment moment) {
    if (!moments_.empty() && !keeps(moments_.back().epoch)) moments_.pop_back();
    moments_.push_back(std::move(moment));
  }

  const std::vector<Moment>& moments() const { return moments_; }

 private:
  index_t epochs_;
  std::vector<Moment> moments_;
};

// Returns a JSON text that is safe in a script: it contains no tags.
inline std::string script_string(const std::string& text) {
  return gpunet::detail::escaped(gpunet::io::detail::json_string(text),
                                 {{'<', "\\u003c"}, {'>', "\\u003e"}});
}

// Returns floats (32 bits each, little-endian) in base 64.
inline std::string packed(const std::vector<float>& values) {
  std::string bytes;
  for (const float value : values)
    gpunet::io::detail::append_number(bytes, std::bit_cast<std::uint32_t>(value));
  return concat('"', gpunet::detail::base64(bytes), '"');
}

// Returns the places at which the page's numbers are compared with gpunet's: a grid of 5 x 5.
inline std::vector<float> places_to_compare() {
  std::vector<float> places;
  for (int y = -2; y <= 2; ++y)
    for (int x = -2; x <= 2; ++x)
      places.insert(places.end(), {2.75f * static_cast<float>(x), 2.75f * static_cast<float>(y)});
  return places;
}

// Returns the data of the page as JSON. `command` is the command line of the program, `logits` [25,
// 2] the final output of the network at places_to_compare().
inline std::string page_data(const PlaygroundSettings& settings, const Problem& problem,
                             const Recording& recording, const std::string& command,
                             const std::vector<float>& logits) {
  std::string features, sizes, epochs;
  for (const Feature& feature : problem.features)
    features += concat(features.empty() ? "" : ",", script_string(std::string(feature.name)));
  for (const index_t size : read_layers(settings.layers))
    sizes += concat(size, ",");
  std::vector<float> points, curves, parameters,
      labels(problem.points.labels.begin(), problem.points.labels.end());
  for (const Moment& m : recording.moments()) {
    epochs += concat(epochs.empty() ? "" : ",", m.epoch);
    curves.insert(curves.end(), {m.train_loss, m.test_loss, m.train_accuracy, m.test_accuracy});
    parameters.insert(parameters.end(), m.parameters.begin(), m.parameters.end());
  }
  return concat("{\"data\":", script_string(settings.data),
                ",\"activation\":", script_string(settings.activation),
                ",\"command\":", script_string(command), ",\"features\":[", features,
                "],\"sizes\":[", problem.features.size(), ",", sizes,
                "2],\"train\":", problem.train_size, ",\"epochs\":[", epochs,
                "],\"points\":", packed(problem.points.samples), ",\"labels\":", packed(labels),
                ",\"curves\":", packed(curves), ",\"parameters\":", packed(parameters),
                ",\"places\":", packed(places_to_compare()), ",\"logits\":", packed(logits), "}");
}

// Returns the whole page.
inline std::string page(const std::string& title, const std::string& data) {
  static constexpr const char* style =
#include "playground.css.raw"
      ;
  static constexpr const char* body =
#include "playground.html.raw"
      ;
  static constexpr const char* scripts[] = {
#include "playground_network.js.raw"
      ,
#include "playground_view.js.raw"
      ,
#include "playground_page.js.raw"
  };
  std::string out = concat(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
      gpunet::detail::xml_text(title), "</title>\n<style>", style, "</style>\n</head>\n", body,
      "<script type=\"application/json\" id=\"data\">", data,
      "</script>\n<script>\n\"use strict\";");
  for (const char* const script : scripts)
    out += script;
  return out + "</script>\n</html>\n";
}

// Writes the page to the file in the settings.
inline void write_page(const PlaygroundSettings& settings, const Problem& problem,
                       const Recording& recording, const std::string& command,
                       const std::vector<float>& logits) {
  gpunet::io::write_file_atomically(settings.html,
                                    page("gpunet playground: " + settings.data,
                                         page_data(settings, problem, recording, command, logits)));
}

}  // namespace examples
