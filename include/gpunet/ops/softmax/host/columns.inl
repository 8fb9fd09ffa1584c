// Softmax of floats, one vector path; see device/host/each_isa_path.inl and ../softmax.ipp. A
// vector holds `lanes` neighboring columns of [classes, width], or classes of a row where the width
// is 1. In the forward pass the last vector overlaps the one before; in the backward pass the width
// is a multiple of 16.

namespace gpunet::GPUNET_PATH {

// All columns of outer index o.
GPUNET_TARGET inline void softmax_forward(const SoftmaxForward<float>& softmax, index_t o) {
  const index_t width = softmax.width, size = softmax.classes * width;
  for (index_t i = 0; i < width; i += lanes) {
    const index_t first = o * size + std::min(i, width - lanes);
    const float* x = softmax.x + first;
    float* y = softmax.y + first;
    Vector largest = load(x);
    for (index_t k = width; k < size; k += width) {
      const Vector value = load(x + k);
      largest = value > largest ? value : largest;
    }
    LaneSums terms;
    for (index_t k = 0; k < size; k += width) {
      const Vector value = exp(load(x + k) - largest);
      terms.add(value);
      store(y + k, value);
    }
    const Vector sum = terms.each();
    if (softmax.kind == SoftmaxKind::probabilities) {
      const Vector factor = 1.0f / sum;
      for (index_t k = 0; k < size; k += width)
        store(y + k, load(y + k) * factor);
    } else {
      const Vector log_sum = log(sum);
      for (index_t k = 0; k < size; k += width)
        store(y + k, load(x + k) - largest - log_sum);
    }
  }
}

// One row, of width 1 and at least `lanes` classes.
GPUNET_TARGET inline void softmax_forward_row(const SoftmaxForward<float>& softmax, index_t row) {
  const index_t n = softmax.classes, whole = n / lanes * lanes, tail = n - lanes;
  const float* x = softmax.x + row * n;
  float* y = softmax.y + row * n;
  Vector most = load(x + tail);
  for (index_t k = 0; k < whole; k += lanes) {
    const Vector value = load(x + k);
    most = value > most ? value : most;
  }
  float largest = most[0];
  for (int lane = 1; lane < GPUNET_LANES; ++lane)
    largest = most[lane] > largest ? most[lane] : largest;
  LaneSums terms;
  for (index_t k = 0; k < whole; k += lanes) {
    const Vector value = exp(load(x + k) - largest);
    terms.add(value);
    store(y + k, value);
  }
  const Vector last = exp(load(x + tail) - largest);
  terms.add(keep(last, last_lanes(n - whole)));
  const float sum = terms.all(), log_sum = std::log(sum);
  const bool logarithms = softmax.kind == SoftmaxKind::logarithms;
  for (index_t k = 0; k < whole; k += lanes)
    store(y + k, logarithms ? load(x + k) - largest - log_sum : load(y + k) / sum);
  store(y + tail, logarithms ? load(x + tail) - largest - log_sum : last / sum);
}

GPUNET_TARGET inline void softmax_backward(index_t columns, const SoftmaxBackward<float>& softmax) {
  const index_t width = softmax.width, size = softmax.classes * width;
  for (index_t i = 0; i < columns; i += lanes) {
    const index_t first = i / width * size + i % width;
    const float *y = softmax.y + first, *dy = softmax.dy + first;
    float* dx = softmax.dx + first;
    LaneSums terms;
    if (softmax.kind == SoftmaxKind::probabilities) {
      for (index_t k = 0; k < size; k += width)
        terms.add(load(dy + k) * load(y + k));
      const Vector sum = terms.each();
      for (index_t k = 0; k < size; k += width)
        store(dx + k, load(y + k) * (load(dy + k) - sum));
    } else {
      for (index_t k = 0; k < size; k += width)
        terms.add(load(dy + k));
      const Vector sum = terms.each();
      for (index_t k = 0; k < size; k += width)
        store(dx + k, load(dy + k) - exp(load(y + k)) * sum);
    }
  }
}

}  // namespace gpunet::GPUNET_PATH
