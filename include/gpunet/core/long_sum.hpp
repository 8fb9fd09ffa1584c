// Sums of many floats, in levels.
#pragma once

#include <cstddef>
#include <type_traits>

#include <gpunet/core/config.hpp>

namespace gpunet {

// The type in which sums of short runs of T are added up. A running sum of floats loses a digit for
// every ten times more terms.
template <class T>
using WideSum = std::conditional_t<std::is_same_v<T, float>, double, T>;

// The most floats that are added one after another: then equal terms lose 5 roundings at most,
// others fewer.
inline constexpr int sum_run = 16;

// A sum of any number of terms: short runs in float, and the sum of these runs in double.
template <class T>
class LongSum {
 public:
  // Adds a term.
  GPUNET_FN LongSum& operator+=(const T& term) {
    run_ += term;
    if constexpr (!std::is_same_v<T, WideSum<T>>)
      if (++count_ == sum_run) end_run();
    return *this;
  }
  // Returns the sum, in double for floats.
  GPUNET_FN WideSum<T> wide() const {
    if constexpr (std::is_same_v<T, WideSum<T>>)
      return run_;
    else
      return total_ + static_cast<WideSum<T>>(run_);
  }
  // Returns the sum, rounded once.
  GPUNET_FN T value() const { return static_cast<T>(wide()); }

 private:
  GPUNET_FN void end_run() {
    total_ += static_cast<WideSum<T>>(run_);
    run_ = T{};
    count_ = 0;
  }

  T run_{};
  WideSum<T> total_{};
  int count_ = 0;
};

// `count` sums side by side, `most` at most, in loops that fill vectors.
template <class T, index_t most>
class LongSums {
 public:
  // Begins with zeros.
  explicit GPUNET_FN LongSums(index_t count) : count_(count) {}

  // Adds term(n) to sum n, for all of them.
  template <class Term>
  GPUNET_FN void add(const Term& term) {
    for (index_t n = 0; n < count_; ++n)
      run_[n] += term(n);
    if constexpr (!std::is_same_v<T, WideSum<T>>)
      if (++terms_ == sum_run) end_run();
  }
  // Returns sum n, rounded once.
  GPUNET_FN T operator[](index_t n) const {
    if constexpr (std::is_same_v<T, WideSum<T>>)
      return run_[n];
    else
      return static_cast<T>(total_[n] + static_cast<WideSum<T>>(run_[n]));
  }

 private:
  GPUNET_FN void end_run() {
    for (index_t n = 0; n < count_; ++n) {
      total_[n] += static_cast<WideSum<T>>(run_[n]);
      run_[n] = T{};
    }
    terms_ = 0;
  }

  T run_[static_cast<std::size_t>(most)] = {};
  WideSum<T> total_[static_cast<std::size_t>(most)] = {};
  index_t count_;
  int terms_ = 0;
};

}  // namespace gpunet
