#!/usr/bin/env bash
# lessons.sh: runs every program of examples/ as docs/lessons.md shows it, and rewrites that page with their output and plots
# (docs/images). Takes a few minutes. Compiles for the CPU only if there is no GPU. --quick only checks that the page shows
# every program.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

page=$root/docs/lessons.md

# The programs that the text below runs.
shown() { sed -n 's/^run \([0-9][a-z0-9_]*\).*/\1/p' "${BASH_SOURCE[0]}"; }
there() { (cd "$root/examples" && printf '%s\n' [0-9]*.cpp | sed 's/\.cpp$//'); }
if ! cmp -s <(shown | sort -u) <(there | sort -u); then
  diff <(shown | sort -u) <(there | sort -u) >&2 || true
  fail "lessons.sh shows other programs than there are in examples/ (see above)"
fi
[[ ${1:-} != --quick ]] || exit 0

need_compiler
need cmake ninja
command -v mpirun >/dev/null || need mpicxx.openmpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1  # as containers are
build_dir=$root/build/lessons
configure "$build_dir" -DCMAKE_BUILD_TYPE=Release -DGPUNET_BUILD_TESTS=OFF -DGPUNET_CUDA="$(cuda_here)"
build "$build_dir" examples

work=$(mktemp -d)
new=$(mktemp)
trap 'rm -rf "$work" "$new"' EXIT
cd "$work"
exec 3>&1 >"$new"

text() { cat; echo; }
# run PROGRAM OPTION...: prints the command as a reader types it, and its output.
run() {
  local program=$1 lesson=${1%%_*}
  shift
  say "running $program $*"
  echo '```console'
  echo "$ ./scripts/train.sh $lesson${*:+ $*}"
  "$build_dir/examples/$program" "$@" 2>&1 || fail "$program failed"
  printf '```\n\n'
}
# run_by N PROGRAM OPTION...: the same by so many processes.
run_by() {
  local n=$1 program=$2
  shift 2
  say "running $program $* by $n processes"
  echo '```console'
  echo "$ mpirun -n $n build/train/examples/$program${*:+ $*}"
  mpirun -n "$n" "$build_dir/examples/$program" "$@" 2>&1 || fail "$program failed"
  printf '```\n\n'
}
# picture FILE WORDS: shows a plot saved by a program, and stores it in docs/images.
picture() {
  cp "$1" "$root/docs/images/$1"
  printf '![%s](images/%s)\n\n' "$2" "$1"
}

text <<'END'
# The lessons

<!-- Written by scripts/lessons.sh: change that, not this. -->

Thirteen programs, each in a file of under 80 lines (options and playground-only code are in `examples/support`), with their output. The command above each
output installs missing packages, builds the lesson and runs it, from the root of the clone. `--help` after the number of a lesson lists its options.
Without `--data`, the images are synthetic and nothing is downloaded. Ctrl-C, SIGTERM and a closed terminal stop a lesson after the current step; it
saves its results and ends with status 130, 143 or 129. Times are those of one small machine without a GPU.

## 01: training a classifier

