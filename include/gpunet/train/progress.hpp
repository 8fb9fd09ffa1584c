// What a training loop shows: a progress bar on a terminal, lines everywhere.
#pragma once

#include <cstdio>
#include <limits>
#include <string>
#include <string_view>

#include <gpunet/core/config.hpp>

namespace gpunet::train {

namespace detail {

bool is_interactive(std::FILE* stream);
int columns_of(std::FILE* stream);
int rows_of(std::FILE* stream);
double steady_seconds();

}  // namespace detail

// Where progress is shown, and a clock. By default the program's own terminal, if it has one.
struct Terminal {
  std::FILE* lines = stdout;
  std::FILE* bar = stderr;
  bool (*interactive)(std::FILE*) = detail::is_interactive;  // whether a bar can be drawn on the stream
  int (*columns)(std::FILE*) = detail::columns_of;           // width; 80 if unknown
  int (*rows)(std::FILE*) = detail::rows_of;                 // height; 24 if unknown
  double (*seconds)() = detail::steady_seconds;
};

// What a progress bar shows besides the number of steps.
struct ProgressOptions {
  index_t total = 0;       // steps; 0 if unknown
  index_t batch_size = 0;  // samples per step; 0 to show none
  std::string label = {};  // "epoch 1"
};

// A progress bar below the lines that a training loop prints. On a terminal it is one line, redrawn at most ten times per
// second and erased by the destructor: "epoch 1  42% [####....]  0:06 left  loss 1.486  1250 it/s  5000 samples/s".
// Elsewhere only the lines appear. update() never allocates, and costs almost nothing when it does not draw.
class Progress {
 public:
  explicit Progress(ProgressOptions options, Terminal terminal = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  // `step` steps are done. Shows the loss and the accuracy (0 to 1) that were given last.
  void update(index_t step);
  void update(index_t step, double loss) {
    loss_ = loss;
    update(step);
  }
  void update(index_t step, double loss, double accuracy) {
    accuracy_ = accuracy;
    update(step, loss);
  }
  // Whether update() would draw now: ask before computing numbers that are expensive.
  bool due() const { return interactive_ && terminal_.seconds() >= next_draw_; }

  // Prints a line at once.
  void line(std::string_view text);
  // The same with a format, as std::printf; the line is cut after 255 characters.
  [[gnu::format(printf, 2, 3)]] void print(const char* format, ...);

 private:
  void draw(index_t step, double elapsed);
  void clear();

  ProgressOptions options_;
  Terminal terminal_;
  bool interactive_;
  bool drawn_ = false;
  double begin_ = 0, next_draw_ = 0;  // seconds
  double loss_ = std::numeric_limits<double>::quiet_NaN();
  double accuracy_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/progress.ipp>
#endif
