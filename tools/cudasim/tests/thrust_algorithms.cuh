// Sorting, selecting, scanning and segmented reductions of Thrust and CUB.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cub/cub.cuh>
#include <numeric>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/extrema.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/logical.h>
#include <thrust/random.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>
#include <thrust/transform_reduce.h>
#include <thrust/tuple.h>
#include <thrust/unique.h>
#include <vector>

#include "check.hpp"

namespace thrust_algorithms {

struct Even {
  __host__ __device__ bool operator()(int x) const { return (x & 1) == 0; }
};
struct Rnd {
  __host__ __device__ float operator()(int i) const {
    thrust::default_random_engine r(7);
    thrust::normal_distribution<float> d(0, 1);
    r.discard(2 * i);
    return d(r);
  }
};
template <class K>
void sorts(int n, const char* nm) {
  std::vector<K> h(n);
  unsigned s = 1;
  for (auto& v : h) {
    s = s * 1664525u + 1013904223u;
    v = (K)((double)(s >> 8) / 1000.0 - 5000);
  }
  thrust::device_vector<K> d(h.begin(), h.end());
  thrust::device_vector<int> v(n);
  thrust::sequence(v.begin(), v.end());
  thrust::sort_by_key(d.begin(), d.end(), v.begin());
  std::vector<int> p(n);
  std::iota(p.begin(), p.end(), 0);
  std::stable_sort(p.begin(), p.end(), [&](int a, int b) { return h[a] < h[b]; });
  std::vector<K> hd(n);
  std::vector<int> hv(n);
  thrust::copy(d.begin(), d.end(), hd.begin());
  thrust::copy(v.begin(), v.end(), hv.begin());
  bool ok = true;
  for (int i = 0; i < n; ++i)
    if (hd[i] != h[p[i]] || hv[i] != p[i]) ok = false;
  check(nm, ok);
}
inline void run(int) {
  sorts<int>(3000, "sort_by_key int 3000");
  sorts<float>(20000, "sort_by_key float 20000");
  sorts<double>(700, "sort_by_key double 700");
  sorts<unsigned short>(5000, "sort u16");
  {
    int n = 10000;
    std::vector<int> h(n);
    for (int i = 0; i < n; ++i)
      h[i] = (i * 7919) % 1000;
    thrust::device_vector<int> d(h.begin(), h.end());
    thrust::sort(d.begin(), d.end(), thrust::greater<int>());
    std::sort(h.begin(), h.end(), std::greater<int>());
    std::vector<int> g(n);
    thrust::copy(d.begin(), d.end(), g.begin());
    check("sort greater", g == h);
    auto e = thrust::unique(d.begin(), d.end());
    check("unique", e - d.begin() == 1000);
    thrust::device_vector<int> o(n);
    auto f = thrust::copy_if(d.begin(), e, o.begin(), Even());
    check("copy_if", f - o.begin() == 500);
    check("transform_reduce", thrust::transform_reduce(
                                  d.begin(), e, [] __host__ __device__(int x) { return x * 2; }, 0,
                                  thrust::plus<int>()) == 999000);
    check("max_element", *thrust::max_element(d.begin(), e) == 999);
    check("min_element idx", thrust::min_element(d.begin(), e) - d.begin() == 999);
    check(
        "inner_product", thrust::inner_product(d.begin(), d.begin() + 10, d.begin(), 0) == [] {
          int s = 0;
          for (int i = 0; i < 10; ++i)
            s += (999 - i) * (999 - i);
          return s;
        }());
    check("all_of", thrust::all_of(d.begin(), e, [] __host__ __device__(int x) { return x >= 0; }));
  }
  {
    int n = 5000;
    thrust::device_vector<int> k(n), ok(n);
    thrust::device_vector<float> v(n, 1.f), ov(n);
    thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n),
                      k.begin(), [] __host__ __device__(int i) { return i / 7; });
    auto e = thrust::reduce_by_key(k.begin(), k.end(), v.begin(), ok.begin(), ov.begin());
    thrust::host_vector<float> h = ov;
    bool good = e.first - ok.begin() == (n + 6) / 7;
    for (int i = 0; i < n / 7; ++i)
      if (h[i] != 7.f) good = false;
    check("reduce_by_key", good);
    thrust::exclusive_scan(v.begin(), v.end(), ov.begin());
    check("exclusive_scan", ov[n - 1] == n - 1);
    thrust::device_vector<int> idx(n);
    thrust::sequence(idx.rbegin(), idx.rend());
    thrust::gather(idx.begin(), idx.end(), k.begin(), ok.begin());
    check("gather", ok[0] == (n - 1) / 7);
    auto z = thrust::make_zip_iterator(v.begin(), k.begin());
    float s = thrust::transform_reduce(
        z, z + n,
        [] __host__ __device__(thrust::tuple<float, int> t) {
          return thrust::get<0>(t) * thrust::get<1>(t);
        },
        0.f, thrust::plus<float>());
    double r = 0;
    for (int i = 0; i < n; ++i)
      r += i / 7;
    check("zip transform_reduce", std::fabs(s - r) < 1e-4 * r);
    thrust::for_each(thrust::device, thrust::counting_iterator<int>(0),
                     thrust::counting_iterator<int>(n),
                     [p = v.data().get()] __device__(int i) { atomicAdd(p, 1.f); });
    check("for_each atomic", v[0] == n + 1.f);
  }
  {
    int n = 20000;
    thrust::device_vector<float> d(n);
    thrust::transform(thrust::counting_iterator<int>(0), thrust::counting_iterator<int>(n),
                      d.begin(), Rnd());
    float m = thrust::reduce(d.begin(), d.end()) / n;
    thrust::host_vector<float> h = d;
    bool same = true;
    for (int i = 0; i < 50; ++i)
      if (std::fabs(h[i] - Rnd()(i)) > 1e-4f * std::max(1.f, std::fabs(h[i]))) {
        same = false;
        printf("%d %g %g\n", i, h[i], Rnd()(i));
      }
    check("normal rng", same && std::fabs(m) < 0.05);
  }
  {
    int n = 12345;
    thrust::device_vector<float> x(n);
    thrust::sequence(x.begin(), x.end());
    thrust::device_vector<int> off{0, 100, 100, 5000, 12345};
    thrust::device_vector<float> o(4);
    size_t b = 0;
    cub::DeviceSegmentedReduce::Sum(nullptr, b, x.data().get(), o.data().get(), 4, off.data().get(),
                                    off.data().get() + 1);
    thrust::device_vector<char> t(b + 1);
    auto e = cub::DeviceSegmentedReduce::Sum(t.data().get(), b, x.data().get(), o.data().get(), 4,
                                             off.data().get(), off.data().get() + 1);
    thrust::host_vector<float> h = o;
    auto S = [](double a, double c) {
      return (c - a) * (a + c - 1) / 2;
    };
    check("segmented reduce", e == cudaSuccess && h[0] == S(0, 100) && h[1] == 0 &&
                                  std::fabs(h[2] - S(100, 5000)) < 100 &&
                                  std::fabs(h[3] - S(5000, 12345)) < 1000);
    thrust::device_vector<cub::KeyValuePair<int, float>> am(1);
    b = 0;
    cub::DeviceReduce::ArgMax(nullptr, b, x.data().get(), am.data().get(), n);
    thrust::device_vector<char> t2(b + 1);
    cub::DeviceReduce::ArgMax(t2.data().get(), b, x.data().get(), am.data().get(), n);
    cub::KeyValuePair<int, float> kv = am[0];
    check("ArgMax", kv.key == n - 1);
    thrust::device_vector<int> hist(11, 0);
    thrust::device_vector<float> smp(n);
    thrust::transform(x.begin(), x.end(), smp.begin(),
                      [] __host__ __device__(float v) { return (float)((int)v % 10); });
    b = 0;
    cub::DeviceHistogram::HistogramEven(nullptr, b, smp.data().get(), hist.data().get(), 11, 0.f,
                                        10.f, n);
    thrust::device_vector<char> t3(b + 1);
    cub::DeviceHistogram::HistogramEven(t3.data().get(), b, smp.data().get(), hist.data().get(), 11,
                                        0.f, 10.f, n);
    check("histogram", hist[0] == 1235 && hist[9] == 1234);
  }
}

}  // namespace thrust_algorithms
