// Bodies of running_loss.hpp.
#pragma once

#include <gpunet/train/running_loss.hpp>

namespace gpunet::train {

namespace detail {

GPUNET_INLINE std::string not_finite(index_t bad, index_t steps) {
  return concat("the loss of epoch ", bad / steps + 1, ", step ", bad % steps + 1,
                " is not finite (NaN or infinite), look for such numbers in the inputs or use a "
                "smaller learning rate; a mean over labels that are all ignored is NaN, too, and "
                "changes no weight");
}

}  // namespace detail

}  // namespace gpunet::train
