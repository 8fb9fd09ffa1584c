#include <doctest/doctest.h>
#include <string>
#include <type_traits>

#include <gpunet/device/select.hpp>

#if GPUNET_CUDA
#include <cuda_runtime_api.h>
#endif

using namespace gpunet;

namespace {

struct Name {
  template <class D>
  std::string operator()(D& device) const {
    return device.name();
  }
};

std::string error_of(const std::string& text) {
  try {
    with_device(text, Name{});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("with_device hands out a Host and returns what the function returns") {
  CHECK(with_device("cpu", Name{}) == "cpu");
  CHECK(with_device("cpu:0", Name{}) == "cpu");
  CHECK(with_device("cpu", [](auto&) { return 3; }) == 3);
  int calls = 0;
  with_device("cpu", [&](auto& device) {
    ++calls;
    if constexpr (std::is_same_v<decltype(device), Host&>) CHECK(device.threads() >= 1);
  });
  CHECK(calls == 1);
}

TEST_CASE("with_device passes the options to Host") {
  with_device("cpu", {.threads = 3}, [](auto& device) {
    if constexpr (std::is_same_v<decltype(device), Host&>) CHECK(device.threads() == 3);
  });
  CHECK_THROWS_AS(with_device("cpu", {.threads = -1}, Name{}), Error);
}

TEST_CASE("with_device passes errors on") {
  CHECK(contains(error_of("cuda0"), "Invalid device string: 'cuda0'"));
  CHECK(contains(error_of("tpu"),
                 "Expected one of cpu, cuda device type at start of device string: tpu"));
  CHECK_THROWS_WITH_AS(with_device("cpu", [](auto&) { throw Error("mine"); }), "mine", Error);
}

TEST_CASE("auto is a GPU where one can be used") {
  CHECK(Cuda::is_available() == Cuda::why_not().empty());
  CHECK(with_device("auto", Name{}) ==
        (Cuda::is_available() ? concat("cuda:", Cuda::current_device()) : "cpu"));
}

TEST_CASE("a GPU that is asked for and cannot be used is an error that says why") {
  if (Cuda::is_available()) return;
  for (const std::string text : {"cuda", "cuda:0", "cuda:7"}) {
    CAPTURE(error_of(text));
    CHECK(contains(error_of(text), Cuda::why_not()));
  }
  CHECK(contains(Cuda::why_not(), ", "));  // what is wrong, what to do
}

#if GPUNET_CUDA

TEST_CASE("with_device hands out a Cuda") {
  CHECK(with_device("cuda:0", Name{}) == "cuda:0");
  CHECK(with_device("cuda", Name{}) == concat("cuda:", Cuda::current_device()));
  CHECK(with_device("cuda", {.threads = 2},
                    [](auto& device) { return std::is_same_v<decltype(device), Cuda&>; }));
}

TEST_CASE("Cuda devices that are not there") {
  const int count = Cuda::device_count();
  CAPTURE(error_of(concat("cuda:", count)));
  CHECK(contains(error_of(concat("cuda:", count)), "CUDA error: invalid device ordinal"));
  CHECK(contains(error_of(concat("cuda:", count)),
                 concat("this machine has ", count, " CUDA device")));
  CHECK(contains(error_of("cuda:2147483647"), "there is no cuda:2147483647"));
}

TEST_CASE("questions about Cuda devices") {
  CHECK(Cuda::is_available());
  CHECK(Cuda::device_count() >= 1);
  CHECK(Cuda::current_device() >= 0);
  CHECK(!Cuda::get_device_name(0).empty());
  CHECK_THROWS_AS(Cuda::get_device_name(-1), Error);
  CHECK_THROWS_AS(Cuda::get_device_name(Cuda::device_count()), Error);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

#else

TEST_CASE("a build without CUDA says so") {
  CHECK_FALSE(Cuda::is_available());
  CHECK(Cuda::device_count() == 0);
  for (const std::string text : {"cuda", "cuda:0"}) {
    CHECK(contains(error_of(text), "gpunet not compiled with CUDA enabled"));
    CHECK(contains(error_of(text), "nvcc"));
  }
  CHECK_THROWS_AS(Cuda::get_device_name(0), Error);
  CHECK_THROWS_AS(Cuda::current_device(), Error);
}

#endif
