// Cross-entropy of floats in groups of 16 samples, one vector path; see device/host/each_path.inl and
// cross_entropy.host.hpp.

namespace gpunet::GPUNET_PATH {

// One vector of samples: x and dx [classes][16], labels and losses [lanes]. The first `real` samples are no padding.
GPUNET_TARGET [[gnu::always_inline]] inline void cross_entropy_lanes(const CrossEntropy<float>& loss, index_t real,
                                                                     const float* x, const label_t* labels,
                                                                     float* losses, float* dx) {
  const auto classes = static_cast<label_t>(loss.classes);
  Vector largest = load(x);
  for (label_t k = 1; k < classes; ++k) {
    const Vector value = load(x + k * 16);
    largest = value > largest ? value : largest;
  }
  Mask label;
  __builtin_memcpy(&label, labels, sizeof label);
  Vector sum{}, chosen = Vector{} + loss.no_class;
  for (label_t k = 0; k < classes; ++k) {
    const Vector shifted = load(x + k * 16) - largest, value = exp(shifted);
    chosen = label == k ? shifted : chosen;
    sum += value;
    store(dx + k * 16, value);
  }
  store(losses, log(sum) - chosen);
  const Vector scale = Vector{} + loss.scale, factor = loss.scale / sum;
  const Mask no_padding = ~last_lanes(lanes - real);
  for (label_t k = 0; k < classes; ++k)
    store(dx + k * 16, keep(load(dx + k * 16) * factor - keep(scale, label == k), no_padding));
}

GPUNET_TARGET inline void cross_entropy(const CrossEntropy<float>& loss) {
  for (index_t outer = 0; outer < loss.slice.outer; ++outer) {
    const index_t first = outer * 16, data = first * loss.classes;
    const index_t count = std::clamp<index_t>(loss.slice.count - first, 0, 16);
    label_t labels[16] = {};
    float losses[16];
    std::copy_n(loss.labels + first, count, labels);
    for (index_t j = 0; j < 16; j += lanes)
      cross_entropy_lanes(loss, count - j, loss.x + data + j, labels + j, losses + j, loss.dx + data + j);
    std::copy_n(losses, count, loss.losses + first);
  }
}

}  // namespace gpunet::GPUNET_PATH
