"""Makes the files of this folder: small files of every format, as PyTorch and NumPy write them.

Usage: python3 make.py [FOLDER]     (PyTorch 2.15, NumPy 2.4; the same bytes in every run)

The tests read them, and read them again with every byte changed and cut at every byte (tests/io/bad_files_test.cpp).
"""

import pathlib
import re
import sys
from collections import OrderedDict

import numpy as np
import torch
from torch import nn

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
if folder.is_file():
    folder = folder.parent
folder.mkdir(parents=True, exist_ok=True)

types = """bool uint8 int8 int16 uint16 float16 bfloat16 int32 uint32 float32 complex64 float64 int64 uint64 complex128
float8_e5m2 float8_e4m3fn float8_e8m0fnu float8_e4m3fnuz float8_e5m2fnuz""".split()


def ramp(*shape):
    """0, 1, 2, ... as float."""
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)


def linear():
    layer = nn.Linear(3, 2)
    layer.weight.data = ramp(2, 3)
    layer.bias.data = torch.tensor([0.5, -1.5])
    return layer


def views():
    """One storage seen in several ways, and shapes at the edge."""
    whole = ramp(4, 6)
    return {
        "whole": whole,
        "transposed": whole.t(),
        "rows": whole[1:3],
        "part": whole[1::2, 2:5],
        "channels_last": ramp(1, 2, 2, 3).to(memory_format=torch.channels_last),
        "expanded": torch.tensor([[7.0], [8.0]]).expand(2, 3),
        "scalar": torch.tensor(2.5),
        "empty": torch.empty(0, 3),
    }


def checkpoint():
    """What training scripts save: numbers, texts, and the state of model, optimizer and schedule."""
    model = linear()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[2, 4])
    model(ramp(1, 3)).sum().backward()
    before = OrderedDict((k, v.clone()) for k, v in model.state_dict().items())
    optimizer.step()
    schedule.step()
    return {
        "epoch": 3,
        "best": 0.75,
        "name": "caf\u00e9",
        "large": 2**40,
        "negative": -5,
        "shape": torch.Size([2, 3]),
        "device": torch.device("cuda:0"),
        "dtype": torch.float32,
        "model_state_dict": before,
        "optimizer_state_dict": optimizer.state_dict(),
        "schedule": schedule.state_dict(),
        "nested": {"a": {"b": [ramp(2), (ramp(1),)]}},
        "nothing": None,
    }


def beside():
    """A state_dict beside all that torch.load(weights_only=True) takes and gpunet has no use for, or cannot hold."""
    parameter = nn.Parameter(ramp(2))
    parameter.note = "kept with it"
    noted = ramp(3)
    noted.note = "kept with it"
    imaginary = torch.tensor([1j])
    return {
        "large": [2**63, -(2**63) - 1],
        "set": {1},
        "bytes": b"\xff",
        "bytearray": bytearray(b"\xfe"),
        "complex": 1j,
        "layout": torch.strided,
        "scheme": torch.per_tensor_affine,
        "model_state_dict": linear().state_dict(),
        "parameter": parameter,
        "noted": noted,
        "unreadable": {
            "sparse": torch.eye(2).to_sparse(),
            "quantized": torch.quantize_per_tensor(ramp(2), 1.0, 0, torch.qint8),
            "meta": torch.empty(2, device="meta"),
            "conjugated": imaginary.conj(),
            "negated": torch.tensor([2j]).conj().imag,
            "half": imaginary.to(torch.complex32),
            "ten": ramp(*[1] * 10),
        },
        "keys": {None: ramp(1), (1, 2): {"a": ramp(1)}, 1.5: ramp(1), b"\xff": ramp(1), True: ramp(1)},
    }


def save(name, value, **options):
    torch.save(value, folder / name, **options)


def typed(name):
    """16 bytes: 0 and 1 for booleans, else 0 to 15."""
    numbers = torch.arange(16, dtype=torch.uint8).remainder(2 if name == "bool" else 16)
    return numbers.view(getattr(torch, name))


save("types.pth", {name: typed(name) for name in types})
save("state_dict.pth", linear().state_dict())
save("parameters.pth", dict(linear().named_parameters()))
save("views.pth", views())
save("tensor.pt", ramp(2, 2))
save("checkpoint.pth", checkpoint())
save("module.pth", nn.ReLU())
save("beside.pth", beside())
torch.serialization.set_crc32_options(False)
save("no_sums.pth", linear().state_dict())
torch.serialization.set_crc32_options(True)

# As if the tensors had been on a GPU.
location_tag = torch.serialization.location_tag
torch.serialization.location_tag = lambda storage: "cuda:0"
save("cuda.pth", OrderedDict(weight=ramp(2, 3)))
save("legacy_cuda.pth", OrderedDict(weight=ramp(2, 3)), _use_new_zipfile_serialization=False)
torch.serialization.location_tag = location_tag

# Keys of this format are addresses, and storages come in their order. Here they are numbers in the order of use.
torch.serialization.sorted = list
save("legacy.pth", views(), _use_new_zipfile_serialization=False)
for name in ("legacy.pth", "legacy_cuda.pth"):
    data = (folder / name).read_bytes()
    for i, key in enumerate(dict.fromkeys(re.findall(rb"\d{9,}", data))):
        data = data.replace(key, b"%014d" % i)
    (folder / name).write_bytes(data)

numpy_types = "b1 i1 u1 i2 u2 f2 i4 u4 f4 c8 i8 u8 f8 c16".split()
c = np.arange(6, dtype="<f4").reshape(2, 3)
np.save(folder / "c_order.npy", c)
np.save(folder / "fortran_order.npy", np.asfortranarray(np.arange(24, dtype="<f8").reshape(2, 3, 4)))
np.save(folder / "scalar.npy", np.float32(2.5))
np.save(folder / "empty.npy", np.empty((0, 3), "<f4"))
np.save(folder / "big_endian.npy", c.astype(">f4"))
np.save(folder / "object.npy", np.array([{}, None], dtype=object), allow_pickle=True)
np.save(folder / "record.npy", np.zeros(2, [("a", "<f4"), ("b", "<i4")]))
for version in (2, 3):
    with open(folder / f"version_{version}.npy", "wb") as file:
        np.lib.format.write_array(file, c, version=(version, 0))
ramps = {t: np.arange(2 * np.dtype(t).itemsize, dtype="u1").view(t) for t in numpy_types}
np.savez(folder / "types.npz", **ramps)
arrays = {"layer.weight": c, "layer.bias": np.array([0.5, -1.5], "<f4"), "f": np.asfortranarray(c)}
np.savez(folder / "stored.npz", **arrays)
np.savez(folder / "mixed.npz", names=np.array(["a", "b"]), w=c, objects=np.array([None]), ten=c.reshape([1] * 9 + [6]))
np.savez_compressed(folder / "deflated.npz", zeros=np.zeros((40, 50), "<f4"), **arrays)
