#include <gpunet/core/config.hpp>

#if GPUNET_CUDA

#include <cstdio>
#include <doctest/doctest.h>
#include <filesystem>
#include <memory>
#include <string>

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/tensor/tensor.hpp>

#include "support/errors.hpp"

using namespace gpunet;

namespace {

struct WriteTo {
  int* target;
  GPUNET_FN void operator()(index_t i) const { target[i] = 1; }
};

// What this program prints when it runs one of the skipped cases below in a process of its own:
// such an error ends all CUDA work of a process.
std::string output_of_case(const std::string& name, const std::string& environment) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      environment + " '" + program + "' --no-skip --test-case='" + name + "' 2>&1";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  char part[512];
  while (std::fgets(part, sizeof part, pipe.get()))
    output += part;
  return output;
}

}  // namespace

TEST_CASE("a launch that cannot be made says which kernel on which shapes on Cuda") {
  Cuda device;
  const auto what = [] {
    return concat("for_each<", detail::name_of<WriteTo>(), "> over ", 7, " indices");
  };
  const std::string error = error_of([&] {
    detail::launch(device, {1, 4096}, what, detail::for_each_kernel<WriteTo>, index_t{7},
                   WriteTo{nullptr});
  });
  CAPTURE(error);
  CHECK(contains(error, "in kernel for_each<"));
  CHECK(contains(error, "WriteTo> over 7 indices with 1 x 1 x 1 blocks of 4096 threads on cuda:0"));
  CHECK(contains(error, "launch.cuh:"));
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  Tensor<int, Cuda> target(device, {3});
  for_each(device, 3, WriteTo{target.data()});  // and the device goes on
  CHECK(target.to_vector() == std::vector{1, 1, 1});
}

TEST_CASE("a launch of more threads than the kernel was compiled for is refused on Cuda") {
  Cuda device;
  constexpr unsigned threads = 2 * detail::threads_per_block;
  Tensor<int, Cuda> target(device, {1}, {0});
  const std::string error = error_of([&] {
    detail::launch(
        device, {1, threads}, [] { return "for_each"; }, detail::for_each_kernel<WriteTo>,
        index_t{1}, WriteTo{target.data()});
  });
  CAPTURE(error);
  CHECK(contains(error, "in kernel for_each with 1 x 1 x 1 blocks of 512 threads on cuda:0"));
  CHECK(target.to_vector() == std::vector{0});
}

// Not skipped, but run by the test below in a process of its own: writes to memory that is not
// there, and prints what it and the call behind it say.
TEST_CASE("skipped: a kernel that writes out of bounds on Cuda" * doctest::skip()) {
  Cuda device;
  std::puts(error_of([&] {
              for_each(device, 5, WriteTo{reinterpret_cast<int*>(64)});
              for_each(device, 6, WriteTo{reinterpret_cast<int*>(64)});
              device.synchronize();
            }).c_str());
  std::puts(error_of([&] { device.allocate(8); }).c_str());
}

TEST_CASE(
    "a wrong kernel on Cuda is named where every launch is checked, and the first cause where "
    "not") {
  const std::string name = "skipped: a kernel that writes out of bounds on Cuda";
  const std::string checked = output_of_case(name, "GPUNET_CUDA_CHECK=1");
  CAPTURE(checked);
  CHECK(contains(checked, "in kernel for_each<"));
  CHECK(contains(checked, "over 5 indices"));
  CHECK(contains(checked, "CUDA stopped at an earlier error"));

  const std::string unchecked = output_of_case(name, "GPUNET_CUDA_CHECK=0");
  CAPTURE(unchecked);
  CHECK(contains(unchecked, "set GPUNET_CUDA_CHECK=1"));
  CHECK(contains(unchecked,
                 "CUDA stopped at an earlier error and does no more work in this process"));
}

#endif
