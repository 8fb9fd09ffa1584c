// A program of a user that takes less time to compile than main.cpp, and says whether optional parts are linked: tensors on the
// device that there is.
#include <cstdio>

#include <gpunet/device/select.hpp>
#include <gpunet/ops/conv2d/linked_library.hpp>
#include <gpunet/tensors.hpp>
#ifdef WITH_ZLIB
#include <gpunet/io/zlib.hpp>
#endif
#ifdef WITH_STB
#include <gpunet/io/stb_image.hpp>
#endif

using namespace gpunet;

int main() {
#if GPUNET_CUDA
#ifndef WANT_CUDNN
#define WANT_CUDNN 0
#endif
  std::printf("cuDNN %d\n", static_cast<int>(backends::cudnn::version()));
  if (backends::cudnn::is_available() != WANT_CUDNN) return 1;
#endif
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
