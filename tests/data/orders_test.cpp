#include <array>
#include <cmath>
#include <doctest/doctest.h>
#include <numeric>
#include <string>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/draw_order.hpp"
#include "support/errors.hpp"
#include "support/reference_file.hpp"

using namespace gpunet;

namespace {

// The numbers 0 to n - 1, as labels and as samples of one feature.
struct Numbers {
  index_t n;
  index_t size() const { return n; }
  Sizes sample_sizes() const { return {1}; }
  label_t read(index_t i, float* sample) const {
    *sample = static_cast<float>(i);
    return static_cast<label_t>(i);
  }
};

// As in reference/orders.py.
index_t hash_of(const std::vector<index_t>& indices) {
  std::uint64_t value = indices.size();
  for (index_t i : indices)
    value = value * 31 + static_cast<std::uint64_t>(i);
  return static_cast<index_t>(value);
}

const ReferenceFile& reference_file() {
  static const ReferenceFile file("orders");
  return file;
}

// Three epochs of a DataLoader, and the next number of its generator.
struct LoaderOrder {
  index_t n, batch_size;
  bool drop_last;
  std::vector<index_t> epochs;
  index_t next;
};

// Returns the rows of a table.
std::vector<LoaderOrder> loader_orders(const std::string& table) {
  std::vector<LoaderOrder> orders;
  for (const auto& row : reference_file().rows<index_t>(table))
    orders.push_back({row[0], row[1], row[2] != 0, {row[3], row[4], row[5]}, row[6]});
  return orders;
}

// Epochs of a RandomSampler, with the default generator and one of its own, and the next number of
// each.
struct SamplerOrder {
  index_t n;
  bool replacement;
  index_t num_samples;
  std::vector<index_t> epochs;
  index_t next, own, own_next;
};

// The samples of a rank in epochs 0, 1 and 5.
struct DistributedOrder {
  index_t n, num_replicas, rank;
  bool shuffle, drop_last;
  std::uint64_t seed;
  std::vector<index_t> epochs;
};

// A train_test_split; sizes of 0 are not given.
struct TrainTest {
  index_t n;
  double test_size, train_size;
  std::uint32_t random_state;
  int classes;
  index_t train, test;
};

// The labels of an epoch, the size of each batch behind them.
template <class Batches>
std::vector<index_t> epoch_of(Batches& batches, bool with_sizes) {
  std::vector<index_t> indices;
  for (auto [inputs, labels] : batches) {
    std::vector<label_t> values(static_cast<std::size_t>(labels.numel()));
    test_device<Host>().download(values.data(), labels.data(), values.size() * sizeof(label_t));
    indices.insert(indices.end(), values.begin(), values.end());
    if (with_sizes) indices.push_back(labels.numel());
  }
  return indices;
}

std::vector<index_t> all_of(index_t n) {
  std::vector<index_t> numbers(static_cast<std::size_t>(n));
  std::iota(numbers.begin(), numbers.end(), index_t{0});
  return numbers;
}

std::string error_of_split(index_t n, const data::TrainTestSplitOptions& options) {
  return error_of([&] { data::train_test_split(n, options); });
}

}  // namespace

TEST_CASE("shuffled batches are PyTorch's, epoch for epoch") {
  for (const auto& expected : loader_orders("loader_orders"))
    for (int workers : {0, 2}) {
      CAPTURE(expected.n);
      CAPTURE(expected.batch_size);
      CAPTURE(expected.drop_last);
      const Numbers set{expected.n};
      const data::DataLoader loader(set, {.batch_size = expected.batch_size,
                                          .shuffle = true,
                                          .num_workers = workers,
                                          .drop_last = expected.drop_last});
      manual_seed(expected.n);
      auto batches = loader.to(test_device<Host>());
      for (index_t epoch : expected.epochs)
        CHECK(hash_of(epoch_of(batches, true)) == epoch);
      CHECK(default_generator().random63() == expected.next);
      manual_seed(expected.n);
      auto resident = loader.resident_on(test_device<Host>());
      for (index_t epoch : expected.epochs)
        CHECK(hash_of(epoch_of(resident, true)) == epoch);
    }
}

