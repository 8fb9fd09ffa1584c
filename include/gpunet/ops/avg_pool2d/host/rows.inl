// Average pooling of floats, one vector path; see device/host/each_isa_path.inl and rows.hpp.
// `inner` is a multiple of the path's lanes, and vectors run over samples; or it is 1, and they run
// over the columns of a window.

namespace gpunet::GPUNET_PATH {

// One channel of y from that of x.
GPUNET_TARGET inline void avg_pool_plane(const AvgPool2dGeometry& g, index_t inner, const float* x,
                                         float* y) {
  const index_t pitch = g.columns.size * inner;
  for (index_t row = 0; row < g.rows.outputs; ++row) {
    const float* first = x + g.rows.begin(row) * pitch;
    const float* last = x + g.rows.end(row) * pitch;
    for (index_t column = 0; column < g.columns.outputs; ++column, y += inner) {
      const index_t begin = g.columns.begin(column), n = g.columns.end(column) - begin;
      const float length = static_cast<float>(g.rows.length(row) * g.columns.length(column));
      if (inner == 1) {
        LaneSums total;
        LongSum<float> rest;
        for (const float* from = first + begin; from < last; from += pitch) {
          total.add(from, n / lanes, lanes);
          for (index_t k = n / lanes * lanes; k < n; ++k)
            rest += from[k];
        }
        *y = (total.all() + rest.value()) / length;
      } else {
        for (index_t j = 0; j < inner; j += lanes) {
          LaneSums total;
          for (const float* from = first + begin * inner; from < last; from += pitch)
            total.add(from + j, n, inner);
          store(y + j, total.each() / length);
        }
      }
    }
  }
}

// The backward pass: one channel of dx from that of dy.
GPUNET_TARGET inline void avg_pool_plane_gradient(const AvgPool2dGeometry& g, index_t inner,
                                                  const float* dy, float* dx) {
  const index_t pitch = g.columns.size * inner;
  for (index_t row = 0; row < g.rows.size; ++row, dx += pitch) {
    std::fill_n(dx, pitch, 0.0f);
    for (index_t oy = g.rows.first(row); oy < g.rows.last(row); ++oy) {
      const float* gradient = dy + oy * g.columns.outputs * inner;
      for (index_t ox = 0; ox < g.columns.outputs; ++ox, gradient += inner) {
        const index_t begin = g.columns.begin(ox) * inner, end = g.columns.end(ox) * inner;
        const float length = static_cast<float>(g.rows.length(oy) * g.columns.length(ox));
        if (inner == 1) {
          const float share = *gradient / length;
          index_t k = begin;
          for (; k + lanes <= end; k += lanes)
            store(dx + k, load(dx + k) + share);
          for (; k < end; ++k)
            dx[k] += share;
        } else {
          for (index_t j = 0; j < inner; j += lanes) {
            const Vector share = load(gradient + j) / length;
            for (index_t k = begin + j; k < end; k += inner)
              store(dx + k, load(dx + k) + share);
          }
        }
      }
    }
  }
}

}  // namespace gpunet::GPUNET_PATH
