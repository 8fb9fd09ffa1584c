// Work that is recorded once and given to the device again as a whole.
#pragma once

#include <exception>
#include <string>
#include <utility>

#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/device/cuda/handle.cuh>

namespace gpunet::detail {

// Puts a stream into capture for its lifetime: its work is stored and not done. Only calls of this
// thread can invalidate the capture.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }
  ~Capture() {  // left by an exception: stored work is dropped
    cudaGraph_t graph = nullptr;
    if (stream_) ignore_error(cudaStreamEndCapture(stream_, &graph));
    if (graph) ignore_error(cudaGraphDestroy(graph));
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // Throws Error where a call within was not permitted.
  GraphHandle end() {
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph);
    GraphHandle owner(graph);
    check(status);
    return owner;
  }

 private:
  cudaStream_t stream_;
};

// The graph of some work, or why there is none.
struct Recorded {
  GraphExec graph = nullptr;
  std::string problem = {};
};

// Captures the work that work() submits to the device's stream as one graph, without running it.
// The memory that it uses has to stay where it is while the graph is used. Where the work cannot be
// captured (it allocates, waits, or a library refuses), the stream and the errors of the runtime
// are left as if it had not been tried: the caller runs it eagerly, and errors of the work itself
// show there.
template <class Work>
Recorded record(Cuda& device, Work work) {
  const CurrentDevice current(device.ordinal());
  const auto capture_work = [&]() -> Recorded {
    Capture capture(device.stream());
    work();
    const GraphHandle graph = capture.end();
    cudaGraphExec_t made = nullptr;
    check(cudaGraphInstantiate(&made, graph.get(), 0));
    return {GraphExec(made)};
  };
  return attempt<std::exception>(capture_work, [](const std::exception& error) -> Recorded {
    static_cast<void>(cudaGetLastError());  // a library may have left it
    return {nullptr, concat("it cannot be recorded: ", error.what())};
  });
}

inline void replay(Cuda& device, const GraphExec& recorded) {
  const CurrentDevice current(device.ordinal());
  check(cudaGraphLaunch(recorded.get(), device.stream()));
}

}  // namespace gpunet::detail
