// Bodies of profile.hpp.
#pragma once

#include <gpunet/core/text.hpp>
#include <gpunet/train/profile.hpp>

namespace gpunet::train {

GPUNET_INLINE std::string to_string(const StepTimes& times) {
  const auto share = [&](double part) {
    return gpunet::detail::fixed_text(100 * part / times.total(), 1) + " % ";
  };
  return concat(gpunet::detail::fixed_text(1e3 * times.total(), 3), " ms: ", share(times.waiting),
                "waiting, ", share(times.copying), "copying, ", share(times.computing),
                "computing");
}

}  // namespace gpunet::train
