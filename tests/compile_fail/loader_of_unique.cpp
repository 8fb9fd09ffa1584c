// expect: gpunet::data: the dataset cannot be copied (a part or a loader of it has a copy, so that it does not dangle), move it there: std::move(set), or give std::cref(set) and keep the set as long
// A dataset that cannot be copied.
// A loader, a `Subset` and a `ConcatDataset` have a copy of the dataset. One with a `Tensor`, a mutex or a `std::unique_ptr` is moved there, or referred to.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Rows {
  Tensor<float, Host> values;

  index_t size() const { return values.size(0); }
  data::Sample operator[](index_t i) const { return {{values.data()[i]}, {1}, 0}; }
};

void run(const Rows& rows) {
  data::DataLoader loader(rows, {.batch_size = 10});
}
