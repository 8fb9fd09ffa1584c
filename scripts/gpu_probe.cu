// gpu_probe: checks what the Cuda policy needs of this machine's GPU: memory, a kernel of ours, a
// recorded graph, a product of cuBLASLt.
// Prints a line "STEP: RESULT" for each step, the name before the step begins. Ends with 1 at the
// first step that fails, and by SIGALRM if one takes longer than 60 s. gpu_check.sh compiles and
// runs it.
#include <cstddef>
#include <exception>
#include <iostream>
#include <string>
#include <unistd.h>
#include <vector>

#include <gpunet/device/cuda/for_each.cuh>
#include <gpunet/device/cuda/recorded_graph.cuh>

namespace {

using namespace gpunet;

constexpr index_t side = 64;             // of the matrices
constexpr std::size_t some = 256 << 20;  // bytes

// A small integer: sums of products of these are exact, in every precision and every order.
GPUNET_FN float number(index_t i) {
  return static_cast<float>(i * 7 % 15 - 7);
}

struct Fill {
  float* data;
  index_t offset;
  GPUNET_FN void operator()(index_t i) const { data[i] = number(i + offset); }
};

std::string describe() {
  cudaDeviceProp device{};
  int driver = 0, runtime = 0;
  detail::require_device(0, "Cuda");
  check(cudaGetDeviceProperties(&device, 0));
  check(cudaDriverGetVersion(&driver));
  check(cudaRuntimeGetVersion(&runtime));
  return concat(device.name, ", compute capability ", device.major, ".", device.minor, ", CUDA ",
                detail::cuda_version(driver), " (driver) and ", detail::cuda_version(runtime),
                " (runtime)");
}

std::string allocate() {
  void* memory = nullptr;
  check(cudaMalloc(&memory, some));
  check(cudaFree(memory));
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total));
  return concat(some >> 20, " MiB allocated, ", free >> 20, " of ", total >> 20, " MiB are free");
}

std::string run_kernel() {
  Cuda device;
  const index_t n = side * side;
  const std::size_t bytes = n * sizeof(float);
  float* data = static_cast<float*>(device.allocate(bytes));
  for_each(device, n, Fill{data, 1});
  std::vector<float> result(static_cast<std::size_t>(n));
  device.download(result.data(), data, bytes);
  device.deallocate(data, bytes);
  for (index_t i = 0; i < n; ++i) {
    const float found = result[static_cast<std::size_t>(i)];
    require(found == number(i + 1), "for_each wrote ", found, " at index ", i, ", want ",
            number(i + 1));
  }
  return concat("for_each wrote ", n, " numbers, all correct (code for sm_", device.architecture(),
                ")");
}

struct AddOne {
  float* data;
  GPUNET_FN void operator()(index_t i) const { data[i] += 1; }
};

std::string run_graph() {
  constexpr index_t n = 1000;
  constexpr int replays = 3;
  Cuda device;
  const std::size_t bytes = n * sizeof(float);
  float* data = static_cast<float*>(device.allocate(bytes));
  for_each(device, n, Fill{data, 0});
  const detail::Recorded recorded =
      detail::record(device, [&] { for_each(device, n, AddOne{data}); });
  require(recorded.graph != nullptr, recorded.problem);
  for (int i = 0; i < replays; ++i)
    detail::replay(device, recorded.graph);
  std::vector<float> result(static_cast<std::size_t>(n));
  device.download(result.data(), data, bytes);
  device.deallocate(data, bytes);
  for (index_t i = 0; i < n; ++i) {
    const float found = result[static_cast<std::size_t>(i)];
    require(found == number(i) + replays, "the replayed kernel left ", found, " at index ", i,
            ", want ", number(i) + replays);
  }
  return concat("a kernel recorded once and replayed ", replays, " times, all correct");
}

// C = A B, column-major, by the algorithm that cuBLASLt prefers.
void multiply(Cuda& device, const float* a, const float* b, float* c) {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;
  check(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const detail::Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy> owned_operation(operation);
  check(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, side, side, side));
  const detail::Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy> owned_layout(layout);
  const float one = 1, zero = 0;
  check(cublasLtMatmul(device.blas().lt(), operation, &one, a, layout, b, layout, &zero, c, layout,
                       c, layout, nullptr, nullptr, 0, device.stream()));
}

std::string run_product() {
  Cuda device;
  const index_t n = side * side;
  const std::size_t bytes = n * sizeof(float);
  float* data = static_cast<float*>(device.allocate(3 * bytes));
  float *a = data, *b = data + n, *c = data + 2 * n;
  for_each(device, n, Fill{a, 0});
  for_each(device, n, Fill{b, 3});
  multiply(device, a, b, c);
  std::vector<float> result(static_cast<std::size_t>(n));
  device.download(result.data(), c, bytes);
  device.deallocate(data, 3 * bytes);
  for (index_t i = 0; i < n; ++i) {
    const index_t row = i % side, column = i / side;
    float want = 0;
    for (index_t k = 0; k < side; ++k)
      want += number(row + k * side) * number(k + column * side + 3);
    const float found = result[static_cast<std::size_t>(i)];
    require(found == want, "element [", row, ", ", column, "] of the product is ", found, ", want ",
            want);
  }
  return concat("a ", side, " x ", side, " product, all sums exact");
}

}  // namespace

int main() {
  struct Step {
    const char* name;
    std::string (*run)();
  };
  for (const auto& [name, run] :
       {Step{"device", describe}, Step{"memory", allocate}, Step{"kernel", run_kernel},
        Step{"graph", run_graph}, Step{"cuBLASLt", run_product}}) {
    std::cout << name << ": " << std::flush;
    alarm(60);
    try {
      std::cout << run() << std::endl;
    } catch (const std::exception& error) {
      std::cout << error.what() << std::endl;
      return 1;
    }
  }
}
