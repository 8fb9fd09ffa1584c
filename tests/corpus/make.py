"""Makes the files of this folder: small files of every format, as PyTorch and NumPy write them.

Usage: python3 make.py [FOLDER]     (PyTorch 2.15, NumPy 2.4; the same bytes in every run)

The tests read them, and read them again with every byte changed and cut at every byte (tests/io/bad_files_test.cpp).
"""

import argparse
import io
import pathlib
import pickle
import re
import sys
import tarfile
import types as python_types
import zipfile
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


class Settings(OrderedDict):
    """A dict of a class that only the program knows which saved it."""


def opaque():
    """A state_dict beside objects of classes that are neither plain data nor tensors."""
    return {
        "best_acc": np.float64(0.75),
        "array": np.arange(2),
        "args": argparse.Namespace(lr=0.1),
        "optimizer": torch.optim.SGD,
        "net": nn.ReLU(),
        "history": [np.float32(1), np.float32(2)],
        "settings": Settings(scale=ramp(2), note=argparse.Namespace()),
        "sets": [{1, 2}, frozenset({3})],
        "weight": ramp(2, 3),
        "bias": torch.tensor([0.5, -1.5]),
    }


class Python2Pickler(pickle._Pickler):
    """Writes what Python 2 wrote: integers of more than 32 bits as text, texts as bytes. And opcodes of protocol 0."""

    dispatch = dict(pickle._Pickler.dispatch)

    def save_int(self, n):
        if type(n) is int and abs(n) >= 2**31:
            self.write(b"I%d\n" % n if abs(n) < 2**63 else b"L%dL\n" % n)
        else:
            super().save_long(n)

    def save_text(self, text):
        if text == "quoted":
            self.write(b"S'quo\\x74ed'\n")
        elif text.isascii():
            self.write(b"U" + bytes([len(text)]) + text.encode())
        else:
            self.write(b"V" + text.encode("raw-unicode-escape") + b"\n")
        self.memoize(text)

    def save_real(self, x):
        self.write(b"F%r\n" % x)

    dispatch[int] = save_int
    dispatch[str] = save_text
    dispatch[float] = save_real


python2 = python_types.SimpleNamespace(Pickler=Python2Pickler, dump=pickle.dump, __name__="pickle")


def rezip(name, source, method, change=lambda name, data: data):
    """The archive `source` again, packed by `method`, with other data."""
    with zipfile.ZipFile(folder / source) as old, zipfile.ZipFile(folder / name, "w", method) as new:
        for member in old.infolist():
            data = change(member.filename, old.read(member))
            new.writestr(zipfile.ZipInfo(member.filename), data, compress_type=method)


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
save("opaque.pth", opaque())
for protocol in (3, 5):
    save(f"protocol_{protocol}.pth", {**checkpoint(), "bytes": b"\xff", "set": {1}}, pickle_protocol=protocol)
rezip("deflated.pth", "state_dict.pth", zipfile.ZIP_DEFLATED)
assert torch.load(folder / "deflated.pth")["bias"].tolist() == [0.5, -1.5]

# As if a big-endian machine had saved it; torch.load leaves the bytes of untyped storages (uint16) as they are.
save("big_endian.pth", {"f": ramp(3), "half": ramp(2).half(), "c": torch.tensor([1 - 2j]), "l": torch.tensor([2**40])})
swapped = {"big_endian/data/0": 4, "big_endian/data/1": 2, "big_endian/data/2": 4, "big_endian/data/3": 8}
rezip(
    "big_endian.pth.tmp",
    "big_endian.pth",
    zipfile.ZIP_STORED,
    lambda name, data: b"big"
    if name.endswith("byteorder")
    else np.frombuffer(data, f"u{swapped[name]}").byteswap().tobytes()
    if name in swapped
    else data,
)
(folder / "big_endian.pth.tmp").rename(folder / "big_endian.pth")
assert torch.load(folder / "big_endian.pth")["c"].item() == 1 - 2j

# The files of PyTorch 1.1 and 0.1 that no later version writes, as far as their readers look before they refuse them.
with zipfile.ZipFile(folder / "script_2019.pt", "w") as archive:
    for name in ("version", "code/script.py", "tensors/0", "model.json"):
        archive.writestr(zipfile.ZipInfo(f"script/{name}"), b"{}")
tar = io.BytesIO()
with tarfile.open(fileobj=tar, mode="w", format=tarfile.PAX_FORMAT) as archive:
    archive.addfile(tarfile.TarInfo("sys_info"))
(folder / "torch_0_1.pth").write_bytes(tar.getvalue()[:512])

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
torch.serialization.get_source_lines_and_file = lambda _: (["class ReLU: ...\n"], 0, "activation.py")
save("module_legacy.pth", nn.ReLU(), _use_new_zipfile_serialization=False)
for protocol in (1, 4):
    save(
        f"protocol_{protocol}_legacy.pth",
        linear().state_dict(),
        pickle_protocol=protocol,
        _use_new_zipfile_serialization=False,
    )
save(
    "python2.pth",
    OrderedDict(large=[2**40, -(2**40), 2**70], quoted=ramp(2), café=ramp(3), loss=1.5),
    pickle_module=python2,
    _use_new_zipfile_serialization=False,
)
for name in (
    "legacy.pth",
    "legacy_cuda.pth",
    "module_legacy.pth",
    "protocol_1_legacy.pth",
    "protocol_4_legacy.pth",
    "python2.pth",
):
    data = (folder / name).read_bytes()
    for i, key in enumerate(dict.fromkeys(re.findall(rb"(?<=[\0\x0e])\d{14}", data))):
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
