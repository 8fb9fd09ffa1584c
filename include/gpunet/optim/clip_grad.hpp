// Gradient clipping, between backward() and step().
#pragma once

#include <cstdint>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/model/network.hpp>

namespace gpunet::nn::utils {

// The norm of the gradients of a model, stored on its device. Valid until the gradients are
// measured again.
template <class D, class T>
class TotalNorm {
 public:
  using value_type = T;

  TotalNorm(const Network<D, T>& model, const T* data, std::uint64_t number)
      : model_(model), data_(data), number_(number) {}

  // Returns the norm. Waits for the device. Throws Error if the gradients were measured again
  // since.
  T item() const {
    const auto use = model_->shared_use();
    require(number_ == model_->gradients().measurements(),
            "gpunet::nn::utils::TotalNorm::item: the gradients were measured again since, call it "
            "before");
    T value;
    model_->device().download(&value, data_, sizeof value);
    return value;
  }
  // Returns the address of the norm, on the device.
  const T* data() const { return data_; }

 private:
  TrackedPointer<const Network<D, T>> model_;
  const T* data_;
  std::uint64_t number_;
};

namespace detail {

// The same as below for the parameters with these indices, null for all.
template <class D, class T>
TotalNorm<D, T> clip_grad_norm(Network<D, T>& model, const std::vector<int>* indices,
                               double max_norm, double norm_type, bool error_if_nonfinite);
template <class D, class T>
void clip_grad_value(Network<D, T>& model, const std::vector<int>* indices, double clip_value);

}  // namespace detail

// Scales the gradients of a model so that their norm is at most max_norm, and returns the norm
// before: of all parameters together, of type 2, 1 or infinity. As torch.nn.utils.clip_grad_norm_.
// Without gradients (no backward pass since zero_grad()) the norm is 0. Waits for the device only
// with error_if_nonfinite, and then throws Error if the norm is infinite or NaN. Allocates in the
// first call only.
template <class D, class T>
TotalNorm<D, T> clip_grad_norm_(Network<D, T>& model, double max_norm, double norm_type = 2,
                                bool error_if_nonfinite = false) {
  return detail::clip_grad_norm(model, nullptr, max_norm, norm_type, error_if_nonfinite);
}
// The same for some parameters: net.parameters("head"), or optimizer.parameters(), whose gradients
// alone amp::GradScaler::unscale_ divides.
template <class D, class T>
TotalNorm<D, T> clip_grad_norm_(const Parameters<D, T>& parameters, double max_norm,
                                double norm_type = 2, bool error_if_nonfinite = false) {
  return detail::clip_grad_norm(parameters.network(), &parameters.indices(), max_norm, norm_type,
                                error_if_nonfinite);
}

// Clamps every element of the gradients of a model, or of some parameters, to [-clip_value,
// clip_value]. As torch.nn.utils.clip_grad_value_.
template <class D, class T>
void clip_grad_value_(Network<D, T>& model, double clip_value) {
  detail::clip_grad_value(model, nullptr, clip_value);
}
template <class D, class T>
void clip_grad_value_(const Parameters<D, T>& parameters, double clip_value) {
  detail::clip_grad_value(parameters.network(), &parameters.indices(), clip_value);
}

#define GPUNET_CLIP_GRAD_NORM(D, T)                                                               \
  TotalNorm<D, T> detail::clip_grad_norm(Network<D, T>&, const std::vector<int>*, double, double, \
                                         bool)
#define GPUNET_CLIP_GRAD_VALUE(D, T) \
  void detail::clip_grad_value(Network<D, T>&, const std::vector<int>*, double)
GPUNET_EXTERN_TEMPLATES(GPUNET_CLIP_GRAD_NORM)
GPUNET_EXTERN_TEMPLATES(GPUNET_CLIP_GRAD_VALUE)

}  // namespace gpunet::nn::utils

#if !GPUNET_COMPILED
#include <gpunet/optim/clip_grad.ipp>
#endif
