// Bodies of optimizer.hpp.
#pragma once

#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

template <class Self, class D, class T, std::size_t N>
void Optimizer<Self, D, T, N>::update_parameters() {
  for_each(model_->device(), model_->gradients().size(), self().next());
  model_->note_update();
}

}  // namespace gpunet::optim