TEST_CASE("a loader with a generator draws PyTorch's orders from it, and nothing from another") {
  for (const auto& expected : loader_orders("generator_orders"))
    for (int workers : {0, 2}) {
      CAPTURE(expected.n);
      CAPTURE(expected.batch_size);
      CAPTURE(expected.drop_last);
      Generator own(expected.n);
      manual_seed(1);
      const data::DataLoader loader(Numbers{expected.n}, {.batch_size = expected.batch_size,
                                                          .shuffle = true,
                                                          .num_workers = workers,
                                                          .drop_last = expected.drop_last,
                                                          .generator = own});
      auto batches = loader.to(test_device<Host>());
      for (index_t epoch : expected.epochs)
        CHECK(hash_of(epoch_of(batches, true)) == epoch);
      CHECK(own.random63() == expected.next);
      own.manual_seed(expected.n);
      auto resident = loader.resident_on(test_device<Host>());
      for (index_t epoch : expected.epochs)
        CHECK(hash_of(epoch_of(resident, true)) == epoch);
      CHECK(default_generator().random63() == Generator(1).random63());
      // The same where the loader gets it with the device.
      own.manual_seed(expected.n);
      const data::DataLoader without(Numbers{expected.n}, {.batch_size = expected.batch_size,
                                                           .shuffle = true,
                                                           .num_workers = workers,
                                                           .drop_last = expected.drop_last});
      auto later = without.to(test_device<Host>(), own);
      CHECK(hash_of(epoch_of(later, true)) == expected.epochs[0]);
    }
}

TEST_CASE("an epoch of any length is drawn as it is read") {
  constexpr index_t length = index_t{1} << 40;
  for (const auto& row : reference_file().rows<index_t>("long_orders")) {
    const std::vector<index_t> expected(row.begin() + 1, row.end());
    const data::RandomSampler sampler(10, {.replacement = row[0] != 0, .num_samples = length});
    const auto first = [&](auto&& batches) {
      std::vector<index_t> samples;
      for (auto [inputs, labels] : batches) {
        for (const label_t label : to_vector(test_device<Host>(), labels))
          samples.push_back(label);
        if (samples.size() == expected.size()) break;
      }
      return samples;
    };
    for (int workers : {0, 3}) {
      manual_seed(3);
      const data::DataLoader loader(Numbers{10},
                                    {.batch_size = 4, .num_workers = workers, .sampler = sampler});
      CHECK(loader.size() == length / 4);
      CHECK(first(loader.to(test_device<Host>())) == expected);
      manual_seed(3);
      auto resident = loader.resident_on(test_device<Host>());
      CHECK(first(resident) == expected);
    }
    Generator own(1);
    CHECK(error_of([&] { sampler.draw(own); }) ==
          "gpunet::data::RandomSampler: the order of 1099511627776 samples in one array (want "
          "68719476736 or fewer, "
          "no memory holds more), use it in a data::DataLoader, which draws it batch by batch");
  }
  // Longer than the part that is copied to the device in one call.
  constexpr index_t most = index_t{1} << 20, size = 2 * most + 5;
  for (bool replacement : {false, true}) {
    const data::DataLoader loader(
        Numbers{1000},
        {.batch_size = 1 << 14,
         .sampler = data::RandomSampler(1000, {.replacement = replacement, .num_samples = size})});
    manual_seed(7);
    auto resident = loader.resident_on(test_device<Host>());
    const index_t epoch = hash_of(epoch_of(resident, true));
    manual_seed(7);
    auto batches = loader.to(test_device<Host>());
    CHECK(hash_of(epoch_of(batches, true)) == epoch);
  }
  Generator own(1);
  CHECK(error_of([&] {
          data::RandomSampler(10, {.replacement = true, .num_samples = length, .generator = own});
        }) ==
        "gpunet::data::RandomSampler: num_samples 1099511627776 with replacement from a generator "
        "(want 2^32 or "
        "fewer, each epoch passes over the numbers of all), leave out .generator");
}

