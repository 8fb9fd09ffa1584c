#include <cmath>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/device/host/sum_each.hpp>

#include "support/isas.hpp"

using namespace gpunet;

namespace {

// sums[i] = sum of i + r over r
template <class T>
struct SumOfIndices {
  T* sums;
  GPUNET_FN T operator()(index_t i, index_t r) const { return static_cast<T>(i + r); }
  GPUNET_FN void store(index_t i, T sum) const { sums[i] = sum; }
};

struct SumOfArray {
  const float* x;
  float* sum;
  GPUNET_FN float operator()(index_t, index_t r) const { return x[r]; }
  GPUNET_FN void store(index_t, float s) const { *sum = s; }
};

}  // namespace

TEST_CASE_TEMPLATE("sum_each adds up every length on every path", T, float, double, index_t) {
  const KeepIsa keep;
  Host host({.threads = 2});
  for (Isa path : isas()) {
    set_isa(path);
    for (index_t length : {0, 1, 2, 15, 16, 17, 31, 32, 33, 500})
      for (index_t n : {0, 1, 3}) {
        CAPTURE(static_cast<int>(path));
        CAPTURE(length);
        std::vector<T> sums(static_cast<std::size_t>(n) + 1, T{-1});
        sum_each(host, n, length, SumOfIndices<T>{sums.data()});
        for (index_t i = 0; i < n; ++i)
          CHECK(sums.data()[i] == static_cast<T>(i * length + length * (length - 1) / 2));
        CHECK(sums.back() == T{-1});
      }
  }
}

TEST_CASE("sum_each gives the same bits on every path and loses few digits") {
  const KeepIsa keep;
  Host host({.threads = 1});
  // g++ 12 warns of an impossible overflow where it knows the number.
  const volatile index_t length = 1 << 20;
  const std::vector<float> x(static_cast<std::size_t>(length), 0.1f);
  float first = 0;
  for (Isa path : isas()) {
    set_isa(path);
    float sum = -1;
    sum_each(host, 1, length, SumOfArray{x.data(), &sum});
    if (path == Isa::baseline) first = sum;
    CHECK(sum == first);
    CHECK(std::abs(static_cast<double>(sum) /
                       (static_cast<double>(0.1f) * static_cast<double>(x.size())) -
                   1) < 1e-7);
  }
}
