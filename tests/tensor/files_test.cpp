#include <doctest/doctest.h>

#include <gpunet/tensor/files.hpp>

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
    CHECK(io::read_tensor<float>(device, folder / name).to_vector() == std::vector<float>{1, 2, 0.25f, -4});
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
