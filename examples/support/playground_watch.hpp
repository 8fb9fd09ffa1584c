// Shows a training in the terminal: as lines, or as a picture that changes.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gpunet/core/text.hpp>
#include <gpunet/plot.hpp>
#include <gpunet/train/progress.hpp>

#include "playground.hpp"

namespace examples {

// How a picture is shown: in colors if the stream is a terminal, in characters if also NO_COLOR is
// set (no-color.org); only lines if it is not a terminal or too small, or no picture is wanted.
class Watch {
 public:
  Watch(bool wanted, index_t epochs, const Problem& problem, gpunet::train::Terminal terminal = {})
      : out_(terminal.lines), epochs_(epochs), problem_(problem) {
    const char* const no_color = std::getenv("NO_COLOR");
    colors_ = !no_color || *no_color == '\0';
    columns_ = terminal.columns(out_);
    draws_ = wanted && terminal.interactive(out_) && columns_ > side &&
             terminal.rows(out_) >= side / 2 + 3;
    for (int row = 0; row < side; ++row)
      for (int column = 0; column < side; ++column)
        places_.insert(places_.end(), {place(column), -place(row)});
  }

  // Returns whether there is a picture, which needs the network's output at `places()` places.
  bool draws() const { return draws_; }
  const std::vector<float>& places() const { return places_; }

  // Prints one line, for some of the epochs.
  void print(const Moment& now) {
    if (!draws_ && (now.epoch == epochs_ || now.epoch % std::max<index_t>(1, epochs_ / 10) == 0))
      std::fprintf(out_, "%s\n", line(now).c_str()), std::fflush(out_);
  }
  // Draws the picture over the one before, at most thirty times a second. logits [places, 2].
  void draw(const Moment& now, const std::vector<float>& logits) {
    std::this_thread::sleep_until(next_);
    next_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(33);
    losses_.push_back(now.test_loss);
    // Draws over the last picture. The cursor is hidden only meanwhile, so that it is visible after
    // Ctrl-C.
    std::string text = concat("\x1b[?25l", lines_ > 0 ? concat("\r\x1b[", lines_, "A") : "");
    const std::string picture = colors_ ? colored(logits) : plain(logits);
    text += concat(picture, "\n\x1b[K", curve(), "\n\x1b[K",
                   line(now).substr(0, static_cast<std::size_t>(columns_ - 1)), "\n\x1b[?25h");
    lines_ = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    std::fwrite(text.data(), 1, text.size(), out_);
    std::fflush(out_);
  }

 private:
  // Pixels of a picture: with two lines and the cursor's, it fits a terminal of 24.
  static constexpr int side = 40;
  static constexpr float reach = 6;

  static float place(int pixel) {
    return (2 * (static_cast<float>(pixel) + 0.5f) / side - 1) * reach;
  }
  static int pixel(float x) { return static_cast<int>(std::floor((x / reach + 1) / 2 * side)); }

  std::string line(const Moment& now) const {
    return concat("epoch ", now.epoch, "/", epochs_, "  loss ",
                  gpunet::detail::fixed_text(double{now.train_loss}, 4), " (test ",
                  gpunet::detail::fixed_text(double{now.test_loss}, 4), ")  accuracy ",
                  gpunet::detail::fixed_text(100 * double{now.train_accuracy}, 1), " % (test ",
                  gpunet::detail::fixed_text(100 * double{now.test_accuracy}, 1), " %)");
  }

  // Calls f(row, column, class) for the points inside the picture.
  template <class F>
  void each_point(F f) const {
    for (std::size_t i = 0; i < problem_.points.labels.size(); ++i) {
      const int x = pixel(problem_.points.samples[2 * i]),
                y = pixel(-problem_.points.samples[2 * i + 1]);
      if (0 <= x && x < side && 0 <= y && y < side) f(y, x, problem_.points.labels[i]);
    }
  }

  std::string colored(const std::vector<float>& logits) const {
    static constexpr gpunet::plot::Color low{0xF58A35, 0}, high{0x4F9DFF, 0}, between{0x1D2530, 0};
    gpunet::io::Image image{side, side, 3, {}};
    const auto put = [&](std::size_t at, gpunet::plot::Color color) {
      for (std::size_t c = 0; c < 3; ++c)
        image.pixels[3 * at + c] = static_cast<std::uint8_t>(color.light >> (16 - 8 * c) & 0xFF);
    };
    image.pixels.resize(std::size_t{3} * side * side);
    for (std::size_t i = 0; i < logits.size() / 2; ++i) {
      const double share = std::tanh((double{logits[2 * i + 1]} - double{logits[2 * i]}) / 2);
      put(i, gpunet::plot::mix(between, share < 0 ? low : high, 0.5 * std::abs(share)));
    }
    each_point([&](int y, int x, label_t label) {
      put(static_cast<std::size_t>(y * side + x), label == 1 ? high : low);
    });
    return gpunet::plot::half_blocks(image);
  }

  // Class 1 is '+' if predicted and 'o' for a point; class 0 '.' and 'x'.
  std::string plain(const std::vector<float>& logits) const {
    std::string text;
    for (std::size_t row = 0; row < side; row += 2) {
      for (std::size_t i = row * side; i < (row + 1) * side; ++i)
        text += logits[2 * i + 1] > logits[2 * i] ? '+' : '.';
      text += row + 2 < side ? "\n" : "";
    }
    each_point([&](int y, int x, label_t label) {
      text[static_cast<std::size_t>(y / 2 * (side + 1) + x)] = label == 1 ? 'o' : 'x';
    });
    return text;
  }

  // Returns the test losses so far as bars (an eighth of a line per step) or digits.
  std::string curve() const {
    static constexpr const char* bars[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const float most = *std::max_element(losses_.begin(), losses_.end());
    const std::size_t columns = std::min<std::size_t>(side, losses_.size());
    std::string text;
    for (std::size_t i = 0; i < columns; ++i) {
      const float loss = losses_[columns == 1 ? 0 : i * (losses_.size() - 1) / (columns - 1)];
      const auto level = static_cast<std::size_t>(most > 0 ? loss / most * 7.99f : 0);
      text += colors_ ? bars[level] : std::string(1, static_cast<char>('0' + level));
    }
    return text;
  }

  std::FILE* out_;
  index_t epochs_;
  const Problem& problem_;
  bool colors_ = false, draws_ = false;
  int lines_ = 0;  // of the last picture
  int columns_ = 80;
  std::vector<float> places_, losses_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace examples
