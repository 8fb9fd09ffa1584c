// Training of one network by several processes, each with a part of every batch:
// torch.nn.parallel.DistributedDataParallel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/distributed/communicator.hpp>
#include <gpunet/distributed/leaf_tree.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/ops/batch_ranks.hpp>

namespace gpunet::distributed {

// How the gradients of the ranks are added up.
enum class Reduction {
  fast,  // in the order of the engine, while the backward pass runs
  // In an order that does not depend on the number of ranks, see DistributedDataParallel.
  fixed_tree
};

// Options of DistributedDataParallel, as in PyTorch.
struct DistributedDataParallelOptions {
  // Gradients are reduced in parts of so many MiB; the first one has 1 MiB.
  double bucket_cap_mb = 25;
  // Running statistics of rank 0 go to all ranks before each forward pass in training mode.
  bool broadcast_buffers = true;
  Reduction reduction = Reduction::fast;
  index_t tree_leaves = 8;  // of Reduction::fixed_tree: a power of two, the largest number of ranks
  // BatchNorm normalizes by the statistics of all ranks' samples, as after
  // torch.nn.SyncBatchNorm.convert_sync_batchnorm(net).
  bool sync_batch_norm = false;
};

// Makes a network the same on all ranks, and the gradients of each backward pass the mean over the
// ranks, so that they stay the same:
//   distributed::Communicator comm;
//   Model<LeNet, D> net(device);
//   distributed::DistributedDataParallel ddp(net, comm);
//   optim::SGD optimizer(net, {.lr = 0.1});
// Then net trains as before: in a loop of your own with ddp(x) or net(x), by train::Step, by
// train::fit (which also take ddp). Each rank reads its own part of the data
// (data::DistributedSampler). Gradients are reduced while the backward pass still runs, where its
// order allows: the last layers first. Buffers (running statistics) come from rank 0; evaluation
// reads the buffers of this process. Losses are of the rank's part.
//
// The parts of a step are PyTorch's: gradients that accumulate are reduced with each backward pass
// unless no_sync() forbids it; train::Step and fit with {.accumulate = k} reduce the gradients of k
// batches together.
//
// With {.reduction = Reduction::fixed_tree}, train::Step and fit give bitwise identical parameters
// and losses on 1, 2, 4, ... up to .tree_leaves ranks that read the same batches: as .tree_leaves
// ranks with Reduction::fast, but for the order of the additions (see LeafTree) and for the loss of
// a step, which is that of all ranks' samples. All ranks have equally many samples, a multiple of
// .tree_leaves / ranks. Hooks are called for each leaf. With {.accumulate = k}, gradients are
// reduced with each batch. Throws Error for a layer with buffers in training mode (running
// statistics), a loss that is a sum, a backward pass elsewhere, no_sync().
//
// With {.sync_batch_norm = true}, mean and variance of each BatchNorm in training mode are over the
// samples of all ranks, and its backward pass computes the gradients through both. Each sample has
// the same weight in them, also where ranks have different numbers of samples. Running statistics
// are then bitwise identical on all ranks by themselves. Each BatchNorm takes a call in the forward
// pass, which gathers 2 channels + 1 doubles of each rank, and one in the backward pass, which adds
// up as many; also within no_sync().
template <class D, class T>
class DistributedDataParallel final : private GradientReducer<D, T>, private BatchRanks {
 public:
  using device_type = D;
  using value_type = T;

  // The network must outlive this; it may be moved. Parameters and buffers become rank 0's. Throws
  // Error on all ranks if their networks differ, the options, or the versions of gpunet.
  DistributedDataParallel(Network<D, T>& net, const Communicator& comm,
                          const DistributedDataParallelOptions& options = {});
  ~DistributedDataParallel();
  DistributedDataParallel(const DistributedDataParallel&) = delete;
  DistributedDataParallel& operator=(const DistributedDataParallel&) = delete;

  // The forward pass of the network.
  template <class... Inputs>
  Output<D, T> operator()(Inputs&&... inputs) {
    return (*net_)(std::forward<Inputs>(inputs)...);
  }
  Network<D, T>& module() const { return *net_; }
  Communicator& communicator() { return comm_; }

