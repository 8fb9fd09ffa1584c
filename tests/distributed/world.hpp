// The processes that run the tests of this folder: one, or those that mpirun has started.
#pragma once

#include <gpunet/distributed.hpp>

inline gpunet::distributed::Communicator& world() {
  static gpunet::distributed::Communicator all({.timeout = std::chrono::seconds(60)});
  return all;
}
