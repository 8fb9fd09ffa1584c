// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/core/error.ipp>
#include <gpunet/core/launch.ipp>
#include <gpunet/core/padding.ipp>
#include <gpunet/core/random.ipp>
#include <gpunet/core/shape.ipp>
#include <gpunet/core/text.ipp>
