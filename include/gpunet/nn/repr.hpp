// Layers and networks in words, as PyTorch prints them.
#pragma once

#include <ostream>
#include <string>
#include <string_view>

#include <gpunet/nn/sequential.hpp>

namespace gpunet::nn {

namespace detail {

// The layer without the name that Named gave it.
template <class L>
struct Unnamed {
  using type = L;
};
template <class L>
requires requires {
  typename L::unnamed;
}
struct Unnamed<L> : Unnamed<typename L::unnamed> {};

// A text that ends with the type, as "... [with Layer = gpunet::nn::Conv2d<6, 5>]".
template <class Layer>
const char* signature() {
  return __PRETTY_FUNCTION__;
}

// The name in it, without namespaces and template arguments: "Conv2d".
inline std::string class_of(std::string_view signature) {
  std::size_t end = signature.rfind(']');
  if (end != 0 && signature[end - 1] == '>')
    for (int open = 0; end > 0;) {
      --end;
      open += (signature[end] == '>') - (signature[end] == '<');
      if (open == 0) break;
    }
  const auto is_part = [](char c) {
    return ('0' <= c && c <= '9') || ('A' <= c && c <= 'Z') || ('a' <= c && c <= 'z') || c == '_' || (c & 0x80);
  };
  std::size_t begin = end;
  while (begin > 0 && is_part(signature[begin - 1]))
    --begin;
  return std::string(signature.substr(begin, end - begin));
}

}  // namespace detail

// The name of the layer's type: "Conv2d", also of a Named<"conv1", Conv2d<6, 5>>.
template <class L>
std::string class_name() {
  return detail::class_of(detail::signature<typename detail::Unnamed<L>::type>());
}

// The network as print(net) shows it in PyTorch: its layers with their names or positions, sizes and options.
template <class In, class... Layers>
std::string to_string(const Sequential<In, Layers...>& net) {
  std::string out = "Sequential(\n";
  net.each([&](auto i, const auto& layer, auto in) {
    using L = std::remove_cvref_t<decltype(layer)>;
    out += concat("  (", net.template layer_name<i>(), "): ", class_name<L>(), "(", extra_repr(layer, in), ")\n");
  });
  return out + ")";
}

template <class In, class... Layers>
std::ostream& operator<<(std::ostream& out, const Sequential<In, Layers...>& net) {
  return out << to_string(net);
}

}  // namespace gpunet::nn
