// Access to a parameter or a buffer of a model by name.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <gpunet/core/error.hpp>
#include <gpunet/graph/graph.hpp>
#include <gpunet/model/gradients.hpp>
#include <gpunet/tensor/view.hpp>

namespace gpunet {

// A view of a parameter, its gradient or a buffer of a model, which must outlive it. It knows its
// device: nn::init takes it, and functions of tensors where <gpunet/tensors.hpp> is included. T is
// const where the model is, and for gradients.
template <class T, class D>
class Parameter : public View<T, D> {
 public:
  // `gradients` are the model's; this parameter's begin at `offset`.
  Parameter(D& device, T* data, const Sizes& sizes,
            const Gradients<std::remove_const_t<T>, D>* gradients = nullptr, index_t offset = 0,
            const std::string* name = nullptr)
      : View<T, D>(data, sizes, &device), gradients_(gradients), offset_(offset), name_(name) {}

  // Returns the gradient that backward passes have added up since zero_grad(), of a frozen
  // parameter zeros. Throws Error if there was none.
  Parameter<const T, D> grad() const {
    require(gradients_ != nullptr,
            "gpunet::Parameter::grad: this is a gradient or a buffer, ask a parameter");
    require(!gradients_->zeroed(), "gpunet::Parameter::grad: ", *name_,
            " has no gradient (no backward pass since zero_grad), call loss.backward() first");
    return {this->device(), gradients_->data() + offset_, this->sizes()};
  }

 private:
  const Gradients<std::remove_const_t<T>, D>* gradients_;
  index_t offset_;
  const std::string* name_;
};

namespace detail {

// Returns the element of `infos` with this name. Throws Error if there is none.
template <class Info>
const Info& find_info(const std::vector<Info>& infos, std::string_view name,
                      std::string_view function, std::string_view kind) {
  std::string names;
  for (const Info& info : infos) {
    if (info.name == name) return info;
    names += " " + info.name;
  }
  throw_error(Error(concat("gpunet::", function, ": the network has no ", kind, " ", name,
                           ", it has", names.empty() ? " none" : names)));
}

}  // namespace detail

// Returns the parameter with this name in the state dict: get_parameter(net, "fc1.weight"). Throws
// Error if there is none.
template <class Model>
auto get_parameter(Model& model, std::string_view name) {
  const auto& info =
      detail::find_info(model.named_parameters(), name, "get_parameter", "parameter");
  const auto all = model.parameters();
  using T = std::remove_pointer_t<decltype(all.data())>;
  return Parameter<T, typename Model::device_type>(model.device(), all.data() + info.offset,
                                                   info.sizes, &model.gradients(), info.offset,
                                                   &info.name);
}

// Returns the buffer with this name in the state dict: get_buffer(net, "bn1.running_mean"). Throws
// Error if there is none, or if it counts.
template <class Model>
auto get_buffer(Model& model, std::string_view name) {
  const auto& info = detail::find_info(model.named_buffers(), name, "get_buffer", "buffer");
  require(info.kind == BufferKind::numbers, "gpunet::get_buffer: ", name,
          " counts in whole numbers (a view of the network's type would show other ones), call "
          "get_count(net, \"",
          name, "\")");
  const auto all = model.buffers();
  using T = std::remove_pointer_t<decltype(all.data())>;
  return Parameter<T, typename Model::device_type>(model.device(), all.data() + info.offset,
                                                   info.sizes);
}

namespace detail {

// Returns the address of a buffer that counts, on the device.
template <class Model>
auto* count_named(Model& model, std::string_view name, std::string_view function) {
  const auto& info = find_info(model.named_buffers(), name, function, "buffer");
  require(info.kind == BufferKind::count, "gpunet::", function, ": ", name,
          " has numbers of the network's type, call get_buffer(net, \"", name, "\")");
  return model.buffers().data() + info.offset;
}

}  // namespace detail

// Returns the value of a buffer that counts: get_count(net, "bn1.num_batches_tracked"). Waits for
// the device. Throws Error if there is none of this name, or if it has numbers of the network's
// type.
template <class Model>
index_t get_count(Model& model, std::string_view name) {
  index_t count = 0;
  model.device().download(&count, detail::count_named(model, name, "get_count"), sizeof count);
  return count;
}
// Sets the value of a buffer that counts. Throws Error as get_count(), or if it is below 0.
template <class Model>
void set_count(Model& model, std::string_view name, index_t count) {
  require(count >= 0, "gpunet::set_count: ", count, " for ", name, " (want 0 or more)");
  model.device().upload(detail::count_named(model, name, "set_count"), &count, sizeof count);
}

}  // namespace gpunet