TEST_CASE("a random sampler visits the samples that PyTorch's does") {
  for (const auto& row : reference_file().rows<index_t>("sampler_orders")) {
    const SamplerOrder expected{row[0], row[1] != 0, row[2], {row[3], row[4]},
                                row[5], row[6],      row[7]};
    CAPTURE(expected.n);
    CAPTURE(expected.replacement);
    CAPTURE(expected.num_samples);
    const data::RandomSampler sampler(
        expected.n, {.replacement = expected.replacement, .num_samples = expected.num_samples});
    Generator own(expected.n);
    CHECK(hash_of(sampler.draw(own)) == expected.own);
    CHECK(own.random63() == expected.own_next);
    own.manual_seed(expected.n);
    const data::RandomSampler with_own(expected.n, {.replacement = expected.replacement,
                                                    .num_samples = expected.num_samples,
                                                    .generator = own});
    CHECK(hash_of(draw_order(expected.n, with_own)) == expected.own);
    CHECK(own.random63() == expected.own_next);
    manual_seed(expected.n);
    for (index_t epoch : expected.epochs)
      CHECK(hash_of(draw_order(expected.n, sampler)) == epoch);
    CHECK(default_generator().random63() == expected.next);
    if (expected.n > 1000) continue;
    const Numbers set{expected.n};
    const data::DataLoader loader(set, {.batch_size = 3, .sampler = sampler});
    manual_seed(expected.n);
    auto batches = loader.to(test_device<Host>());
    for (index_t epoch : expected.epochs)
      CHECK(hash_of(epoch_of(batches, false)) == epoch);
    manual_seed(expected.n);
    auto resident = loader.resident_on(test_device<Host>());
    for (index_t epoch : expected.epochs)
      CHECK(hash_of(epoch_of(resident, false)) == epoch);
  }
}

TEST_CASE("a distributed sampler gives each rank the samples that PyTorch's does") {
  for (const auto& row : reference_file().rows<index_t>("distributed_orders")) {
    const DistributedOrder expected{row[0],
                                    row[1],
                                    row[2],
                                    row[3] != 0,
                                    row[4] != 0,
                                    static_cast<std::uint64_t>(row[5]),
                                    {row[6], row[7], row[8]}};
    CAPTURE(expected.n);
    CAPTURE(expected.num_replicas);
    CAPTURE(expected.rank);
    CAPTURE(expected.shuffle);
    CAPTURE(expected.drop_last);
    const Numbers set{expected.n};
    data::DistributedSampler sampler(set, {.num_replicas = expected.num_replicas,
                                           .rank = expected.rank,
                                           .shuffle = expected.shuffle,
                                           .seed = expected.seed,
                                           .drop_last = expected.drop_last});
    const data::DataLoader loader(set, {.sampler = sampler});
    CHECK(loader.size() == sampler.size());
    manual_seed(expected.n);
    auto batches = loader.to(test_device<Host>());
    auto resident = loader.resident_on(test_device<Host>());
    for (std::size_t i = 0; i < 3; ++i) {
      sampler.set_epoch(std::array{0, 1, 5}[i]);
      CHECK(hash_of(sampler.order(sampler.epoch_seed())) == expected.epochs[i]);
      CHECK(hash_of(epoch_of(batches, false)) == expected.epochs[i]);
      CHECK(hash_of(epoch_of(resident, false)) == expected.epochs[i]);
    }
    // Each loop has drawn the seed of PyTorch's workers, the sampler nothing.
    Generator untouched(static_cast<std::uint64_t>(expected.n));
    for (int i = 0; i < 6; ++i)
      untouched.random63();
    CHECK(default_generator().random63() == untouched.random63());
  }
}

TEST_CASE("a distributed sampler refuses what gives no rank a part") {
  using Options = data::DistributedSamplerOptions;
  const auto error = [](index_t n, const Options& options) {
    return error_of([&] { data::DistributedSampler(n, options); });
  };
  CHECK(error(10, {.num_replicas = 4, .rank = 4}) ==
        "gpunet::data::DistributedSampler: rank 4 of 4 processes (want 0 to 3), give comm.rank()");
  CHECK(contains(error(10, {.num_replicas = 4, .rank = -2}), "rank -2 of 4"));
  CHECK(contains(error(10, {.num_replicas = -1, .rank = 0}), "num_replicas -1"));
  CHECK(contains(error(0, {.num_replicas = 1, .rank = 0}), "0 samples"));
  CHECK(contains(error(3, {.num_replicas = 4, .rank = 0, .drop_last = true}), "nothing is left"));
  CHECK(data::DistributedSampler(5).size() == 5);  // a process that nobody launched
}

