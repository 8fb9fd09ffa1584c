// The engine of the tests on simulated GPUs, one for each process.
#include <gpunet/distributed/nccl.cuh>
