// Bodies of scan.hpp.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include <gpunet/device/host/flush_subnormals.hpp>
#include <gpunet/tensor/scan.hpp>

namespace gpunet::detail {

// Adds a row of T to the sums, and writes them as R.
template <class T, class A, class R>
void add_row(const T* x, index_t n, A* sums, R* y) {
  for (index_t i = 0; i < n; ++i)
    y[i] = static_cast<R>(sums[i] += static_cast<A>(x[i]));
}

GPUNET_INLINE void scan(Host& device, const RunnableProgram& program, const FoldSizes& sizes,
                        ElementType, void* out) {
  const auto scan_outer = [&](index_t o, auto x_type, auto result_type) {
    using T = decltype(x_type);
    using R = decltype(result_type);
    using A = SumOf<T>;
    BlockRunner runner(program, most_in_block(program));
    std::vector<A> sums(static_cast<std::size_t>(sizes.inner));
    const index_t first = o * sizes.length * sizes.inner, n = sizes.length * sizes.inner;
    R* const y = static_cast<R*>(out) + first;
    for (index_t i = 0; i < n;) {
      const index_t count = std::min(runner.block(), n - i);
      const T* x = static_cast<const T*>(runner.run(first + i, count, nullptr));
      if (sizes.inner == 1) {
        A sum = sums[0];
        for (index_t k = 0; k < count; ++k)
          y[i + k] = static_cast<R>(sum += static_cast<A>(x[k]));
        sums[0] = sum;
      } else {
        for (index_t k = 0; k < count;) {
          const index_t column = (i + k) % sizes.inner,
                        part = std::min(sizes.inner - column, count - k);
          add_row(x + k, part, sums.data() + column, y + i + k);
          k += part;
        }
      }
      i += count;
    }
  };
  device.run_if(program.elements > 1 << 15, sizes.outer, [&](index_t o, int) {
    const KeepSubnormals keep;
    with_host_type(program.type, [&](auto x) {
      using T = decltype(x);
      using R = std::conditional_t<std::is_floating_point_v<T>, T, index_t>;
      scan_outer(o, T{}, R{});
      return 0;
    });
  });
}

GPUNET_INLINE Tensor<index_t, Host> places_of_true(const View<const bool, Host>& flags,
                                                   Host& device) {
  const bool* const x = flags.data();
  const index_t n = flags.numel();
  const index_t count = std::count(x, x + n, true);
  Tensor<index_t, Host> out(device, {count});
  index_t* y = out.data();
  const index_t* const end = y + count;
  for (index_t i = 0; y != end; ++i) {  // without branches on x
    *y = i;
    y += x[i];
  }
  return out;
}

}  // namespace gpunet::detail
