// Measures the algorithms that cuBLASLt offers for a product.
#pragma once

#include <optional>

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/gemm/cublaslt_call.cuh>

namespace gpunet::detail {

// Numbers between -1 and 1, the same in every run: SplitMix64 of the index. One index = one number.
struct TrialNumbers {
  float* to;

  GPUNET_FN void operator()(index_t i) const {
    std::uint64_t z = (static_cast<std::uint64_t>(i) + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    to[i] = static_cast<float>(static_cast<std::int32_t>(z >> 32)) * 0x1p-31f;
  }
};

// Sets `differ` where two arrays differ in a bit. One index = one word.
struct CompareWords {
  const std::uint32_t *a, *b;
  std::uint32_t* differ;

  GPUNET_FN void operator()(index_t i) const {
    if (a[i] != b[i]) *differ = 1;
  }
};

// The operands of one product and two sets of its results, in memory borrowed from the device. The
// model's own data stay as they are: a measured product runs several times, and may add to its
// result.
class LtTrial {
 public:
  // Throws Error where the memory is not there.
  LtTrial(Cuda& device, const LtProduct& p)
      : device_(device),
        p_(p),
        begin_(make_timer()),
        end_(make_timer()),
        bytes_(sizeof(float) *
               static_cast<std::size_t>(a_size() + b_size() + 2 * result_size() + 1)),
        memory_(static_cast<float*>(device.allocate(bytes_))) {}
  ~LtTrial() { device_.deallocate(memory_, bytes_); }
  LtTrial(const LtTrial&) = delete;
  LtTrial& operator=(const LtTrial&) = delete;

  // Has to come first.
  void fill_operands() { for_each(device_, a_size() + b_size(), TrialNumbers{memory_}); }

  // Runs the algorithm, with the results going to set 0 or 1; returns false where cuBLASLt refuses.
  bool run(const LtAlgorithm& algorithm, int set) {
    for_each(device_, result_size(), TrialNumbers{results(set)});
    const cublasStatus_t status = call(set).run(device_, algorithm);
    if (is_refusal(status)) return false;
    check(status);
    return true;
  }

  // Returns whether the two sets of results are bitwise identical.
  bool results_are_identical() {
    const auto words = [](float* floats) {
      return reinterpret_cast<std::uint32_t*>(floats);
    };
    std::uint32_t differ = 0, *flag = words(results(2));
    device_.upload(flag, &differ, sizeof differ);
    for_each(device_, result_size(), CompareWords{words(results(0)), words(results(1)), flag});
    device_.download(&differ, flag, sizeof differ);
    return differ == 0;
  }

  // Returns the milliseconds of some runs of an algorithm that has run before.
  float time(const LtAlgorithm& algorithm) {
    constexpr int runs = 3;
    const LtCall product = call(1);
    check(cudaEventRecord(begin_.get(), device_.stream()));
    for (int i = 0; i < runs; ++i)
      check(product.run(device_, algorithm));
    check(cudaEventRecord(end_.get(), device_.stream()));
    check(cudaEventSynchronize(end_.get()));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_.get(), end_.get()));
    return milliseconds;
  }

 private:
  static Event make_timer() {
    cudaEvent_t event;
    check(cudaEventCreate(&event));
    return Event(event);
  }

  // Elements, in multiples of 256 bytes.
  static index_t aligned(index_t size) { return round_up(size, index_t{64}); }
  index_t a_size() const { return aligned(p_.m * p_.k); }
  index_t b_size() const { return aligned(p_.k * p_.n); }
  index_t result_size() const {
    return aligned(p_.m * p_.n) + aligned(p_.bias_size()) +
           aligned(ceil_div(p_.bits_bytes(), index_t{4}));
  }
  float* results(int set) const { return memory_ + a_size() + b_size() + set * result_size(); }

  LtCall call(int set) const {
    LtProduct p = p_;
    p.a = memory_;
    p.b = memory_ + a_size();
    p.d = results(set);
    if (p.bias) p.bias = p.d + aligned(p.m * p.n);
    if (p.bits)
      p.bits =
          reinterpret_cast<const std::byte*>(p.d + aligned(p.m * p.n) + aligned(p.bias_size()));
    return LtCall(p, device_.precision());
  }

  Cuda& device_;
  const LtProduct p_;
  Event begin_, end_;
  const std::size_t bytes_;
  float* const memory_;  // A, B, the results twice, a flag
};

// Returns the number of the algorithm to take: the first one, or a later one that is clearly faster
// and whose results are bitwise identical to the first one's. So measured times change the speed of
// a program, never its results. Waits for the device.
inline std::ptrdiff_t fastest_identical(Cuda& device, const LtProduct& p,
                                        const std::vector<LtAlgorithm>& algorithms) {
  constexpr float clearly = 0.95f;
  std::optional<LtTrial> trial;
  attempt<Error>([&] { trial.emplace(device, p); }, [](const Error&) {});
  if (!trial) return 0;  // no memory to spare
  trial->fill_operands();
  std::ptrdiff_t best = 0;
  float best_time = 0;
  bool has_first = false;  // which cuBLASLt may refuse
  for (std::size_t i = 0; i < algorithms.size(); ++i) {
    if (!trial->run(algorithms[i], has_first ? 1 : 0)) continue;
    if (has_first && !trial->results_are_identical()) continue;
    const float time = trial->time(algorithms[i]);
    if (has_first && !(time < clearly * best_time)) continue;
    has_first = true;
    best = static_cast<std::ptrdiff_t>(i);
    best_time = time;
  }
  return best;
}

}  // namespace gpunet::detail
