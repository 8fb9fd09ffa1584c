#include <doctest/doctest.h>

#include <gpunet/thrust.hpp>

#if GPUNET_NVCC

#include <thrust/reduce.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

#include "support/devices.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("Thrust works on the memory of a tensor, in the order of its device", D, Cuda) {
  D& cuda = test_device<D>();
  Tensor<float, D> x(cuda, {2, 2}, {3, 1, 4, 2});
  x *= 2.0f;
  thrust::sort(par(cuda), begin(x), end(x));
  CHECK(x.to_vector() == std::vector<float>{2, 4, 6, 8});
  const Tensor<float, D>& same = x;
  CHECK(thrust::reduce(par(cuda), begin(same), end(same)) == 20);
}

TEST_CASE_TEMPLATE("the vector of Thrust is read and written without a copy", D, Cuda) {
  D& cuda = test_device<D>();
  thrust::device_vector<int> vector(5);
  thrust::sequence(vector.begin(), vector.end());
  const StridedView<int, D> view = from_device_vector(cuda, vector);
  CHECK(view.data() == thrust::raw_pointer_cast(vector.data()));
  CHECK(sum(view).item() == 10);
  view += 1;
  cuda.synchronize();
  CHECK(vector[4] == 5);
  const thrust::device_vector<int>& same = vector;
  CHECK(sum(2 * from_device_vector(cuda, same)).item() == 30);
}

#endif
