// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/distributed/communicator.ipp>
#include <gpunet/distributed/distributed_data_parallel.ipp>
#include <gpunet/distributed/engine.ipp>
#include <gpunet/distributed/leaf_tree.ipp>
