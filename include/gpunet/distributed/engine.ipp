// Bodies of engine.hpp.
#pragma once

#include <string_view>

#include <gpunet/core/error.hpp>
#include <gpunet/distributed/engine.hpp>

namespace gpunet::distributed {

GPUNET_INLINE void require_init_method(const CommunicatorOptions& options) {
  const std::string_view method = options.init_method, file = "file://";
  require(
      method == "env://" || (method.starts_with(file) && method.size() > file.size()),
      "gpunet::distributed::Communicator: init_method \"", method,
      "\" (want env://, or file:// and a path that all processes have), leave it out for env://");
}

GPUNET_INLINE const char* to_string(Collective kind) {
  switch (kind) {
    case Collective::all_reduce:
      return "all_reduce";
    case Collective::reduce:
      return "reduce";
    case Collective::broadcast:
      return "broadcast";
    case Collective::all_gather:
      return "all_gather";
    case Collective::all_to_all:
      return "all_to_all";
    case Collective::barrier:
      break;
  }
  return "barrier";
}

GPUNET_INLINE EngineFactory& engine_factory() {
  static EngineFactory factory = nullptr;
  return factory;
}

GPUNET_INLINE DeviceEngineFactory& device_engine_factory() {
  static DeviceEngineFactory factory = nullptr;
  return factory;
}

}  // namespace gpunet::distributed
