// expect: gpunet::data: this is not a dataset, give its type two functions, both const: index_t size() const, and data::Sample operator[](index_t i) const
// lines: 16
// A dataset whose functions are not const.
// Several workers read a dataset at the same time, so reading must not change it. `size()` returns an `index_t` (not a `size_t`), and an element is a `data::Sample`: values, their shape, the label.
#include <gpunet/gpunet.hpp>
using namespace gpunet;

struct Squares {
  index_t size() { return 100; }
  data::Sample operator[](index_t i) { return {{static_cast<float>(i * i)}, {1}, 0}; }
};

void run(const Squares& squares) {
  data::DataLoader loader(squares, {.batch_size = 10});
}
