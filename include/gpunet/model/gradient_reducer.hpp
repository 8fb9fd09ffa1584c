// The reduction of the gradients of several processes, in the backward pass of a network.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <gpunet/graph/run_slice.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet {

// The processes that train a network together, for code that adds up numbers of theirs. A metric's
// all_reduce() takes this, or a distributed::Communicator.
class Ranks {
 public:
  // Returns whether this is the process that prints, saves and draws.
  virtual bool is_main() const = 0;
  // Adds up numbers of all ranks, on all of them.
  virtual void sum(std::span<double> numbers) = 0;
  // Returns the texts of all ranks, on all of them.
  virtual std::vector<std::string> all_gather(const std::string& text) = 0;
  // Copies the buffers of rank 0 to all ranks, before an evaluation.
  virtual void sync_buffers() = 0;
  // Throws Error on all ranks if their parameters have become others.
  virtual void verify_parameters() = 0;

  // Integers must be less than 2^53.
  template <class N>
  requires std::is_arithmetic_v<N>
  [[nodiscard]] N all_reduce(N number) {
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

// A batch in leaves: parts that are the same for any number of processes, and whose gradients are
// added up in the same order. Leaf k of the n leaves of a process has its samples k, k + n, k + 2
// n, ...
template <class D, class T>
class LeafReducer {
 public:
  // Begins a batch of so many samples. Returns the number of its leaves on this process. Throws
  // Error if they cannot be equally large.
  virtual index_t begin_batch(index_t samples) = 0;
  // Begins the next leaf, whose backward pass replaces the gradients.
  virtual void begin_leaf() = 0;
  // Returns the rows of an array [batch, ...] for the samples of the leaf, valid until the next
  // one. `number`: 0 to 2, another for each array.
  template <class E>
  View<const E, D> rows_of_leaf(int number, const View<const E, D>& rows) {
    const Sizes row = rows.sizes().tail();
    const auto [count, data] =
        gather(number, rows.size(0), row.numel() * static_cast<index_t>(sizeof(E)), rows.data());
    return {static_cast<const E*>(data), row.with_front(count)};
  }
  // Adds up its gradients and its loss.
  virtual void end_leaf() = 0;
  // Makes the gradients and the loss of the network the means over all leaves of all processes, on
  // each of them.
  virtual void end_batch() = 0;
  // Restores the gradients from before the batch, after an error.
  virtual void abandon_batch() = 0;

 protected:
  ~LeafReducer() = default;
  // Returns the number of the rows of the leaf, and the rows, of so many bytes each.
  virtual std::pair<index_t, const void*> gather(int number, index_t rows, index_t bytes,
                                                 const void* data) = 0;
};

template <class D, class T>
class NoSync;

// As a NodeProbe, it sees each node after the last part of its gradients is in the arena, where a
// pass has one run of slices.
template <class D, class T>
class GradientReducer : public NodeProbe<T>, public Ranks {
 public:
  // Returns the ranks whose samples together make the statistics of a batch in training mode; null:
  // each process has its own.
  virtual BatchRanks* batch_ranks() = 0;
  // Before a forward pass in training mode.
  virtual void begin_pass() = 0;
  // After a backward pass: reduces the remaining gradients, and waits for all.
  virtual void reduce(T* gradients) = 0;
  // Returns the leaves of a batch, nullptr if it runs as a whole.
  virtual LeafReducer<D, T>* leaves() = 0;
  // Returns whether backward passes are reduced: unless a NoSync exists.
  bool reduces() const { return reduces_; }

 protected:
  ~GradientReducer() = default;

 private:
  friend class NoSync<D, T>;
  bool reduces_ = true;
};

// Until the end of its scope, backward passes leave gradients as this process has computed them,
// and they accumulate; the first one after that reduces the sum. nullptr: does nothing.
template <class D, class T>
class NoSync {
 public:
  explicit NoSync(GradientReducer<D, T>* reducer)
      : reducer_(reducer), before_(reducer && std::exchange(reducer->reduces_, false)) {}
  NoSync(const NoSync&) = delete;
  NoSync& operator=(const NoSync&) = delete;
  ~NoSync() {
    if (reducer_) reducer_->reduces_ = before_;
  }

 private:
  GradientReducer<D, T>* reducer_;
  bool before_;
};

}  // namespace gpunet
