// Index loops over blocks of neighboring numbers.
#pragma once

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/device/host/for_each.hpp>

namespace gpunet {

namespace detail {

// One index = one number.
template <class F>
struct NumberOfBlock {
  F f;
  GPUNET_FN void operator()(index_t i) const { f.at(i / f.size(), i % f.size()); }
};

// One index = one block, whose numbers fill vectors.
template <class F>
struct WholeBlock {
  F f;
  [[gnu::always_inline]] void operator()(index_t block) const {
    const index_t size = f.size();
    GPUNET_INDEPENDENT_ITERATIONS
    for (index_t e = 0; e < size; ++e)
      f.at(block, e);
  }
};

}  // namespace detail

// Calls f.at(block, e) for all e < f.size() of all blocks; as for_each, without a division for each number on Host.
template <class D, class F>
void for_each_in_blocks(D& device, index_t blocks, const F& f) {
  for_each(device, blocks * f.size(), detail::NumberOfBlock<F>{f});
}

template <class F>
void for_each_in_blocks(Host& device, index_t blocks, const F& f) {
  const detail::WholeBlock<F> whole{f};
  const detail::Loop loop = detail::loop_over<detail::WholeBlock<F>>();
  device.run_if(blocks * f.size() >= 1 << 14, blocks, [&](index_t block, int) { loop(&whole, block, block + 1); });
}

}  // namespace gpunet
