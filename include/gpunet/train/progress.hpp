// What a training loop shows of itself: a bar on a terminal, lines everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

#include <gpunet/core/config.hpp>

namespace gpunet::train {

namespace detail {

// The columns and rows of the terminal that a stream is; zeros where it is none.
inline winsize window_of(std::FILE* stream) {
  winsize size{};
  ioctl(fileno(stream), TIOCGWINSZ, &size);
  return size;
}

}  // namespace detail

// Where progress is shown and what time it is. The default is the program's own terminal, if it has one.
struct Terminal {
  std::FILE* lines = stdout;
  std::FILE* bar = stderr;
  // Whether a bar can be drawn there,
  bool (*interactive)(std::FILE*) = [](std::FILE* stream) {
    const char* kind = std::getenv("TERM");
    return isatty(fileno(stream)) == 1 && kind && std::string_view(kind) != "dumb";
  };
  // how wide and how high it may be,
  int (*columns)(std::FILE*) = [](std::FILE* stream) {
    const int reported = detail::window_of(stream).ws_col;
    return reported > 0 ? reported : 80;
  };
  int (*rows)(std::FILE*) = [](std::FILE* stream) {
    const int reported = detail::window_of(stream).ws_row;
    return reported > 0 ? reported : 24;
  };
  // and a clock.
  double (*seconds)() = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
};

// What a bar shows beside the steps done.
struct ProgressOptions {
  index_t total = 0;       // steps; 0 where nobody knows
  index_t batch_size = 0;  // samples per step; 0 shows none
  std::string label = {};  // "epoch 1"
};

// A progress bar under the lines that a training loop prints. On a terminal it is one line, redrawn at most ten
// times a second and gone when the object is: "epoch 1  42% [####....]  0:06 left  loss 1.486  1250 it/s  5000
// samples/s". Elsewhere only the lines appear. update() never allocates, and costs next to nothing where nothing is
// drawn.
class Progress {
 public:
  explicit Progress(ProgressOptions options, Terminal terminal = {})
      : options_(std::move(options)), terminal_(terminal), interactive_(terminal.interactive(terminal.bar)) {
    if (interactive_) begin_ = terminal_.seconds(), next_draw_ = begin_ + interval;
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  // `step` steps are done. The loss and the accuracy (0 to 1) shown are the last ones given.
  void update(index_t step) {
    if (!interactive_) return;
    const double now = terminal_.seconds();
    if (now < next_draw_) return;
    next_draw_ = now + interval;
    draw(step, now - begin_);
  }
  void update(index_t step, double loss) {
    loss_ = loss;
    update(step);
  }
  void update(index_t step, double loss, double accuracy) {
    accuracy_ = accuracy;
    update(step, loss);
  }
  // Whether update() would draw now: for numbers that cost something to get.
  bool due() const { return interactive_ && terminal_.seconds() >= next_draw_; }

  // Prints a line, at once.
  void line(std::string_view text) {
    clear();
    std::fwrite(text.data(), 1, text.size(), terminal_.lines);
    std::fputc('\n', terminal_.lines);
    std::fflush(terminal_.lines);
  }
  // The same with a format, as std::printf; what is longer than 255 characters is cut.
  [[gnu::format(printf, 2, 3)]] void print(const char* format, ...) {
    char text[256];
    std::va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    line(text);
  }

 private:
  static constexpr double interval = 0.1;  // seconds between drawings

  // One line of text that is no wider than a limit. A part that does not fit is left out.
  class Line {
   public:
    explicit Line(int columns) : limit_(std::clamp<int>(columns, 0, int{sizeof text_} - 1)) {}

    template <class... Values>
    void add(const char* format, Values... values) {
      const int room = limit_ - size_;
      const int wanted = std::snprintf(text_.data() + size_, static_cast<std::size_t>(room) + 1, format, values...);
      if (wanted >= 0 && wanted <= room) size_ += wanted;
    }
    int size() const { return size_; }
    std::string_view view() const { return {text_.data(), static_cast<std::size_t>(size_)}; }

   private:
    std::array<char, 256> text_{};
    int limit_;
    int size_ = 0;
  };

  void draw(index_t step, double elapsed) {
    const double rate = static_cast<double>(step) / elapsed;
    const int columns = terminal_.columns(terminal_.bar) - 1;  // a full line would wrap
    const bool known = options_.total > 0;
    const index_t done = std::min(step, options_.total);
    Line head(columns);
    if (!options_.label.empty()) head.add("%s  ", options_.label.c_str());
    if (known) head.add("%3d%%", static_cast<int>(100 * done / options_.total));

    // What matters least comes last: it is left out first. Some room is kept for the bar.
    Line tail(columns - head.size() - (known ? std::min(columns / 4, 13) : 0));
    if (!known) tail.add("%lld", static_cast<long long>(step));
    if (known && step > 0) add_time(tail, static_cast<double>(options_.total - step) / rate);
    if (!std::isnan(loss_)) tail.add("  loss %.4g", loss_);
    if (!std::isnan(accuracy_)) tail.add("  acc %.1f%%", 100 * accuracy_);
    tail.add(rate < 10 ? "  %.2f it/s" : "  %.0f it/s", rate);
    if (options_.batch_size > 0) tail.add("  %.0f samples/s", rate * static_cast<double>(options_.batch_size));
    if (known) tail.add("  %lld/%lld", static_cast<long long>(step), static_cast<long long>(options_.total));

    const int bar = std::min(columns - head.size() - tail.size() - 3, 40);  // without the space and the brackets
    if (known && bar >= 4) {
      const auto full = static_cast<int>(bar * done / options_.total);
      head.add(" [%.*s%.*s]", full, "########################################", bar - full,
               "........................................");
    }
    std::fprintf(terminal_.bar, "\r\x1b[K%.*s%.*s", head.size(), head.view().data(), tail.size(),
                 tail.view().data());
    std::fflush(terminal_.bar);
    drawn_ = true;
  }

  static void add_time(Line& line, double seconds) {
    if (!(seconds >= 0 && seconds < 1e7)) return;
    const long long s = std::llround(seconds);
    if (s < 3600)
      line.add("  %lld:%02lld left", s / 60, s % 60);
    else
      line.add("  %lld:%02lld:%02lld left", s / 3600, s / 60 % 60, s % 60);
  }

  void clear() {
    if (!drawn_) return;
    std::fputs("\r\x1b[K", terminal_.bar);
    std::fflush(terminal_.bar);
    drawn_ = false;
  }

  ProgressOptions options_;
  Terminal terminal_;
  bool interactive_;
  bool drawn_ = false;
  double begin_ = 0, next_draw_ = 0;  // seconds
  double loss_ = std::numeric_limits<double>::quiet_NaN();
  double accuracy_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace gpunet::train
