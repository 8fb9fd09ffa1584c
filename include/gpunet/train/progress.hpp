// The printed progress of a training: a progress bar, and a line after each epoch.
#pragma once

#include <cstdio>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <gpunet/train/training.hpp>

namespace gpunet::train {

namespace detail {

bool is_interactive(std::FILE* stream);
int columns_of(std::FILE* stream);
int rows_of(std::FILE* stream);
double steady_seconds();

}  // namespace detail

// The output streams and the clock of a progress bar; tests replace them.
struct Terminal {
  std::FILE* lines = stdout;
  std::FILE* bar = stderr;
  bool (*interactive)(std::FILE*) = detail::is_interactive;  // whether to draw a bar
  int (*columns)(std::FILE*) = detail::columns_of;           // width; 80 if unknown
  int (*rows)(std::FILE*) = detail::rows_of;                 // height; 24 if unknown
  double (*seconds)() = detail::steady_seconds;
};

// Options of Progress.
struct ProgressOptions {
  index_t total = 0;       // steps; 0 if unknown
  index_t batch_size = 0;  // samples per step; 0: do not show samples/s
  std::string label = {};  // "epoch 1"
  double elapsed = 0;      // seconds that earlier steps took
};

// A progress bar below the lines that a training loop prints. It is one line, redrawn at most ten
// times per second and erased by the destructor: "epoch 1  42% [####....]  0:06 left  loss 1.486
// 1250 it/s  5000 samples/s". Without a terminal only the lines are printed. update() never
// allocates and costs almost nothing if it does not draw.
class Progress {
 public:
  explicit Progress(ProgressOptions options, Terminal terminal = {});
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  // Shows that `step` steps are done, with the last loss and accuracy (0 to 1).
  void update(index_t step);
  void update(index_t step, double loss) {
    loss_ = loss;
    update(step);
  }
  void update(index_t step, double loss, double accuracy) {
    accuracy_ = accuracy;
    update(step, loss);
  }
  // Returns whether update() would draw now. Ask before computing expensive numbers.
  bool due() const { return interactive_ && terminal_.seconds() >= next_draw_; }

  // Prints a line above the bar.
  void line(std::string_view text);
  // The same with a format as std::printf; cuts the line after 255 characters.
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

// Options of ProgressBar.
struct ProgressBarOptions {
  bool quiet = false;      // shows nothing
  Terminal terminal = {};  // the output streams
};

// Shows a progress bar during an epoch if there is a terminal, and prints a line after each epoch
// and, at the end, why the training stopped and which epoch was the best for EarlyStopping and
// ModelCheckpoint.
class ProgressBar {
 public:
  static constexpr bool never_stops = true;  // a training

  explicit ProgressBar(const ProgressBarOptions& options = {}) : options_(options) {}

  void on_epoch_begin(Training& run);
  void on_step_end(Training& run);
  void on_epoch_end(Training& run);
  void on_fit_end(Training& run);
  void on_exit() noexcept { progress_.reset(); }

 private:
  void begin(const Training& run);

  ProgressBarOptions options_;
  std::optional<Progress> progress_;
};

}  // namespace gpunet::train

#if !GPUNET_COMPILED
#include <gpunet/train/progress.ipp>
#endif
