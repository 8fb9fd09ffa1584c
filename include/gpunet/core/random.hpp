// Random numbers, bitwise identical to PyTorch's on a CPU.
#pragma once

#include <array>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <mutex>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/lifetime.hpp>

namespace gpunet {

class StateVisitor;  // core/state.hpp

namespace detail {

// The Mersenne Twister MT19937 (Matsumoto and Nishimura 1998). Gives the numbers of std::mt19937,
// whose header is slow to compile.
class MersenneTwister {
 public:
  // Restarts the sequence.
  void seed(std::uint32_t seed);

  // Returns 32 random bits.
  std::uint32_t operator()() {
    if (next_ == size) twist();
    return tempered(state_[next_++]);
  }
  // Writes the next n words of 32 random bits.
  void operator()(std::uint32_t* words, index_t n);

  // Passes over that number of words.
  void discard(std::uint64_t words);

  void visit_state(StateVisitor& state);

 private:
  static constexpr std::size_t size = 624;

  static std::uint32_t tempered(std::uint32_t word) {
    word ^= word >> 11;
    word ^= word << 7 & 0x9d2c5680u;
    word ^= word << 15 & 0xefc60000u;
    return word ^ word >> 18;
  }
  // Computes the next `size` words.
  void twist();

  std::array<std::uint32_t, size> state_;
  std::size_t next_ = size;
};

}  // namespace detail

// A random number generator: a Mersenne Twister and the numbers that PyTorch makes of its words. It
// uses no distributions of the standard library, whose results differ between platforms.
class Generator {
 public:
  // Of a PyTorch generator that was not seeded.
  static constexpr std::uint64_t default_seed = 67280421310721;

  Generator() { manual_seed(default_seed); }
  explicit Generator(std::integral auto seed) { manual_seed(seed); }
  // A copy, or a moved one, goes on at the same place of the sequence, on its own.
  Generator(const Generator& other)
      : engine_(other.engine_),
        has_next_normal_(other.has_next_normal_),
        next_normal_(other.next_normal_) {}
  Generator& operator=(const Generator& other) {
    engine_ = other.engine_;
    has_next_normal_ = other.has_next_normal_;
    next_normal_ = other.next_normal_;
    return *this;
  }

  // Restarts the sequence. As in PyTorch, only the low 32 bits of the seed count.
  void manual_seed(std::integral auto seed) {
    engine_.seed(static_cast<std::uint32_t>(seed));
    has_next_normal_ = false;
    // So that the checkpoint of a seeded generator does not depend on earlier draws.
    next_normal_ = 0;
  }

  // Locks the generator, so that threads may share it: hold the lock while drawing numbers that
  // belong together, as gpunet does for each model, tensor or order that it draws. The other
  // functions of this class do not lock.
  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  // Returns 32 random bits.
  std::uint32_t random() { return engine_(); }
  // Writes n times 32 random bits.
  void random(std::uint32_t* words, index_t n) { engine_(words, n); }

  // Passes over that number of words of random().
  void discard(std::uint64_t words) { engine_.discard(words); }

  // Returns 64 random bits: two words, the high one drawn first.
  std::uint64_t random64() {
    const std::uint64_t high = random();
    return high << 32 | random();
  }

  // Returns a number from 0 to 2^63 - 1, as random_() of an int64 tensor.
  std::int64_t random63() {
    return static_cast<std::int64_t>(random64() & std::numeric_limits<std::int64_t>::max());
  }

  // Returns a number from 0 to n - 1, as torch.randint(n, ...). n is 1 or more.
  index_t below(index_t n) {
    return static_cast<index_t>((words_below(n) == 1 ? random() : random64()) %
                                static_cast<std::uint64_t>(n));
  }
  // Returns the number of words that below(n) takes.
  static constexpr std::uint64_t words_below(index_t n) { return n < index_t{1} << 28 ? 1 : 2; }

  // Returns a number between low and high, as a tensor's uniform_(low, high): 24 random bits for
  // float, 53 for double. The multiply-add is explicitly fused, as in PyTorch on processors that
  // have the instruction.
  template <class T>
  requires(std::same_as<T, float> || std::same_as<T, double>) T uniform(T low, T high) {
    constexpr int digits = std::numeric_limits<T>::digits;
    constexpr std::uint64_t range = std::uint64_t{1} << digits;
    const std::uint64_t bits = (std::same_as<T, float> ? random() : random64()) & (range - 1);
    const T unit = static_cast<T>(bits) * (T{1} / static_cast<T>(range));  // exact
    return std::fma(unit, high - low, low);
  }

  // Returns a normal number, as normal_() of a tensor with fewer than 16 elements (draw_normal()
  // does tensors of any size). Numbers are made in pairs (Box and Muller 1958); the second is kept
  // for the next call.
  double normal(double mean, double std);

  // Writes or reads the place in the sequence, for a checkpoint.
  void visit_state(StateVisitor& state);

 private:
  detail::MersenneTwister engine_;
  bool has_next_normal_ = false;
  double next_normal_ = 0;
  std::mutex mutex_;
  detail::OwnerLifetime lifetime_;  // for options

  friend class GeneratorOption;
};

// Returns the generator that is used where no other is given: initial weights, the order of
// batches.
Generator& default_generator();

// The generator of an option: {.generator = own}, which must exist when numbers are drawn (Error).
// Without one, the default generator.
class GeneratorOption {
 public:
  GeneratorOption() = default;
  GeneratorOption(Generator& own) : own_(&own), lifetime_(own.lifetime_) {}
  GeneratorOption(Generator&&) = delete;  // a temporary would be destroyed before it is used

  // Returns whether there is one; else it is the default generator.
  bool is_given() const { return own_ != nullptr; }
  // Return the generator. Throw Error if it no longer exists.
  Generator& operator*() const {
    require(!lifetime_.is_over(),
            "gpunet::Generator: the generator that was given as .generator is gone (destroyed; a "
            "moved one is another), keep it as long as what draws from it");
    return own_ ? *own_ : default_generator();
  }
  Generator* operator->() const { return &**this; }

 private:
  Generator* own_ = nullptr;
  detail::BorrowedLifetime lifetime_;
};

// Seeds the default generator.
inline void manual_seed(std::integral auto seed) {
  const auto lock = default_generator().lock();
  default_generator().manual_seed(seed);
}

// The largest n of randperm(): beyond it PyTorch uses another algorithm.
inline constexpr index_t most_permuted = std::numeric_limits<std::uint32_t>::max() / 20 - 1;

// Returns the numbers 0 to n - 1 in random order, as torch.randperm(n, generator=generator). Throws
// Error if n is out of range.
std::vector<index_t> randperm(index_t n, Generator& generator = default_generator());

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/core/random.ipp>
#endif
