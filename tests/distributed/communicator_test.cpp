#include <cstdint>
#include <doctest/doctest.h>
#include <string>
#include <vector>

#include <gpunet/distributed.hpp>
#include <gpunet/tensor/create.hpp>

#include "distributed/world.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using distributed::ReduceOp;

namespace {

// Element i of rank r.
template <class T>
T element(index_t rank, std::size_t i) {
  return static_cast<T>((rank + 2) * (static_cast<index_t>(i) % 3 + 1));
}

template <class T, class D>
Tensor<T, D> numbers_of(D& device, index_t rank, index_t n) {
  std::vector<T> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = element<T>(rank, i);
  return {device, {n}, values};
}

// The numbers of all ranks as one.
template <class T>
T reduced(ReduceOp op, std::size_t i) {
  T all = element<T>(0, i);
  for (index_t r = 1; r < world().size(); ++r) {
    const T next = element<T>(r, i);
    if (op == ReduceOp::sum || op == ReduceOp::avg) all = static_cast<T>(all + next);
    if (op == ReduceOp::product) all = static_cast<T>(all * next);
    if (op == ReduceOp::min) all = std::min(all, next);
    if (op == ReduceOp::max) all = std::max(all, next);
  }
  return op == ReduceOp::avg ? static_cast<T>(all / static_cast<T>(world().size())) : all;
}

template <class T, class D>
void check_reductions(D& device) {
  for (const ReduceOp op :
       {ReduceOp::sum, ReduceOp::avg, ReduceOp::product, ReduceOp::min, ReduceOp::max}) {
    if (op == ReduceOp::avg && !std::is_floating_point_v<T>) continue;
    for (const index_t n : {0, 1, 7, 40'000}) {
      Tensor<T, D> x = numbers_of<T>(device, world().rank(), n);
      world().all_reduce(x, op);
      const std::vector<T> all = x.to_vector();
      for (std::size_t i = 0; i < all.size(); i += 97)
        REQUIRE(all[i] == reduced<T>(op, i));
      const index_t root = world().size() - 1;
      Tensor<T, D> y = numbers_of<T>(device, world().rank(), n);
      world().reduce(y, root, op);
      if (world().rank() == root) CHECK(y.to_vector() == all);
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("numbers of all ranks become one", D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  check_reductions<float>(device);
  check_reductions<double>(device);
  check_reductions<std::int32_t>(device);
  check_reductions<index_t>(device);
  check_reductions<std::uint8_t>(device);
  CHECK(world().all_reduce(static_cast<double>(world().rank() + 1)) ==
        static_cast<double>(world().size() * (world().size() + 1)) / 2);
  CHECK(world().all_reduce(static_cast<double>(world().rank()), ReduceOp::avg) ==
        static_cast<double>(world().size() - 1) / 2);
}

TEST_CASE_TEMPLATE("one rank's tensor goes to all, and all ranks' tensors to each", D,
                   GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  for (index_t root = 0; root < world().size(); ++root) {
    Tensor<float, D> x = numbers_of<float>(device, world().rank(), 100);
    world().broadcast(x, root);
    CHECK(x.to_vector() == numbers_of<float>(device, root, 100).to_vector());
  }
  const Tensor<bool, D> flags(device, {2, 1}, {world().rank() == 0, true});
  const Tensor<bool, D> all_flags = world().all_gather(flags);
  CHECK(all_flags.sizes() == Sizes{world().size(), 2, 1});
  const Tensor<index_t, D> all = world().all_gather(numbers_of<index_t>(device, world().rank(), 5));
  CHECK(all.sizes() == Sizes{world().size(), 5});
  const std::vector<index_t> values = all.to_vector();
  for (index_t r = 0; r < world().size(); ++r) {
    CHECK(all_flags.to_vector()[static_cast<std::size_t>(2 * r)] == (r == 0));
    CHECK(values[static_cast<std::size_t>(5 * r + 1)] == element<index_t>(r, 1));
  }
  // Rank r gives row d, [2], to rank d.
  std::vector<index_t> rows;
  for (index_t d = 0; d < world().size(); ++d)
    rows.insert(rows.end(), {100 * world().rank() + d, -d});
  const Tensor<index_t, D> given(device, {world().size(), 2}, rows);
  const Tensor<index_t, D> got = world().all_to_all(given);
  CHECK(got.sizes() == given.sizes());
  for (index_t r = 0; r < world().size(); ++r) {
    CHECK(got.to_vector()[static_cast<std::size_t>(2 * r)] == 100 * r + world().rank());
    CHECK(got.to_vector()[static_cast<std::size_t>(2 * r + 1)] == -world().rank());
  }
  const Tensor<index_t, D> other(device, {world().size() + 1});
  CHECK(contains(error_of([&] { world().all_to_all(other); }), "(want a row for each)"));
  world().barrier();
}

TEST_CASE("texts of all ranks, and the counts of calls and bytes") {
  const std::string own(static_cast<std::size_t>(3 * world().rank()), 'x');
  const std::vector<std::string> texts = world().all_gather(own + "\n");
  REQUIRE(std::ssize(texts) == world().size());
  for (std::size_t r = 0; r < texts.size(); ++r)
    CHECK(texts[r] == std::string(3 * r, 'x') + "\n");
  const index_t calls = world().calls(), bytes = world().bytes();
  float number = 1;
  world().run({.kind = distributed::Collective::all_reduce,
               .elements = 1,
               .type = io::Dtype::F32,
               .data = &number});
  CHECK(number == static_cast<float>(world().size()));
  CHECK(world().calls() == calls + 1);
  CHECK(world().bytes() == bytes + 4);
}

TEST_CASE("several calls at a time, waited for in another order") {
  std::vector<double> a(1000, 1), b(2000, 2), c(3, 3);
  const auto start = [](std::vector<double>& x) {
    return world().start({.kind = distributed::Collective::all_reduce,
                          .elements = std::ssize(x),
                          .type = io::Dtype::F64,
                          .data = x.data()});
  };
  const auto first = start(a), second = start(b), third = start(c);
  world().advance();
  world().wait(third);
  world().wait(first);
  world().wait(second);
  const auto size = static_cast<double>(world().size());
  CHECK(a == std::vector(1000, size));
  CHECK(b == std::vector(2000, 2 * size));
  CHECK(c == std::vector(3, 3 * size));
}

TEST_CASE("calls that cannot be are errors on all ranks, and the next ones work") {
  Host& host = test_device<Host>();
  Tensor<float, Host> x = full(host, {3}, 1.0f);
  const std::string root = error_of([&] { world().broadcast(x, world().size()); });
  CHECK(contains(root, concat("root ", world().size(), " of ", world().size(), " ranks")));
  Tensor<index_t, Host> integers(host, {1}, {1});
  CHECK(contains(error_of([&] { world().all_reduce(integers, ReduceOp::avg); }),
                 "the mean of integers"));
  CHECK(contains(error_of([] { distributed::Communicator({.timeout = std::chrono::seconds(0)}); }),
                 "a timeout of 0 ms"));
  CHECK(contains(error_of([] { distributed::Communicator({.init_method = "rubbish"}); }),
                 "init_method \"rubbish\""));
  if (world().size() > 1) {
    const bool is_last = world().rank() == world().size() - 1;
    Tensor<float, Host> other = full(host, {is_last ? 4 : 3}, 1.0f);
    CHECK(error_of([&] { world().all_reduce(other); }) ==
          concat("gpunet::distributed::Communicator: rank ", world().size() - 1,
                 " calls all_reduce of F32 [4] by sum where rank 0 calls all_reduce of F32 [3] by "
                 "sum (all ranks must "
                 "make the same calls), let the code before it not depend on the rank"));
    CHECK(contains(error_of([&] { is_last ? world().barrier() : world().broadcast(x); }),
                   "calls barrier() where rank 0 calls broadcast of F32 [3] with root 0"));
    CHECK(
        contains(error_of([&] { world().all_reduce(x, is_last ? ReduceOp::max : ReduceOp::min); }),
                 "by max where rank 0 calls all_reduce of F32 [3] by min"));
  }
  world().all_reduce(x);
  CHECK(x.to_vector() == std::vector(3, static_cast<float>(world().size())));
}

TEST_CASE("numbers are added up as what they are") {
  const index_t n = world().size();
  const std::int64_t large = (std::int64_t{1} << 60) + 1;  // no double
  CHECK(world().all_reduce(large, ReduceOp::max) == large);
  CHECK(world().all_reduce(world().rank() == 0 ? large : std::int64_t{1}) == large + n - 1);
  CHECK(world().all_reduce(~std::uint64_t{0} - static_cast<std::uint64_t>(world().rank()),
                           ReduceOp::max) == ~std::uint64_t{0});
  CHECK(world().all_reduce(-3) == -3 * n);
  CHECK(world().all_reduce(std::uint8_t{1}) == n);
  CHECK(world().all_reduce(0.5f, ReduceOp::avg) == 0.5f);
  CHECK(contains(error_of([] { static_cast<void>(world().all_reduce(3, ReduceOp::avg)); }),
                 "the mean of integers"));
  CHECK(contains(
      error_of([] { static_cast<void>(world().all_reduce(3, static_cast<ReduceOp>(17))); }),
      "ReduceOp 17 (want one of sum, avg, product, min, max)"));
  double pair[] = {1, 0.25};
  world().sum(pair);
  CHECK(pair[0] == static_cast<double>(n));
  CHECK(pair[1] == 0.25 * static_cast<double>(n));
}

TEST_CASE("copies of a Communicator are the same one") {
  distributed::Communicator first(world());
  distributed::Communicator second(std::move(first));
  CHECK(first.size() == world().size());
  const index_t calls = world().calls();
  second.barrier();
  first.barrier();
  CHECK(world().calls() > calls);
  CHECK(world().calls() == second.calls());
}

TEST_CASE("a second Communicator") {
  distributed::Communicator other({.timeout = std::chrono::hours(24 * 365 * 1000)});
  CHECK(other.all_reduce(1) == world().size());
  CHECK(world().all_reduce(1) == world().size());
}

TEST_CASE("a world of one needs no launcher") {
  if (world().size() > 1) return;
  CHECK(world().rank() == 0);
  CHECK(world().is_main());
  CHECK(world().local_size() == 1);
}

#if GPUNET_CUDA
TEST_CASE("calls on the memory of another GPU than that of the process are errors") {
  if (!world().takes_device_memory()) return;
  Cuda other(static_cast<int>((world().local_rank() + 1) % Cuda::device_count()));
  Tensor<float, Cuda> x = full(other, {3}, 1.0f);
  CHECK(contains(error_of([&] { world().all_reduce(x); }),
                 concat("memory of GPU ", other.ordinal(), ", and NCCL of rank ", world().rank(),
                        " uses GPU ", world().local_rank())));
}
#endif
