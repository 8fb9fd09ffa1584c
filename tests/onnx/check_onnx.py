"""check_onnx.py PROGRAM: ONNX files of gpunet in ONNX Runtime, and files of PyTorch in gpunet.

PROGRAM is gpunet_onnx_exchange. Exits with 77 where this Python lacks onnx or onnxruntime; the
files of PyTorch are left out without torch and onnxscript, ResNet-18 and MobileNetV2 without
torchvision.
"""

import pathlib
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import onnx
    import onnxruntime
except ImportError:
    print("skipped: this Python has no onnx or onnxruntime")
    sys.exit(77)

onnxruntime.set_default_logger_severity(3)
warnings.filterwarnings("ignore")
program = sys.argv[1]
worst = {}


def floats(path):
    return np.fromfile(path, np.float32)


def near(what, found, wanted, bound=1e-5):
    found = np.asarray(found, np.float32).reshape(-1)
    wanted = np.asarray(wanted, np.float32).reshape(-1)
    if found.shape != wanted.shape:
        sys.exit(f"{what}: {found.size} numbers, want {wanted.size}")
    error = float(np.abs(found - wanted).max() / max(1e-30, np.abs(wanted).max()))
    worst[what] = max(error, worst.get(what, 0))
    if not error <= bound:
        sys.exit(f"{what}: relative error {error:.2e}, want at most {bound}")


def in_runtime(path, x):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    feed = session.get_inputs()[0]
    shape = [size if isinstance(size, int) else -1 for size in feed.shape]
    x = np.asarray(x, np.float32).reshape(-1, *shape[1:])
    if shape[0] > 0:  # a file for one batch size
        parts = [x[i:i + shape[0]] for i in range(0, len(x), shape[0])]
        return np.concatenate([session.run(None, {feed.name: part})[0] for part in parts])
    return session.run(None, {feed.name: x})[0]


def written_files(folder):
    subprocess.run([program, "write", folder], check=True)
    files = sorted(folder.glob("*.onnx"), key=lambda path: int(path.stem))
    for path in files:
        onnx.checker.check_model(onnx.load(path), full_check=True)
        near(f"{path.name} in ONNX Runtime", in_runtime(path, floats(path.with_suffix(".in"))),
             floats(path.with_suffix(".out")))
    print(f"{len(files)} networks of gpunet in ONNX Runtime: largest relative error "
          f"{max(worst.values()):.1e}")


