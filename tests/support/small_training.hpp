// A small training for tests of gpunet::train::fit.
#pragma once

#include <utility>

#include <gpunet/gpunet.hpp>

#include "support/devices.hpp"
#include "support/eager_step.hpp"
#include "support/networks.hpp"

// Ten samples that SmallNet can learn.
struct TenSamples {
  gpunet::index_t size() const { return 10; }
  gpunet::Sizes sample_sizes() const { return {2, 7, 6}; }
  gpunet::label_t read(gpunet::index_t i, float* sample) const {
    for (gpunet::index_t k = 0; k < 84; ++k)
      sample[k] = static_cast<float>((k * (i + 3) + i) % 11) / 8 - 0.5f;
    return static_cast<gpunet::label_t>(i % 4);
  }
};

// The model and loader of every test.
template <class D>
struct Lesson {
  D& device = test_device<D>();
  TenSamples set;
  gpunet::Model<SmallNet, D> net;
  gpunet::nn::CrossEntropyLoss criterion;
  gpunet::optim::SGD<D, float> optimizer;
  gpunet::data::DataLoader<> loader, test_loader;

  explicit Lesson(double lr = 0.1, bool shuffle = true)
      : net(seeded()),
        optimizer(net, {.lr = lr, .momentum = 0.9}),
        loader(set, {.batch_size = 4, .shuffle = shuffle}),
        test_loader(set, {.batch_size = 5}) {}

  template <class... Parts>
  gpunet::train::History fit(const gpunet::train::FitOptions& options, Parts&&... parts) {
    return gpunet::train::fit(net, criterion, optimizer, loader, options,
                              std::forward<Parts>(parts)...);
  }

 private:
  D& seeded() {
    gpunet::manual_seed(21);
    return device;
  }
};

template <class D>
bool same_parameters(const Lesson<D>& a, const Lesson<D>& b) {
  return same_bits(parameters_of(a.net), parameters_of(b.net));
}
