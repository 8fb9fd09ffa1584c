// A sum of gradients in an order that does not depend on the number of processes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/distributed/communicator.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/tensor/buffer.hpp>

namespace gpunet::distributed {

namespace detail {

// x[r] += x[r + n / 2] for r < n / 2, then the same for the first half, until x[0] has the sum of n
// rows, [n, size]. n: a power of two.
template <class T>
void add_rows(T* x, index_t n, index_t size) {
  for (n /= 2; n > 0; n /= 2)
    for (index_t i = 0; i < n * size; ++i)
      x[i] += x[i + n * size];
}

// Returns the place of number i in the order 0, n/2, n/4, 3n/4, ..., in which neighbors are added
// first. n: a power of two.
constexpr index_t reversed_bits(index_t i, index_t n) {
  index_t reversed = 0;
  for (; n > 1; n /= 2, i /= 2)
    reversed = reversed * 2 + i % 2;
  return reversed;
}

}  // namespace detail

// The reduction Reduction::fixed_tree. A batch of all ranks has `leaves` leaves: sample s belongs
// to leaf s % leaves. Rank r of n has the samples r, r + n, r + 2 n, ..., as a DistributedSampler
// gives them, so that it has the leaves r, r + n, ... as a whole. Each leaf is a pass of its own,
// so its gradients are bitwise identical on any rank. First the gradients of the leaves l and l +
// leaves / 2 are added, then the sums of l and l + leaves / 4, and so on. The first additions are
// of leaves of one rank. For the last ones, each rank gets a part of the sums of all ranks
// (all_to_all), adds them, and gives them to all (all_gather): it sends 2 (n - 1) / n times the
// gradients, as in a ring.
template <class D, class T>
class LeafTree final : public LeafReducer<D, T> {
 public:
  // Throws Error for a number of leaves that is no power of two or that the ranks cannot share.
  LeafTree(Network<D, T>& net, const Communicator& comm, index_t leaves);

  // Throws Error for a layer that makes the gradient of a leaf depend on other leaves, in the
  // network's mode.
  void check_layers() const;
  // Throws Error for gradients of a pass that is not one of a leaf.
  void check_running() const;

  index_t begin_batch(index_t samples) override;
  void begin_leaf() override;
  void end_leaf() override;
  void end_batch() override;
  void abandon_batch() override;

 private:
  std::pair<index_t, const void*> gather(int number, index_t rows, index_t bytes,
                                         const void* data) override;

  index_t own_leaves() const { return leaves_ / comm_.size(); }
  const std::vector<ArenaRange>& ranges() const { return net_->gradients().ranges(); }
  // Stores a copy of the gradients and the loss.
  void push();
  // Adds the last copy to the gradients and, if it is of a leaf, the loss; forgets it.
  void add_last(bool with_loss);
  // Adds up the gradients and losses of all ranks.
  void add_ranks();

  TrackedPointer<Network<D, T>> net_;
  Communicator comm_;
  index_t leaves_;
  bool is_running_ = false;
  // The first of sums_ are gradients that the batch is added to.
  bool has_older_ = false;
  index_t samples_ = 0, leaf_ = 0, done_ = 0;             // of the running batch on this rank
  std::pair<std::uint64_t, std::uint64_t> random_state_;  // before the batch
  // Gradients with their offsets, then the loss.
  std::vector<Buffer<T, D>> sums_;
  std::size_t depth_ = 0;                     // levels of the tree
  std::array<Buffer<std::byte, D>, 3> rows_;  // see rows_of_leaf
  // Of the sums of all ranks, each [ranks, part].
  struct Exchanged {
    Buffer<T, D> own, received;
  };
  std::shared_ptr<Exchanged> exchanged_;
};

#define GPUNET_LEAF_TREE(D, T) class LeafTree<D, T>
GPUNET_EXTERN_TEMPLATES(GPUNET_LEAF_TREE)

}  // namespace gpunet::distributed

#if !GPUNET_COMPILED
#include <gpunet/distributed/leaf_tree.ipp>
#endif
