"""exchange.py LIBRARY: exchanges tensors with PyTorch by the library of exchange.cpp. Exit status 77: there is no PyTorch."""

import ctypes
import sys

try:
    import torch
    from torch.utils import dlpack
except ImportError:
    print("no PyTorch")
    sys.exit(77)

library = ctypes.CDLL(sys.argv[1])
for name in "make_tensor", "make_view", "last_address":
    getattr(library, name).restype = ctypes.c_void_p
library.double_in_place.restype = ctypes.c_double
library.double_in_place.argtypes = [ctypes.c_void_p]
new_capsule, pointer_of = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_GetPointer
rename = ctypes.pythonapi.PyCapsule_SetName
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
USED = ctypes.c_char_p(b"used_dltensor")


def from_gpunet(managed):
    return dlpack.from_dlpack(new_capsule(managed, b"dltensor", None))


def to_gpunet(tensor):
    capsule = dlpack.to_dlpack(tensor)
    managed = pointer_of(capsule, b"dltensor")
    rename(capsule, USED)
    return managed


x = from_gpunet(library.make_tensor())
assert x.data_ptr() == library.last_address(), "to PyTorch: copied"
assert torch.equal(x, torch.arange(6.0).reshape(2, 3)), x
view = from_gpunet(library.make_view())
assert view.data_ptr() == library.last_address(), "a view to PyTorch: copied"
assert torch.equal(view, torch.arange(6).reshape(2, 3).t()) and view.stride() == (1, 3), view

for tensor in torch.arange(12.0).reshape(3, 4), torch.arange(12.0).reshape(3, 4).t()[1:, ::2]:
    wanted, address = 2 * tensor.clone(), tensor.data_ptr()
    assert library.double_in_place(to_gpunet(tensor)) == wanted.sum().item()
    assert library.last_address() == address, "from PyTorch: copied"
    assert torch.equal(tensor, wanted), tensor
assert library.double_in_place(to_gpunet(torch.arange(3))) == -1, "integers were taken as floats"
del x, view
print("exchanged 5 tensors without a copy, refused 1")
