// All bodies of this folder for Cuda, a part of the compiled library.
#pragma once

#include <gpunet/distributed/distributed_data_parallel.ipp>
#include <gpunet/distributed/leaf_tree.ipp>
