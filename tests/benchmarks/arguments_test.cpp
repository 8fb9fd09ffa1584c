#include "../../benchmarks/arguments.hpp"

#include <doctest/doctest.h>
#include <initializer_list>

using namespace bench;

namespace {

Arguments parse(std::initializer_list<const char*> words, int cores = 2) {
  std::vector<char*> argv{const_cast<char*>("bench")};
  for (const char* word : words)
    argv.push_back(const_cast<char*>(word));
  const std::vector<Job> jobs{{.name = "one", .goals = {1}, .cost = {}, .make = nullptr},
                              {"two", {1}, {}, nullptr, JobSet::usual},
                              {"three", {1}, {}, nullptr},
                              {"four", {1}, {}, nullptr, JobSet::convolutions}};
  return parse_arguments(static_cast<int>(argv.size()), argv.data(), jobs, cores);
}

std::string error_of(std::initializer_list<const char*> words) {
  try {
    parse(words);
  } catch (const gpunet::Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE(
    "without arguments: all jobs, or all quick ones, one and two threads as far as there are "
    "cores") {
  CHECK(parse({}).jobs == std::vector<std::string>{"one", "two", "three"});
  CHECK(parse({"--quick"}).jobs == std::vector<std::string>{"one", "three"});
  CHECK(parse({"--convolutions"}).jobs == std::vector<std::string>{"four"});
  CHECK(parse({"--real"}).jobs.empty());
  CHECK(parse({}).threads == std::vector{1, 2});
  CHECK(parse({}, 1).threads == std::vector{1});
  CHECK(parse({}).repetitions() >= 7);
  CHECK(parse({"--quick"}).repetitions() >= 7);
}

TEST_CASE("jobs and threads may be given more than once") {
  CHECK(parse({"--job", "two", "--job=one"}).jobs == std::vector<std::string>{"two", "one"});
  CHECK(parse({"--quick", "--job", "two"}).jobs == std::vector<std::string>{"two"});
  CHECK(parse({"--threads", "2", "--threads", "1"}).threads == std::vector{1, 2});
}

TEST_CASE("what cannot work is refused before anything is measured") {
  CHECK(error_of({"--job", "five"}) ==
        "bench: there is no job 'five', want one of one, two, three, four");
  CHECK(error_of({"--threads", "3"}).find("bench: --threads 3 (want 1 to 2") == 0);
  CHECK(error_of({"--threads", "0"}).find("bench: --threads 0 (want 1 to 2") == 0);
  CHECK(error_of({"--threads", "two"}) == "bench: --threads 'two' is not a whole number");
  CHECK(error_of({"--quick=yes"}) == "bench: --quick takes no value");
  CHECK(error_of({"--quik"}) == "bench: unknown option '--quik', see bench --help");
  CHECK(error_of({"--json"}) == "bench: --json has no value (want FILE)");
  CHECK(error_of({"--json", "/no/such/folder/results.json"})
            .find("cannot write /no/such/folder/results.json") != std::string::npos);
  CHECK(error_of({"--markdown", "/"}).find("it is a folder") != std::string::npos);
}
