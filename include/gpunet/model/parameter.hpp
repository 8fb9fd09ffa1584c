// Access to a parameter of a model by name.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet {

// A view of a parameter that knows its device, for nn::init.
template <class T, class D>
class Parameter : public View<T, D> {
 public:
  Parameter(D& device, T* data, const Sizes& sizes) : View<T, D>(data, sizes), device_(&device) {}

  D& device() const { return *device_; }

  // Returns the elements in row-major order; waits for the device.
  std::vector<std::remove_const_t<T>> to_vector() const { return gpunet::to_vector(*device_, *this); }

 private:
  D* device_;
};

// Returns the parameter with this name in the state dict: get_parameter(net, "fc1.weight"). Throws Error if there is none.
template <class Model>
auto get_parameter(Model& model, std::string_view name) {
  std::string names;
  for (const auto& info : model.named_parameters()) {
    if (info.name == name)
      return Parameter<std::remove_pointer_t<decltype(model.parameters().data())>, typename Model::device_type>(
          model.device(), model.parameters().data() + info.offset, info.sizes);
    names += " " + info.name;
  }
  throw Error(concat("gpunet::get_parameter: the network has no parameter ", name, ", it has", names));
}

}  // namespace gpunet
