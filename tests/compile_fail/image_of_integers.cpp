// expect: gpunet::io::to_image: the elements are neither bytes (0 to 255) nor floats (0 to 1), convert them: cast<std::uint8_t>(x)
// An image of integers.
// Whole numbers of other types could count to 1 or to 255: `cast<std::uint8_t>(x)` says which.
#include <gpunet/images.hpp>
#include <gpunet/tensors.hpp>
using namespace gpunet;

io::Image run(const Tensor<index_t, Host>& counts) {
  return io::to_image(counts);
}
