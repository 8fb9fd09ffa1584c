#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/device/device_string.hpp>

using gpunet::DeviceChoice;
using gpunet::parse_device;
using Kind = gpunet::DeviceChoice::Kind;

namespace {

std::string error_of(const std::string& text) {
  try {
    parse_device(text);
  } catch (const gpunet::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

// What PyTorch 2.15 says to torch.device(text), here and below.
TEST_CASE("device strings that PyTorch takes") {
  CHECK(parse_device("cpu") == DeviceChoice{Kind::cpu, -1});
  CHECK(parse_device("cpu:0") == DeviceChoice{Kind::cpu, 0});
  CHECK(parse_device("cpu:1") == DeviceChoice{Kind::cpu, 1});
  CHECK(parse_device("cuda") == DeviceChoice{Kind::cuda, -1});
  CHECK(parse_device("cuda:0") == DeviceChoice{Kind::cuda, 0});
  CHECK(parse_device("cuda:1") == DeviceChoice{Kind::cuda, 1});
  CHECK(parse_device("cuda:127") == DeviceChoice{Kind::cuda, 127});
}

TEST_CASE("large indices are not taken modulo anything") {
  CHECK(parse_device("cuda:256") == DeviceChoice{Kind::cuda, 256});  // PyTorch: index 0
  CHECK(parse_device("cuda:2147483647") == DeviceChoice{Kind::cuda, 2147483647});
}

TEST_CASE("auto") {
  CHECK(parse_device("auto") == DeviceChoice{Kind::any, -1});
  CHECK(error_of("auto:0").find("Invalid device string: 'auto:0'") != std::string::npos);
}

TEST_CASE("strings that are no device string") {
  for (const std::string text :
       {"cpu:-1",  "cpu:00", "cpu:01",   "cpu:",     "cuda:00", "cuda:01", "cuda:-1",
        "cuda:+1", "cuda:",  "cuda0",    "cuda:0:0", "cuda :0", " cuda",   "cuda ",
        "cuda:1a", "cuda:a", "cuda:1.5", "cuda.0",   "cuda::0", "cuda-1",  "1cuda",
        ":",       ":0",     "0",        "cuda: 0",  "cuda:0 ", "tpu0"}) {
    CAPTURE(text);
    CHECK(error_of(text) == "gpunet::parse_device: Invalid device string: '" + text +
                                "' (want cpu, cuda, cuda:N or auto)");
  }
  CHECK(error_of("").find("Device string must not be empty") != std::string::npos);
}

TEST_CASE("indices that are no number of this machine") {
  for (const std::string digits : {"2147483648", "99999999999", "100000000000000000000000000"}) {
    CAPTURE(digits);
    const std::string sentence =
        "Could not parse device index '" + digits + "' in device string 'cuda:" + digits + "'";
    CHECK(error_of("cuda:" + digits).find(sentence) != std::string::npos);
  }
}

TEST_CASE("devices that are not known") {
  for (const std::string kind : {"tpu", "gpu", "cu", "CPU", "Cuda", "cuda_x", "Auto"}) {
    CAPTURE(kind);
    const std::string sentence =
        "Expected one of cpu, cuda device type at start of device string: " + kind;
    CHECK(error_of(kind).find(sentence) != std::string::npos);
    CHECK(error_of(kind + ":0").find(sentence) != std::string::npos);
  }
}
