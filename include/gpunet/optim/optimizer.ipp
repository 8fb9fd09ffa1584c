// Bodies of optimizer.hpp.
#pragma once

#include <gpunet/optim/optimizer.hpp>

namespace gpunet::optim {

template <class Self, class D, class T, std::size_t N>
void Optimizer<Self, D, T, N>::update_parameters() {
  for (Segment& segment : segments()) {
    const auto step = next_of(segment);
    for (const ArenaRange& range : segment.ranges)
      for_each(model_->device(), range.size(), step.from(range.begin));
  }
  model_->note_update();
}

}  // namespace gpunet::optim
