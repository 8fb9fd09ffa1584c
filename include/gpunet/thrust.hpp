// Tensors in calls of Thrust, for units that a CUDA compiler reads; for others it has nothing. Not
// in gpunet.hpp: Thrust's headers cost a unit some seconds.
//
//   sort(par(cuda), begin(x), end(x));                 Thrust's, on the stream of a Cuda, in place
//   Tensor y = 2 * from_device_vector(cuda, vector);   without a copy
#pragma once

#include <gpunet/tensors.hpp>

#if GPUNET_NVCC
#include <gpunet/tensor/thrust.cuh>
#endif
