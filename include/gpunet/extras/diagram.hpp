// Networks as diagrams (DOT, Mermaid, SVG): layers are boxes, arrows are labeled with the shape of
// one sample.
#pragma once

#include <string>

#include <gpunet/model/summary.hpp>

namespace gpunet {

// Returns the network in Graphviz's language: dot -Tpng net.dot -o net.png.
std::string to_dot(const Summary& summary);

// Returns the network as a flowchart of Mermaid, as GitHub shows in a block ```mermaid.
std::string to_mermaid(const Summary& summary);

// Returns the network as an SVG for a file or within a page, with colors for light and dark pages.
std::string to_svg(const Summary& summary);

// The same of a Model, or of a network without a device.
template <class ModelOrNet>
std::string to_dot(const ModelOrNet& net) {
  return to_dot(summary(net));
}
template <class ModelOrNet>
std::string to_mermaid(const ModelOrNet& net) {
  return to_mermaid(summary(net));
}
template <class ModelOrNet>
std::string to_svg(const ModelOrNet& net) {
  return to_svg(summary(net));
}

}  // namespace gpunet

#if !GPUNET_COMPILED
#include <gpunet/extras/diagram.ipp>
#endif
