#include <doctest/doctest.h>
#include <string>

#include <gpunet/version.hpp>

#include "test_config.hpp"

TEST_CASE("the three numbers, the text and CMake have one version") {
  const std::string numbers = std::to_string(GPUNET_VERSION_MAJOR) + "." +
                              std::to_string(GPUNET_VERSION_MINOR) + "." +
                              std::to_string(GPUNET_VERSION_PATCH);
  CHECK(numbers == GPUNET_VERSION);
  CHECK(numbers == GPUNET_TEST_VERSION);
}
