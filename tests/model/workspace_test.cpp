#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <utility>
#include <vector>

#include <gpunet/device/host/host.hpp>
#include <gpunet/model/workspace.hpp>

#include "support/networks.hpp"

using namespace gpunet;

namespace {

using Range = std::pair<std::uintptr_t, std::uintptr_t>;

template <class T>
Range range(const T* data, index_t size) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  return {begin, begin + static_cast<std::uintptr_t>(size) * sizeof(T)};
}

}  // namespace

TEST_CASE("the arrays of all slots and workers are apart, aligned, and long enough") {
  Host host({.threads = 1});
  const Plan plan(nn::lower<Host, float>(LeNet{}), false, InputGradient::skip);
  for (const Slice& slice : {Slice{1, 1, 1}, Slice{4, 1, 4}, Slice{16, 1, 16}, Slice{5, 2, 4}}) {
    Workspace<float, Host> workspace;
    constexpr index_t slots = 3, workers = 2, scratch = 1000;
    workspace.reserve(host, plan, slice, slots, workers, scratch);
    const index_t samples = slice.samples();
    std::vector<Range> ranges;
    for (index_t slot = 0; slot < slots; ++slot) {
      const SliceMemory<float> memory = workspace.at(slot, 0);
      ranges.push_back(range(memory.input, plan.input_features * samples));
      ranges.push_back(range(memory.outputs, plan.output_elements * samples));
      ranges.push_back(range(memory.output_gradient, plan.output_features * samples));
      ranges.push_back(range(memory.cache, plan.cache_bytes * samples));
    }
    for (index_t worker = 0; worker < workers; ++worker) {
      const SliceMemory<float> memory = workspace.at(0, worker);
      ranges.push_back(range(memory.gradients, plan.gradient_elements * samples));
      ranges.push_back(range(memory.scratch, scratch));
    }
    std::sort(ranges.begin(), ranges.end());
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      CHECK(ranges[i].first % Host::alignment == 0);
      if (i > 0) CHECK(ranges[i].first >= ranges[i - 1].second);
    }
    CHECK(ranges.back().second - ranges.front().first > 0);
    CHECK(workspace.bytes() > 0);
  }
}

TEST_CASE("a workspace grows and does not shrink") {
  Host host({.threads = 1});
  const Plan plan(nn::lower<Host, float>(LeNet{}), false, InputGradient::skip);
  Workspace<float, Host> workspace;
  CHECK(workspace.bytes() == 0);
  workspace.reserve(host, plan, {16, 1, 16}, 2, 1, 0);
  const std::size_t large = workspace.bytes();
  const float* memory = workspace.at(0, 0).outputs;
  workspace.reserve(host, plan, {1, 1, 1}, 1, 1, 0);
  CHECK(workspace.bytes() == large);
  workspace.reserve(host, plan, {16, 1, 16}, 2, 1, 0);
  CHECK(workspace.bytes() == large);
  CHECK(workspace.at(0, 0).outputs == memory);
}
