// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/data/batch_buffers.ipp>
#include <gpunet/data/batch_ring.ipp>
#include <gpunet/data/cifar.ipp>
#include <gpunet/data/class_weight.ipp>
#include <gpunet/data/color_jitter.ipp>
#include <gpunet/data/concat_dataset.ipp>
#include <gpunet/data/crops.ipp>
#include <gpunet/data/csv.ipp>
#include <gpunet/data/dataloader.ipp>
#include <gpunet/data/dataset.ipp>
#include <gpunet/data/image_dataset.ipp>
#include <gpunet/data/image_folder.ipp>
#include <gpunet/data/iris.ipp>
#include <gpunet/data/kfold.ipp>
#include <gpunet/data/mnist.ipp>
#include <gpunet/data/pipeline.ipp>
#include <gpunet/data/random_transforms.ipp>
#include <gpunet/data/resident_dataset.hpp>
#include <gpunet/data/resize.ipp>
#include <gpunet/data/rotation.ipp>
#include <gpunet/data/sampler.ipp>
#include <gpunet/data/subset.ipp>
#include <gpunet/data/tensor_dataset.ipp>
#include <gpunet/data/train_test_split.ipp>
#include <gpunet/data/transform_image.ipp>
#include <gpunet/data/transforms.ipp>

namespace gpunet::data {

template class ResidentBatches<Host, label_t>;
template class ResidentBatches<Host, float>;

}  // namespace gpunet::data
