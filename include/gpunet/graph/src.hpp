// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/graph/fuse.ipp>
#include <gpunet/graph/graph.ipp>
#include <gpunet/graph/plan.ipp>
#include <gpunet/graph/to_string.ipp>
