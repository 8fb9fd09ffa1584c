// How evenly predictions of LeNet at batch 1 take their time, beside a loop of arithmetic of the
// same length, which shows what the machine does to any program: gpunet_latency [seconds].
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/create.hpp>

#include "networks.hpp"

using namespace gpunet;

namespace {

using Clock = std::chrono::steady_clock;

struct Times {
  std::vector<double> microseconds;

  double at(double part) {
    std::sort(microseconds.begin(), microseconds.end());
    return microseconds[static_cast<std::size_t>(part *
                                                 static_cast<double>(microseconds.size() - 1))];
  }
  void print(const char* what) {
    const double median = at(0.5);
    std::printf("| %s | %zu | %.2f | %.2f | %.2f | %.2f | %.2f |\n", what, microseconds.size(),
                median, at(0.99), at(0.999), at(1), at(0.999) / median);
  }
};

template <class F>
void time(Times& times, F f) {
  const auto start = Clock::now();
  f();
  times.microseconds.push_back(
      std::chrono::duration<double, std::micro>(Clock::now() - start).count());
}

volatile double beginning = 0;  // unknown to the compiler

// Multiplies and adds in registers.
double arithmetic(index_t times) {
  double x = beginning;
  for (index_t i = 0; i < times; ++i)
    x = x * 0.999 + 0.001;
  return x;
}

}  // namespace

int main(int argc, char** argv) {
  const double seconds = argc > 1 ? std::strtod(argv[1], nullptr) : 5;
  if (!(seconds > 0 && seconds <= 3600)) {
    std::fprintf(stderr, "gpunet_latency: '%s' (want seconds, more than 0 and at most 3600)\n",
                 argv[1]);
    return 1;
  }
  Host host({.threads = 1});
  const Model<bench::LeNet, Host> net(host);
  Predictor<Host, float> predict(net);
  const Tensor<float, Host> x = rand(host, {1, 3, 32, 32});
  Tensor<float, Host> y(host, {1, 10});
  volatile double sink = 0;

  Times predictions, loops;
  for (int i = 0; i < 100; ++i) {  // warm-up, and the length of the loop
    time(predictions, [&] { predict.into(y, x); });
    time(loops, [&] { sink = arithmetic(1000); });
  }
  const auto length = static_cast<index_t>(1000 * predictions.at(0.5) / loops.at(0.5));
  const double most = seconds * 1e6 / predictions.at(0.5);
  for (Times* times : {&predictions, &loops}) {
    times->microseconds.clear();
    times->microseconds.reserve(static_cast<std::size_t>(most));
  }
  for (const auto end = Clock::now() + std::chrono::duration<double>(seconds);
       Clock::now() < end;) {
    time(predictions, [&] { predict.into(y, x); });
    time(loops, [&] { sink = arithmetic(length); });
  }
  std::printf(
      "| one thread | calls | median us | p99 | p99.9 | longest | p99.9 / median "
      "|\n|---|---:|---:|---:|---:|---:|---:|\n");
  predictions.print("LeNet, batch 1");
  loops.print("a loop in registers");
}
