#include "../../benchmarks/child.hpp"

#include <cerrno>
#include <doctest/doctest.h>

using namespace bench;

namespace {

Command shell(const char* script) {
  return {{"sh", "-c", script}, {}, {"GREETING=good day"}};
}

}  // namespace

TEST_CASE("a worker answers line by line, in the environment that it was given") {
  Child child(shell("while read -r line; do echo \"$GREETING, $line\"; done"));
  CHECK(child.ask("one") == "good day, one");
  CHECK(child.ask("two") == "good day, two");
}

TEST_CASE("a worker that ends is an error, not a wait") {
  Child child(shell("read -r line; exit 3"));
  CHECK_THROWS_WITH_AS(child.ask("start"), doctest::Contains("has ended before it answered"),
                       gpunet::Error);
  CHECK_THROWS_AS(child.ask("again"), gpunet::Error);
}

TEST_CASE("a worker that was killed says by what") {
  CHECK_THROWS_WITH_AS(Child(shell("kill -ALRM $$")).read_line(),
                       doctest::Contains("(its time limit was over)"), gpunet::Error);
  CHECK_THROWS_WITH_AS(Child(shell("kill -SEGV $$")).read_line(),
                       doctest::Contains("(Segmentation fault)"), gpunet::Error);
  CHECK_THROWS_WITH_AS(Child(shell("exit 3")).read_line(), doctest::Contains("(see above)"),
                       gpunet::Error);
}

TEST_CASE("a worker that hangs is ended, and what it said before stays") {
  Command command = shell("read -r line; echo one; read -r line; printf half; exec sleep 1000");
  command.seconds = 0.2;
  Child child(command);
  CHECK(child.ask("first") == "one");
  CHECK_FALSE(child.has_ended());
  CHECK_THROWS_WITH_AS(child.ask("second"), doctest::Contains("did not answer within 0.2 s"),
                       gpunet::Error);
  CHECK_THROWS_WITH_AS(child.ask("third"),
                       doctest::Contains("has ended before it answered (Killed)"), gpunet::Error);
  CHECK(child.has_ended());
}

TEST_CASE("a worker dies with its object") {
  pid_t pid = 0;
  {
    Child child(shell("read -r line; echo $$; exec sleep 1000"));
    pid = std::stoi(child.ask("who?"));
    CHECK(::kill(pid, 0) == 0);
  }
  CHECK(::kill(pid, 0) == -1);
  CHECK(errno == ESRCH);
}
