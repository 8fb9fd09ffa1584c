// gpunet: neural networks in C++ programs, on Host and Cuda. This header has everything for training; plot.hpp,
// tensorboard.hpp, images.hpp, tables.hpp and datasets.hpp have the rest.
#pragma once

// clang-format off: comes first, so that compile errors of a model list few files
#include <gpunet/model/model.hpp>
// clang-format on

#include <gpunet/core/random.hpp>
#include <gpunet/data/cifar.hpp>
#include <gpunet/data/color_jitter.hpp>
#include <gpunet/data/concat_dataset.hpp>
#include <gpunet/data/dataloader.hpp>
#include <gpunet/data/mnist.hpp>
#include <gpunet/data/random_transforms.hpp>
#include <gpunet/data/resize.hpp>
#include <gpunet/data/subset.hpp>
#include <gpunet/data/tensor_dataset.hpp>
#include <gpunet/data/train_test_split.hpp>
#include <gpunet/data/transforms.hpp>
#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>
#include <gpunet/device/host/gemm.hpp>
#include <gpunet/device/host/host.hpp>
#include <gpunet/device/host/sum_each.hpp>
#include <gpunet/device/select.hpp>
#include <gpunet/model/parameter.hpp>
#include <gpunet/model/save_load.hpp>
#include <gpunet/model/summary.hpp>
#include <gpunet/nn/any_activation.hpp>
#include <gpunet/nn/batch_norm.hpp>
#include <gpunet/nn/conv2d.hpp>
#include <gpunet/nn/cross_entropy_loss.hpp>
#include <gpunet/nn/elementwise.hpp>
#include <gpunet/nn/flatten.hpp>
#include <gpunet/nn/init.hpp>
#include <gpunet/nn/linear.hpp>
#include <gpunet/nn/max_pool2d.hpp>
#include <gpunet/nn/named.hpp>
#include <gpunet/nn/relu.hpp>
#include <gpunet/nn/repr.hpp>
#include <gpunet/nn/sequential.hpp>
#include <gpunet/nn/sigmoid.hpp>
#include <gpunet/nn/softmax.hpp>
#include <gpunet/nn/tanh.hpp>
#include <gpunet/ops/classes.hpp>
#include <gpunet/ops/conv2d/linked_library.hpp>
#include <gpunet/ops/for_each_random.hpp>
#include <gpunet/optim/adam.hpp>
#include <gpunet/optim/clip_grad.hpp>
#include <gpunet/optim/lr_scheduler.hpp>
#include <gpunet/optim/one_cycle_lr.hpp>
#include <gpunet/optim/reduce_lr_on_plateau.hpp>
#include <gpunet/optim/rmsprop.hpp>
#include <gpunet/optim/sgd.hpp>
#include <gpunet/optim/weight_penalty.hpp>
#include <gpunet/tensor/print.hpp>
#include <gpunet/tensor/rand.hpp>
#include <gpunet/tensor/tensor.hpp>
#include <gpunet/train/confusion_matrix.hpp>
#include <gpunet/train/fit.hpp>
#include <gpunet/train/interrupt.hpp>
#include <gpunet/train/metrics.hpp>
#include <gpunet/train/profile.hpp>
#include <gpunet/train/progress.hpp>
#include <gpunet/train/running_loss.hpp>
#include <gpunet/train/step.hpp>
#include <gpunet/version.hpp>
