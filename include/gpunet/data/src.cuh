// All bodies of this folder for Cuda, a part of the compiled library.
#pragma once

#include <gpunet/data/batch_buffers.cuh>
#include <gpunet/data/dataloader.hpp>
#include <gpunet/data/resident_dataset.hpp>

namespace gpunet::data {

template class Batches<Cuda, label_t>;
template class Batches<Cuda, float>;
template class ResidentBatches<Cuda, label_t>;
template class ResidentBatches<Cuda, float>;

}  // namespace gpunet::data
