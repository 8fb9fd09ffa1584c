// The other processes as an op sees them, where the statistics of a batch are over all processes.
#pragma once

#include <gpunet/core/config.hpp>

namespace gpunet {

// The processes, each with a rank, whose samples together are the batch of a pass in training mode.
// Arrays are in memory of the pass's device. All ranks must make the same calls in the same order.
class BatchRanks {
 public:
  // Returns the number of ranks.
  virtual index_t ranks() const = 0;
  // Returns memory for n numbers, uninitialized. The op may use it until its pass ends or it asks
  // for more.
  virtual double* numbers(index_t n) = 0;
  // Copies the n numbers of each rank to all ranks, `to` [ranks, n], in the order of the ranks.
  virtual void gather(const double* from, index_t n, double* to) = 0;
  // Each of the n numbers becomes its sum over all ranks, bitwise identical on all of them.
  virtual void sum(double* numbers, index_t n) = 0;

 protected:
  ~BatchRanks() = default;
};

}  // namespace gpunet
