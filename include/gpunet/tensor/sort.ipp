// Bodies of sort.hpp.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <gpunet/core/math.hpp>
#include <gpunet/tensor/sort.hpp>

namespace gpunet::detail {

// An element and its place in its row.
template <class Key>
struct KeyAndPlace {
  std::uint32_t place;  // first: with a key of 4 bytes, compilers compare both as one number
  Key key;
  bool operator<(const KeyAndPlace& other) const {
    if constexpr (sizeof(Key) == 4) return number() < other.number();
    return key < other.key || (key == other.key && place < other.place);
  }

 private:
  std::uint64_t number() const { return std::uint64_t{key} << 32 | place; }
};

// Sorts by keys, least significant digit first (D. E. Knuth, The Art of Computer Programming 3,
// 5.2.5); equal ones keep their order. Digits that are the same in all keys cost nothing.
template <int bits, class Key>
void radix_sort(KeyAndPlace<Key>* items, KeyAndPlace<Key>* other, index_t n) {
  constexpr int digits = (8 * static_cast<int>(sizeof(Key)) + bits - 1) / bits;
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

// The fewest items that radix_sort sorts faster than std::sort, and with wide digits faster than
// with narrow ones.
inline constexpr index_t worth_radix = 64, worth_wide_digits = 8192;

template <class Key>
void sort_items(KeyAndPlace<Key>* items, KeyAndPlace<Key>* other, index_t n) {
  if (n < worth_radix)
    std::sort(items, items + n);
  else if (n < worth_wide_digits)
    radix_sort<8>(items, other, n);
  else
    radix_sort<11>(items, other, n);
}

template <class Key, class T>
struct SortKeyMaker {
  const T* row;
  Key* keys;
  bool descending;
  [[gnu::always_inline]] inline void operator()(index_t i) const {
    keys[i] = static_cast<Key>(sort_key(row[i], descending));
  }
};

// Writes the first elements of a row in order to `items`, which has room for most_selected(first).
// Only elements below the highest key of the first so far come in question: they are collected
// until there is no room, and the first of them selected. `other` has the same room.
constexpr index_t most_selected(index_t first) {
  return 3 * first + 16;
}
template <class Key, class T>
void select_items(const T* row, index_t n, bool descending, index_t first, KeyAndPlace<Key>* items,
                  KeyAndPlace<Key>* other) {
  // So few are sorted as fast as some of them are selected.
  constexpr index_t block = 512, few = 16;
  const index_t room = most_selected(first);
  const Loop make_keys = loop_over<SortKeyMaker<Key, T>>();
  index_t count = 0;
  bool are_all = true;  // so far
  Key keys[block], highest = 0;
  const auto select = [&] {
    std::copy_n(items, count, other);
    std::nth_element(other, other + first - 1, other + count);
    const KeyAndPlace<Key> last = other[first - 1];
    const index_t all = std::exchange(count, 0);
    for (index_t i = 0; i < all;
         ++i) {  // those up to the last, in the order of their places, which radix_sort needs
      items[count] = items[i];
      count += !(last < items[i]);
    }
    highest = last.key;
    are_all = false;
  };
  for (index_t begin = 0; begin < n; begin += block) {
    const index_t here = std::min(block, n - begin);
    const SortKeyMaker<Key, T> functor{row + begin, keys, descending};
    make_keys(&functor, 0, here);
    for (index_t i = 0; i < here; ++i)
      if (keys[i] < highest || are_all) {
        items[count++] = {static_cast<std::uint32_t>(begin + i), keys[i]};
        if (count == room) select();
      }
  }
  if (count > first && count > few) select();
  sort_items(items, other, count);
}

template <class Key, class T>
void sort_rows_of(Host& device, const SortedRows& rows, index_t first, index_t* places) {
  using Item = KeyAndPlace<Key>;
  constexpr index_t worth_threads = 1 << 16;
  const T* const data = reinterpret_cast<const T*>(rows.data);
  const index_t n = rows.length;
  const bool selects = first <= n / 8;
  const auto read = [&](const T* row, index_t begin, index_t end, Item* items) {
    for (index_t i = begin; i < end; ++i)
      items[i] = {static_cast<std::uint32_t>(i),
                  static_cast<Key>(sort_key(row[i], rows.descending))};
  };
  const auto write = [&](index_t row, const Item* items) {
    for (index_t i = 0; i < first; ++i)
      places[row * first + i] = items[i].place;
  };
  if (rows.rows < device.threads() && n >= worth_threads && !selects) {  // threads share a row
    const index_t parts = std::bit_floor(static_cast<unsigned>(device.threads()));
    std::vector<Item> items(static_cast<std::size_t>(n)), other(items.size());
    const auto begin_of = [&](index_t part) {
      return part * n / parts;
    };
    for (index_t row = 0; row < rows.rows; ++row) {
      device.run(parts, [&](index_t part, int) {
        const index_t begin = begin_of(part), end = begin_of(part + 1);
        read(data + row * n, begin, end, items.data());
        sort_items(items.data() + begin, other.data() + begin, end - begin);
      });
      Item *from = items.data(), *to = other.data();
      // Two merges for each pair: from both ends.
      for (index_t width = 1; width < parts; width *= 2) {
        device.run(parts / width, [&](index_t task, int) {
          const index_t pair = task / 2;
          const index_t begin = begin_of(2 * pair * width),
                        middle = begin_of((2 * pair + 1) * width),
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
    std::vector<Item> items(static_cast<std::size_t>(selects ? most_selected(first) : n)),
        other(items.size());
    for (index_t row = g * group; row < std::min(rows.rows, (g + 1) * group); ++row) {
      const T* const from = data + row * n;
      if (selects) {
        select_items(from, n, rows.descending, first, items.data(), other.data());
      } else {
        read(from, 0, n, items.data());
        sort_items(items.data(), other.data(), n);
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

GPUNET_INLINE Tensor<index_t, Host> counts(const View<const index_t, Host>& numbers, index_t count,
                                           Host& device) {
  Tensor<index_t, Host> out = zeros<index_t>(device, {count});
  for (index_t i = 0; i < numbers.numel(); ++i)
    ++out.data()[numbers.data()[i]];
  return out;
}

}  // namespace gpunet::detail
