// Softmax of floats, one vector path; see device/host/each_isa_path.inl and ../softmax.ipp. A vector holds `lanes`
// neighboring columns: the width of a row is a multiple of 16.

namespace gpunet::GPUNET_PATH {

GPUNET_TARGET inline void softmax_forward(index_t columns, const SoftmaxForward<float>& softmax) {
  const index_t width = softmax.width, size = softmax.classes * width;
  for (index_t i = 0; i < columns; i += lanes) {
    const index_t first = i / width * size + i % width;
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
