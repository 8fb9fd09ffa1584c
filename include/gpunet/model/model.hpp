// A network type on a device.
#pragma once

#include <type_traits>

#include <gpunet/model/network.hpp>
#include <gpunet/nn/sequential.hpp>

namespace gpunet {

#define GPUNET_MODEL_ARGUMENTS                                                             \
  "gpunet::Model: the arguments are a device, which comes first, and layers, write Model " \
  "net(host, Net{}) or "                                                                   \
  "Model<Net, Host> net(host)"

// The network Net on device D with parameters, gradients and workspace, computing in T (float or
// double): a Network with the type of its layers, which checks shapes at compile time.
template <class Net, class D = detail::WrongArguments, class T = float>
class Model : public Network<D, T> {
  static_assert(Device<D>,
                "gpunet::Model: the second argument is not a device, use Host, or Cuda in a "
                "program that links gpunet::cuda or that nvcc compiles");
  static_assert(std::is_floating_point_v<T>,
                "gpunet::Model: the element type has to be float or double");
  static_assert(!nn::detail::is_block<Net>,
                "gpunet::Model: the first argument of its Sequential is no Input, begin with the "
                "shape of one sample: Input<3, 32, 32>");
  static_assert(nn::detail::can_run<Net, D, T>(),
                "gpunet::Model: a layer lacks forward(device, pass) or backward(device, pass) for "
                "this device and element type, write both (docs/adding_a_layer.md)");

 public:
  // The shape of one output sample.
  using OutputShape = decltype(std::declval<const Net&>().output());

  // Draws parameters, bitwise identical to torch.nn on every device.
  explicit Model(D& device, const Net& net = Net(),
                 const NetworkOptions& options = {default_generator()})
      : Network<D, T>(device, nn::lower<D, T>(net), Drawn::yes, options), net_(net) {}
  Model(D& device, const NetworkOptions& options) : Model(device, Net(), options) {}
  // Other arguments do not compile.
  template <class Given>
  requires(!std::is_base_of_v<Network<D, T>, std::remove_cvref_t<Given>>) explicit Model(Given&&)
      : Model(std::declval<D&>()) {
    static_assert(gpunet::detail::never<Given>, GPUNET_MODEL_ARGUMENTS);
  }
  Model(const Model&) GPUNET_DELETED("gpunet::Model: copy it by Model<Net, Host> copy(host, net)");
  Model(Model&&) noexcept = default;
  // Destroys and constructs: layers may not be assignable.
  Model& operator=(Model&& other) noexcept {
    if (this == &other) return *this;
    std::destroy_at(this);
    return *std::construct_at(this, std::move(other));
  }

  // Returns a model of the same network with the same parameters, buffers and mode on another
  // device.
  template <Device Target>
  Model<Net, Target, T> to(Target& target) const {
    return Model<Net, Target, T>(target, *this);
  }
  // Copies a model from another device.
  template <Device From>
  Model(D& device, const Model<Net, From, T>& other)
      : Network<D, T>(device, nn::lower<D, T>(other.network()), Drawn::no), net_(other.network()) {
    this->copy_state(other);
    this->copy_requires_grad(other.named_parameters());
  }

  // As in Network, with the shape of the output in the type.
  template <class Inputs>
  ShapedOutput<OutputShape, D, T> operator()(Inputs&& inputs) {
    return ShapedOutput<OutputShape, D, T>(Network<D, T>::operator()(std::forward<Inputs>(inputs)));
  }
  template <class Inputs>
  ShapedOutput<OutputShape, D, T> forward(Inputs&& inputs) {
    return (*this)(std::forward<Inputs>(inputs));
  }
  template <class Loss>
  LossValue<D, T> forward_backward(const ViewArgument<T, D>& inputs, const Loss& loss,
                                   const ViewArgument<nn::TargetOf<Loss, D, T>, D>& targets,
                                   double loss_gradient = 1) {
    nn::detail::check_loss_shape<Loss>(OutputShape{});
    return Network<D, T>::forward_backward(inputs, loss, targets, loss_gradient);
  }

  // Returns the layers.
  const Net& network() const { return net_; }

 private:
  [[no_unique_address]] Net net_;
};

// Gives the compiler one clear error for a type without a device, and where no type follows from
// the arguments.
template <class Net, detail::Wrong D, class T>
class Model<Net, D, T> : public detail::AnyArguments {
  static_assert(detail::never<Net>, GPUNET_MODEL_ARGUMENTS);

 public:
  using AnyArguments::AnyArguments;
};
Model(...)->Model<void, detail::WrongArguments>;
#undef GPUNET_MODEL_ARGUMENTS

}  // namespace gpunet
