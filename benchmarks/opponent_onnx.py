"""The jobs of jobs.cpp for ONNX Runtime: the networks of opponent_jobs.py, converted to ONNX."""

import operator

import numpy
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import fx, nn

from opponent_jobs import Inference, images, lenet, mlp, resnet20, spread_values

VERSION = onnxruntime.__version__


def module_as_node(module, x, y, weights):
    """The ONNX node y = module(x). `weights` stores a tensor in the file and returns its name."""
    if isinstance(module, nn.Conv2d):
        inputs = [x, weights(module.weight)] + ([] if module.bias is None else [weights(module.bias)])
        return helper.make_node("Conv", inputs, [y], strides=module.stride, pads=module.padding * 2,
                                dilations=module.dilation, group=module.groups)
    if isinstance(module, nn.BatchNorm2d):
        tensors = module.weight, module.bias, module.running_mean, module.running_var
        return helper.make_node("BatchNormalization", [x, *map(weights, tensors)], [y], epsilon=module.eps)
    if isinstance(module, nn.Linear):
        return helper.make_node("Gemm", [x, weights(module.weight), weights(module.bias)], [y], transB=1)
    if isinstance(module, nn.MaxPool2d):
        size = [module.kernel_size] * 2
        return helper.make_node("MaxPool", [x], [y], kernel_shape=size, strides=size)
    kinds = {nn.ReLU: "Relu", nn.Flatten: "Flatten", nn.AdaptiveAvgPool2d: "GlobalAveragePool"}
    return helper.make_node(kinds[type(module)], [x], [y])


def to_onnx(model, inputs, outputs):
    """A model of PyTorch as the bytes of an ONNX file. torch.onnx.export needs one more package and many seconds."""
    traced = fx.symbolic_trace(model)
    nodes, tensors, names = [], [], {}

    def weights(tensor):
        tensors.append(numpy_helper.from_array(tensor.detach().numpy(), f"weight{len(tensors)}"))
        return tensors[-1].name

    for node in traced.graph.nodes:
        read = [names[x] for x in node.all_input_nodes]
        names[node] = node.name
        if node.op == "call_module" and len(traced.get_submodule(node.target)._modules) == 0:
            module = traced.get_submodule(node.target)
            if type(module) in (nn.Identity, nn.Sequential):
                names[node] = read[0]
            else:
                nodes.append(module_as_node(module, read[0], node.name, weights))
        elif node.op == "call_function" and node.target is operator.add:
            nodes.append(helper.make_node("Add", read, [node.name]))
        elif node.op == "output":
            last = read[0]
        elif node.op != "placeholder":
            raise NotImplementedError(f"{node.op} {node.target}")
    first = next(iter(names.values()))
    graph = helper.make_graph(nodes, "network", [helper.make_tensor_value_info(first, TensorProto.FLOAT, inputs)],
                              [helper.make_tensor_value_info(last, TensorProto.FLOAT, outputs)], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


class OnnxInference(Inference):
    """The same as Inference, by ONNX Runtime with PyTorch's number of threads."""

    def __init__(self, network, inputs):
        super().__init__(network, inputs)
        self.ways = {"call": ["io_binding", "run"]}
        self.session = None

    def start(self, call="io_binding"):
        if not self.session:
            self.load()
        self.run = {"io_binding": self.run_binding, "run": self.run_session}[call]

    def load(self):
        """Makes the session. Raises AssertionError if its outputs differ from PyTorch's."""
        super().start()
        super().run(1)
        expected = self.output.clone()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        options.inter_op_num_threads = 1
        file = to_onnx(self.model, self.inputs.shape, self.output.shape)
        self.session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self.x, self.y = self.session.get_inputs()[0].name, self.session.get_outputs()[0].name
        self.binding = self.session.io_binding()
        self.binding.bind_cpu_input(self.x, self.inputs.numpy())
        self.binding.bind_output(self.y, "cpu", 0, numpy.float32, list(self.output.shape), self.output.data_ptr())
        for run in self.run_binding, self.run_session:
            self.output.zero_()
            run(1)
            torch.testing.assert_close(self.output, expected, rtol=1e-3, atol=1e-4)

    def run_binding(self, steps):
        session, binding = self.session, self.binding
        for _ in range(steps):
            session.run_with_iobinding(binding)

    def run_session(self, steps):
        session, names, inputs = self.session, [self.y], {self.x: self.inputs.numpy()}
        for _ in range(steps):
            output = session.run(names, inputs)
        self.output.copy_(torch.from_numpy(output[0]))


JOBS = {
    "lenet_infer_b1": lambda: OnnxInference(lenet, images(1)),
    "mlp_infer_b1": lambda: OnnxInference(mlp, spread_values(1, 784)),
    "resnet20_infer_b1": lambda: OnnxInference(resnet20, images(1)),
}
