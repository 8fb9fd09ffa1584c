// Compares tuned host kernels with the plain version, for random shapes and on every vector path.
#pragma once

#include <array>
#include <doctest/doctest.h>
#include <string>

#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/guarded_buffer.hpp>

#include "support/arrays.hpp"
#include "support/isas.hpp"

using gpunet::GuardedBuffer;

inline constexpr double tuned_tolerance = 1e-5;  // relative, see relative_error

// Random sizes and slices.
class RandomShapes {
 public:
  explicit RandomShapes(int seed) : generator_(seed) {}

  // A number from `low` to `high`.
  gpunet::index_t pick(gpunet::index_t low, gpunet::index_t high) {
    return low + generator_.random() % (high - low + 1);
  }
  // Returns a slice in any order that Host supports; one in three has padding.
  gpunet::Slice slice() {
    const gpunet::index_t inner = std::array{1, 4, 16}[generator_.random() % 3];
    const gpunet::index_t outer = pick(0, 2) > 0 ? 1 : pick(1, inner == 16 ? 2 : 3);
    const gpunet::index_t samples = outer * inner;
    const gpunet::index_t count = pick(0, 2) > 0 ? samples : samples - pick(0, inner - 1);
    return {count, outer, inner};
  }
  // Random numbers whose sums do not cancel, so that relative errors are meaningful.
  std::vector<float> values(gpunet::index_t n) {
    return random_values(n, generator_, -0.25f, 1.0f);
  }
  // A slice of them, padding zero.
  std::vector<float> values(const gpunet::Slice& slice, gpunet::index_t features) {
    return to_slice_order(slice, features, values(slice.count * features));
  }

 private:
  gpunet::Generator generator_;
};

// An array that a kernel writes: the results of the plain and the tuned version.
class Outcome {
 public:
  Outcome(gpunet::Host& host, gpunet::index_t size) : plain_(host, size), tuned_(host, size) {}

  float* plain() const { return plain_.data(); }
  float* tuned() const { return tuned_.data(); }
  std::vector<float> values() const { return tuned_.download(); }
  void start(const std::vector<float>& values) {
    plain_.upload(values);
    start_tuned(values);
  }
  void start_tuned(const std::vector<float>& values) { tuned_.upload(values); }
  void check(const std::string& what) const {
    const std::vector<float> plain = plain_.download(), tuned = tuned_.download();
    CAPTURE(what);
    CHECK(relative_error(plain, tuned) < tuned_tolerance);
  }

 private:
  GuardedBuffer<float, gpunet::Host> plain_, tuned_;
};

// An array that a kernel reads, followed by NaN.
inline GuardedBuffer<float, gpunet::Host> operand(gpunet::Host& host,
                                                  const std::vector<float>& values) {
  GuardedBuffer<float, gpunet::Host> buffer(host, static_cast<gpunet::index_t>(values.size()));
  buffer.upload(values);
  return buffer;
}
