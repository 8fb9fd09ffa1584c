// Cross-entropy of floats in groups of 16 samples, one vector path; see
// device/host/each_isa_path.inl and ../cross_entropy.ipp.

namespace gpunet::GPUNET_PATH {

// One vector of samples: x and dx [classes][16], labels and losses [lanes]. The first `real`
// samples are no padding.
GPUNET_TARGET [[gnu::always_inline]] inline void cross_entropy_lanes(
    const CrossEntropy<float>& loss, index_t real, const float* x, const label_t* labels,
    float* losses, float* dx) {
  const auto classes = static_cast<label_t>(loss.classes);
  Vector largest = load(x);
  for (label_t k = 1; k < classes; ++k) {
    const Vector value = load(x + k * 16);
    largest = value > largest ? value : largest;
  }
  Mask label;
  __builtin_memcpy(&label, labels, sizeof label);
  LaneSums terms;
  Vector chosen = Vector{} + loss.no_class;
  for (label_t k = 0; k < classes; ++k) {
    const Vector shifted = load(x + k * 16) - largest, value = exp(shifted);
    chosen = label == k ? shifted : chosen;
    terms.add(value);
    store(dx + k * 16, value);
  }
  const Vector sum = terms.each();
  store(losses, log(sum) - chosen);
  const Vector scale = Vector{} + loss.scale, factor = loss.scale / sum;
  const Mask no_padding = ~last_lanes(lanes - real);
  for (label_t k = 0; k < classes; ++k)
    store(dx + k * 16, keep(load(dx + k * 16) * factor - keep(scale, label == k), no_padding));
}

GPUNET_TARGET inline void cross_entropy_group(const CrossEntropy<float>& loss, index_t first,
                                              index_t real, const label_t* labels, float* losses) {
  const index_t data = first * loss.classes;
  for (index_t j = 0; j < 16; j += lanes)
    cross_entropy_lanes(loss, real - j, loss.x + data + j, labels + j, losses + j,
                        loss.dx + data + j);
}

GPUNET_TARGET inline void cross_entropy(const CrossEntropy<float>& loss) {
  index_t first = 0;
  for (; first + 16 <= loss.slice.count; first += 16)
    cross_entropy_group(loss, first, 16, loss.labels + first, loss.losses + first);
  for (; first < loss.slice.samples(); first += 16) {
    const index_t real = std::max(loss.slice.count - first, index_t{0});
    label_t labels[16] = {};
    float losses[16];
    std::copy_n(loss.labels + first, real, labels);
    cross_entropy_group(loss, first, real, labels, losses);
    std::copy_n(losses, real, loss.losses + first);
  }
}

}  // namespace gpunet::GPUNET_PATH
