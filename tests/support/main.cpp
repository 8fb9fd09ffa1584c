// The main function of the test programs.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <doctest/doctest.h>
#include <iostream>
#include <string_view>
#include <vector>

#include <gpunet/core/launch.hpp>
#include <gpunet/device/select.hpp>

namespace {

// Prints one line of counts at the end, which scripts add up: "[gpunet] 3 passed, 0 failed, 1
// skipped". A test whose MESSAGE says that it skips counts as skipped.
class Counter : public doctest::IReporter {
 public:
  static inline bool skip_all = false;  // run no test, but count those that would run

  explicit Counter(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData&) override { skips_ = false; }
  void log_message(const doctest::MessageData& message) override {
    if (std::string_view(message.m_string.c_str()).find("skip") != std::string_view::npos)
      skips_ = true;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (skips_ && stats.failure_flags == 0) ++skipped_;
  }
  void test_run_end(const doctest::TestRunStats& stats) override {
    print(stats.numTestCasesPassingFilters - stats.numTestCasesFailed - skipped_,
          stats.numTestCasesFailed, skipped_);
  }
  void report_query(const doctest::QueryData& query) override {
    if (skip_all && query.run_stats) print(0, 0, query.run_stats->numTestCasesPassingFilters);
  }

  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  // Of several processes that run the same tests, one counts them.
  static void print(unsigned passed, unsigned failed, unsigned skipped) {
    if (failed == 0 && gpunet::launch_of_process().rank > 0) return;
    std::cout << "[gpunet] " << passed << " passed, " << failed << " failed, " << skipped
              << " skipped" << std::endl;
  }

  bool skips_ = false;
  unsigned skipped_ = 0;
};

REGISTER_LISTENER("counter", 1, Counter);

}  // namespace

// Options of the address sanitizer. By default it ends a program that runs out of memory; tests
// expect the error.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}

// With GPUNET_TEST_NEEDS_CUDA=1 and no usable GPU, prints the reason and ends with status 77
// (skipped).
int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const char* needs_cuda = std::getenv("GPUNET_TEST_NEEDS_CUDA");
  if (needs_cuda && std::string_view(needs_cuda) == "1" && !gpunet::Cuda::is_available()) {
    std::cout << "skipped, no usable Cuda device: " << gpunet::Cuda::why_not() << std::endl;
    Counter::skip_all = true;
    std::vector<const char*> arguments(argv, argv + argc);
    arguments.push_back("--count");
    context.applyCommandLine(static_cast<int>(arguments.size()), arguments.data());
    context.run();
    return 77;
  }
  return context.run();
}
