// Working memory in parts.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet::detail {

// Arrays one after another.
template <class T>
class Parts {
 public:
  GPUNET_FN explicit Parts(T* at) : at_(at) {}
  // Returns the next array of so many elements.
  GPUNET_FN T* take(index_t elements) {
    T* part = at_;
    at_ += elements;
    return part;
  }

 private:
  T* at_;
};

}  // namespace gpunet::detail
