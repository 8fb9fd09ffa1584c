// Work that is recorded once and given to the device again as a whole.
#pragma once

#include <utility>

#include <gpunet/device/cuda/cuda.cuh>

namespace gpunet::detail {

// Puts a stream into recording for its lifetime: what is given to it is kept and not done.
class Capture {
 public:
  explicit Capture(cudaStream_t stream) : stream_(stream) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  }
  ~Capture() {  // left by an exception: what was kept is dropped
    cudaGraph_t graph = nullptr;
    if (stream_) ignore_error(cudaStreamEndCapture(stream_, &graph));
    if (graph) ignore_error(cudaGraphDestroy(graph));
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  Graph end() {
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(std::exchange(stream_, nullptr), &graph));
    return Graph(graph);
  }

 private:
  cudaStream_t stream_;
};

// What work() gives to the device's stream, as one graph. The work must neither allocate nor wait; the memory that it
// uses has to stay where it is while the graph is used.
template <class Work>
GraphExec record(Cuda& device, Work work) {
  const CurrentDevice current(device.ordinal());
  Capture capture(device.stream());
  work();
  const Graph graph = capture.end();
  cudaGraphExec_t recorded = nullptr;
  check(cudaGraphInstantiate(&recorded, graph.get(), 0));
  return GraphExec(recorded);
}

inline void replay(Cuda& device, const GraphExec& recorded) {
  const CurrentDevice current(device.ordinal());
  check(cudaGraphLaunch(recorded.get(), device.stream()));
}

}  // namespace gpunet::detail