TEST_CASE("random_split makes PyTorch's parts") {
  const auto splits = reference_file().names("splits.", ".parts");
  CHECK(splits.size() == 7);
  for (const std::string& split : splits) {
    const auto expected = reference_file().values<index_t>(split);  // the size and hashes
    const std::string lengths = split.substr(0, split.size() - 6) + ".lengths";
    CAPTURE(expected[0]);
    const Numbers set{expected[0]};
    manual_seed(expected[0]);
    const auto parts = data::random_split(set, reference_file().values(lengths));
    REQUIRE(parts.size() == expected.size() - 1);
    for (std::size_t i = 0; i < parts.size(); ++i)
      CHECK(hash_of(parts[i].indices()) == expected[i + 1]);
  }
  const Numbers set{10};
  Generator own(3);
  const index_t most = 7, rest = 3;
  const auto parts = data::random_split(set, {most, rest}, own);
  own.manual_seed(3);
  const std::vector<index_t> order = randperm(10, own);
  CHECK(parts[1].size() == 3);
  float sample = 0;
  CHECK(parts[1].read(2, &sample) == order[9]);
  CHECK(sample == static_cast<float>(order[9]));
  CHECK(data::random_split(set, {4, 6})[1].sample_sizes() == Sizes{1});
}

TEST_CASE("fractions that are floats are those that they are written as") {
  const Numbers set{10};
  const auto sizes = [](const auto& parts) {
    std::vector<index_t> all;
    for (const auto& part : parts)
      all.push_back(part.size());
    return all;
  };
  CHECK(0.8 + 0.2 == 1);
  CHECK(static_cast<double>(0.8f) + static_cast<double>(0.2f) > 1);
  CHECK(sizes(data::random_split(set, {0.8f, 0.2f})) == std::vector<index_t>{8, 2});
  CHECK(sizes(data::random_split(set, {0.3f, 0.7f})) == std::vector<index_t>{3, 7});
  CHECK(sizes(data::random_split(set, {8.0f, 2.0f})) == std::vector<index_t>{8, 2});
  // Sums of doubles that rounding brings near 1, as PyTorch takes them (from Python 3.12 on, which
  // adds exactly).
  CHECK(sizes(data::random_split(set, {0.8, 0.05, 0.05, 0.1})) == std::vector<index_t>{9, 0, 0, 1});
  CHECK(sizes(data::random_split(set, {0.5, 0.4999999999})) == std::vector<index_t>{6, 4});
}

TEST_CASE("train_test_split is scikit-learn's") {
  const auto rows = reference_file().rows<index_t>("train_test_splits");
  const auto sizes = reference_file().rows("train_test_sizes");
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto& row = rows[k];
    const TrainTest expected{row[0],
                             sizes[k][0],
                             sizes[k][1],
                             static_cast<std::uint32_t>(row[1]),
                             static_cast<int>(row[2]),
                             row[3],
                             row[4]};
    CAPTURE(expected.n);
    CAPTURE(expected.test_size);
    CAPTURE(expected.train_size);
    CAPTURE(expected.random_state);
    CAPTURE(expected.classes);
    std::vector<label_t> labels;
    for (int i = 0; i < expected.n && expected.classes > 0; ++i)
      labels.push_back(i * i % expected.classes);
    const auto [train, test] =
        data::train_test_split(expected.n, {.test_size = expected.test_size,
                                            .train_size = expected.train_size,
                                            .random_state = expected.random_state,
                                            .stratify = labels});
    CHECK(hash_of(train) == expected.train);
    CHECK(hash_of(test) == expected.test);
  }
}

TEST_CASE("a split in order, and one with a seed from the default generator") {
  const auto [train, test] = data::train_test_split(10, {.test_size = 3, .shuffle = false});
  CHECK(train == all_of(7));
  CHECK(test == std::vector<index_t>{7, 8, 9});
  manual_seed(4);
  const auto drawn = data::train_test_split(100);
  Generator generator(4);
  const auto again = data::train_test_split(100, {.random_state = generator.random()});
  CHECK(drawn.train == again.train);
  CHECK(drawn.test == again.test);
}

