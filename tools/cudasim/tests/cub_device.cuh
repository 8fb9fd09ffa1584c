// cub::DeviceReduce, cub::DeviceScan and simple Thrust algorithms.
#pragma once

#include <cmath>
#include <cstdio>
#include <cub/cub.cuh>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <vector>

#include "check.hpp"

namespace cub_device {

struct F {
  __host__ __device__ float operator()(float a, float b) const { return 2.f * a + b; }
};
inline void run(int) {
  for (int n : {100, 5000, 300000}) {
    thrust::device_vector<float> x(n, 1.5f), y(n), z(n);
    thrust::sequence(y.begin(), y.end());
    thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), F{});
    float s = thrust::reduce(z.begin(), z.end(), 0.f, thrust::plus<float>());
    double ref = 3.0 * n + 0.5 * (double)n * (n - 1);
    check("thrust::reduce", std::fabs(s - ref) < 1e-4 * ref);
    float *out;
    CHECK_OK(cudaMalloc(&out, 4));
    void *tmp = nullptr;
    size_t b = 0;
    CHECK_OK(cub::DeviceReduce::Sum(tmp, b, z.data().get(), out, n));
    CHECK_OK(cudaMalloc(&tmp, b));
    CHECK_OK(cub::DeviceReduce::Sum(tmp, b, z.data().get(), out, n));
    float r;
    CHECK_OK(cudaMemcpy(&r, out, 4, cudaMemcpyDeviceToHost));
    check("DeviceReduce", std::fabs(r - ref) < 1e-4 * ref);
    CHECK_OK(cub::DeviceScan::InclusiveSum(nullptr, b, x.data().get(), y.data().get(), n));
    void *t2;
    CHECK_OK(cudaMalloc(&t2, b));
    CHECK_OK(cub::DeviceScan::InclusiveSum(t2, b, x.data().get(), y.data().get(), n));
    thrust::host_vector<float> h = y;
    bool ok = true;
    for (int i = 0; i < n; ++i)
      if (std::fabs(h[i] - 1.5 * (i + 1)) > 1e-4 * 1.5 * (i + 1)) ok = false;
    check("DeviceScan", ok);
  }
}

}  // namespace cub_device
