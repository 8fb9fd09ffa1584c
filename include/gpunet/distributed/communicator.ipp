// Bodies of communicator.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include <gpunet/core/launch.hpp>
#include <gpunet/distributed/communicator.hpp>

namespace gpunet::distributed {

namespace detail {

// A call of tensors as numbers, for comparison: kind, type, op, root, the number of dimensions, the
// extents.
using CallNumbers = std::array<index_t, 5 + Sizes::max_rank>;

GPUNET_INLINE CallNumbers numbers_of(const CollectiveCall& call, const Sizes& sizes) {
  CallNumbers numbers{static_cast<index_t>(call.kind), static_cast<index_t>(call.type),
                      static_cast<index_t>(call.op), call.root, sizes.rank()};
  std::copy(sizes.begin(), sizes.end(), numbers.begin() + 5);
  return numbers;
}

GPUNET_INLINE std::string describe(const CallNumbers& numbers) {
  static constexpr const char* ops[] = {"sum", "avg", "product", "min", "max"};
  const auto kind = static_cast<Collective>(numbers[0]);
  if (kind == Collective::barrier) return "barrier()";
  Sizes sizes;
  for (index_t i = 0; i < numbers[4]; ++i)
    sizes.append(numbers[static_cast<std::size_t>(5 + i)]);
  std::string text =
      concat(to_string(kind), " of ", io::to_string(static_cast<io::Dtype>(numbers[1])), " ",
             to_string(sizes));
  if (kind == Collective::all_reduce || kind == Collective::reduce)
    text += concat(" by ", ops[static_cast<std::size_t>(numbers[2])]);
  if (kind == Collective::reduce || kind == Collective::broadcast)
    text += concat(" with root ", numbers[3]);
  return text;
}

}  // namespace detail

GPUNET_INLINE Communicator::Communicator(const CommunicatorOptions& options) {
  require(options.timeout.count() > 0, "gpunet::distributed::Communicator: a timeout of ",
          options.timeout.count(), " ms (want more than 0), leave it out for 30 minutes");
  require_init_method(options);
  CommunicatorOptions own = options;
  // Clocks overflow.
  own.timeout = std::min<std::chrono::milliseconds>(own.timeout, std::chrono::hours(24 * 365));
  const Launch launch = launch_of_process();
  require(launch.problem.empty(), "gpunet::distributed::Communicator: the environment has ",
          launch.problem, ", which ", launch.launcher,
          " sets, start the program with it, or unset the variable");
  if (const EngineFactory factory = engine_factory()) state_->engine = factory(own);
  if (const DeviceEngineFactory factory = device_engine_factory())
    state_->engine = factory(own, state_->engine);
  require(engine() != nullptr || launch.world_size == 1,
          "gpunet::distributed::Communicator: this process is rank ", launch.rank, " of ",
          launch.world_size, " that ", launch.launcher,
          " started, and the program has nothing that connects them (each would train for itself), "
          "include <gpunet/distributed/mpi.hpp> in one source and link gpunet::mpi, or nccl.cuh "
          "and gpunet::nccl for GPUs");
  require(
      size() >= launch.world_size, "gpunet::distributed::Communicator: the ", engine_name(),
      " of this program has ", size(), " of ", launch.world_size, " processes that ",
      launch.launcher,
      " started (that knows another MPI than the program's, or none), start it with the mpirun of "
      "the MPI that it is linked with, or by srun --mpi=pmix (Open MPI) or --mpi=pmi2 (MPICH)");
}

GPUNET_INLINE std::uint64_t Communicator::start(const CollectiveCall& call) {
  ++state_->calls;
  state_->bytes += call.bytes_given(size());
  if (engine()) return engine()->start(call);
  if (call.has_rows() && call.elements > 0)
    std::copy_n(static_cast<const std::byte*>(call.from), call.bytes(),
                static_cast<std::byte*>(call.data));
  return 0;
}

GPUNET_INLINE void Communicator::run_checked(const CollectiveCall& call, const Sizes& sizes) {
  constexpr std::string_view where = "gpunet::distributed::Communicator: ";
  require(0 <= call.root && call.root < size(), where, "root ", call.root, " of ", size(),
          " ranks (want 0 to ", size() - 1, ")");
  const auto op = static_cast<int>(call.op);
  require(0 <= op && op <= static_cast<int>(ReduceOp::max), where, "ReduceOp ", op,
          " (want one of sum, avg, product, min, max), use the names");
  require(call.op != ReduceOp::avg || call.type == io::Dtype::F32 || call.type == io::Dtype::F64,
          where,
          "the mean of integers (it would be rounded), take ReduceOp::sum, or convert them: "
          "cast<float>(x)");
  if (size() > 1) {
    const detail::CallNumbers own = detail::numbers_of(call, sizes);
    std::vector<detail::CallNumbers> all(static_cast<std::size_t>(size()));
    run({.kind = Collective::all_gather,
         .elements = std::ssize(own),
         .type = io::Dtype::I64,
         .from = own.data(),
         .data = all.data(),
         .is_checked = true,
         .reason = call.reason});
    for (std::size_t r = 1; r < all.size(); ++r)
      require(
          all[r] == all[0], where, "rank ", r, " calls ", detail::describe(all[r]),
          " where rank 0 calls ", detail::describe(all[0]),
          " (all ranks must make the same calls), let the code before it not depend on the rank");
  }
  CollectiveCall plain = call;
  plain.is_checked = true;
  if (plain.op == ReduceOp::avg && !plain.stream) plain.op = ReduceOp::sum;
  run(plain);
}

GPUNET_INLINE void Communicator::run_number(void* number, io::Dtype type, ReduceOp op) {
  run_checked(
      {.kind = Collective::all_reduce, .elements = 1, .type = type, .op = op, .data = number}, {});
}
GPUNET_INLINE double Communicator::reduced(double number, ReduceOp op) {
  run_number(&number, io::Dtype::F64, op);
  return op == ReduceOp::avg ? number / static_cast<double>(size()) : number;
}
GPUNET_INLINE std::int64_t Communicator::reduced(std::int64_t number, ReduceOp op) {
  run_number(&number, io::Dtype::I64, op);
  return number;
}
GPUNET_INLINE std::uint64_t Communicator::reduced(std::uint64_t number, ReduceOp op) {
  run_number(&number, io::Dtype::U64, op);
  return number;
}

GPUNET_INLINE void Communicator::sum(std::span<double> numbers) {
  const index_t size = std::ssize(numbers);
  run_checked({.kind = Collective::all_reduce,
               .elements = size,
               .type = io::Dtype::F64,
               .data = numbers.data()},
              {size});
}

GPUNET_INLINE std::vector<std::string> Communicator::all_gather(const std::string& text,
                                                                const char* reason) {
  std::vector<index_t> lengths(static_cast<std::size_t>(size()));
  const index_t length = std::ssize(text);
  run_checked({.kind = Collective::all_gather,
               .elements = 1,
               .type = io::Dtype::I64,
               .from = &length,
               .data = lengths.data(),
               .reason = reason},
              {1});
  const auto most = static_cast<std::size_t>(*std::max_element(lengths.begin(), lengths.end()));
  std::string padded = text, all(most * lengths.size(), '\0');
  padded.resize(most);
  run({.kind = Collective::all_gather,
       .elements = static_cast<index_t>(most),
       .type = io::Dtype::U8,
       .from = padded.data(),
       .data = all.data(),
       .is_checked = true});
  std::vector<std::string> texts;
  for (std::size_t r = 0; r < lengths.size(); ++r)
    texts.push_back(all.substr(r * most, static_cast<std::size_t>(lengths[r])));
  return texts;
}

}  // namespace gpunet::distributed
