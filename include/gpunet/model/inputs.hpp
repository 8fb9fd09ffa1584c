// The inputs of a network.
#pragma once

#include <initializer_list>

#include <gpunet/graph/plan.hpp>
#include <gpunet/ops/copy_rows.hpp>
#include <gpunet/tensor/tensor.hpp>

namespace gpunet::detail {

// Throws Error unless a batch of these sizes, [batch, ...], is one of a network.
void check_input(const Graph& graph, const Plan& plan, const Sizes& sizes);

// Returns a batch of each input as one array [batch, all features]; one input as it is. The last
// array may be several inputs, one after another in each row. `joined` has the array until the next
// call.
// Throws Error for other shapes than the network's inputs have.
template <class D, class T>
View<const T, D> join_inputs(D& device, const Graph& graph, const Plan& plan,
                             std::initializer_list<ViewArgument<T, D>> inputs,
                             Buffer<T, D>& joined) {
  const std::size_t wanted = graph.inputs.empty() ? 1 : graph.inputs.size();
  std::size_t count = wanted;
  // Of the last array, which may be several inputs.
  Sizes last = wanted > 1 ? graph.inputs.back() : Sizes();
  if (1 < inputs.size() && inputs.size() < wanted) {
    index_t rest = 0;
    for (std::size_t i = inputs.size() - 1; i < wanted; ++i)
      rest += graph.inputs[i].numel();
    if (const Sizes& sizes = inputs.end()[-1].sizes(); sizes.rank() == 2 && sizes[1] == rest) {
      count = inputs.size();
      last = {rest};
    }
  }
  require(inputs.size() == count, "gpunet::Model: ", inputs.size(), " inputs (want ", count,
          "), give as many as the function of the network takes");
  if (count == 1) return *inputs.begin();
  const auto want = [&](std::size_t i) -> const Sizes& {
    return i + 1 < count ? graph.inputs[i] : last;
  };
  const index_t batch = inputs.begin()->sizes().rank() > 0 ? inputs.begin()->size(0) : 0;
  for (std::size_t i = 0; i < count; ++i)
    if (const Sizes& sizes = inputs.begin()[i].sizes(); sizes != want(i).with_front(batch))
      require(false, "gpunet::Model: input ", i, " has shape ", to_string(sizes), " (want ",
              to_string(want(i).with_front(batch)), i == 0 ? ")" : ", the batch of input 0)");
  if (batch < 1 || batch > plan.most_samples)
    return View<const T, D>(nullptr, Sizes{batch, plan.input_features});
  if (joined.size() < batch * plan.input_features)
    joined.reset(device, batch * plan.input_features);
  T* to = joined.data();
  for (std::size_t i = 0; i < count; ++i) {
    const index_t features = want(i).numel();
    copy_rows(device, batch,
              CopyRows<T>{features, features, plan.input_features, inputs.begin()[i].data(), to});
    to += features;
  }
  return View<const T, D>(joined.data(), Sizes{batch, plan.input_features});
}

}  // namespace gpunet::detail

#if !GPUNET_COMPILED
#include <gpunet/model/inputs.ipp>
#endif
