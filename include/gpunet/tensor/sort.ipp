// Bodies of sort.hpp.
#pragma once

#include <algorithm>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/tensor/sort.hpp>

namespace gpunet::detail {

// An element and its place in its row.
template <class Key>
struct KeyAndPlace {
  Key key;
  std::uint32_t place;
  bool operator<(const KeyAndPlace& other) const {
    return key < other.key || (key == other.key && place < other.place);
  }
};

// Sorts by keys, least significant digit first (D. E. Knuth, The Art of Computer Programming 3, 5.2.5); equal ones keep their order.
// Digits that are the same in all keys cost nothing.
template <class Key>
void radix_sort(KeyAndPlace<Key>* items, KeyAndPlace<Key>* other, index_t n) {
  constexpr int bits = 11, digits = (8 * static_cast<int>(sizeof(Key)) + bits - 1) / bits;
  constexpr std::size_t values = std::size_t{1} << bits;
  std::vector<std::uint32_t> counts(digits * values);
  const auto digit = [](Key key, int d) {
    return static_cast<std::size_t>(key >> (d * bits)) & (values - 1);
  };
  for (index_t i = 0; i < n; ++i)
    for (int d = 0; d < digits; ++d)
      ++counts[static_cast<std::size_t>(d) * values + digit(items[i].key, d)];
  KeyAndPlace<Key>* const result = items;
  for (int d = 0; d < digits; ++d) {
    std::uint32_t* const count = counts.data() + static_cast<std::size_t>(d) * values;
    if (count[digit(items[0].key, d)] == n) continue;
    std::uint32_t start = 0;
    for (std::size_t v = 0; v < values; ++v)
      start += std::exchange(count[v], start);
    for (index_t i = 0; i < n; ++i)
      other[count[digit(items[i].key, d)]++] = items[i];
    std::swap(items, other);
  }
  if (items != result) std::copy_n(items, n, result);
}

template <class Key, class T>
void sort_rows_of(Host& device, const SortedRows& rows, index_t first, index_t* places) {
  using Item = KeyAndPlace<Key>;
  constexpr index_t worth_radix = 1024, worth_threads = 1 << 16;
  const T* const data = reinterpret_cast<const T*>(rows.data);
  const index_t n = rows.length;
  const auto sort = [](Item* items, Item* other, index_t count) {
    if (count < worth_radix)
      std::sort(items, items + count);
    else
      radix_sort(items, other, count);
  };
  const auto read = [&](const T* row, index_t begin, index_t end, Item* items) {
    for (index_t i = begin; i < end; ++i)
      items[i] = {static_cast<Key>(sort_key(row[i], rows.descending)), static_cast<std::uint32_t>(i)};
  };
  const auto write = [&](index_t row, const Item* items) {
    for (index_t i = 0; i < first; ++i)
      places[row * first + i] = items[i].place;
  };
  if (rows.rows < device.threads() && n >= worth_threads && first > n / 16) {  // threads share a row
    const index_t parts = std::bit_floor(static_cast<unsigned>(device.threads()));
    std::vector<Item> items(static_cast<std::size_t>(n)), other(items.size());
    const auto begin_of = [&](index_t part) {
      return part * n / parts;
    };
    for (index_t row = 0; row < rows.rows; ++row) {
      device.run(parts, [&](index_t part, int) {
        const index_t begin = begin_of(part), end = begin_of(part + 1);
        read(data + row * n, begin, end, items.data());
        sort(items.data() + begin, other.data() + begin, end - begin);
      });
      Item *from = items.data(), *to = other.data();
      for (index_t width = 1; width < parts; width *= 2) {  // two merges for each pair: from both ends
        device.run(parts / width, [&](index_t task, int) {
          const index_t pair = task / 2;
          const index_t begin = begin_of(2 * pair * width), middle = begin_of((2 * pair + 1) * width),
                        end = begin_of((2 * pair + 2) * width), half = (end - begin) / 2;
          Item *a = from + begin, *b = from + middle;
          if (task % 2 == 0) {
            for (Item* out = to + begin; out < to + begin + half; ++out)
              *out = b == from + end || (a != from + middle && *a < *b) ? *a++ : *b++;
          } else {
            a = from + middle;
            b = from + end;
            for (Item* out = to + end; out > to + begin + half;)
              *--out = b == from + middle || (a != from + begin && b[-1] < a[-1]) ? *--a : *--b;
          }
        });
        std::swap(from, to);
      }
      write(row, from);
    }
    return;
  }
  const index_t group = std::clamp(worth_threads / std::max(n, index_t{1}), index_t{1}, rows.rows);
  device.run_if(rows.rows * n >= worth_threads, ceil_div(rows.rows, group), [&](index_t g, int) {
    std::vector<Item> items(static_cast<std::size_t>(n)), other(n < worth_radix ? 0 : items.size());
    for (index_t row = g * group; row < std::min(rows.rows, (g + 1) * group); ++row) {
      read(data + row * n, 0, n, items.data());
      if (first <= n / 64) {
        std::partial_sort(items.begin(), items.begin() + first, items.end());
      } else if (first <= n / 16) {
        std::nth_element(items.begin(), items.begin() + first, items.end());
        std::sort(items.begin(), items.begin() + first);
      } else {
        sort(items.data(), other.data(), n);
      }
      write(row, items.data());
    }
  });
}

GPUNET_INLINE void sort_rows(Host& device, const SortedRows& rows, index_t first, index_t* places) {
  with_host_type(rows.type, [&](auto element) {
    using T = decltype(element);
    using Key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
    sort_rows_of<Key, T>(device, rows, first, places);
    return 0;
  });
}

GPUNET_INLINE Tensor<index_t, Host> counts(const View<const index_t, Host>& numbers, index_t count, Host& device) {
  Tensor<index_t, Host> out = zeros<index_t>(device, {count});
  for (index_t i = 0; i < numbers.numel(); ++i)
    ++out.data()[numbers.data()[i]];
  return out;
}

}  // namespace gpunet::detail
