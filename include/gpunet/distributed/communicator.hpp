// Operations of several processes on tensors: torch.distributed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gpunet/device/traits.hpp>
#include <gpunet/distributed/engine.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::distributed {

// The processes that were launched together, each with a rank: mpirun -n 4 ./program with an
// engine, <gpunet/distributed/mpi.hpp>; a program that nobody launched is a world of one, in which
// every operation returns immediately. All ranks must make the same calls in the same order, each
// from one thread at a time. A call of another kind, shape or type is an Error on all ranks, and so
// is a rank that leaves or does not come within `timeout`. Copies are the same Communicator.
class Communicator {
 public:
  // Throws Error if the launcher started several processes and the program has no engine.
  explicit Communicator(const CommunicatorOptions& options = {});
  // And no move: the moved object would have no ranks.
  Communicator(const Communicator&) = default;
  Communicator& operator=(const Communicator&) = default;

  // The place of this process among all, and on its machine.
  index_t rank() const { return engine() ? engine()->rank() : 0; }
  index_t size() const { return engine() ? engine()->size() : 1; }
  index_t local_rank() const { return engine() ? engine()->local_rank() : 0; }
  index_t local_size() const { return engine() ? engine()->local_size() : 1; }
  // Returns whether this is the process that prints, saves and draws.
  bool is_main() const { return rank() == 0; }
  // Returns the name of the transport: "mpi", "nccl", "nccl, mpi", or "none" in a world of one.
  std::string engine_name() const { return engine() ? engine()->name() : "none"; }
  // Returns whether operations on tensors of a GPU run there, in the order of its stream; else they
  // go through host memory.
  bool takes_device_memory() const { return engine() && engine()->takes_device_memory(); }

  // x becomes the sum (mean, product, smallest, largest) over all ranks, on all of them; bitwise
  // identical there.
  template <class T, class D>
  void all_reduce(Tensor<T, D>& x, ReduceOp op = ReduceOp::sum) {
    all_reduce(x.device(), x.view(), op);
  }
  template <class T, class D>
  void all_reduce(D& device, const View<T, D>& x, ReduceOp op = ReduceOp::sum) {
    run_in_place({.kind = Collective::all_reduce, .op = op}, device, x);
  }
  // The same on rank `root` alone. Elsewhere x is undefined.
  template <class T, class D>
  void reduce(Tensor<T, D>& x, index_t root = 0, ReduceOp op = ReduceOp::sum) {
    run_in_place({.kind = Collective::reduce, .op = op, .root = root}, x.device(), x.view());
  }
  // x becomes that of rank `root`, on all ranks.
  template <class T, class D>
  void broadcast(Tensor<T, D>& x, index_t root = 0) {
    run_in_place({.kind = Collective::broadcast, .root = root}, x.device(), x.view());
  }
  // Returns the tensors of all ranks, [size, ...sizes of x].
  template <class T, class D>
  Tensor<T, D> all_gather(const Tensor<T, D>& x) {
    return run_to(Collective::all_gather, x, x.numel(), x.sizes().with_front(size()));
  }
  // Returns row `rank` of the tensors of all ranks, [size, ...]: row r comes from rank r. As
  // torch.distributed.all_to_all_single.
  template <class T, class D>
  Tensor<T, D> all_to_all(const Tensor<T, D>& x) {
    require(x.sizes().rank() > 0 && x.size(0) == size(),
            "gpunet::distributed::Communicator::all_to_all: a tensor of shape ",
            to_string(x.sizes()), " on ", size(), " ranks (want a row for each), give [", size(),
            ", ...]");
    return run_to(Collective::all_to_all, x, x.numel() / size(), x.sizes());
  }
  // Waits until all ranks are here.
  void barrier() { run_checked({.kind = Collective::barrier}, {}); }

