// The CIFAR-10 lesson by several processes, mpirun -n 4 13_distributed: each trains with its part
// of every batch, and the mean of their gradients keeps their networks the same. Stopped and
// started again, with another number of processes too, it goes on.
#include <gpunet/distributed.hpp>
#include <gpunet/gpunet.hpp>

#include "support/distributed_options.hpp"

using namespace gpunet;

using Net =
    nn::Sequential<nn::Input<3, 32, 32>,                                               //
                   nn::Named<"conv1", nn::Conv2d<6, 5>>, nn::ReLU, nn::MaxPool2d<2>,   //
                   nn::Named<"conv2", nn::Conv2d<16, 5>>, nn::ReLU, nn::MaxPool2d<2>,  //
                   nn::Flatten, nn::Named<"fc1", nn::Linear<120>>, nn::ReLU,           //
                   nn::Named<"fc2", nn::Linear<84>>, nn::ReLU, nn::Named<"fc3", nn::Linear<10>>>;

// Returns the exit status, once the network is trained or interrupted.
template <Device D>
int train_network(Model<Net, D>& net, const data::DatasetView& images,
                  distributed::Communicator& comm, const examples::DistributedOptions& with) {
  const distributed::DistributedDataParallel ddp(net, comm);
  const nn::CrossEntropyLoss criterion;
  optim::SGD optimizer(net, {.lr = with.lr, .momentum = with.momentum});
  const data::DistributedSampler sampler(images,
                                         {.num_replicas = comm.size(), .rank = comm.rank()});
  data::DataLoader loader(images,
                          {.batch_size = with.batch_size / comm.size(), .sampler = sampler});
  const train::InterruptGuard interrupt;
  const train::History history =
      train::fit(ddp, criterion, optimizer, loader, {.epochs = with.epochs, .resume = with.resume},
                 train::ProgressBar(), train::StopOnNaN(), train::StopOnInterrupt());
  require(history.end != train::End::not_finite, "13_distributed: ", history.why,
          ", use a smaller --lr");
  if (comm.is_main()) io::save(net, with.save);
  return interrupt.exit_status();
}

// Returns what the network gets right of the test images, each of which one process looks at.
template <Device D>
auto test_network(Model<Net, D>& net, const data::DatasetView& images,
                  distributed::Communicator& comm) {
  std::vector<index_t> part;
  for (index_t i = comm.rank(); i < images.size(); i += comm.size())
    part.push_back(i);
  const data::Subset of_rank(images, part);
  data::DataLoader loader(of_rank, {.batch_size = 64});
  train::Accuracy accuracy(net.device(), 10);
  net.eval();
  for (auto [inputs, labels] : loader.to(net.device()))
    accuracy.update(net(inputs), labels);
  accuracy.all_reduce(comm);
  return accuracy.result();
}

int main(int argc, char** argv) {
  return examples::exit_status([&] {
    distributed::Communicator comm;
    const examples::DistributedOptions with(argc, argv, comm);
    const data::Compose transform(data::ToTensor{},
                                  data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}});
    return with_device(with.device, {.threads = with.threads}, [&](auto& device) {
      const auto devices = comm.all_gather(device.name());
      for (std::size_t rank = 0; comm.is_main() && rank < devices.size(); ++rank)
        std::printf("rank %zu of %ld: %s\n", rank, comm.size(), devices[rank].c_str());
      manual_seed(with.seed);
      Model<Net, std::remove_reference_t<decltype(device)>> net(device);
      const auto train = [&](auto images) {
        return train_network(net, images, comm, with);
      };
      const int status = examples::with_cifar10(with.data, with.images, transform, train);
      const auto test = [&](auto images) {
        return test_network(net, images, comm);
      };
      const auto result = examples::with_cifar10(with.data, {}, transform, test);
      if (comm.is_main()) examples::print_accuracy(result, with.classes());
      return status;
    });
  });
}
