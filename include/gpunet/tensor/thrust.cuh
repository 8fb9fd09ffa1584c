// Tensors and Thrust, see gpunet/thrust.hpp.
#pragma once

#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>

#include <gpunet/tensor/create.hpp>

namespace gpunet {

// Return iterators over the elements of a tensor on Cuda, in row-major order.
template <class T>
thrust::device_ptr<T> begin(Tensor<T, Cuda>& tensor) {
  return thrust::device_pointer_cast(tensor.data());
}
template <class T>
thrust::device_ptr<T> end(Tensor<T, Cuda>& tensor) {
  return begin(tensor) + tensor.numel();
}
template <class T>
thrust::device_ptr<const T> begin(const Tensor<T, Cuda>& tensor) {
  return thrust::device_pointer_cast(tensor.data());
}
template <class T>
thrust::device_ptr<const T> end(const Tensor<T, Cuda>& tensor) {
  return begin(tensor) + tensor.numel();
}

// Returns the execution policy of a Cuda: work on its stream, ordered with that of gpunet.
// Algorithms that return a value wait for it. With several GPUs, that of the Cuda has to be the
// current one (cudaSetDevice): Thrust allocates on it.
inline auto par(const Cuda& cuda) {
  return thrust::cuda::par.on(cuda.stream());
}

// Return a view of a vector's elements, without a copy: [size]. The vector must outlive it; work of
// other streams on it has to be done.
template <class T, class Allocator>
StridedView<T, Cuda> from_device_vector(Cuda& cuda, thrust::device_vector<T, Allocator>& vector) {
  return from_blob(cuda, thrust::raw_pointer_cast(vector.data()),
                   Sizes{static_cast<index_t>(vector.size())});
}
template <class T, class Allocator>
StridedView<const T, Cuda> from_device_vector(Cuda& cuda,
                                              const thrust::device_vector<T, Allocator>& vector) {
  return from_blob(cuda, thrust::raw_pointer_cast(vector.data()),
                   Sizes{static_cast<index_t>(vector.size())});
}

}  // namespace gpunet
