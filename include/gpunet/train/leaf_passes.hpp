// A batch in leaves, for a reduction with a fixed order.
#pragma once

#include <optional>
#include <type_traits>

#include <gpunet/model/network.hpp>

namespace gpunet::train::detail {

// Returns the rows of a tensor or view for the samples of the leaf.
template <class D, class T, class Array>
auto rows_of_leaf(LeafReducer<D, T>& leaves, int number, const Array& array) {
  using Element = std::remove_cvref_t<decltype(*array.data())>;
  return leaves.rows_of_leaf(number, View<const Element, D>(array));
}

// Calls pass() for each leaf of a batch, which computes its gradients by the rows_of_leaf() and
// returns the loss. Then the gradients are the means over all leaves of all processes, and so is
// the returned loss. An error changes no gradient.
template <class D, class T, class Pass>
LossValue<D, T> run_leaves(LeafReducer<D, T>& leaves, index_t samples, Pass pass) {
  std::optional<LossValue<D, T>> loss;
  const index_t count = leaves.begin_batch(samples);
  const auto run = [&] {
    for (index_t i = 0; i < count; ++i) {
      leaves.begin_leaf();
      loss.emplace(pass());
      require(!loss->is_sum(),
              "gpunet::train: a loss with Reduction::sum and distributed::Reduction::fixed_tree "
              "(the mean over ranks of sums depends on their number), take Reduction::mean");
      leaves.end_leaf();
    }
    leaves.end_batch();
  };
  gpunet::detail::attempt(run, [&] {
    leaves.abandon_batch();
    gpunet::detail::rethrow();
  });
  return *loss;
}

}  // namespace gpunet::train::detail
