"""Prints orders.safetensors: in which order PyTorch and scikit-learn take samples, as hashes of the indices.

Usage: see regenerate.sh     (PyTorch 2.15, scikit-learn 1.9, NumPy 2.4, safetensors)

The hash of an order is h = size, then h = h * 31 + index for each; its 64 bits are those of an int64. A row has, of
loader_orders        n, the size of a batch, drop_last, the hashes of three epochs of a shuffled DataLoader after manual_seed(n), the
                     batches of an epoch one after another with their sizes in between, and what random_() draws next
generator_orders     the same of a DataLoader with a generator of its own, seeded with n, and what that draws next
sampler_orders       n, replacement, num_samples, two epochs of a DataLoader with a RandomSampler after manual_seed(n), what random_()
                     draws next, and the order that a sampler makes with a generator of its own, seeded with n, and what that draws next
long_orders          replacement, and the first 20 samples of a DataLoader in batches of 4, of 10 samples, with a RandomSampler of 2^40
                     samples after manual_seed(3)
distributed_orders   n, num_replicas, rank, shuffle, drop_last, the seed, and the samples of the rank in epochs 0, 1 and 5 of a
                     DistributedSampler
train_test_splits    n, random_state, classes, and the two parts of train_test_split of n samples, stratified by the labels
                     i * i % classes, if there are
train_test_sizes     test_size and train_size of that; 0 for sizes that are not given
Besides, there are
splits.I.lengths, splits.I.parts   random_split of n samples after manual_seed(n): n, and a hash of each part
folds.I              KFold of n samples; if there are classes, StratifiedKFold of the labels (i * i + 3 * (i / 7)) % classes: n,
                     n_splits, shuffle, random_state, classes, hashes of the training sets of all folds, and of the test sets
"""

import torch
from sklearn.model_selection import KFold, StratifiedKFold, train_test_split
from torch.utils.data import DataLoader, DistributedSampler, RandomSampler, TensorDataset, random_split

from common import signed, write


def hash_of(indices):
    """The function of the same name in the tests."""
    value = len(indices)
    for i in indices:
        value = (value * 31 + int(i)) % 2**64
    return signed(value)


def following(generator=None):
    return torch.empty((), dtype=torch.int64).random_(generator=generator).item()


def loader_order(n, batch_size, drop_last, generator=None):
    """A row of loader_orders; the numbers come from the generator."""
    loader = DataLoader(dataset(n), batch_size=batch_size, shuffle=True, drop_last=drop_last, generator=generator)
    epochs = []
    for _ in range(3):
        indices = []
        for (batch,) in loader:
            indices += [*batch.tolist(), len(batch)]
        epochs.append(hash_of(indices))
    return [n, batch_size, int(drop_last), *epochs, following(generator)]


def dataset(n):
    return TensorDataset(torch.arange(n))


results = {"loader_orders": [], "generator_orders": []}
for n, batch_size in ((1, 1), (10, 3), (10, 10), (103, 16), (1000, 7)):
    for drop_last in (False, True):
        torch.manual_seed(n)
        results["loader_orders"].append(loader_order(n, batch_size, drop_last))
        results["generator_orders"].append(loader_order(n, batch_size, drop_last, torch.Generator().manual_seed(n)))

results["sampler_orders"] = []
for n, replacement, num_samples in ((10, False, 10), (10, False, 4), (10, False, 25), (10, True, 10), (10, True, 31),
                                    (10, True, 32), (10, True, 100), (1000, True, 65), (2**28 - 1, True, 40),
                                    (2**28, True, 40), (2**33, True, 40)):
    class Numbers(torch.utils.data.Dataset):
        def __len__(self):
            return n

        def __getitem__(self, i):
            return i

    torch.manual_seed(n)
    loader = DataLoader(Numbers(), sampler=RandomSampler(Numbers(), replacement, num_samples))
    epochs = [hash_of([batch.item() for batch in loader]) for _ in range(2)]
    after = following()
    generator = torch.Generator()
    generator.manual_seed(n)
    own = hash_of(list(RandomSampler(Numbers(), replacement, num_samples, generator)))
    own_after = following(generator)
    results["sampler_orders"].append([n, int(replacement), num_samples, *epochs, after, own, own_after])

results["long_orders"] = []
for replacement in (False, True):
    torch.manual_seed(3)
    batches = iter(DataLoader(torch.arange(10), 4, sampler=RandomSampler(range(10), replacement, 2**40)))
    results["long_orders"].append([int(replacement), *(i for _ in range(5) for i in next(batches).tolist())])

results["distributed_orders"] = []
for n, replicas, seed in ((1, 1, 0), (1, 3, 7), (2, 5, 0), (10, 3, 0), (10, 4, 2**31), (103, 2, 5), (103, 8, 0), (1000, 7, 3)):
    for rank in sorted({0, 1 % replicas, replicas - 1}):
        for shuffle in (True, False):
            for drop_last in (False, True):
                if drop_last and n < replicas:
                    continue
                sampler = DistributedSampler(dataset(n), replicas, rank, shuffle, seed, drop_last)
                epochs = []
                for epoch in (0, 1, 5):
                    sampler.set_epoch(epoch)
                    epochs.append(hash_of(list(sampler)))
                results["distributed_orders"].append([n, replicas, rank, int(shuffle), int(drop_last), seed, *epochs])

for i, (n, lengths) in enumerate(((10, [7, 3]), (103, [50, 0, 53]), (10, [0.5, 0.5]), (103, [0.7, 0.2, 0.1]),
                                  (103, [0.1] * 10), (7, [1.0]), (1000, [1 / 3, 1 / 3, 1 / 3]))):
    torch.manual_seed(n)
    results[f"splits.{i}.parts"] = [n, *(hash_of(part.indices) for part in random_split(dataset(n), lengths))]
    results[f"splits.{i}.lengths"] = [float(length) for length in lengths]

results["train_test_splits"], results["train_test_sizes"] = [], []
for n, test_size, train_size in ((150, 0.2, 0), (150, 0, 0), (150, 0.33, 0.5), (150, 0, 0.7), (151, 31, 0), (1000, 0, 555),
                                 (1000, 200, 300), (97, 0.5, 0)):
    for random_state in (0, 33, 2**32 - 1):
        for classes in (0, 3, 7):
            train, test = train_test_split(
                list(range(n)), test_size=test_size or None, train_size=train_size or None, random_state=random_state,
                stratify=[i * i % classes for i in range(n)] if classes else None)
            results["train_test_splits"].append([n, random_state, classes, hash_of(train), hash_of(test)])
            results["train_test_sizes"].append([float(test_size), float(train_size)])

fold_orders = 0
for n, n_splits, all_classes in ((10, 2, (0, 2)), (11, 3, (0, 2)), (7, 7, (0,)), (150, 5, (0, 3, 7)), (1003, 10, (0, 2, 10))):
    for shuffle, random_state in ((False, None), (True, 0), (True, 42), (True, 2**32 - 1)):
        for classes in all_classes:
            kind = StratifiedKFold if classes else KFold
            labels = [(i * i + 3 * (i // 7)) % classes for i in range(n)] if classes else [0] * n
            pairs = list(kind(n_splits, shuffle=shuffle, random_state=random_state).split(range(n), labels))
            train, test = ([hash_of(pair[part]) for pair in pairs] for part in (0, 1))
            results[f"folds.{fold_orders:02}"] = [n, n_splits, int(shuffle), random_state or 0, classes, *train, *test]
            fold_orders += 1
write(results)
