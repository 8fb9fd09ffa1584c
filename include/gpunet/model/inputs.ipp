// Bodies of inputs.hpp.
#pragma once

#include <gpunet/core/error.hpp>
#include <gpunet/model/inputs.hpp>

namespace gpunet::detail {

GPUNET_INLINE void check_input(const Graph& graph, const Plan& plan, const Sizes& sizes) {
  const Sizes& want = graph.values[0];
  if (graph.inputs.size() > 1 &&
      (sizes.rank() != 2 || sizes.tail() != want))  // not the result of join_inputs()
    require(false, "gpunet::Model: 1 inputs (want ", graph.inputs.size(),
            "), give as many as the function of the network takes");
  // Else no text is made.
  if (sizes.rank() != want.rank() + 1 || sizes.tail() != want || sizes[0] < 1)
    require(false, "gpunet::Model: the input has shape ", to_string(sizes), " (want [batch, ",
            to_string(want).substr(1),
            " with a batch of 1 or more): check the dataset's samples and the network's Input");
  if (sizes[0] > plan.most_samples)
    require(false, "gpunet::Model: a batch of ", sizes[0], " samples (want ", plan.most_samples,
            " or fewer of this network, no memory holds more), use a smaller batch");
}

}  // namespace gpunet::detail
