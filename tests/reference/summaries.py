"""Prints summaries.hpp: what torchinfo says of networks, number by number and as its table, and how PyTorch prints them.

Usage: see regenerate.sh     (PyTorch 2.15, torchinfo 1.8)
"""

from collections import OrderedDict

import torch
import torchinfo
from torch import nn

from common import begin, braces, end


def sequential(*layers):
    """Of layers and (name, layer); a layer without a name is called by its position."""
    pairs = [layer if isinstance(layer, tuple) else (str(i), layer) for i, layer in enumerate(layers)]
    return nn.Sequential(OrderedDict(pairs))


def lenet():
    return sequential(("conv1", nn.Conv2d(3, 6, 5)), nn.ReLU(), nn.MaxPool2d(2),
                      ("conv2", nn.Conv2d(6, 16, 5)), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                      ("fc1", nn.Linear(400, 120)), nn.ReLU(), ("fc2", nn.Linear(120, 84)), nn.ReLU(),
                      ("fc3", nn.Linear(84, 10)))


def iris():
    return sequential(("fc1", nn.Linear(4, 8)), nn.ReLU(), ("fc2", nn.Linear(8, 9)), nn.ReLU(),
                      ("out", nn.Linear(9, 3)))


def normalized():
    """Every layer that lenet() has not, and every option."""
    return sequential(nn.Conv2d(3, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8, momentum=None), nn.ReLU(),
                      nn.MaxPool2d(3, stride=2, padding=1), nn.Flatten(), nn.Linear(8 * 8 * 8, 10),
                      ("a_norm_with_a_name_that_is_long", nn.BatchNorm1d(10, eps=0.0001, momentum=0.25)), nn.Softmax(1))


def wide():
    return sequential(nn.Conv2d(64, 512, 3, padding=1), nn.BatchNorm2d(512), nn.Flatten(), nn.Linear(524288, 5000))


def nested():
    """Blocks of layers, one of them in another, and layers without a name behind them."""
    return sequential(("features", sequential(nn.Conv2d(3, 6, 5), nn.ReLU(), nn.MaxPool2d(2),
                                              ("deep", sequential(nn.Conv2d(6, 16, 5), ("act", nn.ReLU()))),
                                              nn.MaxPool2d(2))),
                      nn.Flatten(), sequential(nn.Linear(400, 84), nn.ReLU()), nn.Linear(84, 10))


def convolutions():
    """Groups, dilation, rectangles and transposed convolutions."""
    return sequential(nn.Conv2d(4, 8, 3, padding=1, groups=4), nn.Conv2d(8, 6, (3, 2), padding="same", dilation=2),
                      nn.ConvTranspose2d(6, 4, 3, stride=2, padding=1, output_padding=1, groups=2),
                      nn.ConvTranspose2d(4, 3, (2, 3), stride=(2, 1), padding=(0, 1), bias=False))


def rows():
    return sequential(nn.Conv1d(4, 6, 3, stride=2, dilation=2, groups=2),
                      nn.ConvTranspose1d(6, 4, 4, stride=2, padding=1, bias=False))


def print_summary(name, net, size, dtype=torch.float):
    result = torchinfo.summary(net.to(dtype), input_size=size, dtypes=[dtype], device=next(net.parameters()).device,
                               col_names=("output_size", "num_params", "mult_adds"), col_width=20,
                               row_settings=("depth", "var_names"), verbose=0)
    text = str(result)
    for unit in torchinfo.enums.Units:
        text = text.replace(f"({unit})", f"({unit.value})")  # Python 3.11 and later spell the name of the enumerator
    print(f"inline const SummaryReference {name}{{")
    print("    .layers = {")
    for layer in result.summary_list[1:]:
        if layer.class_name == "Sequential":
            continue
        sizes = [braces(layer.input_size), braces(layer.output_size)]
        counts = [layer.num_params, layer.macs, layer.output_bytes, layer.param_bytes]
        path, parent = layer.var_name, layer.parent_info
        while parent.parent_info:
            path, parent = f"{parent.var_name}.{path}", parent.parent_info
        names = [f'"{layer.class_name}"', f'"{path}"']
        print(f"        {braces(names + sizes + counts)},")
    print("    },")
    for total in "total_params", "trainable_params", "total_mult_adds", "total_output_bytes", "total_param_bytes":
        print(f"    .{total} = {getattr(result, total)},")
    print(f'    .table = R"({text})",')
    print(f'    .repr = R"({net})",')
    print("};\n")


if __name__ == "__main__":
    begin("cstdint", "string", "vector", "", "gpunet/core/shape.hpp")
    print(f"// What torchinfo {torchinfo.__version__} says of one layer.", end="")
    print("""
struct SummaryRowReference {
  std::string class_name, var_name;
  gpunet::Sizes input_size, output_size;
  std::int64_t num_params, mult_adds, output_bytes, param_bytes;
};
// And of a network.
struct SummaryReference {
  std::vector<SummaryRowReference> layers;
  std::int64_t total_params, trainable_params, total_mult_adds, total_output_bytes, total_param_bytes;
  std::string table;  // as torchinfo.summary prints it with columns of 20 characters
  std::string repr;   // as PyTorch prints the network
};
""")
    print_summary("lenet_of_1", lenet(), (1, 3, 32, 32))
    print_summary("lenet_of_4", lenet(), (4, 3, 32, 32))
    print_summary("lenet_of_doubles", lenet(), (256, 3, 32, 32), torch.double)
    print_summary("iris_of_120", iris(), (120, 4))
    print_summary("nested_of_8", nested(), (8, 3, 32, 32))
    print_summary("normalized_of_64", normalized(), (64, 3, 32, 32))
    print_summary("convolutions_of_5", convolutions(), (5, 4, 6, 7))
    print_summary("rows_of_3", rows(), (3, 4, 15))
    print_summary("wide_of_32", wide().to("meta"), (32, 64, 32, 32))
    print_summary("wide_of_1024", wide().to("meta"), (1024, 64, 32, 32))
    end()
