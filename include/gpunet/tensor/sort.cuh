// Sorting on Cuda, by CUB.
#pragma once

#include <bit>

#include <gpunet/device/cuda/loops.hpp>
#include <gpunet/tensor/cub.cuh>
#include <gpunet/tensor/sort.hpp>

namespace gpunet::detail {

// keys[i] = the order of an element, behind the number of its row where both fit into 64 bits. One
// index = one element.
struct MakeSortKeys {
  SortedRows rows;
  std::uint64_t* keys;
  std::uint32_t* places;  // in all rows

  GPUNET_FN void operator()(index_t i) const {
    const AnyElement x = loaded(rows.data, rows.type, i);
    std::uint64_t key = with_type(rows.type, [&](auto element) {
      return sort_key(x.get<decltype(element)>(), rows.descending);
    });
    if (bytes_of(rows.type) < 8) key |= static_cast<std::uint64_t>(i / rows.length) << 32;
    keys[i] = key;
    places[i] = static_cast<std::uint32_t>(i);
  }
};

// keys[i] = the row of the element that has come to i.
struct MakeRowKeys {
  index_t length;
  const std::uint32_t* places;
  std::uint64_t* keys;
  GPUNET_FN void operator()(index_t i) const {
    keys[i] = static_cast<std::uint64_t>(places[i] / length);
  }
};

// One index = one result.
struct StorePlaces {
  index_t length, first;
  const std::uint32_t* sorted;
  index_t* places;
  GPUNET_FN void operator()(index_t i) const {
    const index_t row = i / first;
    places[i] = static_cast<index_t>(sorted[row * length + i % first]) - row * length;
  }
};

GPUNET_BACKENDS_INLINE void sort_rows(Cuda& device, const SortedRows& rows, index_t first,
                                      index_t* places) {
  const index_t n = rows.rows * rows.length;
  const Buffer<std::uint64_t, Cuda> keys(device, n), other_keys(device, n);
  const Buffer<std::uint32_t, Cuda> items(device, n), other_items(device, n);
  cub::DoubleBuffer<std::uint64_t> key(keys.data(), other_keys.data());
  cub::DoubleBuffer<std::uint32_t> item(items.data(), other_items.data());
  const auto sort = [&](int bits) {
    run_cub(device, [&](void* memory, std::size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(memory, bytes, key, item, n, 0, bits, device.stream());
    });
  };
  const int row_bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(rows.rows - 1)));
  for_each(device, n, MakeSortKeys{rows, key.Current(), item.Current()});
  if (bytes_of(rows.type) < 8) {
    sort(32 + row_bits);
  } else {
    sort(64);
    if (row_bits > 0) {
      for_each(device, n, MakeRowKeys{rows.length, item.Current(), key.Current()});
      sort(row_bits);
    }
  }
  for_each(device, rows.rows * first, StorePlaces{rows.length, first, item.Current(), places});
}

GPUNET_BACKENDS_INLINE Tensor<index_t, Cuda> counts(const View<const index_t, Cuda>& numbers,
                                                    index_t count, Cuda& device) {
  if (count == 0 || numbers.numel() == 0) return zeros<index_t>(device, {count});
  require(count < (index_t{1} << 31) - 1, "gpunet::bincount: ", count,
          " counts (want fewer than 2^31 - 1)");
  Tensor<std::int32_t, Cuda> counters(device, {count});  // CUB adds up 32 bits
  run_cub(device, [&](void* memory, std::size_t& bytes) {
    return cub::DeviceHistogram::HistogramEven(memory, bytes, numbers.data(), counters.data(),
                                               static_cast<int>(count + 1), index_t{0}, count,
                                               numbers.numel(), device.stream());
  });
  return cast<index_t>(counters);
}

}  // namespace gpunet::detail
