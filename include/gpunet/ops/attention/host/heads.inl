// Attention of one head of a group of samples, one vector path; see device/host/each_isa_path.inl
// and heads.hpp.
//
// Groups of 16 samples have one in each lane: a number of a matrix is a vector. Otherwise samples
// go one after another, and a vector is a part of a row; then `one` says that a number of the left
// factor of a product is one number.

namespace gpunet::GPUNET_PATH {

typedef double DoubleLanes __attribute__((vector_size(GPUNET_LANES * 4)));

// The vector of numbers T.
template <class T>
struct LanesOf {
  using type = Vector;
};
template <>
struct LanesOf<double> {
  using type = DoubleLanes;
};
template <class T>
inline constexpr index_t lanes_of = GPUNET_LANES * 4 / static_cast<index_t>(sizeof(T));

template <class T>
GPUNET_TARGET [[gnu::always_inline]] inline typename LanesOf<T>::type load_lanes(const T* from) {
  typename LanesOf<T>::type v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <class V, class T>
GPUNET_TARGET [[gnu::always_inline]] inline void store_lanes(T* to, V v) {
  __builtin_memcpy(to, &v, sizeof v);
}
template <class T>
GPUNET_TARGET [[gnu::always_inline]] inline typename LanesOf<T>::type all_lanes(T value) {
  return typename LanesOf<T>::type{} + value;
}
// A number of a matrix: of all lanes, or one for all.
template <bool one, class T>
GPUNET_TARGET [[gnu::always_inline]] inline typename LanesOf<T>::type number(const T* from) {
  if constexpr (one)
    return all_lanes(*from);
  else
    return load_lanes(from);
}

GPUNET_TARGET [[gnu::always_inline]] inline DoubleLanes exp(DoubleLanes x) {
  for (index_t lane = 0; lane < lanes_of<double>; ++lane)
    x[lane] = std::exp(x[lane]);
  return x;
}

GPUNET_TARGET [[gnu::always_inline]] inline DoubleLanes log(DoubleLanes x) {
  for (index_t lane = 0; lane < lanes_of<double>; ++lane)
    x[lane] = std::log(x[lane]);
  return x;
}

template <class V>
GPUNET_TARGET [[gnu::always_inline]] inline V larger(V a, V b) {
  return a > b ? a : b;
}

// ---- Products.

template <bool one, int rows, int columns, class T>
GPUNET_TARGET inline void product_tile(const detail::LaneProduct<T>& p, index_t i, index_t j) {
  using V = typename LanesOf<T>::type;
  V sums[rows][columns] = {};
  const T *a = p.a + i * p.a_row, *b = p.b + j * p.b_column;
  T* c = p.c + i * p.c_row + j * lanes_of<T>;
#pragma GCC unroll 1
  for (index_t k = p.depth; k > 0; --k, a += p.a_step, b += p.b_step) {
    V values[columns];
#pragma GCC unroll 4
    for (int column = 0; column < columns; ++column)
      values[column] = load_lanes(b + column * p.b_column);
#pragma GCC unroll 8
    for (int row = 0; row < rows; ++row) {
      const V factor = number<one>(a + row * p.a_row);
#pragma GCC unroll 4
      for (int column = 0; column < columns; ++column)
        sums[row][column] += factor * values[column];
    }
  }
#pragma GCC unroll 8
  for (int row = 0; row < rows; ++row)
#pragma GCC unroll 4
    for (int column = 0; column < columns; ++column) {
      T* to = c + row * p.c_row + column * lanes_of<T>;
      store_lanes(to, p.add ? load_lanes(to) + sums[row][column] : sums[row][column]);
    }
}

template <bool one, class T>
GPUNET_TARGET inline void multiply(const detail::LaneProduct<T>& p) {
  constexpr int height = 4, width = 2;
  for (index_t j = 0; j < p.columns;) {
    const bool wide = j + width <= p.columns;
    index_t i = 0;
    for (; i + height <= p.rows; i += height)
      wide ? product_tile<one, height, width>(p, i, j) : product_tile<one, height, 1>(p, i, j);
    for (; i < p.rows; ++i)
      wide ? product_tile<one, 1, width>(p, i, j) : product_tile<one, 1, 1>(p, i, j);
    j += wide ? width : 1;
  }
}

// ---- Rows of a head in scratch memory, whose numbers are neighbors.

// The layout of a head: in samples of lanes, or one sample.
template <bool one, class T>
struct HeadLayout {
  using V = typename LanesOf<T>::type;
  static constexpr index_t width = lanes_of<T>;            // of a vector
  static constexpr index_t number_size = one ? 1 : width;  // elements of a number

  // Elements and vectors of a row of n numbers.
  static index_t row(index_t n) { return one ? round_up(n, width) : n * width; }
  static index_t vectors(index_t n) { return row(n) / width; }

  // Copies the rows `first` to first + count - 1 of a matrix.
  GPUNET_TARGET static void pack(const AttentionRows<const T>& from, index_t first, index_t count,
                                 index_t size, T* to) {
    for (index_t t = 0; t < count; ++t, to += row(size)) {
      const T* of_row = &from(first + t, 0);
      if constexpr (one) {
        for (index_t d = 0; d < size; ++d)
          to[d] = of_row[d * from.feature];
        std::fill(to + size, to + row(size), T{});
      } else {
        for (index_t d = 0; d < size; ++d)
          store_lanes(to + d * width, load_lanes(of_row + d * from.feature));
      }
    }
  }
  // Copies all rows of a matrix as columns.
  GPUNET_TARGET static void pack_columns(const AttentionRows<const T>& from, index_t count,
                                         index_t size, T* to) {
    for (index_t d = 0; d < size; ++d, to += row(count)) {
      for (index_t t = 0; t < count; ++t)
        to[t] = from(t, d);
      std::fill(to + count, to + row(count), T{});
    }
  }
  // Copies packed rows back.
  GPUNET_TARGET static void unpack(const T* from, index_t count, index_t size,
                                   const AttentionRows<T>& to, index_t first) {
    for (index_t t = 0; t < count; ++t, from += row(size)) {
      T* of_row = &to(first + t, 0);
      for (index_t d = 0; d < size; ++d)
        if constexpr (one)
          of_row[d * to.feature] = from[d];
        else
          store_lanes(of_row + d * to.feature, load_lanes(from + d * width));
    }
  }

  // The operands of products with keys or values as columns: [size, keys].
  static detail::LaneProduct<T> columns_of(const T* packed, index_t first, index_t keys,
                                           index_t size) {
    detail::LaneProduct<T> p{};
    p.depth = size;
    p.b = packed + (one ? first : first * row(size));
    p.b_step = one ? row(keys) : width;
    p.b_column = one ? width : row(size);
    return p;
  }

  // Returns the combination of all lanes, where they belong to one row.
  template <class F>
  GPUNET_TARGET [[gnu::always_inline]] static V combine(V value, F f) {
    if constexpr (one) {
      T of_all = value[0];
      for (index_t lane = 1; lane < width; ++lane)
        of_all = f(of_all, T{value[lane]});
      return all_lanes(of_all);
    } else {
      return value;
    }
  }
  GPUNET_TARGET [[gnu::always_inline]] static V largest(V value) {
    return combine(value, [](T a, T b) { return a > b ? a : b; });
  }
  GPUNET_TARGET [[gnu::always_inline]] static V total(V value) {
    return combine(value, [](T a, T b) { return a + b; });
  }

  // Returns a vector of scores without the keys from `visible` on; `first` is the key of the first
  // lane.
  GPUNET_TARGET [[gnu::always_inline]] static V hide(V scores, index_t first, index_t visible) {
    if constexpr (one)
      for (index_t lane = std::max(visible - first, index_t{0}); lane < width; ++lane)
        scores[lane] = -std::numeric_limits<T>::infinity();
    return scores;
  }

  // Writes 0 for each key, -infinity for ignored ones.
  GPUNET_TARGET static void pack_mask(const T* mask, index_t inner, index_t keys, T* to) {
    constexpr T ignored = -std::numeric_limits<T>::infinity();
    std::fill_n(to, row(keys), T{});
    for (index_t key = 0; key < keys; ++key)
      for (index_t lane = 0; lane < number_size; ++lane)
        to[key * number_size + lane] = mask[key * inner + lane] != 0 ? ignored : T{};
  }
};

// One head of one sample, or of a sample per lane: `n` is the first of them.
template <bool one, class T>
struct Head {
  using Layout = HeadLayout<one, T>;
  using V = typename Layout::V;
  const AttentionPass<T>& pass;
  index_t n, head;
  detail::AttentionTiles tiles;

  // The keys of a tile that queries first to first + rows - 1 attend to.
  index_t keys_in(index_t tile, index_t first, index_t rows) const {
    return std::min(tiles.keys, pass.g.visible(first + rows - 1) - tile);
  }
  // Writes the factors of a tile.
  void draw(index_t query, index_t rows, index_t key, index_t keys, T* to) const {
    const index_t blocks = ceil_div(keys, OpRandom::per_block);
    const detail::AttentionFactors<T> factors{
        pass.dropout,
        n,
        Layout::number_size,
        pass.random_block(head, query, key),
        pass.random_block(head, query + 1, key) - pass.random_block(head, query, key),
        blocks,
        Layout::row(tiles.keys),
        to};
    detail::loop_over<detail::AttentionFactors<T>>()(&factors, 0, rows * blocks);
  }
  const T* packed_mask(T* to) const {
    if (!pass.mask) return nullptr;
    Layout::pack_mask(pass.mask + pass.slice.offset(n, 0, pass.g.keys), pass.slice.inner,
                      pass.g.keys, to);
    return to;
  }
};

// ---- Forward.

template <bool one, class T>
GPUNET_TARGET inline void attention_forward_head(const AttentionForward<T>& a,
                                                 const Head<one, T>& h, T* scratch) {
  using Layout = HeadLayout<one, T>;
  using V = typename Layout::V;
  constexpr index_t width = Layout::width;
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const AttentionGeometry& g = a.g;
  const detail::AttentionTiles& tiles = h.tiles;
  const index_t value_row = Layout::row(g.value_dim), score_row = Layout::row(tiles.keys);
  const auto q = a.queries(a.q, h.n, h.head), k = a.keys(a.k, h.n, h.head),
             v = a.values(a.v, h.n, h.head);
  const auto y = a.outputs(a.y, h.n, h.head);

  detail::Parts<T> parts(scratch);
  T* keys = parts.take(one ? g.dim * Layout::row(g.keys) : g.keys * Layout::row(g.dim));
  T* values = parts.take(g.keys * value_row);
  T* queries = parts.take(tiles.queries * Layout::row(g.dim));
  T* sums = parts.take(tiles.queries * value_row);
  T* scores = parts.take(tiles.queries * score_row);
  T* factors = parts.take(tiles.queries * score_row);
  T* largest = parts.take(tiles.queries * width);
  T* totals = parts.take(tiles.queries * width);
  const T* mask = h.packed_mask(parts.take(Layout::row(g.keys)));
  one ? Layout::pack_columns(k, g.keys, g.dim, keys) : Layout::pack(k, 0, g.keys, g.dim, keys);
  Layout::pack(v, 0, g.keys, g.value_dim, values);
  const V scale = all_lanes(static_cast<T>(g.scale)), nothing = all_lanes(-infinity);

  for (index_t first = 0; first < g.queries; first += tiles.queries) {
    const index_t rows = std::min(tiles.queries, g.queries - first),
                  visible = g.visible(first + rows - 1);
    Layout::pack(q, first, rows, g.dim, queries);
    for (index_t row = 0; row < rows; ++row) {
      store_lanes(largest + row * width, nothing);
      store_lanes(totals + row * width, V{});
    }
    for (index_t tile = 0; tile < visible; tile += tiles.keys) {
      const index_t count = h.keys_in(tile, first, rows);
      detail::LaneProduct<T> of_scores = Layout::columns_of(keys, tile, g.keys, g.dim);
      of_scores.rows = rows;
      of_scores.columns = Layout::vectors(count);
      of_scores.a = queries;
      of_scores.a_row = Layout::row(g.dim);
      of_scores.a_step = Layout::number_size;
      of_scores.c = scores;
      of_scores.c_row = score_row;
      multiply<one>(of_scores);
      if (a.dropout.p > 0) h.draw(first, rows, tile, count, factors);

      for (index_t row = 0; row < rows; ++row) {
        const index_t seen = std::clamp(g.visible(first + row) - tile, index_t{0}, count);
        const index_t some = Layout::vectors(seen) * width, all = Layout::vectors(count) * width;
        T* s = scores + row * score_row;
        V most = nothing;
        for (index_t at = 0; at < some; at += width) {
          V score = load_lanes(s + at) * scale;
          if (mask) score += load_lanes(mask + tile * Layout::number_size + at);
          if (one && at + width > seen) score = Layout::hide(score, at, seen);
          store_lanes(s + at, score);
          most = larger(most, score);
        }
        const V before = load_lanes(largest + row * width),
                now = larger(before, Layout::largest(most));
        const V shift = now == nothing ? V{} : now;  // all keys are ignored so far
        V total{};
        for (index_t at = 0; at < some; at += width) {
          const V weight = exp(load_lanes(s + at) - shift);
          total += weight;
          store_lanes(s + at, a.dropout.p > 0 ? weight * load_lanes(factors + row * score_row + at)
                                              : weight);
        }
        for (index_t at = some; at < all; at += width)
          store_lanes(s + at, V{});
        const V rest = exp(before - shift);
        store_lanes(largest + row * width, now);
        store_lanes(totals + row * width,
                    load_lanes(totals + row * width) * rest + Layout::total(total));
        if (tile > 0)
          for (index_t at = 0; at < value_row; at += width)
            store_lanes(sums + row * value_row + at,
                        load_lanes(sums + row * value_row + at) * rest);
      }
      multiply<one>(detail::LaneProduct<T>{rows, value_row / width, count, scores, score_row,
                                           Layout::number_size, values + tile * value_row,
                                           value_row, width, sums, value_row, tile > 0});
    }
    for (index_t row = 0; row < rows; ++row) {
      const V total = load_lanes(totals + row * width), most = load_lanes(largest + row * width);
      const auto is_empty = total == V{};  // all keys are ignored
      const V factor = is_empty ? V{} : all_lanes(T{1}) / total;
      for (index_t at = 0; at < value_row; at += width)
        store_lanes(sums + row * value_row + at, load_lanes(sums + row * value_row + at) * factor);
      const V log_sum = is_empty ? all_lanes(infinity) : most + log(total);
      T* to = a.log_sums + a.statistic(h.n, h.head, first + row);
      if constexpr (one)
        *to = log_sum[0];
      else
        store_lanes(to, log_sum);
    }
    Layout::unpack(sums, rows, g.value_dim, y, first);
  }
}

// ---- Backward. With the probabilities P, their factors F and the gradient dy of the outputs:
//   dv_j = sum_i P_ij F_ij dy_i,    ds_ij = P_ij (F_ij dy_i . v_j - dy_i . y_i),
//   dq_i = scale sum_j ds_ij k_j,   dk_j = scale sum_i ds_ij q_i.

template <bool one, class T>
GPUNET_TARGET inline void attention_backward_head(const AttentionBackward<T>& a,
                                                  const Head<one, T>& h, T* scratch) {
  using Layout = HeadLayout<one, T>;
  using V = typename Layout::V;
  constexpr index_t width = Layout::width, size = Layout::number_size;
  const AttentionGeometry& g = a.g;
  const detail::AttentionTiles& tiles = h.tiles;
  const index_t row_size = Layout::row(g.dim), value_row = Layout::row(g.value_dim);
  const index_t score_row = Layout::row(tiles.keys);
  const auto q = a.queries(a.q, h.n, h.head), k = a.keys(a.k, h.n, h.head),
             v = a.values(a.v, h.n, h.head);
  const auto y = a.outputs(a.y, h.n, h.head), dy = a.outputs(a.dy, h.n, h.head);

  detail::Parts<T> parts(scratch);
  T* keys = parts.take(g.keys * row_size);
  T* values = parts.take(one ? 0 : g.keys * value_row);
  const T* key_columns = keys;
  const T* value_columns = values;
  if constexpr (one) {
    T* columns = parts.take(g.dim * Layout::row(g.keys));
    Layout::pack_columns(k, g.keys, g.dim, columns);
    key_columns = columns;
    columns = parts.take(g.value_dim * Layout::row(g.keys));
    Layout::pack_columns(v, g.keys, g.value_dim, columns);
    value_columns = columns;
  } else {
    Layout::pack(v, 0, g.keys, g.value_dim, values);
  }
  Layout::pack(k, 0, g.keys, g.dim, keys);
  T* dk = parts.take(g.keys * row_size);
  T* dv = parts.take(g.keys * value_row);
  T* queries = parts.take(tiles.queries * row_size);
  T* dq = parts.take(tiles.queries * row_size);
  T* outputs = parts.take(tiles.queries * value_row);  // dy
  T* scores = parts.take(tiles.queries * score_row);
  T* products = parts.take(tiles.queries * score_row);
  T* factors = parts.take(tiles.queries * score_row);
  T* log_sums = parts.take(tiles.queries * width);
  T* means = parts.take(tiles.queries * width);  // dy_i . y_i
  const T* mask = h.packed_mask(parts.take(Layout::row(g.keys)));
  std::fill_n(dk, g.keys * row_size, T{});
  std::fill_n(dv, g.keys * value_row, T{});
  const V scale = all_lanes(static_cast<T>(g.scale));

  for (index_t first = 0; first < g.queries; first += tiles.queries) {
    const index_t rows = std::min(tiles.queries, g.queries - first),
                  visible = g.visible(first + rows - 1);
    Layout::pack(q, first, rows, g.dim, queries);
    Layout::pack(dy, first, rows, g.value_dim, outputs);
    for (index_t row = 0; row < rows; ++row) {
      V mean{};
      for (index_t d = 0; d < g.value_dim; ++d)
        mean += number<one>(&y(first + row, d)) * number<one>(&dy(first + row, d));
      store_lanes(means + row * width, mean);
      store_lanes(log_sums + row * width,
                  number<one>(a.log_sums + a.statistic(h.n, h.head, first + row)));
    }
    for (index_t tile = 0; tile < visible; tile += tiles.keys) {
      const index_t count = h.keys_in(tile, first, rows);
      detail::LaneProduct<T> of_scores = Layout::columns_of(key_columns, tile, g.keys, g.dim);
      detail::LaneProduct<T> of_values =
          Layout::columns_of(value_columns, tile, g.keys, g.value_dim);
      of_scores.rows = of_values.rows = rows;
      of_scores.columns = of_values.columns = Layout::vectors(count);
      of_scores.a_step = of_values.a_step = size;
      of_scores.c_row = of_values.c_row = score_row;
      of_scores.a = queries;
      of_scores.a_row = row_size;
      of_scores.c = scores;
      of_values.a = outputs;
      of_values.a_row = value_row;
      of_values.c = products;
      multiply<one>(of_scores);
      multiply<one>(of_values);
      if (a.dropout.p > 0) h.draw(first, rows, tile, count, factors);

      for (index_t row = 0; row < rows; ++row) {
        const index_t seen = std::clamp(g.visible(first + row) - tile, index_t{0}, count);
        const index_t some = Layout::vectors(seen) * width, all = Layout::vectors(count) * width;
        T *s = scores + row * score_row, *ds = products + row * score_row;
        const V log_sum = load_lanes(log_sums + row * width),
                mean = load_lanes(means + row * width);
        for (index_t at = 0; at < some; at += width) {
          V score = load_lanes(s + at) * scale;
          if (mask) score += load_lanes(mask + tile * size + at);
          if (one && at + width > seen) score = Layout::hide(score, at, seen);
          const V weight = exp(score - log_sum);
          V gradient = load_lanes(ds + at);
          V used = weight;
          if (a.dropout.p > 0) {
            const V factor = load_lanes(factors + row * score_row + at);
            gradient *= factor;
            used *= factor;
          }
          store_lanes(s + at, used);
          store_lanes(ds + at, weight * (gradient - mean) * scale);
        }
        for (index_t at = some; at < all; at += width) {
          store_lanes(s + at, V{});
          store_lanes(ds + at, V{});
        }
      }
      const index_t vectors = row_size / width, value_vectors = value_row / width;
      multiply<one>(detail::LaneProduct<T>{count, value_vectors, rows, scores, size, score_row,
                                           outputs, value_row, width, dv + tile * value_row,
                                           value_row, true});
      multiply<one>(detail::LaneProduct<T>{count, vectors, rows, products, size, score_row, queries,
                                           row_size, width, dk + tile * row_size, row_size, true});
      multiply<one>(detail::LaneProduct<T>{rows, vectors, count, products, score_row, size,
                                           keys + tile * row_size, row_size, width, dq, row_size,
                                           tile > 0});
    }
    if (a.dq) Layout::unpack(dq, rows, g.dim, a.queries(a.dq, h.n, h.head), first);
  }
  if (a.dk) Layout::unpack(dk, g.keys, g.dim, a.keys(a.dk, h.n, h.head), 0);
  if (a.dv) Layout::unpack(dv, g.keys, g.value_dim, a.values(a.dv, h.n, h.head), 0);
}

// ---- A head of all samples of a group.

template <class T>
GPUNET_TARGET inline void attention_forward(const AttentionForward<T>& a, index_t group,
                                            index_t head, T* scratch) {
  const auto tiles = detail::AttentionTiles::forward(a.slice);
  const index_t inner = a.slice.inner, first = group * inner;
  if (tiles.samples_in_lanes)
    for (index_t j = 0; j < inner; j += lanes_of<T>)
      attention_forward_head(a, Head<false, T>{a, first + j, head, tiles}, scratch);
  else
    for (index_t j = 0; j < inner; ++j)
      attention_forward_head(a, Head<true, T>{a, first + j, head, tiles}, scratch);
}

template <class T>
GPUNET_TARGET inline void attention_backward(const AttentionBackward<T>& a, index_t group,
                                             index_t head, T* scratch) {
  const auto tiles = detail::AttentionTiles::backward(a.slice);
  const index_t inner = a.slice.inner, first = group * inner;
  if (tiles.samples_in_lanes)
    for (index_t j = 0; j < inner; j += lanes_of<T>)
      attention_backward_head(a, Head<false, T>{a, first + j, head, tiles}, scratch);
  else
    for (index_t j = 0; j < inner; ++j)
      attention_backward_head(a, Head<true, T>{a, first + j, head, tiles}, scratch);
}

}  // namespace gpunet::GPUNET_PATH
