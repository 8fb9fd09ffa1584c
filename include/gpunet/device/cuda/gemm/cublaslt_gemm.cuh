// Matrix products of floats fused with a bias, a ReLU or a bias gradient: cuBLASLt.
#pragma once

#include <gpunet/device/cuda/gemm/cublaslt_trial.cuh>

namespace gpunet::detail {

// Returns whether cuBLASLt has refused a product of this shape with this epilogue.
inline bool lt_has_refused(const Cuda& device, index_t m, index_t n, index_t k,
                           cublasLtEpilogue_t epilogue) {
  const Blas* blas = device.made_blas();
  return blas && blas->choices().has_refused(m, n, k, epilogue);
}

// Gives the product to the device. Returns false, with nothing done, where cuBLASLt has no kernel
// for it. The algorithm, or that there is none, is chosen at the first call for a shape and
// epilogue, which may allocate and wait unless it is recorded; later calls do neither.
inline bool lt_product(Cuda& device, const LtProduct& p) {
  const CurrentDevice current(device.ordinal());
  const LtChoices::Key key{p.m,
                           p.n,
                           p.k,
                           p.ta,
                           p.tb,
                           p.epilogue,
                           p.beta == 0,
                           alignment_of(p.a, p.b, p.d),
                           alignment_of(p.bias, p.bits)};
  LtChoices& choices = device.blas().choices();
  const LtChoices::Choice* known = choices.find(key);
  if (known && !*known) return false;
  const LtCall call(p, device.precision());
  if (known) {
    check(call.run(device, **known));
    return true;
  }
  std::vector<LtAlgorithm> algorithms = call.algorithms(device);
  if (algorithms.size() > 1 && !device.is_recording()) {
    const auto best = algorithms.begin() + fastest_identical(device, p, algorithms);
    std::rotate(algorithms.begin(), best, best + 1);  // to the front
  }
  for (const LtAlgorithm& algorithm : algorithms) {
    const cublasStatus_t status = call.run(device, algorithm);
    if (is_refusal(status)) continue;
    check(status);
    choices.add(key, algorithm);
    return true;
  }
  choices.add(key, std::nullopt);
  return false;
}

}  // namespace gpunet::detail
