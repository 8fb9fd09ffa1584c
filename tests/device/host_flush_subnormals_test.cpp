#include <atomic>
#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/device/host/for_each.hpp>

using namespace gpunet;

namespace {

float times(float a, float b) {
  volatile float x = a;  // not at compile time
  return x * b;
}
bool flushes() {
  return times(1e-30f, 1e-10f) == 0 && times(1e-40f, 1e30f) == 0;
}

struct Square {
  float* x;
  void operator()(index_t i) const { x[i] *= x[i]; }
};

}  // namespace

TEST_CASE("subnormal numbers are flushed for as long as it is asked") {
  CHECK(!flushes());
  {
    const detail::FlushSubnormals flush;
    CHECK(flushes() == bool{GPUNET_X86});
    { const detail::FlushSubnormals again; }
    CHECK(flushes() == bool{GPUNET_X86});
  }
  CHECK(!flushes());
  try {
    const detail::FlushSubnormals flush;
    throw std::runtime_error("");
  } catch (const std::runtime_error&) {
    CHECK(!flushes());
  }
}

TEST_CASE(
    "tasks and loops of a Host flush, on any number of threads, and leave the caller as it was") {
  for (int threads : {1, 3}) {
    Host host({.threads = threads});
    for (index_t tasks : {1, 20}) {
      std::atomic<index_t> flushed = 0;
      const auto count = [&](index_t, int) {
        flushed += flushes() == bool{GPUNET_X86};
      };
      host.run(tasks, count);
      CHECK(flushed == tasks);
      host.run_if(false, tasks, count);
      CHECK(flushed == 2 * tasks);
      CHECK(!flushes());
    }
    for (std::size_t n : {std::size_t{5}, std::size_t{1} << 18}) {
      std::vector<float> x(n, 1e-20f);
      for_each(host, static_cast<index_t>(n), Square{x.data()});
      CHECK(x == std::vector<float>(n, GPUNET_X86 ? 0.0f : 1e-40f));
      CHECK(!flushes());
    }
  }
}
