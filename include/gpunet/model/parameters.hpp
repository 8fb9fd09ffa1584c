// Some of the parameters of a network: net.parameters("features.*").requires_grad(false).
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <gpunet/core/refused.hpp>
#include <gpunet/core/text.hpp>
#include <gpunet/core/tracked_pointer.hpp>
#include <gpunet/graph/graph.hpp>

namespace gpunet {

template <class D, class T>
class Network;

// Returns whether a parameter is a bias or a weight of a normalization, which weight decay usually
// leaves out: it has fewer than two dimensions. For Network::parameters().
inline bool biases_and_norms(const ParameterInfo& parameter) {
  return parameter.sizes.rank() < 2;
}

// Some of the parameters of a network, which may be moved.
template <class D, class T>
class Parameters {
 public:
  // `indices`: of Network::named_parameters(), ascending.
  Parameters(Network<D, T>& network, std::vector<int> indices)
      : network_(network), indices_(std::move(indices)) {}

  // Sets whether the next backward pass computes their gradients, and optimizers update them.
  void requires_grad(bool on) const { network_->set_requires_grad(indices_, on); }
  // Returns whether all of them require gradients.
  bool requires_grad() const {
    for (const int i : indices_)
      if (!network_->named_parameters()[static_cast<std::size_t>(i)].requires_grad) return false;
    return true;
  }

  // Returns their number.
  index_t size() const { return std::ssize(indices_); }
  // Returns the number of their elements.
  index_t numel() const {
    index_t sum = 0;
    for (const int i : indices_)
      sum += network_->named_parameters()[static_cast<std::size_t>(i)].sizes.numel();
    return sum;
  }
  // Indices of Network::named_parameters().
  const std::vector<int>& indices() const& { return indices_; }
  std::vector<int> indices() && { return std::move(indices_); }
  Network<D, T>& network() const { return *network_; }

  // A loop over them does not compile.
  template <class Asked = Parameters>
  auto begin() const {
    static_assert(detail::never<Asked>,
                  "gpunet::Parameters: a loop over parameters (they are one array), call "
                  "net.parameters(pattern).requires_grad(false) for all of them, or loop over "
                  "net.named_parameters()");
    return this;
  }
  template <class Asked = Parameters>
  auto end() const {
    return begin<Asked>();
  }

 private:
  TrackedPointer<Network<D, T>> network_;
  std::vector<int> indices_;
};

namespace detail {

// Returns the indices of the parameters that a pattern names. Throws Error if there are none.
std::vector<int> indices_of(const Graph& graph, std::string_view pattern);
// The same for parameters for which `is_wanted` is true.
std::vector<int> indices_of(const Graph& graph,
                            bool (*is_wanted)(const void* f, const ParameterInfo&), const void* f);

}  // namespace detail

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/model/parameters.ipp>
#endif
