// Numbers as Python prints them.
#pragma once

#include <string>

#include <gpunet/core/config.hpp>

namespace gpunet {

// repr(value) of a finite float: the shortest digits that read back the same, with an exponent below 1e-4 and from 1e16
// on, else with a point.
std::string python_repr(double value);

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/core/python_number.ipp>
#endif
