// What the thread beside the operations of NCCL notices: nccl_watch MODE, each process with a GPU.
// nccl_watch.sh says what is expected.
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include <gpunet/device/cuda/cuda.hpp>
#include <gpunet/distributed.hpp>
#include <gpunet/distributed/nccl.cuh>

using namespace gpunet;
using distributed::Collective;

namespace {

// Sums on the GPU. The engine does not wait, but this thread does as it would for other work of the
// GPU: a simulated one works then.
void sum_on_gpu(distributed::Communicator& comm, Tensor<float, Cuda>& x) {
  comm.run({.kind = Collective::all_reduce,
            .elements = x.numel(),
            .type = io::Dtype::F32,
            .data = x.data(),
            .stream = x.device().stream()});
  x.device().synchronize();
}

// Returns the message of an operation that NCCL refuses while this thread waits for it on the host.
std::string refused_on_host(distributed::Communicator& comm) {
  double number = 1;
  try {
    comm.run({.kind = Collective::broadcast,
              .elements = 1,
              .type = io::Dtype::F64,
              .root = 99,
              .data = &number});
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string mode = argc > 1 ? argv[1] : "";
  const bool is_short = mode == "idle";
  distributed::CommunicatorOptions options{.timeout = std::chrono::seconds(is_short ? 2 : 30)};
  if (mode.starts_with("file://")) options.init_method = mode;
  auto comm = std::make_unique<distributed::Communicator>(options);
  Cuda device(static_cast<int>(comm->local_rank()));
  Tensor<float, Cuda> x(device, {4}, {1, 2, 3, 4});
  const index_t rank = comm->rank();
  sum_on_gpu(*comm, x);
  const auto rest = [](int seconds) {
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
  };
  if (mode == "refused" || mode == "idle") {
    std::printf("rank %d: %s\n", static_cast<int>(rank), refused_on_host(*comm).c_str());
    std::fflush(stdout);
    if (mode == "idle") {
      device.synchronize();
      rest(5);  // longer than the timeout, but nobody waits
      sum_on_gpu(*comm, x);
      return 0;
    }
    // Only the GPU waits, for what does not come.
    if (rank == 1) throw Error("rank 1 finds no file");
    sum_on_gpu(*comm, x);
    std::printf("rank %d goes on\n", static_cast<int>(rank));
  } else if (mode == "rank_0_first") {
    if (rank == 0) {
      comm.reset();
      std::printf("rank 0 has left\n");
      return 0;
    }
    rest(1);
    if (rank == 1) throw Error("rank 1 finds no file");
    rest(20);
    std::printf("rank %d goes on\n", static_cast<int>(rank));
  } else if (mode == "one_leaves") {
    if (rank == 1) return 0;
    rest(1);
    sum_on_gpu(*comm, x);
    std::printf("rank %d goes on\n", static_cast<int>(rank));
  }
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
