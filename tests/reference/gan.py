"""Prints gan.safetensors: steps of a generative adversarial network in PyTorch, with two optimizers, in double.

Usage: see regenerate.sh     (PyTorch 2.15, safetensors)

20 steps of a generator, Linear(2, 6), Tanh, Linear(6, 2), and a discriminator, Linear(2, 5), LeakyReLU(0.2), Linear(5, 1), whose parameters,
noise [4, 2] and samples [4, 2] are patterns, with BCEWithLogitsLoss and Adam(lr=0.02, betas=(0.5, 0.999)): each step updates the
discriminator, then the generator. The losses of the last step, and all parameters at the end.
"""

import torch
from torch import nn

from common import rounded, pattern, write

generator = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 2)).double()
discriminator = nn.Sequential(nn.Linear(2, 5), nn.LeakyReLU(0.2), nn.Linear(5, 1)).double()
parameters = [*generator.parameters(), *discriminator.parameters()]
for i, parameter in enumerate(parameters):
    parameter.data = pattern(parameter.shape, 5 + 2 * i, i, 17)
noise, real = pattern((4, 2), 7, 3, 23), pattern((4, 2), 5, 1, 11)
g, d = (torch.optim.Adam(net.parameters(), lr=0.02, betas=(0.5, 0.999)) for net in (generator, discriminator))
loss = nn.BCEWithLogitsLoss()
for _ in range(20):
    fake = generator(noise)
    d.zero_grad()
    of_discriminator = loss(discriminator(real), torch.ones(4, 1).double()) + loss(
        discriminator(fake.detach()), torch.zeros(4, 1).double())
    of_discriminator.backward()
    d.step()
    g.zero_grad()
    of_generator = loss(discriminator(fake), torch.ones(4, 1).double())
    of_generator.backward()
    g.step()
write({"losses": rounded([of_discriminator.item(), of_generator.item()]),
       "parameters": rounded(torch.cat([p.detach().flatten() for p in parameters]))})
