// The main function of the test programs.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cstdlib>
#include <doctest/doctest.h>
#include <iostream>
#include <string_view>

#include <gpunet/gpunet.hpp>

namespace {

// Prints one line of counts at the end, which scripts add up: "[gpunet] 3 passed, 0 failed, 1 skipped".
// A test that says in a MESSAGE that it skips counts as skipped.
class Counter : public doctest::IReporter {
 public:
  static inline bool skip_all = false;  // no test runs, those that would have are counted

  explicit Counter(const doctest::ContextOptions&) {}

  void test_case_start(const doctest::TestCaseData&) override { skips_ = false; }
  void log_message(const doctest::MessageData& message) override {
    if (std::string_view(message.m_string.c_str()).find("skip") != std::string_view::npos) skips_ = true;
  }
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    ++(!stats.testCaseSuccess ? failed_ : skips_ ? skipped_ : passed_);
  }
  void test_run_end(const doctest::TestRunStats&) override { print(); }
  void report_query(const doctest::QueryData& query) override {
    if (!skip_all || !query.run_stats) return;
    skipped_ = query.run_stats->numTestCasesPassingFilters;
    print();
  }

  void test_run_start() override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  void print() const {
    std::cout << "[gpunet] " << passed_ << " passed, " << failed_ << " failed, " << skipped_ << " skipped"
              << std::endl;
  }

  bool skips_ = false;
  unsigned passed_ = 0;
  unsigned failed_ = 0;
  unsigned skipped_ = 0;
};

REGISTER_LISTENER("counter", 1, Counter);

}  // namespace

// With GPUNET_TEST_NEEDS_CUDA=1 and no usable GPU, says why, and ends with the status 77 (skipped).
int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const char* needs_cuda = std::getenv("GPUNET_TEST_NEEDS_CUDA");
  if (needs_cuda && std::string_view(needs_cuda) == "1" && !gpunet::cuda::is_available()) {
    std::cout << "skipped, no usable Cuda device: " << gpunet::cuda::why_not() << std::endl;
    Counter::skip_all = true;
    context.setOption("count", true);
    context.run();
    return 77;
  }
  return context.run();
}
