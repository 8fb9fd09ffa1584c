// What may follow an affine map or a convolution at once.
#pragma once

namespace gpunet {

// An element-wise function applied to what a kernel is about to store: y, or max(y, 0).
enum class Activation { none, relu };

}  // namespace gpunet
