// Datasets, parts and loaders that outlive the objects they were made of. With a sanitizer, a
// missing copy is also a use of freed memory.
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <gpunet/datasets.hpp>
#include <gpunet/gpunet.hpp>

#include "support/batches.hpp"
#include "support/devices.hpp"
#include "support/errors.hpp"

using namespace gpunet;
using data::DataLoader;

namespace {

// Samples [i, -i] with label i.
Tensor<float, Host> samples(index_t n) {
  Tensor<float, Host> x(test_device<Host>(), {n, 2});
  for (index_t i = 0; i < n; ++i) {
    x.data()[2 * i] = static_cast<float>(i);
    x.data()[2 * i + 1] = -x.data()[2 * i];
  }
  return x;
}
Tensor<label_t, Host> labels(index_t n) {
  Tensor<label_t, Host> y(test_device<Host>(), {n});
  for (index_t i = 0; i < n; ++i)
    y.data()[i] = static_cast<label_t>(i);
  return y;
}

// Gives out the memory that was just freed and fills it with something else.
void overwrite_free_memory() {
  for (int i = 0; i < 4; ++i)
    Tensor<float, Host>(test_device<Host>(), {64}, std::vector<float>(64, 1e6f));
}

// All of a trial, which a std::vector moves.
struct Trial {
  explicit Trial(int workers)
      : X(samples(4)),
        y(labels(4)),
        set(X, y),
        loader(set, {.batch_size = 2, .num_workers = workers}) {}

  Tensor<float, Host> X;
  Tensor<label_t, Host> y;
  data::TensorDataset<> set;
  DataLoader<> loader;
};

struct Memory {
  std::vector<float> values;

  index_t size() const { return std::ssize(values); }
  data::Sample operator[](index_t i) const {
    const float x = values[static_cast<std::size_t>(i)];
    return {{x, -x}, {2}, static_cast<label_t>(x)};
  }
};

// It cannot be copied.
struct Handle {
  std::unique_ptr<Memory> memory = std::make_unique<Memory>(Memory{{0, 1, 2}});

  index_t size() const { return memory->size(); }
  data::Sample operator[](index_t i) const { return (*memory)[i]; }
};

const char* const gone =
    "gpunet::data::TensorDataset: a tensor of the dataset no longer exists (its memory is gone), "
    "keep it as long "
    "as "
    "the dataset and its loaders, or move it there: TensorDataset set(std::move(X), std::move(y))";

}  // namespace

TEST_CASE_TEMPLATE("tensors, their dataset and its loader may be moved together", D,
                   GPUNET_TEST_DEVICES) {
  for (int workers : {0, 2}) {
    std::vector<Trial> trials;
    for (int i = 0; i < 9; ++i)
      trials.emplace_back(workers);
    for (Trial& trial : trials) {
      overwrite_free_memory();
      CHECK(epoch(test_device<D>(), trial.loader.to(test_device<D>())) == Order{{0, 1}, {2, 3}});
      CHECK(epoch(test_device<D>(), trial.loader.resident_on(test_device<D>())) ==
            Order{{0, 1}, {2, 3}});
    }
  }
}

TEST_CASE_TEMPLATE(
    "a dataset of moved tensors, its parts and loaders outlive the function that made them", D,
    GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto made = [](auto make) {
    Tensor<float, Host> X = samples(5);
    Tensor<label_t, Host> y = labels(5);
    const data::TensorDataset set(std::move(X), std::move(y));
    return make(set);
  };
  const auto set = made([](const auto& all) { return all; });
  overwrite_free_memory();
  CHECK(epoch(device, DataLoader(set, {.batch_size = 5}).to(device)) == Order{{0, 1, 2, 3, 4}});

  manual_seed(4);
  const std::vector<index_t> order = randperm(5);
  manual_seed(4);
  const auto parts = made([](const auto& all) { return data::random_split(all, {0.6, 0.4}); });
  overwrite_free_memory();
  for (std::size_t part = 0; part < 2; ++part)
    for (int workers : {0, 2}) {
      const auto first = order.begin() + (part == 0 ? 0 : 3);
      const std::vector<label_t> want(first, part == 0 ? order.begin() + 3 : order.end());
      const DataLoader loader(parts[part],
                              {.batch_size = parts[part].size(), .num_workers = workers});
      CHECK(epoch(device, loader.to(device)) == Order{want});
    }

  const auto part_of_part = made([](const auto& all) {
    const data::Subset some(all, {4, 2, 0});
    return data::Subset(some, {2, 0});
  });
  const auto joined = made([](const auto& all) {
    const data::Subset some(all, {3});
    return data::ConcatDataset(some, all);
  });
  const auto view = made([](const auto& all) { return data::DatasetView(all); });
  const auto loader =
      made([](const auto& all) { return DataLoader(all, {.batch_size = 3, .num_workers = 1}); });
  overwrite_free_memory();
  CHECK(epoch(device, DataLoader(part_of_part, {.batch_size = 2}).to(device)) == Order{{0, 4}});
  CHECK(epoch(device, DataLoader(joined, {.batch_size = 6}).to(device)) ==
        Order{{3, 0, 1, 2, 3, 4}});
  CHECK(epoch(device, DataLoader(view, {.batch_size = 5}).to(device)) == Order{{0, 1, 2, 3, 4}});
  CHECK(epoch(device, loader.to(device)) == Order{{0, 1, 2}, {3, 4}});
  auto batches = made([&device](const auto& all) {
    return std::make_unique<data::Batches<D>>(all, data::DataLoaderOptions{.batch_size = 5}, 1,
                                              device);
  });
  overwrite_free_memory();
  CHECK(epoch(device, *batches) == Order{{0, 1, 2, 3, 4}});
}

