#include <gpunet/core/config.hpp>

#if !GPUNET_NVCC  // to nvcc, operator new is a function of the device too

#include <cstdlib>
#include <doctest/doctest.h>
#include <memory>
#include <new>
#include <optional>

#include <gpunet/gpunet.hpp>

#include "support/allocations.hpp"
#include "support/eager_step.hpp"
#include "support/networks.hpp"

using namespace gpunet;

// The allocation functions of the whole test program, replaced by ones that count while a test
// wants it.
namespace {

void* counted(std::size_t bytes, std::size_t alignment) noexcept {
  count_allocation(bytes);
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, whole > 0 ? whole : alignment);
}
void* counted_or_throw(std::size_t bytes, std::size_t alignment) {
  if (bytes > std::size_t{1} << 60) throw std::bad_alloc();
  if (void* memory = counted(bytes, alignment)) return memory;
  throw std::bad_alloc();
}

// Not inlined: the compiler would see memory of operator new go to free, and warn.
[[gnu::noinline]] void release(void* memory) noexcept {
  std::free(memory);
}

constexpr std::size_t usual = alignof(std::max_align_t);
std::size_t number(std::align_val_t alignment) {
  return static_cast<std::size_t>(alignment);
}

}  // namespace

void* operator new(std::size_t n) {
  return counted_or_throw(n, usual);
}
void* operator new[](std::size_t n) {
  return counted_or_throw(n, usual);
}
void* operator new(std::size_t n, std::align_val_t a) {
  return counted_or_throw(n, number(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
  return counted_or_throw(n, number(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  return counted(n, usual);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
  return counted(n, usual);
}
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(n, number(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return counted(n, number(a));
}
void operator delete(void* p) noexcept {
  release(p);
}
void operator delete[](void* p) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  release(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  release(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  release(p);
}
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept {
  release(p);
}

namespace {

// 60 random pictures for SmallNet.
struct Pictures {
  index_t size() const { return 60; }
  Sizes sample_sizes() const { return SmallNet{}.input().sizes(); }
  label_t read(index_t i, float* sample) const {
    Generator generator(i);
    for (index_t k = 0; k < sample_sizes().numel(); ++k)
      sample[k] = generator.uniform(-1.0f, 1.0f);
    return static_cast<label_t>(i % 4);
  }
};

struct Trainer {
  explicit Trainer(int threads) : host({.threads = threads}) {}
  void eager(const View<const float, Host>& inputs, const View<const label_t, Host>& labels) {
    optimizer.zero_grad();
    auto loss = criterion(net(inputs), labels);
    running += loss;
    loss.backward();
    optimizer.step();
  }
  void at_once(const View<const float, Host>& inputs, const View<const label_t, Host>& labels) {
    running += step(inputs, labels);
  }

  Host host;
  Model<SmallNet, Host> net{host};
  nn::CrossEntropyLoss criterion;
  optim::SGD<Host, float> optimizer{net, {.lr = 0.01f, .momentum = 0.9f}};
  train::Step<Host, float, nn::CrossEntropyLoss, optim::SGD<Host, float>> step{net, criterion,
                                                                               optimizer};
  train::RunningLoss<Host> running{host};
};

}  // namespace

TEST_CASE("allocations are counted") {
  struct alignas(64) Wide {
    char bytes[64];
  };
  const Count count;
  const auto one = std::make_unique<int>(1);
  const auto two = std::make_unique<int[]>(7);
  const auto three = std::make_unique<Wide>();
  const std::unique_ptr<int> four(new (std::nothrow) int);
  const int counted = count.so_far();
  CHECK(counted == 4);
}

TEST_CASE("after the first step a step allocates nothing on Host") {
  for (int threads : {1, 2})
    for (index_t batch : {1, 4, 50}) {
      CAPTURE(threads);
      CAPTURE(batch);
      Trainer trainer(threads);
      Generator generator(1);
      const TestBatch<float, Host> data(trainer.host, SmallNet{}, batch, generator);
      const auto allocations_of = [&](auto loop) {
        (trainer.*loop)(data.inputs, data.labels);
        const Count count;
        for (int i = 0; i < 5; ++i)
          (trainer.*loop)(data.inputs, data.labels);
        trainer.running.item();
        trainer.running.reset();
        return count.so_far();
      };
      CHECK(allocations_of(&Trainer::eager) == 0);
      CHECK(allocations_of(&Trainer::at_once) == 0);
    }
}

// Slices of networks with many parameters go one after another: two at a time would want memory
// that the device lends to one. They have 2^24 activations at most.
TEST_CASE("after the first call the forward pass of a wide network allocates nothing on Host") {
  const auto allocations_of = [](auto network, index_t batch) {
    Host host({.threads = 2});
    Model net(host, network);
    Generator generator(1);
    const TestBatch<float, Host> data(host, network, batch, generator);
    net(data.inputs);
    const Count count;
    for (int i = 0; i < 5; ++i)
      net(data.inputs);
    return count.so_far();
  };
  using TwoSlices = nn::Sequential<nn::Input<32>, nn::Linear<16384>>;
  using OneSlice = nn::Sequential<nn::Input<784>, nn::Linear<512>, nn::ReLU, nn::Linear<512>,
                                  nn::ReLU, nn::Linear<10>>;
  CHECK(allocations_of(TwoSlices(), 1040) == 0);
  CHECK(allocations_of(OneSlice(), 64) == 0);
}

TEST_CASE("after the first call clipping gradients allocates nothing on Host") {
  using Wide = nn::Sequential<nn::Input<300>, nn::Linear<301>>;  // threads share the norm
  Host host({.threads = 2});
  Model<Wide, Host> net(host);
  Generator generator(1);
  const TestBatch<float, Host> data(host, Wide{}, 2, generator);
  nn::CrossEntropyLoss criterion;
  const auto clip = [&] {
    return nn::utils::clip_grad_norm_(net, 1e-3).item() +
           nn::utils::clip_grad_norm_(net, 1e-3, 1, true).item();
  };
  clip();  // without gradients
  criterion(net(data.inputs), data.labels).backward();
  const Count count;
  const float norms = clip();
  nn::utils::clip_grad_value_(net, 1e-4);
  CHECK(count.so_far() == 0);
  CHECK(norms > 0);
}

TEST_CASE("batches of sizes that were there before allocate nothing") {
  Trainer trainer(2);
  Generator generator(1);
  const TestBatch<float, Host> large(trainer.host, SmallNet{}, 50, generator);
  const TestBatch<float, Host> small(trainer.host, SmallNet{}, 17, generator);
  trainer.eager(large.inputs, large.labels);
  trainer.eager(small.inputs, small.labels);
  const Count count;
  trainer.at_once(large.inputs, large.labels);
  trainer.at_once(small.inputs, small.labels);
  trainer.eager(large.inputs, large.labels);
  const int counted = count.so_far();
  CHECK(counted == 0);
}

TEST_CASE("a step allocates nothing on Host, the loader included") {
  const Pictures pictures;
  for (int workers : {0, 2}) {
    CAPTURE(workers);
    Trainer trainer(2);
    const data::DataLoader loader(pictures,
                                  {.batch_size = 3, .shuffle = true, .num_workers = workers});
    auto batches = loader.to(trainer.host);
    for (int epoch = 0; epoch < 2; ++epoch) {
      index_t steps = 0;
      int counted = 0;
      std::optional<Count> count;
      for (auto [inputs, labels] : batches) {
        trainer.at_once(inputs, labels);
        trainer.eager(inputs, labels);
        // Not before: an epoch starts its threads, the first step takes memory.
        if (++steps == 1) count.emplace();
        counted = count->so_far();
      }
      count.reset();
      CHECK(steps == loader.size());
      CHECK(counted == 0);
    }
  }
}

#endif
