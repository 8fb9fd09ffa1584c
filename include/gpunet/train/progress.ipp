// Bodies of progress.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstddef>
#include <cstdlib>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>
#include <utility>

#include <gpunet/core/text.hpp>
#include <gpunet/train/progress.hpp>

namespace gpunet::train {

namespace detail {

inline constexpr double seconds_between_drawings = 0.1;

// Returns columns and rows of the terminal; zeros if the stream is not a terminal.
inline winsize window_of(std::FILE* stream) {
  winsize size{};
  ioctl(fileno(stream), TIOCGWINSZ, &size);
  return size;
}

GPUNET_INLINE bool is_interactive(std::FILE* stream) {
  const char* kind = std::getenv("TERM");
  return isatty(fileno(stream)) == 1 && kind && std::string_view(kind) != "dumb";
}
GPUNET_INLINE int columns_of(std::FILE* stream) {
  const int reported = window_of(stream).ws_col;
  return reported > 0 ? reported : 80;
}
GPUNET_INLINE int rows_of(std::FILE* stream) {
  const int reported = window_of(stream).ws_row;
  return reported > 0 ? reported : 24;
}
GPUNET_INLINE double steady_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// A line of text of limited width. Parts that do not fit are omitted.
class ProgressLine {
 public:
  explicit ProgressLine(int columns) : limit_(std::clamp<int>(columns, 0, int{sizeof text_} - 1)) {}

  template <class... Values>
  void add(const char* format, Values... values) {
    const int room = limit_ - size_;
    const int wanted =
        std::snprintf(text_.data() + size_, static_cast<std::size_t>(room) + 1, format, values...);
    if (wanted >= 0 && wanted <= room) size_ += wanted;
  }
  int size() const { return size_; }
  std::string_view view() const { return {text_.data(), static_cast<std::size_t>(size_)}; }

