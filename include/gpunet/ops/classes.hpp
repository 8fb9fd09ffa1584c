// Predictions and probabilities of classes along one dimension of a tensor.
#pragma once

#include <gpunet/ops/argmax.hpp>
#include <gpunet/ops/softmax/softmax.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet {

namespace detail {

// A shape seen from one of its dimensions: [outer, classes, inner].
struct AlongDimension {
  index_t outer = 1, classes = 1, inner = 1;
  Sizes others;  // all dimensions but this one

  AlongDimension(const Sizes& sizes, int dim, const char* function) {
    const int rank = sizes.rank(), at = dim < 0 ? dim + rank : dim;
    require(rank > 0, "gpunet::", function, ": dimension ", dim, " of a shape without dimensions");
    require(0 <= at && at < rank, "gpunet::", function, ": dimension ", dim, " of the shape ", to_string(sizes),
            " (want ", -rank, " to ", rank - 1, ")");
    classes = sizes[at];
    for (int i = 0; i < rank; ++i) {
      if (i < at) outer *= sizes[i];
      if (i > at) inner *= sizes[i];
      if (i != at) others.append(sizes[i]);
    }
  }
};

}  // namespace detail

// Returns the index of the maximum along dimension `dim`, as torch.argmax; a negative one counts from the end. Ties: the
// first; NaN counts as maximum. Of logits [batch, classes], argmax(logits, 1) are the predictions [batch].
template <class T, class D>
Tensor<label_t, D> argmax(const Tensor<T, D>& x, int dim) {
  const detail::AlongDimension along(x.sizes(), dim, "argmax");
  require(along.classes > 0, "gpunet::argmax: nothing along dimension ", dim, " of the shape ",
          to_string(x.sizes()), " (want 1 element or more)");
  Tensor<label_t, D> places(x.device(), along.others);
  const Slice slice{along.outer * along.inner, along.outer, along.inner};
  for_each(x.device(), slice.count, ArgMax<T>{slice, along.classes, x.data(), places.data()});
  return places;
}

// Returns exp(x) / sum exp(x) along dimension `dim`, as torch.softmax. Of logits [batch, classes], softmax(logits, 1) are
// the probabilities.
template <class T, class D>
Tensor<T, D> softmax(const Tensor<T, D>& x, int dim) {
  const detail::AlongDimension along(x.sizes(), dim, "softmax");
  Tensor<T, D> y(x.device(), x.sizes());
  if (x.numel() > 0)
    softmax_forward(x.device(), along.outer * along.inner,
                    SoftmaxForward<T>{along.classes, along.inner, x.data(), y.data()});
  return y;
}

}  // namespace gpunet
