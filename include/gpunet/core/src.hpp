// All bodies of this folder, a part of the compiled library.
#pragma once

#include <gpunet/core/error.ipp>
#include <gpunet/core/normal.ipp>
#include <gpunet/core/python_number.ipp>
#include <gpunet/core/random.ipp>
#include <gpunet/core/sizes.ipp>
#include <gpunet/core/text.ipp>
