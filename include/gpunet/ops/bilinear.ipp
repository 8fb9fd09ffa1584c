// Bodies of bilinear.hpp.
#pragma once

#include <gpunet/ops/bilinear.hpp>
#include <gpunet/ops/for_each_block.hpp>

namespace gpunet {

namespace detail {

// The place of an output among the elements of x.
class BilinearPosition {
 public:
  GPUNET_FN BilinearPosition(const BilinearAxis& axis, index_t o) : axis_(axis) {
    const index_t at = axis.step * o + axis.offset;
    before_ = at > 0 ? at / axis.unit : 0;
    rest_ = at - before_ * axis.unit;
  }
  // Moves to the next output.
  GPUNET_FN void operator++() {
    rest_ += axis_.step;  // at most one unit
    if (rest_ < axis_.unit) return;
    rest_ -= axis_.unit;
    ++before_;
  }
  // Return the elements before and after it; the same one at the end.
  GPUNET_FN index_t before() const { return before_; }
  GPUNET_FN index_t after() const { return before_ + 1 < axis_.size ? before_ + 1 : before_; }
  // Returns the weight of the element after it; that of the other is 1 minus this.
  template <class T>
  GPUNET_FN T weight() const {
    return rest_ > 0 ? static_cast<T>(rest_) / static_cast<T>(axis_.unit) : T{};
  }

 private:
  const BilinearAxis& axis_;
  index_t before_, rest_;
};

// y = weighted sum of up to four elements. One index = `length` neighboring elements of a row of y,
// of all samples of a group.
template <class T>
struct BilinearForward {
  BilinearAxis rows, columns;
  index_t inner, length;
  const T* x;
  T* y;

  GPUNET_FN void operator()(index_t i) const {
    T* out = y + i * length * inner;
    const index_t parts = columns.outputs / length, row = i / parts;
    const BilinearPosition at_row(rows, row % rows.outputs);
    const index_t pitch = columns.size * inner;
    const T* image = x + row / rows.outputs * rows.size * pitch;
    const T *upper = image + at_row.before() * pitch, *lower = image + at_row.after() * pitch;
    const T down = at_row.template weight<T>(), up = 1 - down;
    BilinearPosition at(columns, i % parts * length);
    for (index_t k = 0; k < length; ++k, ++at, out += inner) {
      const index_t left = at.before() * inner, right = at.after() * inner;
      const T to_right = at.template weight<T>(), to_left = 1 - to_right;
      for (index_t n = 0; n < inner; ++n)
        out[n] = up * (to_left * upper[left + n] + to_right * upper[right + n]) +
                 down * (to_left * lower[left + n] + to_right * lower[right + n]);
    }
  }
};

// dx = weighted sum of the dy of the outputs that read this element. One index = `length`
// neighboring elements of a row of dx, of all samples of a group.
template <class T>
struct BilinearBackward {
  BilinearAxis rows, columns;
  index_t inner, length;
  const T* dy;
  T* dx;

  GPUNET_FN void operator()(index_t i) const {
    T* out = dx + i * length * inner;
    for (index_t n = 0; n < length * inner; ++n)
      out[n] = T{};
    const index_t parts = columns.size / length, begin = i % parts * length, end = begin + length;
    const index_t plane = i / parts / rows.size, row = i / parts % rows.size;
    const index_t first = columns.first(begin), last = columns.last(end - 1),
                  row_last = rows.last(row);
    BilinearPosition at_row(rows, rows.first(row));
    for (index_t oy = rows.first(row); oy < row_last; ++oy, ++at_row) {
      const T weight = share<T>(at_row, row);
      const T* gradient = dy + ((plane * rows.outputs + oy) * columns.outputs + first) * inner;
      BilinearPosition at(columns, first);
      for (index_t ox = first; ox < last; ++ox, ++at, gradient += inner) {
        const T to_right = at.template weight<T>();
        if (begin <= at.before() && at.before() < end)
          add(weight * (1 - to_right), gradient, out + (at.before() - begin) * inner);
        if (begin <= at.after() && at.after() < end)
          add(weight * to_right, gradient, out + (at.after() - begin) * inner);
      }
    }
  }

 private:
  // Returns the weight of element i in an output.
  template <class U>
  GPUNET_FN static U share(const BilinearPosition& at, index_t i) {
    const U weight = at.template weight<U>();
    return (at.before() == i ? 1 - weight : U{}) + (at.after() == i ? weight : U{});
  }
  GPUNET_FN void add(T weight, const T* gradient, T* out) const {
    for (index_t n = 0; n < inner; ++n)
      out[n] += weight * gradient[n];
  }
};

}  // namespace detail

template <class D, class T>
void BilinearOp::forward(D& device, const ForwardPass<T>& pass) const {
  const index_t inner = pass.slice.inner, length = detail::prefers_blocks<D> ? columns.outputs : 1;
  if (pass.out_features == 0) return;
  detail::for_each_block(device, pass.slice.outer * pass.out_features / length, length * inner,
                         detail::BilinearForward<T>{rows, columns, inner, length, pass.x, pass.y});
}

template <class D, class T>
void BilinearOp::backward(D& device, const BackwardPass<T>& pass) const {
  if (!pass.dx || pass.in_features == 0) return;
  const index_t inner = pass.slice.inner, length = detail::prefers_blocks<D> ? columns.size : 1;
  detail::for_each_block(
      device, pass.slice.outer * pass.in_features / length, length * inner,
      detail::BilinearBackward<T>{rows, columns, inner, length, pass.dy, pass.dx});
}

}  // namespace gpunet
