// Arrays through the vector functions, for host_vector_math_test.cpp; n is a multiple of the lanes.

namespace gpunet::GPUNET_PATH {

GPUNET_TARGET inline void test_exp(index_t n, const float* x, float* y) {
  for (index_t i = 0; i < n; i += lanes)
    store(y + i, exp(load(x + i)));
}

GPUNET_TARGET inline void test_log(index_t n, const float* x, float* y) {
  for (index_t i = 0; i < n; i += lanes)
    store(y + i, log(load(x + i)));
}

GPUNET_TARGET inline void test_tanh(index_t n, const float* x, float* y) {
  for (index_t i = 0; i < n; i += lanes)
    store(y + i, tanh(load(x + i)));
}

}  // namespace gpunet::GPUNET_PATH
