"""Prints grad_scaler.hpp: scales and parameters of trainings with PyTorch's GradScaler, some of whose gradients overflow.

Usage: see regenerate.sh     (PyTorch 2.15)
"""

import torch

from common import begin, end, rounded

inf, nan = float("inf"), float("nan")
begin("cmath", "vector")
print("""// Trainings of weights [2] by Adam with lr 0.1, with the loss x w of inputs x [2]: the scale and the weights after each step.
struct GradScalerRun {
  double init_scale, growth_factor, backoff_factor;
  int growth_interval;
  std::vector<std::vector<float>> inputs;
  std::vector<double> scales;
  std::vector<std::vector<double>> weights;
};
""")


def text(x):
    if x != x:
        return "NAN"
    return ("-" if x < 0 else "") + "INFINITY" if abs(x) == inf else repr(x)


def run(init_scale, growth_factor, backoff_factor, growth_interval, inputs):
    w = torch.tensor([0.5, -0.25], requires_grad=True)
    optimizer = torch.optim.Adam([w], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=init_scale, growth_factor=growth_factor,
                                  backoff_factor=backoff_factor, growth_interval=growth_interval)
    scales, weights = [], []
    for x in inputs:
        optimizer.zero_grad()
        scaler.scale((torch.tensor(x) * w).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        weights.append(w.detach().clone())
    rows = ", ".join("{" + ", ".join(text(v) for v in x) + "}" for x in inputs)
    print(f"{{{init_scale}, {growth_factor}, {backoff_factor}, {growth_interval}, {{{rows}}}, "
          f"{{{', '.join(map(repr, scales))}}}, {{{', '.join(rounded(w) for w in weights)}}}}},")


fine = [[1.0, -2.0], [0.5, 1.0], [-1.0, 0.25]]
print("inline const GradScalerRun grad_scaler_runs[] = {")
run(1024.0, 2.0, 0.5, 3,
    fine[:2] + [[inf, 1.0]] + fine + fine[:1] + [[1.0, nan]] + [[-inf, inf]] + fine * 2 + [[1.0, inf]] + fine[:1])
run(65536.0, 1.5, 0.3, 2, [[inf, 0.0]] + fine * 2 + [[nan, nan]] + fine)  # scales that are rounded to floats
run(2.0**126, 4.0, 0.5, 1, fine)  # grows no more where it would become infinite
print("};\n")
end()
