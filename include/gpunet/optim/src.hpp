// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/optim/adadelta.hpp>
#include <gpunet/optim/adagrad.hpp>
#include <gpunet/optim/adam.hpp>
#include <gpunet/optim/clip_grad.ipp>
#include <gpunet/optim/grad_scaler.ipp>
#include <gpunet/optim/lbfgs.ipp>
#include <gpunet/optim/lion.hpp>
#include <gpunet/optim/lr_scheduler.ipp>
#include <gpunet/optim/nadam.hpp>
#include <gpunet/optim/one_cycle_lr.ipp>
#include <gpunet/optim/optimizer.ipp>
#include <gpunet/optim/param_groups.ipp>
#include <gpunet/optim/radam.hpp>
#include <gpunet/optim/rates.ipp>
#include <gpunet/optim/reduce_lr_on_plateau.ipp>
#include <gpunet/optim/rmsprop.hpp>
#include <gpunet/optim/sgd.hpp>
#include <gpunet/optim/swa_utils.ipp>
#include <gpunet/optim/weight_penalty.ipp>

namespace gpunet::optim {

GPUNET_EACH_OPTIMIZER(GPUNET_COMPILE_UPDATE)

}  // namespace gpunet::optim
