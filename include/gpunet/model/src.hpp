// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/model/network.ipp>  // before output.ipp, which needs it
#include <gpunet/model/output.ipp>
#include <gpunet/model/save_load.ipp>
