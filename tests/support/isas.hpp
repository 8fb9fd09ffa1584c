// The vector paths of the host kernels, for tests that go through all of them.
#pragma once

#include <vector>

#include <gpunet/device/host/isa.hpp>

// Returns every path that this processor supports, narrowest first.
inline std::vector<gpunet::Isa> isas() {
  std::vector<gpunet::Isa> all;
  for (gpunet::Isa isa : {gpunet::Isa::baseline, gpunet::Isa::avx2, gpunet::Isa::avx512})
    if (isa <= gpunet::detail::widest_isa()) all.push_back(isa);
  return all;
}

// Restores the path in use at the end of a test.
class KeepIsa {
 public:
  KeepIsa() = default;
  ~KeepIsa() { gpunet::set_isa(isa_); }
  KeepIsa(const KeepIsa&) = delete;
  KeepIsa& operator=(const KeepIsa&) = delete;

 private:
  gpunet::Isa isa_ = gpunet::isa();
};