TEST_CASE("a borrowed tensor that no longer exists is an Error") {
  const auto split = [] {
    const Tensor<float, Host> X = samples(4);
    const Tensor<label_t, Host> y = labels(4);
    const data::TensorDataset set(X, y);
    return data::random_split(set, {2, 2});
  }();
  for (int workers : {0, 2})
    CHECK(error_of([&] {
            epoch(test_device<Host>(),
                  DataLoader(split[0], {.num_workers = workers}).to(test_device<Host>()));
          }) == gone);
  CHECK(error_of([&] { DataLoader(split[0]).resident_on(test_device<Host>()); }) == gone);

  Tensor<float, Host> X = samples(4), other = samples(4);
  Tensor<label_t, Host> y = labels(4);
  const data::TensorDataset set(X, y);
  const auto read = [](const auto& from) {
    float sample[2];
    label_t label = -1;
    from.read(3, sample, &label);
    return label;
  };
  other = std::move(X);  // the memory is that of the dataset still
  CHECK(read(set) == 3);
  other = samples(4);
  CHECK(error_of([&] { read(set); }) == gone);
  const data::TensorDataset half(samples(4), y);  // one moved, one borrowed
  CHECK(read(half) == 3);
  y = labels(4);
  CHECK(error_of([&] { read(half); }) == gone);
  const Tensor<float, Host> constant = samples(4);
  const data::TensorDataset copied(std::move(constant), labels(4));
  CHECK(read(copied) == 3);
  CHECK(constant.numel() == 8);
  data::TensorDataset moved(samples(4), labels(4));
  const data::TensorDataset taken = std::move(moved);
  CHECK(read(moved) == 3);  // it shares the tensors
}

TEST_CASE_TEMPLATE("a loader of a program's dataset has a copy, a temporary itself, or a reference",
                   D, GPUNET_TEST_DEVICES) {
  D& device = test_device<D>();
  const auto made = [](int workers) {
    const Memory set{{0, 1, 2}};
    return DataLoader(set, {.batch_size = 3, .num_workers = workers});
  };
  for (int workers : {0, 2})
    CHECK(epoch(device, made(workers).to(device)) == Order{{0, 1, 2}});
  CHECK(epoch(device, DataLoader(Memory{{3, 4}}, {.batch_size = 2}).to(device)) == Order{{3, 4}});
  CHECK(
      epoch(device,
            DataLoader(data::ConcatDataset(Memory{{3}}, Handle{}), {.batch_size = 4}).to(device)) ==
      Order{{3, 0, 1, 2}});
  CHECK(epoch(device, DataLoader(data::Subset(Handle{}, {2, 1}), {.batch_size = 2}).to(device)) ==
        Order{{2, 1}});
  CHECK(epoch(device, DataLoader(Handle{}, {.batch_size = 3}).to(device)) == Order{{0, 1, 2}});
  const data::DatasetView shared = Handle{};
  CHECK(epoch(device, DataLoader(shared, {.batch_size = 3}).to(device)) == Order{{0, 1, 2}});

  Memory set{{0, 1}};
  const DataLoader copy(set, {.batch_size = 2}), reference(std::cref(set), {.batch_size = 2});
  const auto parts = data::random_split(std::cref(set), {1, 1});
  const data::Subset part(std::cref(set), {1});
  const data::ConcatDataset joined(std::cref(set), std::cref(set));
  set.values = {5, 6};
  CHECK(epoch(device, copy.to(device)) == Order{{0, 1}});
  CHECK(epoch(device, reference.to(device)) == Order{{5, 6}});
  CHECK(&parts[0].dataset() == &set);
  CHECK(epoch(device, DataLoader(part).to(device)) == Order{{6}});
  CHECK(epoch(device, DataLoader(joined, {.batch_size = 4}).to(device)) == Order{{5, 6, 5, 6}});
  const Handle handle;
  CHECK(epoch(device, DataLoader(std::cref(handle), {.batch_size = 3}).to(device)) ==
        Order{{0, 1, 2}});
}

TEST_CASE("images share their data with copies, and stay where they were moved from") {
  data::Digits digits(6, 1);
  const data::DatasetView moved(std::move(digits));
  std::vector<float> a(784), b(784);
  CHECK(digits.read(5, a.data()) == moved.read(5, b.data()));
  CHECK(a == b);
}
