// Tensors from and to images.
#include <doctest/doctest.h>
#include <limits>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>
#include <gpunet/images.hpp>
#include <gpunet/tensors.hpp>

#include "io/temp_folder.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

namespace {

// 2 x 3 pixels: red, green and blue of each are 10 p, 10 p + 1, 10 p + 2.
io::Image pixels() {
  io::Image image{.width = 3, .height = 2, .channels = 3};
  for (int p = 0; p < 6; ++p)
    for (int c = 0; c < 3; ++c)
      image.pixels.push_back(static_cast<std::uint8_t>(10 * p + c));
  return image;
}

}  // namespace

TEST_CASE_TEMPLATE("an image is a tensor of bytes or floats, and back", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const io::Image image = pixels();
  const Tensor bytes = io::pil_to_tensor(device, image);
  CHECK(bytes.sizes() == Sizes{3, 2, 3});
  CHECK(bytes.to_vector() == std::vector<std::uint8_t>{0, 10, 20, 30, 40, 50, 1, 11, 21, 31, 41, 51,
                                                       2, 12, 22, 32, 42, 52});
  // As torchvision: to_tensor(image) is pil_to_tensor(image).to(torch.float32) / 255, and the image
  // comes back.
  const Tensor floats = io::to_tensor(device, image);
  CHECK(floats.to_vector() == Tensor(cast<float>(bytes) / 255).to_vector());
  for (const io::Image& back :
       {io::to_image(bytes), io::to_image(floats), io::to_image(cast<double>(floats))}) {
    CHECK(back.width == 3);
    CHECK(back.height == 2);
    CHECK(back.channels == 3);
    CHECK(back.pixels == image.pixels);
  }
  // Views and expressions: the green channel, mirrored, and a lighter image, whose numbers above 1
  // are clamped.
  CHECK(io::to_image(flip(bytes[1], {1})).pixels ==
        std::vector<std::uint8_t>{21, 11, 1, 51, 41, 31});
  CHECK(io::to_image(bytes[1]).channels == 1);
  CHECK(io::to_image(floats + 0.9f).pixels[17] == 255);
}

TEST_CASE("every byte comes back from floats, and no other number is a byte out of range") {
  Host& host = test_device<Host>();
  io::Image all{.width = 256, .height = 1, .channels = 1};
  for (int i = 0; i < 256; ++i)
    all.pixels.push_back(static_cast<std::uint8_t>(i));
  CHECK(io::to_image(io::to_tensor(host, all)).pixels == all.pixels);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  most = std::numeric_limits<float>::infinity();
  const Tensor<float, Host> odd(host, {1, 6}, {-1, nan, 2, -most, most, 0.999f});
  CHECK(io::to_image(odd).pixels == std::vector<std::uint8_t>{0, 0, 255, 0, 255, 254});
}

TEST_CASE("images of files are tensors, and written from them") {
  Host& host = test_device<Host>();
  const TempFolder folder;
  const Tensor<float, Host> x = rand(host, {3, 8, 5});
  const io::Image image = io::to_image(x);
  CHECK(io::encode_png(image).substr(1, 3) == "PNG");
  const std::string path = folder / "x.ppm";
  {
    io::AtomicFile file(path);
    file.write("P6 5 8 255\n" + std::string(image.pixels.begin(), image.pixels.end()));
    file.commit();
  }
  const Tensor read = io::to_tensor(host, io::read_image(path));
  CHECK(read.sizes() == x.sizes());
  CHECK(amax(abs(read - x)).item() < 1.0f / 255);  // bytes are truncated
}

TEST_CASE("images and tensors that are none") {
  Host& host = test_device<Host>();
  const io::Image wrong{
      .width = 3, .height = 2, .channels = 3, .pixels = std::vector<std::uint8_t>(17)};
  CHECK(error_of([&] { io::to_tensor(host, wrong); }) ==
        "gpunet::io::to_tensor: an image of 3 x 2 with 3 channels has 17 bytes (want one for each "
        "channel of each "
        "pixel)");
  CHECK(error_of([&] { io::pil_to_tensor(host, io::Image{}); }) ==
        "gpunet::io::pil_to_tensor: an image of 0 x 0 (want 1 to 2147483647 each way)");
  CHECK(error_of([&] {
          io::to_image(Tensor<float, Host>(host, {5, 2, 2}));
        }) ==
        "gpunet::io: an array of shape [5, 2, 2] is no image (want [channels, height, width] with "
        "1 to 4 channels, "
        "or "
        "[height, width])");
  CHECK(error_of([&] {
          io::to_image(Tensor<std::uint8_t, Host>(host, {4, 3, 2, 2}));
        }).find("[4, 3, 2, 2] is no") != std::string::npos);
}