def modules(torch):
    nn, F = torch.nn, torch.nn.functional

    class LeNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(3, 6, 5), nn.Conv2d(6, 16, 5)
            self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

        def forward(self, x):
            x = F.max_pool2d(F.relu(self.conv1(x)), 2)
            x = torch.flatten(F.max_pool2d(F.relu(self.conv2(x)), 2), 1)
            return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))

    class Rows(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Conv1d(4, 8, 5, stride=2, padding=2)
            self.b = nn.ConvTranspose1d(8, 6, 3, stride=2, padding=1, output_padding=1)
            self.norm, self.mean, self.max = nn.BatchNorm1d(6), nn.AvgPool1d(2), nn.MaxPool1d(3, 2, 1)
            self.fc = nn.Linear(54, 5)

        def forward(self, x):
            x = F.leaky_relu(self.norm(self.b(F.hardswish(self.a(x)))), 0.1)
            return self.fc(self.max(self.mean(x)).flatten(1))

    class Norms(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(3, 8, (3, 5), stride=(2, 1), padding=(1, 2))
            self.group, self.instance = nn.GroupNorm(4, 8), nn.InstanceNorm2d(8, affine=True)
            self.depthwise = nn.Conv2d(8, 8, 3, groups=8, padding=2, dilation=2)
            self.up, self.slope = nn.ConvTranspose2d(8, 4, 2, 2), nn.PReLU(4)
            self.layer, self.fc = nn.LayerNorm(16), nn.Linear(16, 3)
            self.gamma = nn.Parameter(torch.rand(4, 1, 1))
            self.register_buffer("mean", torch.tensor([0.4, 0.5, 0.6]).view(3, 1, 1))

        def forward(self, x):
            x = self.instance(self.group(self.conv((x - self.mean) / 0.25)))
            x = self.slope(self.up(self.depthwise(x))) * self.gamma
            y = F.adaptive_avg_pool2d(x, (4, 4))
            z = self.fc(F.softplus(self.layer(y.reshape(y.shape[0], 4, -1))))
            return torch.cat([z, z.clamp(-1, 1)], -1).mean(1)

    class Recurrent(nn.Module):
        def __init__(self, rnn, last=False):
            super().__init__()
            self.rnn, self.last = rnn, last
            self.fc = nn.Linear(rnn.hidden_size * (2 if rnn.bidirectional else 1), 3)

        def forward(self, x):
            y, state = self.rnn(x)
            if not self.last:
                return self.fc(y)
            h = state[0] if isinstance(state, tuple) else state
            return self.fc(h[-1]) + self.fc(y[:, -1])

    mlp = nn.Sequential(nn.Linear(17, 64), nn.Tanh(), nn.Linear(64, 64), nn.ELU(),
                        nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 32), nn.SiLU(),
                        nn.Linear(32, 6), nn.Softmax(-1))
    result = {"LeNet": (LeNet(), (3, 32, 32)), "MLP": (mlp, (17,)), "Rows": (Rows(), (4, 33)),
              "Norms": (Norms(), (3, 16, 16)),
              "LSTM": (Recurrent(nn.LSTM(5, 6, num_layers=2, bidirectional=True, batch_first=True)),
                       (7, 5)),
              "LSTM, last step": (Recurrent(nn.LSTM(5, 6, num_layers=3, batch_first=True), True),
                                  (9, 5)),
              "GRU": (Recurrent(nn.GRU(5, 6, bidirectional=True, batch_first=True)), (7, 5)),
              "GRU, last step": (Recurrent(nn.GRU(5, 6, bias=False, batch_first=True), True),
                                 (4, 5)),
              "RNN": (Recurrent(nn.RNN(5, 6, num_layers=2, nonlinearity="relu",
                                       batch_first=True)), (7, 5))}
    try:
        import torchvision
        result["ResNet-18"] = torchvision.models.resnet18(num_classes=10), (3, 64, 64)
        result["MobileNetV2"] = torchvision.models.mobilenet_v2(num_classes=10), (3, 64, 64)
    except ImportError:
        print("left out: this Python has no torchvision")
    return result


def exports(torch, module, shape, folder):
    """Yields files of both exporters, with any batch and with one."""
    batch = torch.export.Dim("batch")
    if not any(isinstance(m, torch.nn.RNN) for m in module.modules()):  # which it unrolls
        path = folder / "default.onnx"
        torch.onnx.export(module, (torch.randn(2, *shape),), str(path), dynamo=True,
                          dynamic_shapes=({0: batch},), verbose=False)
        yield path
    for opset in (11, 17):
        path = folder / f"script_{opset}.onnx"
        torch.onnx.export(module, (torch.randn(2, *shape),), str(path), dynamo=False,
                          opset_version=opset, input_names=["x"], dynamic_axes={"x": {0: "batch"}})
        yield path
        path = folder / f"one_{opset}.onnx"
        torch.onnx.export(module, (torch.randn(1, *shape),), str(path), dynamo=False,
                          opset_version=opset)
        yield path


def files_of_pytorch(folder):
    try:
        import onnxscript  # noqa: F401, which the exporter needs
        import torch
    except ImportError:
        print("left out: this Python has no torch or onnxscript")
        return
    torch.manual_seed(0)
    steps = 20
    for name, (module, shape) in modules(torch).items():
        optimizer = torch.optim.SGD(module.parameters(), 0.01)
        for _ in range(3):  # statistics that are not 0 and 1
            optimizer.zero_grad()
            (module(torch.randn(8, *shape))**2).mean().backward()
            optimizer.step()
        module.eval()
        x = torch.randn(16, *shape)
        x.numpy().tofile(folder / "x")
        state = {key: value.clone() for key, value in module.state_dict().items()}
        for path in exports(torch, module, shape, folder):
            for count in (1, 3, 16):
                subprocess.run([program, "run", path, folder / "x", str(count), folder / "y"],
                               check=True)
                near(f"{name} beside ONNX Runtime", floats(folder / "y"),
                     in_runtime(path, x[:count].numpy()), 3e-5)
                near(f"{name} beside PyTorch", floats(folder / "y"),
                     module(x[:count]).detach().numpy(), 3e-5)
            out = subprocess.run([program, "train", path, folder / "x", "8", folder / "y",
                                  str(steps), folder / "trained.onnx"], check=True,
                                 capture_output=True, text=True).stdout
            losses = [float(line) for line in out.split()]
            onnx.checker.check_model(onnx.load(folder / "trained.onnx"), full_check=True)
            trained = floats(folder / "y")
            near(f"{name} trained, in ONNX Runtime",
                 in_runtime(folder / "trained.onnx", x[:8].numpy()), trained, 1e-4)
            subprocess.run([program, "run", folder / "trained.onnx", folder / "x", "8",
                            folder / "z"], check=True)
            if not np.array_equal(floats(folder / "z"), trained):
                sys.exit(f"{name}: read again, the outputs have other bits")
            if any(isinstance(m, (torch.nn.modules.batchnorm._BatchNorm, torch.nn.Dropout))
                   for m in module.modules()):
                continue  # which an export in evaluation mode trains in another way
            module.load_state_dict(state)
            optimizer = torch.optim.SGD(module.parameters(), 0.01)
            wanted = []
            for _ in range(steps):
                optimizer.zero_grad()
                loss = (module(x[:8])**2).mean()
                loss.backward()
                optimizer.step()
                wanted.append(loss.item())
            module.load_state_dict(state)
            if name == "Norms":  # its mean, a buffer, is an initializer and so a parameter
                near(f"{name}, first loss", losses[:1], wanted[:1])
                continue
            for pair in zip(losses, wanted):
                near(f"{name}, {steps} losses", *pair)
    for what, error in worst.items():
        if ".onnx" not in what:
            print(f"{what}: largest relative error {error:.1e}")


with tempfile.TemporaryDirectory() as name:
    written_files(pathlib.Path(name))
    files_of_pytorch(pathlib.Path(name))