PyTorch's CIFAR-10 lesson, line for line ([source](../examples/01_cifar10.cpp)): a small convolutional network, the loss every 2,000 steps at batch 4, weights
saved and loaded, accuracy per class.
END
run 01_cifar10 --epochs 1 --seed 0
text <<'END'
With the real images (`scripts/get_cifar10.sh data/cifar10`, then `--data data/cifar10`), seed 0 gives PyTorch's losses:
[README](../README.md#numbers).

## 02: Iris and CUDA devices

The lesson prints the available GPUs, their memory in use, and the device of a tensor and a model ([source](../examples/02_iris.cpp)). Then it splits the Iris
table as scikit-learn does, trains for a hundred epochs of one batch, and tests on thirty held-out flowers. The losses are PyTorch's for the same seed. Any
table works: `--csv FILE --target COLUMN`.
END
run 02_iris
picture iris_loss.svg "The loss falls from 1.15 to 0.07 in a hundred epochs"
text <<'END'
## 03: CPU against GPU

One network of two nested `Sequential`s on every device of the machine ([source](../examples/03_cpu_vs_gpu.cpp)), PyTorch's message for a wrong device
string, and a profile of a step at batch sizes from 4 to 4,096: copying to the device, computing, waiting for data. The losses are logged for TensorBoard.
Without a GPU, one thread is compared with all.
END
run 03_cpu_vs_gpu
picture cpu_vs_gpu.svg "Shares of a step at batch sizes from 4 to 4096"
text <<'END'
## 04: reading digits

Fully connected layers with run-time sizes ([source](../examples/04_mlp.cpp)), on MNIST
(`scripts/get_mnist.sh data/mnist`, then `--data data/mnist`) or on synthetic digits.
END
run 04_mlp --images 20000
picture mlp_network.svg "h1, ReLU, h2, ReLU and out as boxes with their shapes and numbers of parameters"
picture mlp_training.svg "Loss and accuracy of each batch"
picture mlp_digits.svg "Test digits with the predicted class and its probability"
text <<'END'
## 05: the playground

The problems of the TensorFlow Playground in the terminal and as an animated page
([source](../examples/05_playground.cpp), [its own page](playground.md)): `--watch` draws during training.
END
run 05_playground --data spiral --features x1,x2,sinx1,sinx2 --layers 8,8 --epochs 200
text <<'END'
![A spiral learned by 4 - 8 - 8 - 2, the page in light and dark](images/playground.png)

## 06: predicting a number

A column of a table is predicted from the others ([source](../examples/06_regression.cpp)), here the width of an iris petal: a loader with float targets,
`train::fit` with rows held out, the network saved and loaded. The losses are PyTorch's for the same seed. Any table of numbers works: `--csv FILE --target
COLUMN`.
END
run 06_regression
picture regression.svg "The loss falls from 0.67 to 0.03 in a hundred epochs, that of the rows held out from 0.34 to 0.05"
text <<'END'
## 07: a residual network

ResNet-20 of He and others ([source](../examples/07_resnet.cpp), [the network](../include/gpunet/networks/resnet.hpp)), a function of values whose depth is an option.
It is trained on randomly cropped and flipped images with weight decay and one cycle of the learning rate (`OneCycleLR`). On the real images,
`--data data/cifar10 --epochs 10` reaches 86 % in six minutes on two threads. [gpunet/networks](../include/gpunet/networks) also has ResNet-18, MobileNetV2 and a
U-Net.
END
run 07_resnet
text <<'END'
## 08: generating digits

A variational autoencoder ([source](../examples/08_vae.cpp)), as PyTorch's [examples/vae](https://github.com/pytorch/examples/tree/main/vae): encoder, decoder
and loss are functions of values. `train::fit` trains a network that computes its own loss; two networks of the same functions load its parameters by name, to
reconstruct and to generate. On MNIST (`--data data/mnist`) the held-out loss is 105 after ten epochs. The plot shows test digits, their reconstructions, and
two rows of new digits from random numbers.
END
run 08_vae
picture vae_digits.svg "Ten digits, their reconstructions, and twenty new digits"
text <<'END'
## 09: learning a text

A character-level language model ([source](../examples/09_text.cpp), [the networks](../include/gpunet/networks/language.hpp)) learns to predict the next
character of a text, then generates more text: an LSTM, or with `--model transformer` a transformer. `--text FILE` replaces the built-in sentences by a
text of yours.
END
run 09_text
run 09_text --model transformer --save transformer.safetensors
picture text.svg "Training loss of the transformer, and its loss on the last tenth of the text"
text <<'END'
## 10: fine-tuning

A ResNet-18 gets a new last layer, which is trained while all others are frozen, then its last stage is trained too, in a group of parameters with a tenth of
the learning rate ([source](../examples/10_finetune.cpp)). A step of the last layer takes a quarter of the time of one of all layers: what is below needs no
backward pass. `--weights resnet18.pth --side 224` begins with torchvision's weights; without them all layers are trained on the same images first.
END
run 10_finetune
text <<'END'
## 11: a generative adversarial network

A generator learns to draw points of a ring of eight Gaussians from what a discriminator thinks of them ([source](../examples/11_gan.cpp)). Two networks share
their parameters; each computes one loss, has an optimizer, and is one recorded step on a GPU. The points are those of a moving average of the generator
(`lerp`), "good" within four standard deviations of a Gaussian.
END
run 11_gan
text <<'END'
## 12: deep Q-learning

A network learns to balance a pole on a cart by pushing it to the left or right: Gymnasium's CartPole-v1, whose episodes end after 500 pushes
([source](../examples/12_dqn.cpp), [the carts](../examples/support/cart_poles.hpp)). The carts and the memory of their states are tensors on the device. The network with the loss
and the one that acts share their parameters; the values of next states are those of a copy that follows by `lerp`. The lengths are means of a hundred episodes without
random pushes. They rise and fall; another seed, or a processor that adds in another order, has other lengths and may end below 500.
END
run 12_dqn
text <<'END'
## 13: several processes

The lesson of 01 by as many processes as an MPI starts ([source](../examples/13_distributed.cpp); Debian's `libopenmpi-dev` is one, install it before the lesson is built). Each trains with its part of every batch, and the mean of their
gradients keeps their networks the same; alone, the lesson is one process with all of the batch, and learns the same to rounding. Each tests the network on its part of the
test images. With `--resume FILE` the training goes on after an interrupt, with another number of processes too. See [several processes](distributed.md).
END
run 13_distributed --epochs 1
run_by 2 13_distributed --epochs 1

exec >&3
mv "$new" "$page"
chmod 644 "$page"
say "written: $page"
