// Matrix products as work.
#pragma once

#include <gpunet/device/gemm.hpp>
#include <gpunet/device/host/gemm/gemm.hpp>

#include "work.hpp"

namespace bench {

// C = A B, all [n, n].
class Product : public Work {
 public:
  // B is the transpose of A. The data are written here, so that a step's memory is only what the
  // product needs.
  Product(Host& device, index_t n)
      : device_(device),
        n_(n),
        a_(spread_tensor(device, {n, n}, spread_value)),
        b_(device, {n, n}),
        c_(device, {n, n}) {
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j)
        b_.data()[i * n + j] = a_.data()[j * n + i], c_.data()[i * n + j] = 0;
  }

  void run(index_t steps) override {
    using gpunet::Transpose;
    for (index_t i = 0; i < steps; ++i)
      gemm(device_, Transpose::no, Transpose::no, n_, n_, n_, a_.data(), b_.data(), 0.f, c_.data());
  }
  double value() const override { return c_.data()[1]; }

 private:
  Host& device_;
  index_t n_;
  gpunet::Tensor<float, Host> a_, b_, c_;
};

}  // namespace bench
