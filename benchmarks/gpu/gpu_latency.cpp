// gpu_latency: times of the smallest parts of a training step on this GPU: launches, nodes of a
// graph, barriers, atomics, loads. Prints a line "WHAT: TIME" for each, or "WHAT: not measured:
// WHY". With GPUNET_BENCH_TINY, which is for a simulator, there are few repetitions.
#include <chrono>
#include <cooperative_groups.h>
#include <cstdio>
#include <cstdlib>

#include <gpunet/device/cuda/check.cuh>

namespace {

namespace cg = cooperative_groups;
using gpunet::check;

__global__ void empty_kernel() {}

__global__ void add_kernel(float* p) {
  p[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

// The same with programmatic dependent launch: the next kernel's blocks may start before this one
// has ended.
__global__ void add_early_kernel(float* p) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
  cudaGridDependencySynchronize();
#endif
  p[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

__global__ void grid_barrier_kernel(int n) {
  for (int i = 0; i < n; ++i)
    cg::this_grid().sync();
}

__global__ void cluster_barrier_kernel(int n) {
#if __CUDA_ARCH__ >= 900
  for (int i = 0; i < n; ++i)
    cg::this_cluster().sync();
#endif
}

__global__ void block_barrier_kernel(int n) {
  for (int i = 0; i < n; ++i)
    __syncthreads();
}

// Each atomic waits for the result of the one before.
__global__ void dependent_atomic_kernel(int n, int* p) {
  for (int i = 0, at = 0; i < n; ++i)
    at = atomicAdd(p + (at < 0), 1);
}

// Without waiting: the threads of all blocks add to one number, or each to its own.
template <bool OneNumber>
__global__ void atomic_kernel(int n, int* p) {
  int* const mine = OneNumber ? p : p + blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = 0; i < n; ++i)
    atomicAdd(mine, 1);
}

// The last block to arrive, as in a sum that is split over blocks.
__global__ void last_block_kernel(int n, int* p) {
  for (int i = 0; i < n; ++i) {
    __threadfence();
    if (threadIdx.x == 0) atomicInc(reinterpret_cast<unsigned*>(p), gridDim.x - 1);
    __syncthreads();
  }
}

// Follows n links.
__global__ void chase_kernel(int n, int* links) {
  int at = 0;
  for (int i = 0; i < n; ++i)
    at = __ldcg(links + at);
  links[at] += at < 0;
}
__global__ void link_kernel(int* links, int count, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count / stride) links[i * stride] = (i + 1) % (count / stride) * stride;
}

class Latency {
 public:
  Latency() : times_(std::getenv("GPUNET_BENCH_TINY") ? 1 : 200) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
    check(cudaMalloc(&memory_, words * sizeof(int)));
    check(cudaMemset(memory_, 0, words * sizeof(int)));
    check(cudaDeviceSynchronize());
    check(cudaDeviceGetAttribute(&blocks_, cudaDevAttrMultiProcessorCount, 0));
  }

  void measure() {
    const int many = times_ == 1 ? 2 : 1000;
    report("a launch", [&] { return time(times_, [&] { launch(empty_kernel, 1, 32); }); });
    report("a launch, time of the caller",
           [&] { return host_time([&] { launch(empty_kernel, 1, 32); }); });
    report_graph("empty node of a graph", [&] { launch(empty_kernel, 1, 32); });
    report_graph("dependent node of a graph, 16 blocks of 256",
                 [&] { launch(add_kernel, 16, 256, reinterpret_cast<float*>(memory_)); });
    report_graph("the same with programmatic launch", [&] {
      launch_with(cudaLaunchAttributeProgrammaticStreamSerialization, add_early_kernel, 16, 256,
                  reinterpret_cast<float*>(memory_));
    });
    for (const int blocks : {8, 64, blocks_})
      report(gpunet::concat("barrier of a grid of ", blocks, " blocks"), [&] {
        return each(many, [&](int n) {
          launch_with(cudaLaunchAttributeCooperative, grid_barrier_kernel, blocks, 256, n);
        });
      });
    report("barrier of a cluster of 8 blocks", [&] {
      return each(many, [&](int n) {
        launch_with(cudaLaunchAttributeClusterDimension, cluster_barrier_kernel, 8, 256, n);
      });
    });
    for (const int threads : {128, 512})
      report(gpunet::concat("barrier of a block of ", threads), [&] {
        return each(many, [&](int n) { launch(block_barrier_kernel, 1, threads, n); });
      });
    report("atomic add that waits for its result", [&] {
      return each(many, [&](int n) { launch(dependent_atomic_kernel, 1, 1, n, memory_); });
    });
    report(gpunet::concat("atomic adds of ", blocks_, " blocks of 128 to one number"), [&] {
      return each(many, [&](int n) { launch(atomic_kernel<true>, blocks_, 128, n, memory_); });
    });
    report(
        gpunet::concat("atomic adds of ", blocks_, " blocks of 128, each thread to its own"), [&] {
          return each(many, [&](int n) { launch(atomic_kernel<false>, blocks_, 128, n, memory_); });
        });
    report(gpunet::concat("counter of the last of ", blocks_, " blocks"), [&] {
      return each(many, [&](int n) { launch(last_block_kernel, blocks_, 128, n, memory_); });
    });
    report_loads("load from the L2 cache", 1 << 16, many);
    if (times_ > 1) report_loads("load from memory", words, many);
  }

 private:
  template <class... P, class... A>
  void launch(void (*kernel)(P...), int blocks, int threads, A... arguments) {
    kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(threads), 0, stream_>>>(
        arguments...);
    check(cudaGetLastError());
  }
  template <class... P, class... A>
  void launch_with(cudaLaunchAttributeID id, void (*kernel)(P...), int blocks, int threads,
                   A... arguments) {
    cudaLaunchAttribute attribute{};
    attribute.id = id;
    if (id == cudaLaunchAttributeCooperative) attribute.val.cooperative = 1;
    if (id == cudaLaunchAttributeProgrammaticStreamSerialization)
      attribute.val.programmaticStreamSerializationAllowed = 1;
    if (id == cudaLaunchAttributeClusterDimension) attribute.val.clusterDim = {8, 1, 1};
    cudaLaunchConfig_t launch{};
    launch.gridDim = static_cast<unsigned>(blocks);
    launch.blockDim = static_cast<unsigned>(threads);
    launch.stream = stream_;
    launch.attrs = &attribute;
    launch.numAttrs = 1;
    check(cudaLaunchKernelEx(&launch, kernel, arguments...));
  }

  // Microseconds of one of so many calls of f in a row, on the GPU and on the thread that calls.
  template <class F>
  double time(int times, F f) {
    f();
    check(cudaEventRecord(begin_, stream_));
    for (int i = 0; i < times; ++i)
      f();
    check(cudaEventRecord(end_, stream_));
    check(cudaEventSynchronize(end_));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_, end_));
    return 1e3 * static_cast<double>(ms) / times;
  }
  template <class F>
  double host_time(F f) {
    check(cudaStreamSynchronize(stream_));
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < times_; ++i)
      f();
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
    check(cudaStreamSynchronize(stream_));
    return time.count() / times_;
  }
  // Of one of the n repetitions in the kernel that f(n) launches: from n to 2 n.
  template <class F>
  double each(int n, F f) {
    const int times = times_ / 20 + 1;
    const double once = time(times, [&] { f(n); }), twice = time(times, [&] { f(2 * n); });
    return (twice - once) / n;
  }

  template <class F>
  void report(const std::string& what, F f) {
    try {
      std::printf("%s: %.3f us\n", what.c_str(), f());
    } catch (const std::exception& error) {
      std::printf("%s: not measured: %s\n", what.c_str(), error.what());
    }
    std::fflush(stdout);
  }
  // Graphs of a chain of nodes that `add` records: the time of the shortest, and the time
  // of another node.
  template <class F>
  void report_graph(const std::string& what, F add) {
    try {
      const auto [one, of_caller] = graph_time(1, add);
      const int nodes = 56;
      const double many = graph_time(nodes, add).first;
      std::printf("%s: %.3f us each, %.3f us alone, %.3f us of the caller\n", what.c_str(),
                  (many - one) / (nodes - 1), one, of_caller);
    } catch (const std::exception& error) {
      if (cudaGraph_t graph = nullptr; cudaStreamEndCapture(stream_, &graph) != cudaSuccess)
        cudaGetLastError();
      std::printf("%s: not measured: %s\n", what.c_str(), error.what());
    }
    std::fflush(stdout);
  }
  template <class F>
  std::pair<double, double> graph_time(int nodes, F add) {
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t recorded = nullptr;
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < nodes; ++i)
      add();
    check(cudaStreamEndCapture(stream_, &graph));
    check(cudaGraphInstantiate(&recorded, graph, 0));
    const auto replay = [&] {
      check(cudaGraphLaunch(recorded, stream_));
    };
    const std::pair times{time(times_, replay), host_time(replay)};
    check(cudaGraphExecDestroy(recorded));
    check(cudaGraphDestroy(graph));
    return times;
  }
  void report_loads(const std::string& what, int count, int many) {
    const int stride = 32;  // a line of 128 bytes
    report(what, [&] {
      launch(link_kernel, count / stride / 256 + 1, 256, memory_, count, stride);
      return each(many, [&](int n) { launch(chase_kernel, 1, 1, n, memory_); });
    });
  }

  static constexpr int words = 64 << 20;  // 256 MB, more than the L2 cache has
  cudaStream_t stream_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  int* memory_ = nullptr;
  int times_, blocks_ = 0;
};

}  // namespace

int main() {
  try {
    Latency().measure();
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 1;
  }
}
