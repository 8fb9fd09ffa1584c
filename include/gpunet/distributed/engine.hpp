// The transport of numbers between processes, for collective operations.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <gpunet/io/dtype.hpp>

namespace gpunet::distributed {

// How the numbers of the ranks become one, as torch.distributed.ReduceOp.
enum class ReduceOp { sum, avg, product, min, max };

// Options of a Communicator.
struct CommunicatorOptions {
  // The time that an operation waits for the other ranks before it is an Error.
  std::chrono::milliseconds timeout = std::chrono::minutes(30);
  // Where the processes meet, if the engine does not know it from its launcher (NCCL without MPI):
  // "env://", at the address in the variables MASTER_ADDR and MASTER_PORT, or "file:///path", by a
  // file that is not there yet in a folder that all can write to.
  std::string init_method = "env://";
};
// Throws Error if init_method is none of the two.
void require_init_method(const CommunicatorOptions& options);

// The kinds of operations.
enum class Collective { all_reduce, reduce, broadcast, all_gather, all_to_all, barrier };
const char* to_string(Collective kind);

// One operation: the numbers that each rank gives and gets, in the memory of the host or of a GPU.
// In place, except for all_gather and all_to_all.
struct CollectiveCall {
  Collective kind;
  index_t elements = 0;  // that each rank gives; all_to_all: to each rank
  io::Dtype type = io::Dtype::U8;
  ReduceOp op = ReduceOp::sum;  // avg: only in the memory of a GPU
  index_t root = 0;
  // all_gather: [elements], all_to_all: [size, elements], a row for each rank.
  const void* from = nullptr;
  // [elements]; all_gather, all_to_all: [size, elements], a row of each rank.
  void* data = nullptr;
  bool is_checked = false;      // whether the ranks have compared their calls
  bool is_of_training = false;  // whether a rank in evaluation mode leaves it out
  const char* reason = "";      // why a rank makes it, for the messages of others that do not
  // CUDA's stream of work on the memory of a GPU: the operation follows its present work, and
  // wait() lets its later work follow the operation, without waiting on the host. Null: host
  // memory.
  void* stream = nullptr;
  // Keeps the memory if the operation cannot be completed: another rank may still write to it then.
  // Null: an engine that lets others write to host memory copies it.
  std::shared_ptr<const void> owner = nullptr;

  // Returns whether it is not in place, and its result has a row of each rank.
  bool has_rows() const { return kind == Collective::all_gather || kind == Collective::all_to_all; }
  // Returns the bytes of `elements`, and the bytes given and got on each of `ranks` ranks.
  index_t bytes() const { return elements * io::bits_of(type) / 8; }
  index_t bytes_given(index_t ranks) const {
    return bytes() * (kind == Collective::all_to_all ? ranks : 1);
  }
  index_t bytes_got(index_t ranks) const { return bytes() * (has_rows() ? ranks : 1); }
};

// Transports the numbers of one process. Calls of all ranks have to be the same, in the same order.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string name() const = 0;
  virtual index_t rank() const = 0;
  virtual index_t size() const = 0;
  virtual index_t local_rank() const = 0;
  virtual index_t local_size() const = 0;
  // Returns whether calls may have a stream.
  virtual bool takes_device_memory() const { return false; }

  // Starts a call, whose memory must stay until wait() returns or throws. Returns its number.
  virtual std::uint64_t start(const CollectiveCall& call) = 0;
  // Waits until it is done. Throws Error if it cannot be: a rank has left, makes another call, or
  // does not come in time.
  virtual void wait(std::uint64_t number) = 0;
  // Lets the started calls advance, where they do so only while the process looks after them. Does
  // not wait.
  virtual void advance() = 0;
  // Tells the other ranks that this one fails: it leaves calls that it has started. No call
  // follows.
  virtual void abandon(const std::string& why) = 0;
};

// Makes the engine of a program, in all processes that were launched together. A header of an
// engine sets it (<gpunet/distributed/mpi.hpp>); null if the program has none.
using EngineFactory = std::shared_ptr<Engine> (*)(const CommunicatorOptions&);
EngineFactory& engine_factory();

// The same for an engine that also takes the memory of GPUs (<gpunet/distributed/nccl.cuh>). It is
// given the engine of the other factory, null if there is none, and leaves host memory to that.
using DeviceEngineFactory = std::shared_ptr<Engine> (*)(const CommunicatorOptions&,
                                                        std::shared_ptr<Engine>);
DeviceEngineFactory& device_engine_factory();

}  // namespace gpunet::distributed

#if !GPUNET_COMPILED
#include <gpunet/distributed/engine.ipp>
#endif
