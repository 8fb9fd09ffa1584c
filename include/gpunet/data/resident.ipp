// Bodies of resident.hpp.
#pragma once

#include <unistd.h>

#include <gpunet/core/error.hpp>
#include <gpunet/data/resident.hpp>

namespace gpunet::data {

GPUNET_INLINE std::string free_memory(const Host&) {
  return concat("; ", std::int64_t{::sysconf(_SC_AVPHYS_PAGES)} * ::sysconf(_SC_PAGESIZE), " bytes free");
}

#if GPUNET_COMPILED
template class ResidentBatches<Host>;
#endif

}  // namespace gpunet::data
