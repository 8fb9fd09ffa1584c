// What becomes of the other processes if one of them does not do as they do: faults MODE, under mpirun, or with GPUNET_TEST_NCCL on a GPU
// each. faults.sh says what is expected.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <gpunet/distributed.hpp>
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#ifdef GPUNET_TEST_NCCL
#include <gpunet/distributed/nccl.cuh>
#else
#include <gpunet/distributed/mpi.hpp>
#endif

using namespace gpunet;

namespace {

nn::Value layers(nn::Value x) {
  return nn::linear(nn::relu(nn::linear(x, 8)), 2);
}

// Trains with statistics of all ranks on 10 batches, the last 5 of them in training mode or not.
void normalize_together(distributed::Communicator& comm, bool trains, bool broadcasts) {
  Host host({.threads = 1});
  Network net(host, [](nn::Value x) { return nn::linear(nn::batch_norm(nn::linear(x, 8)), 2); }, {3});
  distributed::DistributedDataParallel ddp(net, comm, {.broadcast_buffers = broadcasts, .sync_batch_norm = true});
  optim::SGD optimizer(net, {.lr = 0.01});
  train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
  const Tensor<float, Host> x(host, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor<label_t, Host> y(host, {2}, {0, 1});
  for (int i = 0; i < 10; ++i) {
    net.train(trains || i < 5);
    step(x, y);
  }
}

// Trains on so many batches, saving the last checkpoint on rank 0.
void train_on(distributed::Communicator& comm, index_t batches, const std::string& checkpoint) {
#ifdef GPUNET_TEST_NCCL
  using Device = Cuda;
  Cuda device(static_cast<int>(comm.local_rank()));
#else
  using Device = Host;
  Host device({.threads = 1});
#endif
  Network<Device, float> net(device, layers, {3});
  distributed::DistributedDataParallel ddp(net, comm);
  optim::Adam optimizer(net, {.lr = 0.01});
  nn::CrossEntropyLoss criterion;
  train::Step step(ddp, criterion, optimizer);
  const Tensor<float, Device> x(device, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor<label_t, Device> y(device, {2}, {0, 1});
  io::Checkpoint run(checkpoint);
  run.add("net", net).add("optimizer", optimizer);
  for (index_t i = 0; i < batches; ++i) {
    step(x, y);
    if (comm.is_main() && i % 10 == 0) run.save();
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string mode = argc > 1 ? argv[1] : "", folder = argc > 2 ? argv[2] : ".";
  const bool is_short = mode == "stopped" || mode == "hangs";
  distributed::Communicator comm({.timeout = std::chrono::seconds(is_short ? 3 : 60)});
  const bool is_culprit = comm.rank() == 1;
  if (mode == "fine") {
    train_on(comm, 30, folder + "/run.safetensors");
  } else if (mode == "batches") {
    train_on(comm, is_culprit ? 20 : 30, folder + "/run.safetensors");
    comm.barrier();
  } else if (mode == "evaluates" || mode == "evaluates_alone") {
    normalize_together(comm, !is_culprit, mode == "evaluates");
  } else if (is_culprit) {
    train_on(comm, 20, folder + "/run.safetensors");
    if (mode == "throws") throw Error("rank 1 finds no file");
    if (mode == "leaves") return 0;
    if (mode == "exits") std::exit(3);
    if (mode == "killed") std::raise(SIGKILL);
    if (mode == "stopped") std::raise(SIGSTOP);
    if (mode == "hangs")
      for (;;)
        std::this_thread::sleep_for(std::chrono::seconds(1));
  } else {
    train_on(comm, 30, folder + "/run.safetensors");
  }
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
