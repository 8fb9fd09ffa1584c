// What makes the gradients of several processes one, in the backward pass of a network.
#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include <gpunet/graph/run_slice.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet {

// The processes that train a network together, for code that adds up numbers of theirs. A metric's all_reduce() takes this, or a
// distributed::Communicator.
class Ranks {
 public:
  // Returns whether this is the process that prints, saves and draws.
  virtual bool is_main() const = 0;
  // Adds up numbers of all ranks, on all of them.
  virtual void sum(std::span<double> numbers) = 0;
  // Copies the buffers of rank 0 to all ranks, before an evaluation.
  virtual void sync_buffers() = 0;

  // Integers must be less than 2^53.
  template <class N>
  requires std::is_arithmetic_v<N> N all_reduce(N number) {
    auto all = static_cast<double>(number);
    sum({&all, 1});
    return static_cast<N>(all);
  }
  template <class D>
  void all_reduce(D& device, const View<index_t, D>& counts) {
    std::vector<index_t> numbers = to_vector(device, counts);
    std::vector<double> all(numbers.begin(), numbers.end());
    sum(all);
    numbers.assign(all.begin(), all.end());
    device.upload(counts.data(), numbers.data(), numbers.size() * sizeof(index_t));
  }

 protected:
  ~Ranks() = default;
};

// As a NodeProbe, it sees each node after the last part of its gradients is in the arena, where a pass has one run of slices.
template <class D, class T>
class GradientReducer : public NodeProbe<T>, public Ranks {
 public:
  // Returns the ranks whose samples together make the statistics of a batch in training mode; null: each process has its own.
  virtual BatchRanks* batch_ranks() = 0;
  // Before a forward pass in training mode.
  virtual void begin_pass() = 0;
  // After a backward pass: reduces what it has not begun with, and waits for all.
  virtual void reduce(T* gradients) = 0;

 protected:
  ~GradientReducer() = default;
};

}  // namespace gpunet
