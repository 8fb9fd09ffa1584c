// Asks both units of the program. Compiled by the C++ compiler; second.cpp is a CUDA unit where
// there is nvcc.
#include <cstdio>

#include "units.hpp"

int main() {
  int failures = 0;
  for (const Answer& answer : {ask_first(), ask_second()}) {
    const bool says_compiled_without =
        answer.why_no_cuda.find("not compiled with CUDA") != std::string::npos;
    const bool right = answer.sum == 10.0f && answer.has_cuda != says_compiled_without;
    std::printf("%s unit: sum %g, '%s': %s\n", answer.has_cuda ? "CUDA" : "host",
                static_cast<double>(answer.sum), answer.why_no_cuda.c_str(),
                right ? "right" : "wrong");
    failures += !right;
  }
  return failures;
}