TEST_CASE("subsets and samplers that make no sense") {
  const Numbers set{10};
  CHECK(error_of([&] {
          data::Subset<Numbers>(set, {3, 10});
        }) == "gpunet::data::Subset: the index 10 (want 0 to 9)");
  const Numbers empty{0};
  CHECK(error_of([&] {
          data::Subset<Numbers>(empty, {0, 1});
        }) ==
        "gpunet::data::Subset: 2 indices into a dataset of 0 samples (there are none to take), "
        "check its path, or "
        "its "
        "size()");
  CHECK(data::Subset<Numbers>(empty, {}).size() == 0);
  const auto read = [](const auto& of, index_t i) {
    return error_of([&] {
      float sample[1];
      of.read(i, sample);
    });
  };
  CHECK(read(data::Subset<Numbers>(set, {3, 1}), 2) ==
        "gpunet::data: sample 2 of a dataset of 2 samples (want 0 to 1)");
  CHECK(read(data::Subset<Numbers>(set, {3, 1}), -1) ==
        "gpunet::data: sample -1 of a dataset of 2 samples (want 0 to 1)");
  CHECK(read(data::Subset<Numbers>(set, {}), 0) ==
        "gpunet::data: sample 0 of a dataset of 0 samples, check its path, or its size()");
  CHECK(contains(error_of([&] {
                   data::random_split(set, {5, 6});
                 }),
                 "the parts have 11 samples and the dataset 10 (want as many, or fractions that "
                 "add up to 1)"));
  for (const std::vector<double>& fractions : std::vector<std::vector<double>>{
           {0.5, 0.499999999}, {0.5, 0.500000001}, {0.25, 0.25}, {0.8f, 0.2f}})
    CHECK(contains(error_of([&] { data::random_split(set, fractions); }),
                   "the fractions add up to "));
  CHECK(contains(error_of([&] { data::random_split(set, {0.25, 0.25}); }), "to 0.5 (want 1)"));
  const Numbers negative{-1};
  CHECK(error_of([&] {
          data::random_split(negative, {0.5, 0.5});
        }) ==
        "gpunet::data::random_split: a dataset of -1 samples (want 0 or more), check its size()");
  CHECK(contains(error_of([&] { data::random_split(set, {2.5, 7.5}); }), "a part of 2.5 samples"));
  CHECK(contains(error_of([&] {
                   data::random_split(set, {1e300, 1e300});
                 }),
                 "a part of 1e+300 samples of 10"));
  CHECK(contains(error_of([&] { data::random_split(set, {std::nan(""), 1.0}); }), "a part of nan"));
  CHECK(contains(error_of([&] { data::random_split(set, std::vector<double>()); }),
                 "the parts have 0 samples"));
  CHECK(contains(error_of([&] { data::random_split(set, {-1, 11}); }), "a part of -1"));
  CHECK(contains(error_of([&] { data::RandomSampler(0); }), "0 samples"));
  CHECK(contains(error_of([&] { data::RandomSampler(1, {.num_samples = -1}); }), "num_samples -1"));
  CHECK(contains(error_of([&] { data::DataLoader(set, {.sampler = data::RandomSampler(9)}); }),
                 "a sampler for another dataset, of 9 samples (want 10)"));
  CHECK(contains(error_of([&] {
                   data::DataLoader(set, {.shuffle = true, .sampler = data::RandomSampler(10)});
                 }),
                 "a sampler with shuffle"));
}

TEST_CASE("splits that make no sense") {
  CHECK(contains(error_of_split(0, {}), "0 samples"));
  CHECK(contains(error_of_split(10, {.test_size = 10}), "invalid test_size 10 for 10 samples"));
  CHECK(contains(error_of_split(10, {.test_size = 2.5}), "invalid test_size 2.5"));
  CHECK(contains(error_of_split(10, {.train_size = -1}), "invalid train_size -1"));
  CHECK(contains(error_of_split(10, {.test_size = 6, .train_size = 5}),
                 "5 samples to learn from and 6 to test with"));
  CHECK(contains(error_of_split(10, {.train_size = 0.01}), "0 samples to learn from"));
  CHECK(contains(error_of_split(3, {.stratify = {0, 1}}), "2 classes for 3 samples"));
  CHECK(contains(error_of_split(2, {.shuffle = false, .stratify = {0, 0}}), "in order"));
  CHECK(contains(error_of_split(3, {.stratify = {0, 0, 1}}), "class 1 has only 1 sample"));
  CHECK(contains(error_of_split(4, {.test_size = 1, .stratify = {0, 0, 1, 1}}), "for 2 classes"));
}
