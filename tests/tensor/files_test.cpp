#include <cmath>
#include <doctest/doctest.h>
#include <limits>

#include <gpunet/tensor/files.hpp>
#include <gpunet/tensors.hpp>

#include "io/temp_folder.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("a tensor is written and read", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const TempFolder folder;
  const Tensor<double, D> x(device, {2, 1, 2}, {1, 2, 0.25, -4});
  for (const char* name : {"x.npy", "x.npz", "x.safetensors"}) {
    CAPTURE(name);
    io::write_tensor(folder / name, x, "x");
    const Tensor<double, D> same = io::read_tensor<double>(device, folder / name);
    CHECK(same.sizes() == x.sizes());
    CHECK(same.to_vector() == x.to_vector());
    CHECK(io::read_tensor<float>(device, folder / name).to_vector() ==
          std::vector<float>{1, 2, 0.25f, -4});
  }
  CHECK(io::read_tensor<double>(device, folder / "x.npz", "x").numel() == 4);
}

TEST_CASE("an array that is not in the file is refused") {
  Host host({.threads = 1});
  const TempFolder folder;
  const std::string path = folder / "x.npz";
  io::write_tensor(path, Tensor<float, Host>(host, {1}, {3}), "mean");
  CHECK(error_of([&] { io::read_tensor(host, path, "std"); }) ==
        "gpunet::io::read_tensor: " + path + " has no array 'std', name one of them: mean");
  CHECK(contains(error_of([&] { io::read_tensor(host, folder / "none.npy"); }), "none.npy"));
}

TEST_CASE_TEMPLATE("integers, truth values and views are written and read", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const TempFolder folder;
  const index_t large = (index_t{1} << 53) + 1;  // which a double does not have
  const Tensor<index_t, D> x(device, {2, 2}, {large, -large, 0, 7});
  const Tensor<bool, D> flags(device, {3}, {true, false, true});
  for (const char* name : {"x.npy", "x.npz", "x.safetensors"}) {
    CAPTURE(name);
    io::write_tensor(folder / name, x, "x");
    CHECK(io::read_tensor<index_t>(device, folder / name).to_vector() == x.to_vector());
    io::write_tensor(folder / name, transpose(x, 0, 1), "x");
    CHECK(io::read_tensor<index_t>(device, folder / name).to_vector() ==
          std::vector<index_t>{large, 0, -large, 7});
    io::write_tensor(folder / name, x[1] * 2, "x");
    CHECK(io::read_tensor<std::int32_t>(device, folder / name).to_vector() ==
          std::vector<std::int32_t>{0, 14});
    CHECK(io::read_tensor<std::uint8_t>(device, folder / name).to_vector() ==
          std::vector<std::uint8_t>{0, 14});
    io::write_tensor(folder / name, flags, "x");
    CHECK(io::read_tensor<bool>(device, folder / name).to_vector() == flags.to_vector());
    CHECK(io::read_tensor(device, folder / name).to_vector() == std::vector<float>{1, 0, 1});
    io::write_tensor(folder / name, empty<std::uint8_t>(device, {2, 0}), "x");
    CHECK(io::read_tensor<std::uint8_t>(device, folder / name).sizes() == Sizes{2, 0});
  }
}

TEST_CASE("numbers that the element type does not have are refused") {
  Host host({.threads = 1});
  const TempFolder folder;
  const std::string path = folder / "x.npz";
  const auto write_one = [&](double x) {
    io::write_tensor(path, Tensor<double, Host>(host, {1}, {x}), "x");
  };
  write_one(-3);
  CHECK(io::read_tensor<index_t>(host, path).item() == -3);
  CHECK(error_of([&] { io::read_tensor<std::uint8_t>(host, path); }) ==
        "gpunet::io::copy_as: " + path +
            ": \"x\" has the number -3 (want integers from 0 to 255), read it as double");
  write_one(-0x1p63);
  CHECK(io::read_tensor<index_t>(host, path).item() == std::numeric_limits<index_t>::min());
  for (const double wrong :
       {0x1p63, 1.5, -0x1p63 - 2048, std::numeric_limits<double>::infinity(), std::nan("")}) {
    CAPTURE(wrong);
    write_one(wrong);
    CHECK(
        contains(error_of([&] { io::read_tensor<index_t>(host, path); }), "\"x\" has the number "));
  }
  io::write_tensor(path, Tensor<index_t, Host>(host, {1}, {index_t{1} << 31}), "x");
  CHECK(error_of([&] { io::read_tensor<std::int32_t>(host, path); }) ==
        "gpunet::io::copy_as: " + path +
            ": \"x\" has the number 2147483648 (want integers from -2147483648 to 2147483647), "
            "read it as index_t");
}
