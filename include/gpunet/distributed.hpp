// Training by several processes. The engine that connects them is an include of its own, in one
// source of the program: <gpunet/distributed/mpi.hpp>, <gpunet/distributed/nccl.cuh>, or both.
#pragma once

#include <gpunet/distributed/communicator.hpp>
#include <gpunet/distributed/distributed_data_parallel.hpp>
