// ONNX models, and the graphs that are made of them.
#include <gpunet/onnx.hpp>

#include "fuzz.hpp"
#include "onnx/onnx_file.hpp"

namespace {

const fuzz::Register onnx(
    {"onnx",
     [](fuzz::Bytes bytes) {
       using namespace gpunet;
       const onnx::Model model = onnx::read(fuzz::file_of(bytes));
       const auto built = build_network(model, nn::detail::Backend::host_float);
       for (std::size_t i = 0; i < built.parameters.size(); ++i) {
         const io::TensorEntry& entry = built.parameters[i];
         fuzz::ensure(entry.sizes.numel() == built.graph.parameters[i].sizes.numel(),
                      "a parameter of another size than its tensor");
         std::vector<float> numbers(static_cast<std::size_t>(entry.sizes.numel()));
         io::copy_as(entry, std::span(numbers));
       }
     },
     [] {
       using namespace onnx_file;
       OnnxFile shapes;  // of nodes that are computed while they are read
       shapes.input("x", {-1, 4, 2}).output("y").tensor(integers("n", {2}));
       shapes.tensor(integers("from", {1})).tensor(integers("to", {3}));
       shapes.node("Shape", {"x"}, {"s"})
           .node("ConstantOfShape", {"n"}, {"o"}, {with_tensor("value", integers("", {1}))})
           .node("Slice", {"s", "from", "to"}, {"l"})
           .node("Mul", {"l", "o"}, {"m"})
           .node("Range", {"from", "to", "n"}, {"r"})
           .node("Squeeze", {"x"}, {"q"})
           .node("BatchNormalization", {"x", "w", "w", "w", "w"}, {"b"})
           .node("Softmax", {"b"}, {"z"}, {with("axis", index_t{1})})
           .node("Transpose", {"z"}, {"y"}, {with("perm", std::vector<index_t>{0, 2, 1})});
       shapes.tensor(floats("w", {4}, {1, 2, 3, 4}));
       return std::vector<std::string>{small_model().bytes(), shapes.bytes()};
     }});

}  // namespace
