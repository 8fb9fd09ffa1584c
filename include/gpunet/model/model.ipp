// How a model cuts a batch and runs its slices: bodies of model.hpp.
#pragma once

namespace gpunet {

template <class Net, class D, class T>
void Model<Net, D, T>::begin(const View<const T, D>& inputs, index_t slots) {
  this->here();
  const Sizes want = net_.input().sizes();
  const Sizes& sizes = inputs.sizes();
  if (sizes.rank() != want.rank() + 1 || sizes.tail() != want || sizes[0] < 1)  // else no text is made
    require(false, "gpunet::Model: the input has shape ", to_string(sizes), " (want [batch, ",
            to_string(want).substr(1),
            " with a batch of 1 or more): check the dataset's samples and the network's Input");
  if (sizes[0] > plan_.most_samples)
    require(false, "gpunet::Model: a batch of ", sizes[0], " samples (want ", plan_.most_samples,
            " or fewer of this network, no memory holds more), use a smaller batch");
  inputs_ = inputs.data();
  ++pass_;
  ++losses_computed_;  // those of the last batch are stale
  keeps_activations_ = slots == 0;
  mode_of_pass_ = mode_;
  slicing_ = slice_batch(device_, inputs.size(0), {plan_.parameter_elements, plan_.output_elements});
  if (plan_.couples_samples && mode_ == nn::Mode::train) slicing_ = in_one_slice(slicing_);
  const Slice slice = slicing_.slice(0);
  if (slots > 0 && slicing_.runs() == 1) slots = 1;  // worker 0 does it all
  workspace_.reserve(device_, plan_, slice, slots == 0 ? slicing_.slices() : slots, device_workers(device_),
                     scratch_elements(device_, fused_, slice, T{}));
}

template <class Net, class D, class T>
template <class Body>
void Model<Net, D, T>::for_each_run(Body body) {
  run_tasks(device_, slicing_.side_by_side, slicing_.runs(), [&](index_t run, index_t worker) {
    const index_t first = slicing_.first_slice(run), end = slicing_.first_slice(run + 1);
    for (index_t s = first; s < end; ++s)
      body(run, s, s == first, worker);
  });
  gradients_.add_partials(device_, slicing_.runs());
}

}  // namespace gpunet
