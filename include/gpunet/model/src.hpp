// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/model/anomaly.ipp>
#include <gpunet/model/arena.ipp>
#include <gpunet/model/batch_loss.ipp>
#include <gpunet/model/fold_batch_norm.ipp>
#include <gpunet/model/hooks.ipp>
#include <gpunet/model/inputs.ipp>
#include <gpunet/model/lerp.ipp>
#include <gpunet/model/network.ipp>  // before the next two, which need it
#include <gpunet/model/output.ipp>
#include <gpunet/model/parameters.ipp>
#include <gpunet/model/predictor.ipp>
#include <gpunet/model/published_weights.ipp>
#include <gpunet/model/save_load.ipp>
#include <gpunet/model/summary.ipp>
