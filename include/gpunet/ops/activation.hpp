// What an op may do to its result before it stores it.
#pragma once

namespace gpunet {

// none: y, relu: max(y, 0).
enum class Activation { none, relu };

}  // namespace gpunet