 private:
  std::array<char, 256> text_{};
  int limit_;
  int size_ = 0;
};

inline void add_time_left(ProgressLine& line, double seconds) {
  if (!(seconds >= 0 && seconds < 1e7)) return;
  const long long s = std::llround(seconds);
  if (s < 3600)
    line.add("  %lld:%02lld left", s / 60, s % 60);
  else
    line.add("  %lld:%02lld:%02lld left", s / 3600, s / 60 % 60, s % 60);
}

}  // namespace detail

GPUNET_INLINE Progress::Progress(ProgressOptions options, Terminal terminal)
    : options_(std::move(options)),
      terminal_(terminal),
      interactive_(terminal.interactive(terminal.bar)) {
  if (!interactive_) return;
  begin_ = terminal_.seconds() - options_.elapsed;
  next_draw_ = terminal_.seconds() + detail::seconds_between_drawings;
}

GPUNET_INLINE void Progress::update(index_t step) {
  if (!interactive_) return;
  const double now = terminal_.seconds();
  if (now < next_draw_) return;
  next_draw_ = now + detail::seconds_between_drawings;
  draw(step, now - begin_);
}

GPUNET_INLINE void Progress::line(std::string_view text) {
  clear();
  std::fwrite(text.data(), 1, text.size(), terminal_.lines);
  std::fputc('\n', terminal_.lines);
  std::fflush(terminal_.lines);
}

GPUNET_INLINE void Progress::print(const char* format, ...) {
  char text[256];
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  line(text);
}

GPUNET_INLINE void Progress::draw(index_t step, double elapsed) {
  const double rate = static_cast<double>(step) / elapsed;
  const int columns = terminal_.columns(terminal_.bar) - 1;  // a full line would wrap
  const bool known = options_.total > 0;
  const index_t done = std::min(step, options_.total);
  detail::ProgressLine head(columns);
  if (!options_.label.empty()) head.add("%s  ", options_.label.c_str());
  if (known) head.add("%3d%%", static_cast<int>(100 * done / options_.total));

  // The least important part comes last and is omitted first. Some width is reserved for the bar.
  detail::ProgressLine tail(columns - head.size() - (known ? std::min(columns / 4, 13) : 0));
  if (!known) tail.add("%lld", static_cast<long long>(step));
  if (known && step > 0)
    detail::add_time_left(tail, static_cast<double>(options_.total - step) / rate);
  if (!std::isnan(loss_)) tail.add("  loss %.4g", loss_);
  if (!std::isnan(accuracy_)) tail.add("  accuracy %.4f", accuracy_);
  tail.add(rate < 10 ? "  %.2f it/s" : "  %.0f it/s", rate);
  if (options_.batch_size > 0)
    tail.add("  %.0f samples/s", rate * static_cast<double>(options_.batch_size));
  if (known)
    tail.add("  %lld/%lld", static_cast<long long>(step), static_cast<long long>(options_.total));

  // Minus the space and the brackets.
  const int bar = std::min(columns - head.size() - tail.size() - 3, 40);
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

GPUNET_INLINE void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[K", terminal_.bar);
  std::fflush(terminal_.bar);
  drawn_ = false;
}

namespace detail {

// Returns "epoch  7/10", as wide in every epoch.
inline std::string label_of(const Training& run) {
  const std::string number = std::to_string(run.epoch), all = std::to_string(run.epochs);
  return concat("epoch ", std::string(all.size() - std::min(all.size(), number.size()), ' '),
                number, "/", all);
}

// Returns four digits of the number as printf's %#.4g, in any locale and padded to one width.
inline std::string number_column(double value) {
  std::array<char, 32> text;
  char* const end =
      std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific, 3)
          .ptr;
  std::string digits(text.data(), end);
  const std::size_t e = digits.find('e');  // none in nan and inf
  const int power = e == std::string::npos ? 4 : std::stoi(digits.substr(e + 1));
  if (-4 <= power && power < 4) digits = gpunet::detail::fixed_text(value, 3 - power);
  digits.resize(std::max<std::size_t>(digits.size(), 10), ' ');
  return digits;
}

// Returns "5.2 s", and of less than a tenth "4.6 ms".
inline std::string duration_text(double seconds) {
  if (seconds < 0.0995) return gpunet::detail::short_text(1000 * seconds, 2) + " ms";
  return gpunet::detail::fixed_text(seconds, 1) + " s";
}

// The line after an epoch: the numbers that are measured, each below that of the epoch before;
// shares are from 0 to 1, as in the history.
inline std::string line_of(const Training& run) {
  const Epoch& epoch = run.current;
  const auto share = [](double value) {
    return gpunet::detail::fixed_text(value, 4);
  };
  std::string text = concat(label_of(run), "  loss ", number_column(epoch.loss));
  if (run.has_accuracy) text += concat("  accuracy ", share(epoch.accuracy));
  if (run.has_validation) text += concat("  val_loss ", number_column(epoch.val_loss));
  if (!std::isnan(epoch.val_accuracy)) text += concat("  val_accuracy ", share(epoch.val_accuracy));
  for (const auto& [name, value] : epoch.measures)
    text += concat("  ", name, " ", number_column(value));
  return concat(text, "  ", duration_text(epoch.seconds));
}

}  // namespace detail

GPUNET_INLINE void ProgressBar::begin(const Training& run) {
  if (options_.quiet || !run.is_main) return;
  progress_.emplace(ProgressOptions{.total = run.steps,
                                    .batch_size = run.batch_size,
                                    .label = detail::label_of(run),
                                    .elapsed = run.current.seconds},
                    options_.terminal);
}
GPUNET_INLINE void ProgressBar::on_epoch_begin(Training& run) {
  begin(run);
}
GPUNET_INLINE void ProgressBar::on_step_end(Training& run) {
  if (!progress_) begin(run);  // goes on within an epoch
  if (progress_ && progress_->due()) progress_->update(run.step, run.loss(), run.accuracy());
}
GPUNET_INLINE void ProgressBar::on_epoch_end(Training& run) {
  if (!progress_) begin(run);
  if (progress_) progress_->line(detail::line_of(run));
}
GPUNET_INLINE void ProgressBar::on_fit_end(Training& run) {
  if (!progress_) begin(run);
  if (!progress_) return;
  if (!run.history.why.empty())
    progress_->line(concat(run.stopped() ? "stopped: " : "", run.history.why));
  for (const BestEpoch& best : run.history.best)
    progress_->line(concat("best epoch: ", best.number, ", ", best.monitor, " ",
                           gpunet::detail::short_text(best.value, 4),
                           best.weights.empty() ? "" : "; its weights are ", best.weights));
}

}  // namespace gpunet::train
