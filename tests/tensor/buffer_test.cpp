#include <doctest/doctest.h>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/tensor/buffer.hpp>

#include "support/devices.hpp"

using namespace gpunet;

namespace {

// A Host that counts what it hands out.
class CountingDevice {
 public:
  explicit CountingDevice(Host& host) : host_(host) {}
  void* allocate(std::size_t bytes) {
    ++allocations;
    bytes_in_use += bytes;
    return host_.allocate(bytes);
  }
  void deallocate(void* memory, std::size_t bytes) {
    bytes_in_use -= bytes;
    host_.deallocate(memory, bytes);
  }

  int allocations = 0;
  std::size_t bytes_in_use = 0;

 private:
  Host& host_;
};

}  // namespace

TEST_CASE_TEMPLATE("a buffer holds what is uploaded", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const std::vector<int> values{3, 1, 4, 1, 5};
  const Buffer<int, D> buffer(device, 5);
  CHECK(buffer.size() == 5);
  CHECK(buffer.bytes() == 20);
  CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 == 0);
  device.upload(buffer.data(), values.data(), buffer.bytes());
  std::vector<int> back(5);
  device.download(back.data(), buffer.data(), buffer.bytes());
  CHECK(back == values);
}

TEST_CASE("a buffer gives its memory back once") {
  CountingDevice device(test_device<Host>());
  {
    Buffer<double, CountingDevice> first(device, 4);
    CHECK(device.bytes_in_use == 32);
    Buffer<double, CountingDevice> second(std::move(first));
    CHECK(first.data() == nullptr);
    CHECK(first.size() == 0);
    CHECK(second.size() == 4);
    first = Buffer<double, CountingDevice>(device, 2);
    CHECK(device.bytes_in_use == 48);
    second = std::move(first);
    CHECK(second.size() == 2);
    second.reset(device, 1000);
    CHECK(second.size() == 1000);
    CHECK(device.allocations == 3);
  }
  CHECK(device.bytes_in_use == 0);
}

TEST_CASE("reset gives the old memory back before it takes the new") {
  CountingDevice device(test_device<Host>());
  Buffer<char, CountingDevice> buffer(device, 100);
  buffer.reset(device, 0);
  CHECK(device.bytes_in_use == 0);
  CHECK(buffer.data() == nullptr);
}

TEST_CASE("an empty buffer allocates nothing") {
  CountingDevice device(test_device<Host>());
  const Buffer<float, CountingDevice> none, zero(device, 0);
  CHECK(none.data() == nullptr);
  CHECK(zero.data() == nullptr);
  CHECK(zero.bytes() == 0);
  CHECK(device.allocations == 0);
}

TEST_CASE("a buffer moves and is not copied") {
  static_assert(!std::is_copy_constructible_v<Buffer<float, Host>>);
  static_assert(!std::is_copy_assignable_v<Buffer<float, Host>>);
  static_assert(std::is_nothrow_move_constructible_v<Buffer<float, Host>>);
  static_assert(std::is_nothrow_move_assignable_v<Buffer<float, Host>>);
}