  // Returns the numbers of all ranks as one, on all of them. Integers are added as such, and have
  // no mean.
  template <class N>
  requires std::is_arithmetic_v<N>
  [[nodiscard]] N all_reduce(N number, ReduceOp op = ReduceOp::sum) {
    if constexpr (std::is_floating_point_v<N>)
      return static_cast<N>(reduced(static_cast<double>(number), op));
    else if constexpr (std::is_signed_v<N>)
      return static_cast<N>(reduced(static_cast<std::int64_t>(number), op));
    else
      return static_cast<N>(reduced(static_cast<std::uint64_t>(number), op));
  }
  // Adds up numbers of all ranks, on all of them.
  void sum(std::span<double> numbers);
  // Returns the texts of all ranks, on all of them.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& text,
                                                    const char* reason = "");

  // For code whose calls cannot differ: starts one, unchecked, and returns its number for wait().
  std::uint64_t start(const CollectiveCall& call);
  void wait(std::uint64_t number) {
    if (engine()) engine()->wait(number);
  }
  void advance() {
    if (engine()) engine()->advance();
  }
  // Tells the other ranks that this one fails and leaves calls that it has started: their waits are
  // Errors. No call follows.
  void abandon(const std::string& why) {
    if (engine()) engine()->abandon(why);
  }
  void run(const CollectiveCall& call) { wait(start(call)); }

  // An array of a device for a call, where the engine reads and writes it: there, or a copy in host
  // memory.
  template <class T, class D>
  class EngineArray {
    using Element = std::remove_const_t<T>;

   public:
    // is_read: whether its numbers are needed.
    EngineArray(const Communicator& comm, D& device, T* data, index_t size, bool is_read = true)
        : device_(device), data_(data), size_(size) {
      if constexpr (!DeviceTraits<D>::has_host_memory) {
        if (comm.takes_device_memory()) return;
        copy_ = std::make_unique<Element[]>(static_cast<std::size_t>(size));
        if (is_read && size > 0) device.download(copy_.get(), data, bytes());
      }
    }
    // Returns it, or the copy.
    auto data() const {
      if constexpr (!DeviceTraits<D>::has_host_memory)
        if (copy_) return static_cast<T*>(copy_.get());
      return data_;
    }
    // Returns that of the array in the memory of a GPU, null in host memory.
    void* stream() const {
      if constexpr (!DeviceTraits<D>::has_host_memory)
        if (!copy_) return device_.stream();
      return nullptr;
    }
    // Copies it back.
    void upload() {
      if constexpr (!DeviceTraits<D>::has_host_memory)
        if (copy_ && size_ > 0) device_.upload(data_, copy_.get(), bytes());
    }

   private:
    std::size_t bytes() const { return static_cast<std::size_t>(size_) * sizeof(T); }

    D& device_;
    T* data_;
    index_t size_;
    std::unique_ptr<Element[]> copy_;
  };

  // The number of calls that were started, and the bytes that this rank gave to them.
  index_t calls() const { return state_->calls; }
  index_t bytes() const { return state_->bytes; }

 private:
  double reduced(double number, ReduceOp op);
  std::int64_t reduced(std::int64_t number, ReduceOp op);
  std::uint64_t reduced(std::uint64_t number, ReduceOp op);
  void run_number(void* number, io::Dtype type, ReduceOp op);

  // The state that copies share.
  struct State {
    std::shared_ptr<Engine> engine;
    index_t calls = 0, bytes = 0;
  };
  Engine* engine() const { return state_->engine.get(); }

  template <class T, class D>
  void run_in_place(CollectiveCall call, D& device, const View<T, D>& x) {
    static_assert(!std::is_same_v<T, bool>,
                  "gpunet::distributed::Communicator: a tensor of bool (it has no sum), convert "
                  "it: cast<label_t>(x)");
    EngineArray<T, D> array(*this, device, x.data(), x.numel());
    call.elements = x.numel();
    call.type = io::dtype_of<T>();
    call.data = array.data();
    call.stream = array.stream();
    run_checked(call, x.sizes());
    if constexpr (std::is_floating_point_v<T>)
      if (call.op == ReduceOp::avg && !call.stream)
        for (index_t i = 0; i < x.numel(); ++i)
          array.data()[i] /= static_cast<T>(size());
    array.upload();
  }
  // Returns the result of a call on a tensor.
  template <class T, class D>
  Tensor<T, D> run_to(Collective kind, const Tensor<T, D>& x, index_t elements,
                      const Sizes& sizes) {
    Tensor<T, D> all(x.device(), sizes);
    EngineArray<const T, D> from(*this, x.device(), x.data(), x.numel());
    EngineArray<T, D> to(*this, x.device(), all.data(), all.numel(), false);
    run_checked({.kind = kind,
                 .elements = elements,
                 .type = io::dtype_of<T>(),
                 .from = from.data(),
                 .data = to.data(),
                 .stream = to.stream()},
                x.sizes());
    to.upload();
    return all;
  }
  // Runs a call of tensors. Throws Error if the ranks' calls differ.
  void run_checked(const CollectiveCall& call, const Sizes& sizes);

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace gpunet::distributed

#if !GPUNET_COMPILED
#include <gpunet/distributed/communicator.ipp>
#endif
