// tanh and the logistic function of arrays, one vector path; see device/host/each_path.inl and ../saturation.hpp.

namespace gpunet::GPUNET_PATH {

GPUNET_TARGET [[gnu::always_inline]] inline Vector logistic(Vector x) {
  return 1.0f / (1.0f + exp(-x));
}

// The last numbers, fewer than a vector has lanes.
GPUNET_TARGET [[gnu::always_inline]] inline Vector load_some(const float* p, index_t n) {
  Vector v{};
  __builtin_memcpy(&v, p, static_cast<std::size_t>(n) * sizeof(float));
  return v;
}
GPUNET_TARGET [[gnu::always_inline]] inline void store_some(float* p, Vector v, index_t n) {
  __builtin_memcpy(p, &v, static_cast<std::size_t>(n) * sizeof(float));
}

GPUNET_TARGET inline void map_tanh(index_t n, const float* x, float* y) {
  index_t i = 0;
  for (; i + lanes <= n; i += lanes)
    store(y + i, tanh(load(x + i)));
  store_some(y + i, tanh(load_some(x + i, n - i)), n - i);
}

GPUNET_TARGET inline void map_logistic(index_t n, const float* x, float* y) {
  index_t i = 0;
  for (; i + lanes <= n; i += lanes)
    store(y + i, logistic(load(x + i)));
  store_some(y + i, logistic(load_some(x + i, n - i)), n - i);
}

}  // namespace gpunet::GPUNET_PATH
