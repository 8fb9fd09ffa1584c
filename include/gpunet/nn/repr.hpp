// Layers and networks in words, as PyTorch prints them.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gpunet/nn/module_tree.hpp>
#include <gpunet/nn/sequential.hpp>

namespace gpunet::nn {

namespace detail {

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

// The same, or what the layer says where its type does not.
template <class L>
std::string class_name(const L& layer) {
  if constexpr (requires { layer.class_name(); })
    return layer.class_name();
  else
    return class_name<L>();
}

// The network as print(net) shows it in PyTorch: its layers with their names or positions, sizes and options.
template <index_t... Ns, class... Layers>
std::string to_string(const Sequential<Input<Ns...>, Layers...>& net) {
  std::vector<std::string> paths, texts;
  net.each([&](auto i, const auto& layer, auto in) {
    paths.push_back(net.template layer_name<i>());
    texts.push_back(concat(class_name(layer), "(", extra_repr(layer, in), ")"));
  });
  std::string out = "Sequential(\n";
  std::size_t depth = 0;  // blocks that are open
  const auto close_to = [&](std::size_t wanted) {
    for (; depth > wanted; --depth)
      out += std::string(2 * depth, ' ') + ")\n";
  };
  for (const detail::Module& entry : detail::modules_of(paths)) {
    close_to(entry.depth);
    out += concat(std::string(2 * entry.depth + 2, ' '), "(", entry.name,
                  "): ", entry.is_block ? "Sequential(" : texts[entry.first], "\n");
    depth += entry.is_block;
  }
  close_to(0);
  return out + ")";
}

template <index_t... Ns, class... Layers>
std::ostream& operator<<(std::ostream& out, const Sequential<Input<Ns...>, Layers...>& net) {
  return out << to_string(net);
}

}  // namespace gpunet::nn
