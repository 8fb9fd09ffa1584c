// The base of optimizers.
#pragma once

#include <array>
#include <type_traits>

#include <gpunet/core/error.hpp>
#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/model/network.hpp>
#include <gpunet/ops/map.hpp>
#include <gpunet/optim/rates.hpp>
#include <gpunet/optim/update.hpp>
#include <gpunet/tensor/buffer.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet::optim {

// The base of an optimizer `Self`. It updates the parameters of a Network, which must outlive it (both may be moved),
// and stores up to N arrays with one number per parameter. `Self` has two functions:
//   std::array<bool, N> keeps() const   which of the arrays it needs now
//   auto next()                         returns the Update of the next step, which the caller runs for every parameter
template <class Self, class D, class T, std::size_t N>
class Optimizer : public Rates {
 public:
  // The class that makes the updates: Adam for AdamW too. A train::Step is compiled once for each.
  using updating_type = Self;

  void zero_grad() { model_->zero_grad(); }
  // Returns the network whose parameters it updates.
  const Network<D, T>& model() const { return *model_; }

  // Updates the parameters by their gradients. Does nothing without gradients (no backward pass since zero_grad()).
  void step() {
    const auto use = model_->exclusive_use();
    if (!model_->gradients().zeroed()) update_parameters();
  }
  // The same for a caller that has exclusive_use() and has computed gradients.
  void update_parameters();

  // Returns the number of arrays that the next update works on.
  int arrays() const {
    int count = 2;
    for (bool keeps : self().keeps())
      count += keeps;
    return count;
  }

 protected:
  Optimizer(Network<D, T>& model, const char* name, double lr, double momentum)
      : Rates(name, lr, momentum), model_(model) {}
  // An optimizer without momentum.
  Optimizer(Network<D, T>& model, const char* name, double lr) : Rates(name, lr), model_(model) {}
  Optimizer(Optimizer&&) = default;
  ~Optimizer() = default;

  // Returns an update with its arrays set; stored arrays are initially zero. `numbers` are the remaining members of
  // `Step`.
  template <class Step, class... Numbers>
  Step update(Numbers... numbers) {
    Step step{{model_->gradients().data(), model_->parameters().data(), {}}, static_cast<T>(numbers)...};
    const std::array<bool, N> keeps = self().keeps();
    for (std::size_t i = 0; i < N; ++i)
      if (keeps[i]) step.kept[i] = kept(i);
    return step;
  }

 private:
  Self& self() { return static_cast<Self&>(*this); }
  const Self& self() const { return static_cast<const Self&>(*this); }

  T* kept(std::size_t i) {
    const index_t size = model_->gradients().size();
    if (kept_[i].size() < size) {
      kept_[i].reset(model_->device(), size);
      fill(model_->device(), size, T{}, kept_[i].data());
    }
    return kept_[i].data();
  }

  TrackedPointer<Network<D, T>> model_;
  Buffer<T, D> kept_[N];
};

// Gives the compiler one clear error for an optimizer of a View, as in PyTorch's SGD(net.parameters(), ...).
template <class Parameters, class Options>
struct OptimizerOfParameters {
  explicit OptimizerOfParameters(const Parameters&, const Options& = {}) {
    static_assert(std::is_void_v<Parameters>,
                  "gpunet::optim: an optimizer takes the model and updates all of its parameters, write optim::SGD "
                  "optimizer(net, {.lr = 0.1})");
  }
  void zero_grad() {}
  void step() {}
};

}  // namespace gpunet::optim

#if !GPUNET_COMPILED
#include <gpunet/optim/optimizer.ipp>
#endif
