// The command line of 13_distributed, and what connects its processes.
#pragma once

#if EXAMPLE_HAS_MPI
#include <gpunet/distributed/mpi.hpp>
#endif
#if EXAMPLE_HAS_NCCL
#include <gpunet/distributed/nccl.cuh>
#endif
#include <gpunet/io/atomic_file.hpp>

#include "example_images.hpp"
#include "options.hpp"

namespace examples {

struct DistributedOptions {
  using index_t = gpunet::index_t;

  Options options;
  std::string device = options.device(), data = options.data("the CIFAR-10 binary files");
  index_t images =
      options.get("--images", "N", "built-in images to train with", index_t{40000}, index_t{1});
  index_t epochs = options.epochs(2);
  index_t batch_size = options.get(
      "--batch-size", "N", "samples per step, of all processes together", index_t{16}, index_t{1});
  float lr = options.lr(0.004f), momentum = options.get("--momentum", "X", "momentum", 0.9f, 0.0f);
  std::uint64_t seed = options.seed(0);
  int threads = options.get("--threads", "N",
                            "threads of each process; 0: processors divided by processes", 0, 0);
  std::string save =
      options.get("--save", "FILE", "where the weights go", "distributed.safetensors");
  std::string resume =
      options.get("--resume", "FILE", "the checkpoint after each epoch, to go on from", "");

  DistributedOptions(int argc, char** argv, gpunet::distributed::Communicator& comm)
      : options(argc, argv, "13_distributed",
                "Trains the network of the CIFAR-10 lesson by several processes.") {
    options.finish();
    gpunet::require(batch_size % comm.size() == 0, "13_distributed: --batch-size ", batch_size,
                    " for ", comm.size(),
                    " processes (want a multiple: each takes as many samples)");
    gpunet::require(
        !save.ends_with(".npy"), "13_distributed: --save ", save,
        " (a .npy file holds one array, and there are ten), name it .npz, .pth or .safetensors");
    gpunet::io::written_format(save);
    // Throws now, not after the training.
    if (comm.is_main()) const gpunet::io::AtomicFile probe(save);
    if (!data.empty()) gpunet::data::CIFAR10::test(data);  // likewise if files are missing
    if (comm.is_main()) tell_of_real_images(data, "cifar10");
  }

  auto classes() const {
    return data.empty() ? gpunet::data::Shapes::classes() : gpunet::data::CIFAR10::classes();
  }
};

}  // namespace examples
