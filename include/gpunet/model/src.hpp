// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/model/diagram.ipp>
#include <gpunet/model/network.ipp>  // before output.ipp, which needs it
#include <gpunet/model/output.ipp>
#include <gpunet/model/parameters.ipp>
#include <gpunet/model/save_load.ipp>
#include <gpunet/model/summary.ipp>
