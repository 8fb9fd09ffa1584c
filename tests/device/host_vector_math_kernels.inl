// Arrays through the vector functions, for host_vector_math_test.cpp; n is a multiple of the lanes.

namespace gpunet::GPUNET_PATH {

#define GPUNET_TEST_FUNCTION(NAME)                                             \
  GPUNET_TARGET inline void test_##NAME(index_t n, const float* x, float* y) { \
    for (index_t i = 0; i < n; i += lanes)                                     \
      store(y + i, NAME(load(x + i)));                                         \
  }

GPUNET_TEST_FUNCTION(exp)
GPUNET_TEST_FUNCTION(expm1)
GPUNET_TEST_FUNCTION(log)
GPUNET_TEST_FUNCTION(log1p)
GPUNET_TEST_FUNCTION(tanh)
GPUNET_TEST_FUNCTION(erf)

#undef GPUNET_TEST_FUNCTION

}  // namespace gpunet::GPUNET_PATH
