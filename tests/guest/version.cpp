// A shared library with gpunet inside, of whatever version its headers are.
#include <cstdio>

#include <gpunet/device/host/host.hpp>

// Prints the message of an error of a Host.
extern "C" [[gnu::visibility("default")]] void guest_print_error() {
  try {
    gpunet::Host device({.threads = -1});
  } catch (const gpunet::Error& error) {
    std::puts(error.what());
  }
}
