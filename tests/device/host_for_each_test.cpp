#include <algorithm>
#include <doctest/doctest.h>
#include <vector>

#include <gpunet/device/host/for_each.hpp>

#include "support/isas.hpp"

using namespace gpunet;

namespace {

struct AddIndex {
  index_t* values;
  GPUNET_FN void operator()(index_t i) const { values[i] += i + 1; }
};

struct MultiplyAdd {
  float a;
  const float* x;
  float* y;
  GPUNET_FN void operator()(index_t i) const { y[i] = a * x[i] + 0.5f; }
};

struct AddIndexInOneCopy : AddIndex {  // its loop exists once, for all paths
  static constexpr bool one_copy = true;
};
static_assert(detail::wants_one_copy<AddIndexInOneCopy> && AddIndexInOneCopy::one_copy);

struct AddIndexWithin {  // for_each inside a task of the same host
  Host& host;
  index_t n;
  index_t* values;
  void operator()(index_t row, int) const { for_each(host, n, AddIndex{values + row * n}); }
};

}  // namespace

TEST_CASE("for_each visits every index once on every path, with one thread and with several") {
  const KeepIsa keep;
  for (int threads : {1, 3}) {
    Host host({.threads = threads});
    for (Isa path : isas()) {
      set_isa(path);
      for (index_t n : {0, 1, 7, 15, 16, 17, 31, 1000, 65536, 65537, 3 * 65536 + 5}) {
        CAPTURE(threads);
        CAPTURE(static_cast<int>(path));
        CAPTURE(n);
        std::vector<index_t> values(static_cast<std::size_t>(n) + 1, 0);
        for_each(host, n, AddIndex{values.data()});
        bool right = values.back() == 0;
        for (index_t i = 0; i < n; ++i)
          right = right && values.data()[i] == i + 1;
        CHECK(right);
        for_each(host, n, AddIndexInOneCopy{{values.data()}});
        CHECK((n == 0 || values.data()[n - 1] == 2 * n));
        CHECK(values.back() == 0);
      }
    }
  }
}

TEST_CASE("for_each computes the same on every path") {
  const KeepIsa keep;
  Host host({.threads = 1});
  constexpr index_t n = 77;
  std::vector<float> x(n), y(n);
  for (index_t i = 0; i < n; ++i)
    x.data()[i] = static_cast<float>(i) - 30;
  for (Isa path : isas()) {
    set_isa(path);
    std::fill(y.begin(), y.end(), 0.0f);
    for_each(host, n, MultiplyAdd{0.25f, x.data(), y.data()});
    bool right = true;
    for (index_t i = 0; i < n; ++i)
      right = right && y.data()[i] == 0.25f * x.data()[i] + 0.5f;  // exact in binary
    CHECK(right);
  }
}

TEST_CASE("for_each inside a task of the same host") {
  Host host({.threads = 3});
  constexpr index_t n = 70000;  // more than one chunk
  std::vector<index_t> values(4 * n, 0);
  host.run(4, AddIndexWithin{host, n, values.data()});
  CHECK(values.front() == 1);
  CHECK(values.back() == n);
  CHECK(std::count(values.begin(), values.end(), index_t{500}) == 4);
}
