// Cross-entropy of floats with a label for each place, one vector path; see
// device/host/each_isa_path.inl and ../targets.ipp. Outputs of a group of samples are [classes,
// places, inner]: a vector holds neighboring columns, which are the samples of places.

namespace gpunet::GPUNET_PATH {

// The columns `first` to first + lanes - 1 of a group: writes their gradients, and the losses of
// their labels, unweighted.
GPUNET_TARGET inline void place_losses(const TargetLossArgs<float>& a, const float* x,
                                       const label_t* label, const float* factor, float* losses,
                                       float* dx) {
  const index_t step = a.places * a.slice.inner;
  const auto classes = static_cast<label_t>(a.classes);
  Vector largest = load(x);
  for (label_t k = 1; k < classes; ++k) {
    const Vector value = load(x + k * step);
    largest = value > largest ? value : largest;
  }
  Mask labels;
  __builtin_memcpy(&labels, label, sizeof labels);
  LaneSums terms;
  Vector chosen{};
  for (label_t k = 0; k < classes; ++k) {
    const Vector shifted = load(x + k * step) - largest, value = exp(shifted);
    chosen = labels == k ? shifted : chosen;
    terms.add(value);
    store(dx + k * step, value);
  }
  const Vector sum = terms.each();
  store(losses, log(sum) - chosen);
  const Vector scale = load(factor), probability = scale / sum;
  for (label_t k = 0; k < classes; ++k)
    store(dx + k * step, load(dx + k * step) * probability - keep(scale, labels == k));
}

// The losses and gradients of a group of samples.
GPUNET_TARGET inline void target_loss(const LabelTargets<float>& q, const TargetLossArgs<float>& a,
                                      index_t group) {
  const index_t inner = a.slice.inner, width = a.places * inner, first_sample = group * inner;
  const float scale = a.divide(a.scale);
  double sums[16] = {};
  for (index_t next = 0; next < width; next += lanes) {
    const index_t first = std::min(next, width - lanes), at = group * a.classes * width + first;
    label_t labels[GPUNET_LANES] = {};
    bool counts[GPUNET_LANES] = {};
    float weights[GPUNET_LANES] = {}, factors[GPUNET_LANES] = {}, losses[GPUNET_LANES];
    for (index_t lane = 0; lane < lanes; ++lane) {
      const index_t place = (first + lane) / inner, n = first_sample + (first + lane) % inner;
      if (n >= a.slice.count) continue;
      labels[lane] = q.labels[n * a.places + place];
      counts[lane] = q.counts(n, place);
      weights[lane] = q.weight_of(labels[lane]);
      if (counts[lane]) factors[lane] = scale * weights[lane];
    }
    place_losses(a, a.x + at, labels, factors, losses, a.dx + at);
    for (index_t lane = next - first; lane < lanes; ++lane)
      if (counts[lane])
        sums[(first + lane) % inner] +=
            static_cast<double>(weights[lane]) * static_cast<double>(losses[lane]);
  }
  for (index_t j = 0; j < inner && first_sample + j < a.slice.count; ++j)
    a.losses[first_sample + j] = a.divide(static_cast<float>(sums[j]));
}

}  // namespace gpunet::GPUNET_PATH
