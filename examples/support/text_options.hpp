// The command line of 09_text, and its text as a dataset.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/core/random.hpp>
#include <gpunet/data/dataset.hpp>
#include <gpunet/data/sample_random.hpp>
#include <gpunet/io/atomic_file.hpp>
#include <gpunet/io/file.hpp>
#include <gpunet/io/formats.hpp>
#include <gpunet/plot.hpp>

#include "options.hpp"

namespace examples {

using gpunet::index_t, gpunet::label_t;

// Returns a text of simple sentences, the default of --text.
inline std::string built_in_text() {
  constexpr std::array who{"the captain", "a young baker",    "the old gardener",
                           "my neighbor", "the quiet sailor", "a tired clerk"};
  constexpr std::array does{"paints", "repairs", "forgets", "carries", "finds", "sells"};
  constexpr std::array what{"a small boat",     "the red door", "an empty basket",
                            "the broken clock", "a warm coat",  "two lamps"};
  constexpr std::array where{"by the river",    "in the market",   "under the bridge",
                             "behind the mill", "near the harbor", "at home"};
  constexpr std::array when{"in the morning", "before the rain", "after supper", "every winter"};
  gpunet::data::Random random(1);
  const auto one_of = [&](const auto& words) {
    return words[random.integer<std::size_t>(0, words.size() - 1)];
  };
  std::string text;
  while (text.size() < 24000) {
    std::string sentence =
        gpunet::concat(one_of(who), " ", one_of(does), " ", one_of(what), " ", one_of(where));
    if (random.integer(0, 2) == 0) sentence = gpunet::concat(one_of(when), " ", sentence);
    text += sentence + (random.integer(0, 4) == 0 ? ".\n" : ". ");
  }
  return text;
}

// A text whose characters, which are bytes, are numbered.
class Text {
 public:
  // Throws Error if there are fewer than two different characters.
  explicit Text(const std::string& text) {
    std::array<bool, 256> used{};
    for (const char c : text)
      used[static_cast<unsigned char>(c)] = true;
    for (std::size_t c = 0; c < used.size(); ++c)
      if (used[c]) characters_ += static_cast<char>(c);
    gpunet::require(characters_.size() >= 2, "09_text: the text has ", characters_.size(),
                    " different characters (want 2 or more), give another --text");
    numbers_ = numbers(text);
  }

  index_t vocabulary() const { return std::ssize(characters_); }
  const std::vector<label_t>& numbers() const { return numbers_; }
  // Returns the numbers of another text. Throws Error for characters that this one does not have.
  std::vector<label_t> numbers(std::string_view other) const {
    std::vector<label_t> result;
    for (const char c : other) {
      const std::size_t at = characters_.find(c);
      gpunet::require(at != characters_.npos, "09_text: the text has no '", std::string(1, c),
                      "' (the network knows its characters only), give another --prompt");
      result.push_back(static_cast<label_t>(at));
    }
    return result;
  }
  char character(label_t number) const { return characters_[static_cast<std::size_t>(number)]; }

 private:
  std::string characters_;  // sorted
  std::vector<label_t> numbers_;
};

// Windows of a text, `step` characters apart, each with the characters that follow as targets.
struct Windows {
  std::vector<label_t> numbers;
  index_t length, step;

  index_t size() const { return (std::ssize(numbers) - length - 1) / step + 1; }
  gpunet::Sizes sample_sizes() const { return {length}; }
  gpunet::Sizes target_sizes() const { return {length}; }
  void read(index_t i, float* sample, label_t* target) const {
    const auto begin = numbers.begin() + i * step;
    std::transform(begin, begin + length, sample,
                   [](label_t number) { return static_cast<float>(number); });
    std::copy_n(begin + 1, length, target);
  }
};

// Draws an index with the probabilities softmax(logits / temperature).
inline label_t draw(const std::vector<float>& logits, double temperature,
                    gpunet::Generator& generator) {
  const float most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> sums;
  for (double sum = 0; const float logit : logits)
    sums.push_back(sum += std::exp(static_cast<double>(logit - most) / temperature));
  const double drawn = generator.uniform(0.0, sums.back());
  const auto at = std::upper_bound(sums.begin(), sums.end() - 1, drawn);
  return static_cast<label_t>(at - sums.begin());
}

struct TextOptions {
  Options options;
  std::string device = options.device();
  std::string file =
      options.get("--text", "FILE", "a text to learn; without it, built-in sentences", "");
  std::string model = options.choice("--model", {"lstm", "transformer"}, "the network");
  index_t length = options.get("--window", "N", "characters that the network sees at a time",
                               index_t{64}, index_t{2});
  index_t epochs = options.epochs(4), batch_size = options.batch_size(32);
  double lr = options.get("--lr", "X", "learning rate", 0.002, 0.0);
  std::uint64_t seed = options.seed(0);
  int threads = options.threads();
  index_t characters =
      options.get("--length", "N", "characters to write", index_t{300}, index_t{0});
  double temperature = options.get("--temperature", "X",
                                   "divides the logits: low values give likelier texts", 0.7, 0.01);
  std::string prompt =
      options.get("--prompt", "WORDS",
                  "how the new text begins; by default with the first letter of --text", "");
  std::string save = options.get("--save", "FILE", "where to save the network", "text.safetensors");
  std::string load =
      options.get("--load", "FILE", "write with this network instead of training one", "");
  std::string picture =
      options.get("--picture", "FILE", "where to draw the losses, .svg or .png", "text.svg");
  std::string text;

  TextOptions(int argc, char** argv)
      : options(argc, argv, "09_text",
                "Trains a network on a text, character by character, and writes more of it.") {
    options.finish();
    if (file.empty()) {
      text = built_in_text();
    } else {
      const std::vector<std::byte> bytes = gpunet::io::read_file(file);
      text.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    }
    gpunet::require(std::ssize(text) >= 20 * length, "09_text: a text of ", text.size(),
                    " characters (want ", 20 * length,
                    " or more: 20 windows), give a longer --text or a smaller --window");
    gpunet::require(epochs >= 1 || !load.empty(), "09_text: --epochs ", epochs,
                    " (want 1 or more)");
    if (prompt.empty()) prompt = file.empty() ? "the captain" : text.substr(0, 1);
    Text(text).numbers(prompt);  // throws now, not after the training
    if (!load.empty()) return;
    gpunet::require(
        !save.ends_with(".npy"), "09_text: --save ", save,
        " (a .npy file holds one array, and there are many), name it .npz, .pth or .safetensors");
    gpunet::io::written_format(save);
    const gpunet::io::AtomicFile probe(save);  // likewise
    gpunet::plot::probe(picture);
  }
};

}  // namespace examples
