// What becomes of the other processes if one of them does not do as they do: faults MODE, under
// mpirun, or with GPUNET_TEST_NCCL on a GPU each. faults.sh says what is expected.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include <gpunet/distributed.hpp>
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/tensor/create.hpp>
#ifdef GPUNET_TEST_NCCL
#include <gpunet/distributed/nccl.cuh>
#else
#include <gpunet/distributed/mpi.hpp>
#endif

using namespace gpunet;

namespace {

#ifdef GPUNET_TEST_NCCL
using Own = Cuda;
Own& device_of(distributed::Communicator& comm) {
  static Cuda device(static_cast<int>(comm.local_rank()));
  return device;
}
#else
using Own = Host;
Own& device_of(distributed::Communicator&) {
  static Host device({.threads = 1});
  return device;
}
#endif

nn::Value layers(nn::Value x) {
  return nn::linear(nn::relu(nn::linear(x, 8)), 2);
}

// Trains with statistics of all ranks on 10 batches, the last 5 of them in training mode or not.
void normalize_together(distributed::Communicator& comm, bool trains, bool broadcasts) {
  Host host({.threads = 1});
  Network net(host, [](nn::Value x) { return nn::linear(nn::batch_norm(nn::linear(x, 8)), 2); },
              {3});
  distributed::DistributedDataParallel ddp(
      net, comm, {.broadcast_buffers = broadcasts, .sync_batch_norm = true});
  optim::SGD optimizer(net, {.lr = 0.01});
  train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
  const Tensor<float, Host> x(host, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor<label_t, Host> y(host, {2}, {0, 1});
  for (int i = 0; i < 10; ++i) {
    net.train(trains || i < 5);
    step(x, y);
  }
}

#ifndef GPUNET_TEST_NCCL  // a layer of a program for Cuda takes nvcc
// y = x; its backward pass fails where the test wants it.
struct Breaks {
  static inline bool breaks = false;

  template <class In>
  constexpr auto output(In in) const {
    return in;
  }
  template <class D, class T>
  void forward(D& device, const ForwardPass<T>& pass) const {
    device.copy(pass.y, pass.x, static_cast<std::size_t>(pass.in_elements()) * sizeof(T));
  }
  template <class D, class T>
  void backward(D& device, const BackwardPass<T>& pass) const {
    if (breaks) throw Error("the layer of rank 1 breaks");
    if (pass.dx)
      device.copy(pass.dx, pass.dy, static_cast<std::size_t>(pass.in_elements()) * sizeof(T));
  }
};

// Rank 1 fails within a backward pass, while the gradients of the layers above are on their way.
// Then all release their memory.
void break_in_backward_pass(distributed::Communicator& comm) {
  Own& device = device_of(comm);
  constexpr index_t width = 500;
  using Net = nn::Sequential<nn::Input<3>, nn::Linear<width>, Breaks, nn::Linear<width>,
                             nn::Linear<width>, nn::Linear<2>>;
  Model<Net, Own> net(device);
  distributed::DistributedDataParallel ddp(net, comm, {.bucket_cap_mb = 0.1});
  optim::SGD optimizer(net, {.lr = 0.01});
  train::Step step(net, nn::CrossEntropyLoss{}, optimizer);
  const Tensor<float, Own> x(device, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor<label_t, Own> y(device, {2}, {0, 1});
  for (int i = 0; i < 10; ++i) {
    Breaks::breaks = i == 5 && comm.rank() == 1;
    step(x, y);
  }
}
#endif

// Trains on so many batches, saving the last checkpoint on rank 0.
void train_on(distributed::Communicator& comm, index_t batches, const std::string& checkpoint,
              bool freezes = false) {
  Own& device = device_of(comm);
  Network<Own, float> net(device, layers, {3});
  distributed::DistributedDataParallel ddp(net, comm);
  optim::Adam optimizer(net, {.lr = 0.01});
  nn::CrossEntropyLoss criterion;
  train::Step step(ddp, criterion, optimizer);
  const Tensor<float, Own> x(device, {2, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor<label_t, Own> y(device, {2}, {0, 1});
  io::Checkpoint run(checkpoint);
  run.add("net", net).add("optimizer", optimizer);
  for (index_t i = 0; i < batches; ++i) {
    if (freezes && i == 15) net.parameters("0.*").requires_grad(false);
    step(x, y);
    if (comm.is_main() && i % 10 == 0) run.save();
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string mode = argc > 1 ? argv[1] : "", folder = argc > 2 ? argv[2] : ".";
  const bool is_short = mode == "stopped" || mode == "hangs" || mode == "second";
  distributed::Communicator comm({.timeout = std::chrono::seconds(is_short ? 3 : 60)});
  const bool is_culprit = comm.rank() == 1;
  if (mode == "fine") {
    train_on(comm, 30, folder + "/run.safetensors");
  } else if (mode == "exit_together") {
    train_on(comm, 30, folder + "/run.safetensors");
    std::exit(0);
  } else if (mode == "batches") {
    train_on(comm, is_culprit ? 20 : 30, folder + "/run.safetensors");
    comm.barrier();
  } else if (mode == "freezes") {
    train_on(comm, 30, folder + "/run.safetensors", is_culprit);
#ifndef GPUNET_TEST_NCCL
  } else if (mode == "breaks") {
    break_in_backward_pass(comm);
  } else if (mode == "second") {
    if (!is_culprit) distributed::Communicator other({.timeout = std::chrono::seconds(3)});
    comm.barrier();
  } else if (mode == "calls") {
    float number = 1;
    if (is_culprit)
      comm.run({.kind = distributed::Collective::broadcast,
                .elements = 1,
                .type = io::Dtype::F32,
                .root = 1,
                .data = &number});
#endif
  } else if (mode == "evaluates" || mode == "evaluates_alone") {
    normalize_together(comm, !is_culprit, mode == "evaluates");
  } else if (is_culprit) {
    train_on(comm, 20, folder + "/run.safetensors");
    if (mode == "throws") throw Error("rank 1 finds no file");
    if (mode == "abandons") {  // in a call that the others do not make
      Tensor<float, Own> x = full(device_of(comm), {1000}, 1.0f);
      const distributed::Communicator::EngineArray<float, Own> at(comm, x.device(), x.data(),
                                                                  x.numel());
      comm.start({.kind = distributed::Collective::all_reduce,
                  .elements = x.numel(),
                  .type = io::Dtype::F32,
                  .data = at.data(),
                  .stream = at.stream()});
      comm.abandon("it gives up");
      return 3;
    }
    if (mode == "leaves") return 0;
    if (mode == "exits") std::exit(3);
    if (mode == "exits_later") {
      { distributed::Communicator other; }
      std::exit(3);
    }
    if (mode == "killed") std::raise(SIGKILL);
    if (mode == "stopped") std::raise(SIGSTOP);
    if (mode == "hangs")
      for (;;)
        std::this_thread::sleep_for(std::chrono::seconds(1));
  } else {
    if (mode == "exits_later")
      train_on(comm, 20, folder + "/run.safetensors"), distributed::Communicator();
    train_on(comm, 30, folder + "/run.safetensors");
  }
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