  // Until the end of its scope, backward passes leave gradients as this rank has computed them, and
  // they accumulate; the first one after that reduces the sum. Throws Error with
  // Reduction::fixed_tree.
  [[nodiscard]] NoSync<D, T> no_sync();

  // Copies the buffers of rank 0 to all ranks, as before an evaluation on all of them.
  void sync_buffers() override;

  // Throws Error on all ranks if their parameters are no longer the same: something that is not the
  // same on all ranks changes them. Compares their norm and a sum with pseudorandom signs, to a
  // relative difference of 1e-4: processors of different kinds may round updates differently.
  // train::fit calls it after each epoch.
  void verify_parameters() override;

  // Returns the parts of the gradients that are reduced together, in their order.
  const std::vector<ArenaRange>& buckets();

 private:
  // A part of the gradients.
  struct Bucket {
    int nodes = 0, open = 0;   // that store gradients here; that have not run yet
    std::uint64_t number = 0;  // of the call
  };

  bool is_main() const override { return comm_.is_main(); }
  void sum(std::span<double> numbers) override;
  BatchRanks* batch_ranks() override {
    return options_.sync_batch_norm && comm_.size() > 1 ? this : nullptr;
  }
  void begin_pass() override;
  LeafReducer<D, T>* leaves() override { return tree_ ? &*tree_ : nullptr; }
  void see_output(const PlannedNode&, const T*) override {}
  void see_gradients(const PlannedNode& node, std::span<T* const>, const T* gradients) override;
  void reduce(T* gradients) override;

  index_t ranks() const override { return comm_.size(); }
  double* numbers(index_t n) override;
  void gather(const double* from, index_t n, double* to) override;
  void sum(double* numbers, index_t n) override;

  std::vector<std::string> all_gather(const std::string& text) override {
    return comm_.all_gather(text);
  }

  void verify();
  // Makes rank 0's array that of all ranks.
  void broadcast(const View<T, D>& array);
  // Cuts the gradients into buckets, if the plan has changed.
  void make_buckets();
  // The same; throws Error on all ranks if they train different parameters.
  void verify_trained();
  // Starts the reduction of the next bucket: all ranks have one order, also if they compute them in
  // different ones.
  void start_next(T* gradients);
  // Waits for the reductions that are running, and makes all buckets ready for a pass.
  void open_buckets();
  // Returns whether the engine takes the memory of the device.
  bool reduces_in_place() const;
  // Returns that of the device, null if the engine gets host memory.
  void* stream() const;

  TrackedPointer<Network<D, T>> net_;
  Communicator comm_;
  DistributedDataParallelOptions options_;
  std::optional<std::uint64_t> plan_number_;  // of the buckets
  std::optional<std::uint64_t> verified_plan_;
  std::string trained_;                     // which parameters all ranks train
  std::vector<ArenaRange> ranges_;          // of the buckets
  std::vector<Bucket> buckets_;             // empty before the first pass
  std::vector<std::vector<int>> of_nodes_;  // the buckets of Plan::nodes
  std::size_t started_ = 0;                 // buckets of this pass, from the first on
  std::ptrdiff_t last_node_ = 0;            // whose gradients were seen in this pass
  std::shared_ptr<std::vector<T>> host_copy_ = std::make_shared<
      // Of the gradients, where the engine gets host memory and the device has its own.
      std::vector<T>>();
  std::optional<LeafTree<D, T>> tree_;  // of Reduction::fixed_tree
  Buffer<double, D> statistics_;        // see numbers()
};

// Options may be left out.
template <class D, class T>
DistributedDataParallel(Network<D, T>&, const Communicator&, DistributedDataParallelOptions = {})
    -> DistributedDataParallel<D, T>;

#define GPUNET_DISTRIBUTED_DATA_PARALLEL(D, T) class DistributedDataParallel<D, T>
GPUNET_EXTERN_TEMPLATES(GPUNET_DISTRIBUTED_DATA_PARALLEL)

}  // namespace gpunet::distributed

#if !GPUNET_COMPILED
#include <gpunet/distributed/distributed_data_parallel.ipp>
#endif
