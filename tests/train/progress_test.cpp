#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <sys/ioctl.h>

#include <gpunet/train/progress.hpp>

using gpunet::train::Progress;
using gpunet::train::ProgressOptions;
using gpunet::train::Terminal;

namespace {

// What the fake terminal says.
double now = 0;
int width = 120;

// A stream into memory.
class Stream {
 public:
  Stream() : file_(open_memstream(&text_, &size_)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() {
    std::fclose(file_);
    std::free(text_);
  }
  std::FILE* file() { return file_; }
  // All that was written since the last call.
  std::string take() {
    std::fflush(file_);
    std::string fresh(text_ + taken_, size_ - taken_);
    taken_ = size_;
    return fresh;
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0, taken_ = 0;
  std::FILE* file_;
};

// A terminal of which both streams can be read.
struct FakeTerminal {
  Stream lines, bar;
  explicit FakeTerminal(int columns = 120) {
    now = 100;
    width = columns;
  }
  Terminal get(bool interactive = true) {
    return {.lines = lines.file(),
            .bar = bar.file(),
            .interactive = interactive ? [](std::FILE*) { return true; } : [](std::FILE*) { return false; },
            .columns = [](std::FILE*) { return width; },
            .seconds = [] { return now; }};
  }
};

constexpr std::string_view erase = "\r\x1b[K";

// The bar without what erases the line before it; "?" if something else was written.
std::string shown(std::string text) {
  return text.starts_with(erase) && text.rfind(erase) == 0 ? text.substr(erase.size()) : "?" + text;
}

}  // namespace

TEST_CASE("a pipe gets lines only") {
  FakeTerminal terminal;
  {
    Progress progress({.total = 10, .label = "epoch 1"}, terminal.get(false));
    for (int step = 1; step <= 10; ++step) {
      now += 1;
      progress.update(step, 2.5);
      if (step % 5 == 0) progress.line("[1, " + std::to_string(step) + "] loss: 2.500");
    }
    CHECK(terminal.lines.take() == "[1, 5] loss: 2.500\n[1, 10] loss: 2.500\n");
  }
  CHECK(terminal.bar.take().empty());
}

TEST_CASE("a terminal gets a bar with rate, time left and loss") {
  FakeTerminal terminal;
  Progress progress({.total = 12500, .batch_size = 4, .label = "epoch 1"}, terminal.get());
  now += 4;
  progress.update(5000, 1.48649);
  CHECK(shown(terminal.bar.take()) ==
        "epoch 1   40% [################........................]  0:06 left  loss 1.486  1250 "
        "it/s  5000 samples/s  "
        "5000/12500");
  now += 6;
  progress.update(12500, 0.5);
  CHECK(shown(terminal.bar.take()) ==
        "epoch 1  100% [########################################]  0:00 left  loss 0.5  1250 it/s  "
        "5000 samples/s  "
        "12500/12500");
}

TEST_CASE("what is not known is not shown") {
  FakeTerminal terminal;
  Progress progress({}, terminal.get());
  now += 100;
  progress.update(50);
  CHECK(shown(terminal.bar.take()) == "50  0.50 it/s");
  now += 100;
  progress.update(60, 3.0);
  CHECK(shown(terminal.bar.take()) == "60  loss 3  0.30 it/s");

  Progress slow({.total = 100'000}, terminal.get());
  now += 1;
  slow.update(0);
  CHECK(!shown(terminal.bar.take()).starts_with("?"));
  slow.update(1);
  now += 9;
  slow.update(10);
  CHECK(terminal.bar.take().find("  27:46:30 left  ") != std::string::npos);
}

TEST_CASE("the bar is redrawn at most ten times a second") {
  FakeTerminal terminal;
  Progress progress({.total = 10'000}, terminal.get());
  int drawn = 0;
  for (int step = 1; step <= 10'000; ++step) {
    now += 0.0002;
    progress.update(step, 1.0);
    drawn += !terminal.bar.take().empty();
  }
  CHECK(drawn >= 19);
  CHECK(drawn <= 20);
}

TEST_CASE("a line takes the place of the bar") {
  FakeTerminal terminal;
  {
    Progress progress({.total = 10}, terminal.get());
    progress.line("first");
    CHECK(terminal.bar.take().empty());
    now += 1;
    progress.update(1);
    terminal.bar.take();
    progress.line("second");
    CHECK(terminal.bar.take() == erase);
    CHECK(terminal.lines.take() == "first\nsecond\n");
    now += 1;
    progress.update(2);
    CHECK(!terminal.bar.take().empty());
  }
  CHECK(terminal.bar.take() == erase);
}

TEST_CASE("the bar fits every width") {
  for (int columns = 0; columns <= 400; ++columns) {
    FakeTerminal terminal(columns);
    Progress progress({.total = 12500, .batch_size = 4, .label = "epoch 1"}, terminal.get());
    now += 4;
    progress.update(5000, 1.48649);
    const std::string bar = shown(terminal.bar.take());
    CHECK(bar.find('?') == std::string::npos);
    if (static_cast<int>(bar.size()) >= std::max(columns, 1)) FAIL_CHECK(columns << ": " << bar);
    if (columns == 40) CHECK(bar == "epoch 1   40% [####........]  0:06 left");
    if (columns == 80)
      CHECK(bar ==
            "epoch 1   40% [#####........]  0:06 left  loss 1.486  1250 it/s  5000 samples/s");
    if (columns == 25) CHECK(bar == "epoch 1   40% [###.....]");
  }
  FakeTerminal terminal(50);
  Progress progress({.total = 10, .label = std::string(1000, 'x')}, terminal.get());
  now += 1;
  progress.update(5);
  CHECK(shown(terminal.bar.take()).size() < 50);
}

TEST_CASE("a real terminal is told from a pipe") {
  const std::unique_ptr<std::FILE, decltype(&std::fclose)> pipe(std::tmpfile(), &std::fclose);
  CHECK(!Terminal{}.interactive(pipe.get()));
  CHECK(Terminal{}.columns(pipe.get()) == 80);
  CHECK(Terminal{}.rows(pipe.get()) == 24);
  const double before = Terminal{}.seconds();
  CHECK(Terminal{}.seconds() >= before);

  const int controller = posix_openpt(O_RDWR | O_NOCTTY);
  if (controller < 0 || grantpt(controller) != 0 || unlockpt(controller) != 0) {
    MESSAGE("skipped: no pseudo-terminal here");
    return;
  }
  const std::unique_ptr<std::FILE, decltype(&std::fclose)> terminal(
      std::fopen(ptsname(controller), "w"), &std::fclose);
  REQUIRE(terminal);
  const winsize size{33, 57, 0, 0};
  ioctl(controller, TIOCSWINSZ, &size);
  CHECK(Terminal{}.columns(terminal.get()) == 57);
  CHECK(Terminal{}.rows(terminal.get()) == 33);
  const char* kind = std::getenv("TERM");
  const std::string old_kind = kind ? kind : "";
  setenv("TERM", "xterm", 1);
  CHECK(Terminal{}.interactive(terminal.get()));
  setenv("TERM", "dumb", 1);
  CHECK(!Terminal{}.interactive(terminal.get()));
  kind ? setenv("TERM", old_kind.c_str(), 1) : unsetenv("TERM");
  close(controller);
}
