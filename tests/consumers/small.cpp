// A program of a user that takes less time to compile than main.cpp: tensors on the device that
// there is.
#include <cstdio>

#include <gpunet/device/select.hpp>
#include <gpunet/tensors.hpp>
#ifdef WITH_ZLIB
#include <gpunet/io/zlib.hpp>
#endif
#ifdef WITH_STB
#include <gpunet/io/stb_image.hpp>
#endif

using namespace gpunet;

int main() {
#ifdef WITH_ZLIB
  if (!io::deflate_codec()) return 2;
#endif
#ifdef WITH_STB
  if (!io::other_images()) return 3;
#endif
  return with_device("auto", [](auto& device) {
    const float squares = sum(square(arange(device, 4.0f))).item();
    std::printf("%s: 0 + 1 + 4 + 9 = %g\n", device.name().c_str(), static_cast<double>(squares));
    return squares == 14 ? 0 : 4;
  });
}
