// What these lines provoke, and what tests/compile_fail names: all of it becomes all_errors.md in
// the build folder (a release has it in docs/), the most common errors docs/errors.md. After a
// change:
//   GPUNET_WRITE_DOCS=1 ctest --test-dir build/host -R docs/errors
#include <cstdlib>
#include <limits>

#include <gpunet/datasets.hpp>
#include <gpunet/functional.hpp>
#include <gpunet/gpunet.hpp>
#include <gpunet/images.hpp>
#include <gpunet/plot.hpp>
#include <gpunet/tables.hpp>
#include <gpunet/tensorboard.hpp>
#include <gpunet/tensors.hpp>

#include "docs/error_page.hpp"
using namespace gpunet;

namespace {

void devices(ErrorPage& page) {
  page.section("Devices");
  const auto train = [](auto&) {
  };
  PROVOKE("Unknown device",
          "The names are those of PyTorch, and `auto` takes the GPU where there is one.",
          with_device("gpu", train));
  PROVOKE("A misspelled device string", "The index follows a colon: `cuda:0`.",
          with_device("cuda0", train));
  PROVOKE("A GPU, in a program compiled without CUDA",
          "The program supports `Cuda` if it links `gpunet::cuda`, or if nvcc compiles it: "
          "`gpunet_cuda_sources(app)` in CMake, or `nvcc -std=c++20 -x cu`. "
          "On a machine without a GPU, the message of such a program says what is missing; so does "
          "`Cuda::why_not()`.",
          with_device("cuda", train));
}

void tensors(ErrorPage& page, Host& device) {
  page.section("Tensors");
  PROVOKE("The number of values does not match the shape",
          "Count the values, or take the shape from them: `{index_t(values.size()) / 3, 3}`.",
          Tensor<float, Host>(device, {2, 3}, {1, 2, 3, 4}));
  PROVOKE("item() of a tensor with several elements",
          "`to_vector()` returns all of them; `item()` is for a loss, or an output of one sample "
          "and one feature.",
          randn(device, {2, 3}).item());
  PROVOKE("Dimension out of range",
          "Dimensions count from 0: `size(0)` is the batch, and `size(-1)` the last. `std::cout << "
          "x.sizes()` "
          "prints all.",
          randn(device, {2, 3}).size(2));
  PROVOKE("Shapes that do not broadcast",
          "A row is added to each row of a matrix as it is; a column has an extent of 1: "
          "`unsqueeze(column, 1)`, or "
          "`mean(x, 1, true)`.",
          Tensor x = randn(device, {4, 3});
          Tensor centered = x - mean(x, 1));
  PROVOKE("A reshape of elements that are not in order",
          "A view shares the memory of its tensor. PyTorch's `reshape` copies silently.",
          Tensor x = randn(device, {4, 3});
          Tensor flat = reshape(transpose(x, 0, 1), {12}));
  PROVOKE("Matrices that cannot be multiplied", "`t(w)` is a view, and costs nothing.",
          Tensor x = randn(device, {16, 4});
          Tensor w = randn(device, {8, 4}); Tensor y = matmul(x, w));
  PROVOKE("An index out of range",
          "Indices count from 0. On a GPU the functions that take indices wait for it.",
          Tensor table = randn(device, {10, 4});
          const Tensor<index_t, Host> words(device, {3}, {1, 10, 2});
          Tensor rows = index_select(table, 0, words));
  PROVOKE("Elements that are read while they are overwritten",
          "`roll(x, 1, 0)` shifts in new memory. PyTorch's result would be undefined.",
          Tensor x = arange<float>(device, 10);
          narrow(x, 0, 1, 9) = narrow(x, 0, 0, 9));
  PROVOKE("The largest of no elements", "Print the shape: a mask may have selected nothing.",
          Tensor x = randn(device, {8});
          Tensor chosen = masked_select(x, x > 99); max(chosen).item());
  PROVOKE("A view of a tensor that is gone",
          "`Tensor row = ...` copies the elements; a view is good while its tensor is.",
          auto x = std::make_unique<Tensor<float, Host>>(randn(device, {2, 3}));
          auto row = (*x)[0]; x.reset(); sum(row).item());
}

template <class Net>
void models(ErrorPage& page, Host& device, Model<Net, Host>& net, nn::CrossEntropyLoss& criterion,
            const Tensor<float, Host>& inputs, const Tensor<label_t, Host>& labels) {
  page.section("Networks and losses");
  PROVOKE("Samples do not match the network's Input",
          "The second size differs: the data have another number of columns, or `Input` is wrong. "
          "`Input<4>` is "
          "the shape of one "
          "sample, without the batch.",
          net(randn(device, {16, 5})));
  PROVOKE("A batch of 0 samples",
          "A loader makes no such batch: check what the tensor was made of.",
          net(randn(device, {0, 4})));
  PROVOKE("A sequence of 0 steps",
          "Print the length where it is computed: a text may be shorter than one sequence.",
          Model sequence(device, nn::Sequential{nn::Input{0, 2}, nn::LSTM<3>{}}));
  PROVOKE("One sample without a batch", "A single sample is a batch of one: `{1, 4}`.",
          net(randn(device, {4})));
  PROVOKE("More labels than samples",
          "Inputs and labels come from different batches, or the labels are one-hot rows; a label "
          "is one number, "
          "the class.",
          const Tensor<label_t, Host> twenty(device, {20}, std::vector<label_t>(20));
          criterion(net(inputs), twenty));
  PROVOKE("Label out of range",
          "Classes count from 0: for labels of 1 to 3 subtract 1. On a GPU the labels are not read "
          "back; there the "
          "loss is NaN.",
          const Tensor<label_t, Host> from_one(device, {2}, {1, 3});
          criterion(net(randn(device, {2, 4})), from_one));
  PROVOKE("An output used after the next batch",
          "A model stores the outputs of one batch. `tensor()` returns a copy.",
          auto first = net(inputs);
          net(inputs); first.argmax(1));
  PROVOKE("backward() after another batch",
          "Call `backward()` and the optimizer's `step()` before the next batch, validation "
          "batches included.",
          auto loss = criterion(net(inputs), labels);
          net(inputs); loss.backward());
  PROVOKE("backward() after an update of the parameters",
          "An update ends the step of a batch. For another backward pass, run the model again.",
          optim::SGD updates(net, {.lr = 0.1});
          auto loss = criterion(net(inputs), labels); loss.backward(); updates.step();
          loss.backward());
  PROVOKE("backward() twice",
          "As in PyTorch. Losses of several batches add their gradients until `zero_grad()`.",
          auto loss = criterion(net(inputs), labels);
          loss.backward(); loss.backward());
  PROVOKE("A hook on a layer that does not exist",
          "The names are those that `std::cout << net` prints, or parts of a network, `layer1.0`.",
          net.register_forward_hook("fc", [](const Tensor<float, Host>&) {}));
  PROVOKE("lerp of two networks that differ",
          "Both are made by the same function, or have the same type.",
          Model<nn::Sequential<nn::Input<4>, nn::Linear<2>>, Host> other(device);
          lerp(other, net, 0.5));
  PROVOKE("Labels in a column",
          "`flatten()` returns a view of shape [batch] of labels in one column or row.",
          const Tensor<label_t, Host> column(device, {2, 1}, std::vector<label_t>{0, 1});
          criterion(net(randn(device, {2, 4})), column));
  PROVOKE("Targets without the last dimension",
          "PyTorch would subtract each target from each output; gpunet does not broadcast. Targets "
          "of a single output "
          "have the shape [batch, 1].",
          const Tensor<float, Host> flat(device, {2}, {0.5f, 1.5f});
          nn::MSELoss()(net(randn(device, {2, 4})), flat));
  PROVOKE("A missing Flatten",
          "`nn::Linear` maps the last dimension, whatever is before it, as in PyTorch. "
          "`nn::Flatten` reshapes "
          "[channels, "
          "height, width] to one row, as `torch.flatten(x, 1)` does.",
          Model<nn::Sequential<nn::Input<3, 4, 4>, nn::Linear<2>>, Host> images(device);
          criterion(images(randn(device, {2, 3, 4, 4})), labels));
  PROVOKE("Targets that are no probabilities",
          "`BCELoss` takes probabilities on both sides; for logits as outputs use "
          "`BCEWithLogitsLoss`, for classes as "
          "targets `CrossEntropyLoss`.",
          const Tensor<float, Host> scores(device, {2, 3}, {0, 1, 2, 0, 1, 2});
          nn::BCELoss()(net(randn(device, {2, 4})), scores));
  PROVOKE("Outputs that are no probabilities",
          "Without a `Sigmoid` at its end, a network makes logits. On a GPU outputs are not read "
          "back; there the "
          "loss is NaN.",
          const Tensor<float, Host> chances(device, {2, 1}, {0, 1});
          Model<nn::Sequential<nn::Input<1>, nn::PReLU<>>, Host> logits(device);
          nn::BCELoss()(logits(Tensor<float, Host>(device, {2, 1}, {0.5f, 1.5f})), chances).item());
  PROVOKE("A loss without a reduction",
          "`criterion.each(net(inputs), targets)` returns what `reduction=\"none\"` returns in "
          "PyTorch.",
          const Tensor<float, Host> numbers(device, {2, 3}, std::vector<float>(6));
          nn::MSELoss unreduced({.reduction = nn::Reduction::none});
          unreduced(net(randn(device, {2, 4})), numbers));
  PROVOKE("An index outside of an Embedding",
          "The vocabulary has more words than the layer, or the data begin at 1. On a GPU the "
          "indices are not read "
          "back; there the "
          "loss is NaN.",
          Model<nn::Sequential<nn::Input<3>, nn::Embedding<9, 2>>, Host> words(device);
          words(Tensor<float, Host>(device, {1, 3}, {0, 8, 9})));
  PROVOKE("A dropout between layers of a recurrent layer that has one layer",
          "As in PyTorch, `dropout` is between the layers; PyTorch only warns.",
          nn::Sequential sequence(nn::Input<20, 8>(), nn::LSTM<16>{{.dropout = 0.2}}));
  PROVOKE("Weights of other classes", "`weight` has one number for each class, in their order.",
          nn::CrossEntropyLoss weighted({.weight = {1, 2}});
          weighted(net(randn(device, {2, 4})), labels));
  PROVOKE("Two calls that use one model",
          "Usually another thread is in a pass. `net.to(device)` makes a copy for each thread. "
          "With a mutex, one "
          "thread "
          "holds it from `net(inputs)` to the last use of the output.",
          auto use = net.exclusive_use();
          net(inputs));
  PROVOKE("Unknown parameter name",
          "The names are those of the state dict; without `Named` they begin with the layer's "
          "position: `0.weight`.",
          get_parameter(net, "fc3.weight"));
  PROVOKE("A batch of one in a network with BatchNorm1d",
          "The last batch of a loader may have one sample: `{.drop_last = true}`. For predictions, "
          "call `eval()` "
          "first.",
          Model normed(device, nn::Sequential{nn::Input<4>{}, nn::BatchNorm1d{}});
          normed(randn(device, {1, 4})));
  PROVOKE("A dropout in percent", "p is a probability, as in PyTorch.",
          nn::Sequential dropped(nn::Input<4>(), nn::Dropout(20)));
  PROVOKE("Heads that do not divide a run-time size",
          "Each head gets as many features of the embedding: 12 for 3 heads, 16 for 4.",
          nn::Sequential attention(nn::Input(10, 16), nn::MultiheadAttention<3>());
          attention.output());
  PROVOKE("A run-time size of zero",
          "Print the number where it is computed: the table may have no rows, or an option may be "
          "missing.",
          index_t classes = 0;
          Model sized(device, nn::Sequential{nn::Input<4>{}, nn::Linear{classes}}));
  PROVOKE("A name with a dot that is also the key of a layer in a block",
          "In a key, a dot separates the name of a block from that of a layer in it.",
          using Head = nn::Sequential<nn::Input<3>, nn::Named<"head.0", nn::Linear<2>>,
                                      nn::Named<"head", nn::Sequential<nn::Linear<2>>>>;
          Model<Head, Host> twice(device));
}

void functions(ErrorPage& page, Host& device) {
  page.section("Functions of values");
  PROVOKE("Shapes that do not fit together",
          "Extents are compared from the last dimension on, and one of 1 is repeated; `reshape(x, "
          "{3, 1})` adds such "
          "a dimension.",
          Network net(device, [](nn::Value x) { return x + sum(x, -1); }, {3, 4}));
  PROVOKE("A tensor that does not fit a value",
          "A tensor is the same for all samples: it has the shape of one, or one that broadcasts "
          "to it.",
          const Tensor<float, Host> mask(device, {3, 8});
          Network net(device, [&](nn::Value x) { return x * mask; }, {4, 8}));
  PROVOKE("A dimension that is not there",
          "Dimension 0 is the batch, 1 the first one of a sample, -1 the last.",
          Network net(device, [](nn::Value x) { return mean(x, 3); }, {3, 4}));
  PROVOKE("Values that are joined along a missing dimension",
          "All functions with a dimension count the same way: `softmax`, `narrow`, `transpose`, "
          "`permute`.",
          Network net(device,
                      [](nn::Value x) {
                        return nn::cat({x, x}, 3);
                      },
                      {3, 4}));
  PROVOKE("A permutation that moves the batch",
          "All dimensions are given, the batch first: it stays where it is.",
          Network net(device,
                      [](nn::Value x) {
                        return permute(x, {1, 0, 2});
                      },
                      {3, 4}));
  PROVOKE("The batch as a dimension",
          "Samples are computed one by one; the mean over the batch is taken by `mean(net(x))`.",
          Network net(device, [](nn::Value x) { return mean(x, 0); }, {3, 4}));
  PROVOKE("One name for two layers",
          "A name is a key in files. Layers that share weights are called in `shared`.",
          Network net(
              device,
              [](nn::Value x) { return linear(linear(x, 4, {.name = "fc"}), 4, {.name = "fc"}); },
              {4}));
  PROVOKE("One shared name for two shapes",
          "One shared name stands for one layer; a layer with other inputs or outputs needs "
          "another name.",
          Network net(device,
                      [](nn::Value a, nn::Value b) {
                        const auto encode = [](nn::Value x) {
                          return linear(x, 2);
                        };
                        const nn::Value first = shared("encoder", encode, a);
                        return first + shared("encoder", encode, b);
                      },
                      {4}, {3}));
  PROVOKE("A value of another network",
          "A value lives while the function that makes its network runs.",
          std::vector<nn::Value> kept;
          Network first(device,
                        [&](nn::Value x) {
                          kept.push_back(x);
                          return relu(x);
                        },
                        {4});
          Network second(device, [&](nn::Value x) { return x + kept[0]; }, {4}));
  PROVOKE("Another number of inputs", "`net(a, b)` takes what the function takes, in its order.",
          Network net(device, [](nn::Value a, nn::Value b) { return a + b; }, {4}, {4});
          const Tensor<float, Host> x(device, {2, 4}); net(x, x, x));
  PROVOKE(
      "Groups that do not divide the channels of a value",
      "Each group maps as many input channels to as many output channels. `Conv2d` with constant "
      "sizes is "
      "refused by the compiler.",
      Network net(device, [](nn::Value x) { return conv2d(x, 6, 3, {.groups = 4}); }, {6, 8, 8}));
  PROVOKE(
      "A dilated kernel that is larger than the image",
      "A kernel of 3 with a dilation of 4 covers 9 pixels; `padding = 4` keeps the size of the "
      "image.",
      Network net(device, [](nn::Value x) { return conv2d(x, 6, 3, {.dilation = 4}); }, {6, 8, 8}));
  PROVOKE("An initial state of another shape",
          "States have the batch first: `[batch, num_layers * directions, hidden_size]`. `Network` "
          "takes their sizes "
          "without it.",
          Network net(device,
                      [](nn::Value x, nn::Value h) {
                        return gru(x, 8, {.num_layers = 2, .h_0 = h}).output;
                      },
                      {5, 4}, {8}));
  PROVOKE(
      "A hidden state without a cell state",
      "`h_0` and `c_0` are given together, as `(h_0, c_0)` in PyTorch.",
      Network net(device, [](nn::Value x, nn::Value h) { return lstm(x, 8, {.h_0 = h}).output; },
                  {5, 4}, {1, 8}));
  PROVOKE("An index where mse_loss wants numbers",
          "Targets have the shape of the outputs; for classes as targets use `cross_entropy`.",
          Network net(device, [](nn::Value x, nn::Value t) { return mse_loss(x, t); }, {3}, {}));
  PROVOKE(
      "Rows of numbers where cross_entropy wants classes",
      "A target is the index of a class. For probabilities, write `-sum(t * log_softmax(x, 1), "
      "1)`.",
      Network net(device, [](nn::Value x, nn::Value t) { return cross_entropy(x, t); }, {3}, {3}));
  PROVOKE("A network that shares parameters which the other does not have",
          "Parts with the same name, by `nn::shared` or `.name`, have the same parameters.",
          Network both(device, [](nn::Value x) { return linear(x, 2, {.name = "fc"}); }, {3});
          Network part(both, [](nn::Value x) { return linear(x, 2, {.name = "head"}); }, {3}));
  PROVOKE(
      "Labels out of range in a function",
      "Labels are whole numbers from 0 to classes - 1. On a GPU they are not read back; there the "
      "loss is NaN.",
      Network net(device, [](nn::Value x, nn::Value t) { return cross_entropy(x, t); }, {3}, {});
      net(Tensor<float, Host>(device, {1, 3}), Tensor<float, Host>(device, {1}, {3})));
}

template <class Net>
void optimizers(ErrorPage& page, Model<Net, Host>& net, optim::SGD<Host, float>& optimizer) {
  page.section("Optimizers and schedules");
  PROVOKE("A negative learning rate",
          "A gradient is subtracted, so the rate is positive. 0 is allowed and leaves the "
          "parameters unchanged.",
          optim::SGD(net, {.lr = -0.1}));
  PROVOKE("Betas out of range",
          "The betas of Adam are close to 1 and below 1: usually {0.9, 0.999}.",
          optim::Adam(net, {.betas = {0.9, 1.0}}));
  PROVOKE("Nesterov's momentum without momentum", "Give `.momentum = 0.9` too.",
          optim::SGD(net, {.lr = 0.1, .nesterov = true}));
  PROVOKE("A pattern that names no parameter",
          "`net.parameters(\"fc\")` are those of `fc`, as `net.fc.parameters()` in PyTorch; a `*` "
          "stands for any "
          "characters. Layers "
          "without a name have a number.",
          net.parameters("classifier.*").requires_grad(false));
  PROVOKE("A parameter in two groups",
          "Parameters that no group names belong to group 0, with the optimizer's own options.",
          optim::SGD grouped(net, {.lr = 0.1, .weight_decay = 1e-4});
          grouped.add_param_group(net.parameters("*.bias"), {.weight_decay = 0});
          grouped.add_param_group(net.parameters("fc1"), {.lr = 0.01}));
  PROVOKE("A group of another model",
          "Make the optimizer for the model whose parameters it updates.",
          Model<Net, Host> second(net.device());
          optim::SGD grouped(net, {.lr = 0.1});
          grouped.add_param_group(second.parameters("*.bias"), {.weight_decay = 0}));
  PROVOKE("More steps than a schedule has",
          "`total_steps` counts every call of `step()`: epochs times `loader.size()` where it is "
          "called after each "
          "batch.",
          optim::lr_scheduler::OneCycleLR schedule(optimizer, {.max_lr = 0.1, .total_steps = 2});
          schedule.step(); schedule.step(); schedule.step());
  PROVOKE("SequentialLR without milestones",
          "Between two schedules is one milestone: the epoch at which the second takes over.",
          optim::lr_scheduler::LinearLR warm_up(optimizer, {.total_iters = 5});
          optim::lr_scheduler::ExponentialLR decay(optimizer, {.gamma = 0.9});
          optim::lr_scheduler::SequentialLR(optimizer, {&warm_up, &decay}, {}));
  PROVOKE(
      "A schedule of a momentum that the optimizer does not have",
      "OneCycleLR moves the momentum against the learning rate, unless `.cycle_momentum = false`.",
      optim::Adagrad adagrad(net, {.lr = 0.1});
      optim::lr_scheduler::OneCycleLR(adagrad, {.max_lr = 1, .total_steps = 100}));
  PROVOKE("A function for LBFGS that computes no gradients",
          "The function is the body of the loop up to `optimizer.step()`; LBFGS calls it as often "
          "as it needs.",
          optim::LBFGS lbfgs(net, {.lr = 0.1});
          lbfgs.step([&] { return lbfgs.zero_grad(), 1.0; }));
  PROVOKE("A decay out of range",
          "The decay of an exponential moving average is near 1: usually 0.99 to 0.9999.",
          optim::swa_utils::get_ema_multi_avg_fn(1.001));
  PROVOKE("Gradients clipped to a negative norm", "A norm is 0 or more; 1 is a common choice.",
          nn::utils::clip_grad_norm_(net, -1.0));
}

void mixed_precision(ErrorPage& page, Host& device) {
  page.section("Mixed precision");
  SHOW_AND_RUN(Model<nn::Sequential<nn::Input<2>, nn::Linear<1>>, Host> net(device);
               optim::SGD optimizer(net, {.lr = 0.1}); amp::GradScaler scaler;
               Tensor<float, Host> x = ones(device, {1, 2}))
  PROVOKE("A scaler for a network that does not store float16",
          "Only gradients in float16 underflow. A program that chooses the storage at run time "
          "makes the scaler with "
          "`{.enabled = storage == Storage::float16}`.",
          net.autocast(Storage::bfloat16);
          scaler.scale(mean(net(x))).backward());
  net.autocast(Storage::float16);
  PROVOKE("A scaler without gradients",
          "The order is: backward pass, `unscale_` if needed, `step`, `update`.",
          scaler.step(optimizer));
  PROVOKE("Two steps without an update", "The scale is adapted once per step of the training.",
          scaler.scale(mean(net(x))).backward();
          scaler.step(optimizer); scaler.step(optimizer));
  PROVOKE("Gradients unscaled too late", "Clip between `unscale_` and `step`.",
          scaler.unscale_(optimizer));
  scaler.update();
  PROVOKE("Gradients unscaled twice", "`step` unscales gradients itself unless `unscale_` has.",
          scaler.scale(mean(net(x))).backward();
          scaler.unscale_(optimizer); scaler.unscale_(optimizer));
  scaler.update();
  PROVOKE("An update without a step", "`update` ends a step of the training.", scaler.update());
  PROVOKE("A scale that does not grow", "The defaults are PyTorch's: 2, 0.5, and 2000 steps.",
          amp::GradScaler constant({.growth_factor = 1}));
  PROVOKE("16 bits for doubles",
          "Half of the network's memory for activations is saved by a network of float.",
          Model<nn::Sequential<nn::Input<2>, nn::Linear<1>>, Host, double> exact(device);
          exact.autocast(Storage::bfloat16));
  PROVOKE(
      "A mask of -1e9 in float16",
      "The largest number of float16 is 65504; -1e9 would be stored as -inf, and softmax of a row "
      "that is wholly "
      "masked would be NaN. `-INFINITY` is right where each row has an element that is not.",
      const Tensor<float, Host> mask(device, {4}, {0, 0, 1, 1});
      Network masked(
          device,
          [&](nn::Value v) { return softmax(masked_fill(nn::linear(v, 4), mask, -1e9), 1); }, {2});
      masked.autocast(Storage::float16));
}

void datasets(ErrorPage& page, Host& device, const Tensor<float, Host>& inputs,
              const Tensor<label_t, Host>& labels) {
  page.section("Data");
  PROVOKE("Datasets with targets of different types",
          "Classes and numbers are different targets. `data::TensorDataset(inputs, y)` with a "
          "`Tensor<float, Host> "
          "y` has numbers.",
          const Tensor<float, Host> y(device, {16, 1}, std::vector<float>(16));
          const data::TensorDataset classes(inputs, labels);
          const data::TensorDataset numbers(inputs, y); data::ConcatDataset({classes, numbers}));
  PROVOKE("The images are missing",
          "The script downloads them, checks them and prints where they are.",
          data::CIFAR10::train("data/cifar10"));
  write("python/cifar-10-batches-py/test_batch", "");
  PROVOKE("The images are there in the version for Python",
          "The page of CIFAR-10 has three archives; gpunet reads `cifar-10-binary.tar.gz`.",
          data::CIFAR10::test("python"));
  PROVOKE("The handwritten digits are missing", "`scripts/get_mnist.sh data/mnist` downloads them.",
          data::MNIST::train("data/mnist"));
  write("cut/test_batch.bin", std::string(5000, '\0'));
  PROVOKE("A truncated file of images",
          "The download was interrupted. The script downloads incomplete files again.",
          data::CIFAR10::test("cut"));
  write("bad/test_batch.bin", std::string(3073, '\x7f'));
  PROVOKE("A file of images with other contents",
          "It is a file of another data set, or it is corrupt.", data::CIFAR10::test("bad"));
  PROVOKE("Table not found",
          "The path is relative to the working directory of the program, not to its source.",
          data::read_csv("iris.csv"));
  io::save_png("cat.png", {2, 2, 3, std::vector<std::uint8_t>(12)});
  PROVOKE("A PNG image, in a program without zlib",
          "`.gz` files and deflated `.npz` files need the same header.", io::read_image("cat.png"));
  write("cat.jpg", "\xFF\xD8\xFF\xE0");
  PROVOKE("A JPEG image, in a program without stb",
          "Debian and Ubuntu have stb as `libstb-dev`. Without it, `mogrify -format png *.jpg` of "
          "ImageMagick "
          "converts all to PNG.",
          io::read_image("cat.jpg"));
  write("pets/1.ppm", "P3 1 1 255 1 2 3");
  PROVOKE("Images outside of a class folder",
          "The names of the folders are the classes: `pets/cat/1.ppm`, `pets/dog/1.ppm`. Give the "
          "folder "
          "that contains them.",
          data::ImageFolder("pets"));
  write("mixed/cat/1.ppm", "P3 1 1 255 1 2 3");
  write("mixed/cat/2.ppm", "P3 2 1 255 1 2 3 4 5 6");
  PROVOKE("Images of different sizes",
          "`data::Resize{32}` keeps the aspect ratio, so sizes still differ; `data::Resize{{32, "
          "32}}` makes them "
          "equal.",
          const data::ImageFolder mixed("mixed");
          const data::DataLoader images(mixed, {.batch_size = 2}); auto batches = images.to(device);
          batches.begin());
  const std::string table = "width,length,species\n5.1,1.4,setosa\nwide,4.2,virginica\n";
  write("flowers.csv", table);
  page.file("flowers.csv", table);
  PROVOKE("Text in a column of numbers",
          "The message has the file, the line and the column. Correct the line, or read such a "
          "column with "
          "`categories()`.",
          data::read_csv("flowers.csv").numbers({"width", "length"}));
  PROVOKE("Unknown column",
          "Blanks and case of a name count; a table without a header line is read with `{.header = "
          "false}`.",
          data::read_csv("flowers.csv").categories("kind"));
  const std::string short_row = "width,length,species\n5.1,1.4,setosa\n5.9,virginica\n";
  write("short.csv", short_row);
  page.file("short.csv", short_row);
  PROVOKE("A row with a missing field",
          "Decimal commas and files separated by `;` fail the same way: `{.separator = ';'}`.",
          data::read_csv("short.csv"));
  const std::string gap = "width,length,species\n5.1,1.4,setosa\n5.9,nan,virginica\n";
  write("gap.csv", gap);
  page.file("gap.csv", gap);
  PROVOKE("A missing value in a column of numbers",
          "pandas reads NaN, and then every loss from that batch on is NaN. With `{.allow_nan = "
          "true}` gpunet "
          "reads it too; replace it in the program. Missing values are pandas' words (an empty "
          "field, `NA`, `nan`, "
          "`null`, ...); `{.na_values = {\"?\"}}` adds others, and `{.keep_default_na = false}` "
          "leaves those out.",
          data::read_csv("gap.csv").numbers({"width", "length"}));
  const std::string commas = "width;species\n2,5;setosa\n";
  write("commas.csv", commas);
  page.file("commas.csv", commas);
  PROVOKE("Decimal commas", "Both options are needed: `{.separator = ';', .decimal = ','}`.",
          data::read_csv("commas.csv", {.separator = ';'}).numbers("width"));
  PROVOKE("A class that another table does not have",
          "The names are those of the training table, `train.categories(\"species\").names`, so "
          "that a class has one "
          "number in both. `{.unknown = 2}` makes a third class of all others.",
          data::read_csv("flowers.csv").categories("species", {"setosa", "versicolor"}));
  write("page.csv", "<!DOCTYPE html><html><body>Not Found</body></html>");
  PROVOKE("A web page in the place of a table",
          "Workbooks of Excel, archives, Parquet files, and texts in UTF-16 are named, too.",
          data::read_csv("page.csv"));
  PROVOKE("Different numbers of samples and labels",
          "The first size of both tensors is the number of samples.",
          const Tensor<label_t, Host> twelve(device, {12}, std::vector<label_t>(12));
          data::TensorDataset(inputs, twelve));
  PROVOKE("A dataset whose tensors are gone",
          "`data::TensorDataset rows(std::move(x), std::move(y))` has the tensors, and so have its "
          "parts and loaders. "
          "Otherwise they have to exist, and may be moved.",
          auto x = randn(device, {16, 4});
          const data::DataLoader rows(data::TensorDataset(x, labels)); x = randn(device, {16, 4});
          rows.resident_on(device));
  const data::TensorDataset set(inputs, labels);
  page.text("With `const data::TensorDataset set(inputs, labels);`, 16 samples:");
  PROVOKE("A batch size of 0", "The default is 1, as in PyTorch; 32 to 256 are usual.",
          data::DataLoader(set, {.batch_size = 0}));
  PROVOKE(
      "A batch size larger than the data set",
      "PyTorch silently makes a smaller batch. Here the whole set in one batch is `{.batch_size = "
      "set.size()}`.",
      data::DataLoader(set, {.batch_size = 100}));
  PROVOKE(
      "collate_fn with a resident data set",
      "Data on the device are read only once. `loader.to(device)` reads every batch and changes "
      "it.",
      const auto change =
          [](auto, auto, data::Random&) {
          };
      const data::DataLoader changing(set, {.batch_size = 8, .collate_fn = change});
      changing.resident_on(device));
  PROVOKE("A negative number of workers", "0 reads in the training thread; 2 to 4 read ahead.",
          data::DataLoader(set, {.num_workers = -1}));
  PROVOKE("Fractions that do not add up to 1",
          "Fractions add up to 1; numbers of samples add up to `set.size()`.",
          data::random_split(set, {0.8, 0.1}));
  PROVOKE("More folds than samples of a class",
          "Each fold of `StratifiedKFold` has samples of every class.",
          data::StratifiedKFold(5).split({0, 0, 0, 0, 0, 1, 1}));
  PROVOKE("More folds than samples", "Each sample is tested once, in the fold that it belongs to.",
          data::KFold(10).split(8));
  PROVOKE("Weights of a class without samples",
          "The labels are those of the training set, which has all classes.",
          data::compute_class_weight({0, 2, 2, 0}, 3));
  PROVOKE("A test set of all samples",
          "A `test_size` below 1 is a fraction, 1 and more a number of samples.",
          data::train_test_split(16, {.test_size = 16}));
}

void transforms(ErrorPage& page) {
  page.section("Transforms");
  PROVOKE("Normalize for another number of channels",
          "Gray images have one channel: `Normalize{{0.1307f}, {0.3081f}}`.",
          data::Shapes(10, 0, data::Compose(data::ToTensor{}, data::Normalize{{0.5f}, {0.5f}})));
  PROVOKE("A standard deviation of 0",
          "A constant channel has a standard deviation of 0: use 1 for it.",
          data::Normalize({0.5f, 0.5f, 0.5f}, {0.5f, 0.0f, 0.5f}));
  PROVOKE("A crop larger than the image",
          "CIFAR-10 is cropped to 32 after padding by 4: `RandomCrop{32, {.padding = 4}}`.",
          data::Shapes(10, 0, data::Compose(data::RandomCrop{40}, data::ToTensor{})));
  PROVOKE("A probability of more than 1", "0.5, the default, flips half of the images.",
          data::RandomHorizontalFlip(50));
}

template <class Net>
void files(ErrorPage& page, Host& device, Model<Net, Host>& net) {
  page.section("Weight files");
  PROVOKE("File not found", "The path is relative to the working directory of the program.",
          io::load(net, "net.pth"));
  write("pointer.safetensors",
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 24916\n");
  PROVOKE("A Git LFS pointer instead of the file",
          "Run `git lfs install` once, then `git lfs pull` in the repository.",
          io::load(net, "pointer.safetensors"));
  write("page.pth", "<!DOCTYPE html><html><title>Sign in</title></html>\n");
  PROVOKE("A web page instead of the file",
          "The URL is that of a page about the file. On GitHub and Hugging Face the URL of the "
          "file has "
          "`raw` or `resolve` in it.",
          io::load(net, "page.pth"));
  write("noise.pth", std::string("\x13\x37 no file of weights"));
  PROVOKE("A file of another format",
          "Formats are recognized by their first bytes, not by the name. `file noise.pth` in a "
          "shell says more.",
          io::load(net, "noise.pth"));
  io::save(net, "cut.safetensors");
  std::filesystem::resize_file("cut.safetensors", 400);
  PROVOKE("A truncated file",
          "Nothing was loaded. gpunet itself replaces a file only when the new one is complete.",
          io::load(net, "cut.safetensors"));
  PROVOKE(
      "The weights of another network",
      "The message lists each tensor that differs, with both shapes; nothing was loaded. `{.strict "
      "= false}` loads "
      "the tensors with matching names; "
      "`{.prefix = ...}` and `{.rename = ...}` translate names, `{.skip = ...}` leaves some out.",
      using Wider = nn::Sequential<nn::Input<4>, nn::Named<"fc1", nn::Linear<9>>,
                                   nn::Named<"head", nn::Linear<3>>>;
      Model<Wider, Host> wider(device); io::save(wider, "wider.safetensors");
      io::load(net, "wider.safetensors"));
  PROVOKE("The weights of a network with another head",
          "Parameters that are left out keep their values, and their shapes need not match.",
          using Few = nn::Sequential<nn::Input<4>, nn::Named<"body", nn::Linear<8>>,
                                     nn::Named<"head", nn::Linear<3>>>;
          using Many = nn::Sequential<nn::Input<4>, nn::Named<"body", nn::Linear<8>>,
                                      nn::Named<"head", nn::Linear<5>>>;
          Model<Few, Host> few(device); io::save(few, "few.safetensors");
          Model<Many, Host> many(device); io::load(many, "few.safetensors"));
  PROVOKE("Saving to a missing folder",
          "Make the folder first: `std::filesystem::create_directories(\"results\")`.",
          io::save(net, "results/net.pth"));
  PROVOKE("Saving to a format for a single array",
          "Use `.safetensors` in general, `.pth` for `torch.load`, `.npz` for NumPy.",
          io::save(net, "net.npy"));
  PROVOKE(
      "A checkpoint with another extension",
      "A checkpoint has a checksum for each array, which only the format safetensors can store. "
      "`io::save(net, \"net.pth\")` writes weights for `torch.load`.",
      io::Checkpoint("run.pth"));
  PROVOKE("Unknown file extension", "The extension chooses the format: `net.pth`.",
          io::save(net, "net.weights"));
  io::save(net, "net.safetensors");
  PROVOKE("A pattern to skip that names nothing",
          "The names are those of the network: `\"fc2.*\"`, or `\"fc2\"`.",
          io::load(net, "net.safetensors", {.skip = {"head.*"}}));
  PROVOKE("A misspelled prefix",
          "The names are those of the file. A prefix includes its dot: `\"module.\"`.",
          io::load(net, "net.safetensors", {.prefix = "modul."}));
}

template <class Net>
void training(ErrorPage& page, Host& device, Model<Net, Host>& net, nn::CrossEntropyLoss& criterion,
              optim::SGD<Host, float>& optimizer, const Tensor<float, Host>& inputs,
              const Tensor<label_t, Host>& labels) {
  page.section("Training, TensorBoard and plots");
  const data::TensorDataset set(inputs, labels);
  const data::DataLoader loader(set, {.batch_size = 8});
  page.text("With `const data::DataLoader loader(set, {.batch_size = 8});`:");
  PROVOKE(
      "The optimizer of another model",
      "An optimizer belongs to the model given to its constructor: make both in the same place.",
      Model<Net, Host> second(device);
      train::fit(second, criterion, optimizer, loader, {.epochs = 1}));
  PROVOKE("A generator for batches that are made already",
          "`data::DataLoader` and `fit` with a loader take `.generator`; batches draw from that of "
          "their loader.",
          Generator own(1);
          auto batches = loader.to(device);
          train::fit(net, criterion, optimizer, batches, {.generator = own}));
  PROVOKE("Zero epochs", "Check the option that the number comes from.",
          train::fit(net, criterion, optimizer, loader, {.epochs = 0}));
  PROVOKE("An update of no batches", "1 makes an update for every batch; 4 one for every four.",
          train::Step step(net, criterion, optimizer, {.accumulate = 0}));
  PROVOKE("A monitored metric that is not measured",
          "Give `train::Validation(test_loader)` too. Without `.monitor`, the training loss is "
          "monitored if there "
          "is no validation.",
          train::fit(net, criterion, optimizer, loader, {.epochs = 9},
                     train::EarlyStopping({.monitor = train::Metric::val_loss})));
  PROVOKE("Metrics for another number of classes",
          "Give the number of the network's outputs, here 3.",
          train::ConfusionMatrix confusion(device, 10);
          confusion.update(net(inputs), labels));
  write("log", "");
  PROVOKE("A log folder that is a file",
          "`SummaryWriter` and `train::TensorBoard` create a folder: give another name.",
          io::SummaryWriter("log/first"));
  PROVOKE("Unknown plot format", "Use SVG for web pages, PNG elsewhere.",
          plot::save("loss.jpg", plot::lines({{"loss", {3, 2, 1}}})));

  optimizer.set_lr(std::numeric_limits<float>::max());
  const train::History history =
      train::fit(net, criterion, optimizer, loader, {.epochs = 5}, train::StopOnNaN());
  CHECK(history.end == train::End::not_finite);
  page.entry(
      "A loss that is NaN",
      "auto history = train::fit(net, criterion, optimizer, loader, {.epochs = 5}, "
      "train::StopOnNaN());\n"
      "std::cout << history.why;",
      "This is not an error: the training ends, and prints", history.why,
      "Divide the learning rate by 10 until the loss falls, or add `train::ClipGradNorm{1.0}`. "
      "Check the data too: one NaN in a table makes every loss NaN, and so does a label or an "
      "index of an Embedding out of range on a GPU.");
}

const std::set<std::string, std::less<>> most_common{
    "A GPU, in a program compiled without CUDA",
    "Shapes that do not broadcast",
    "Matrices that cannot be multiplied",
    "Samples do not match the network's Input",
    "One sample without a batch",
    "Label out of range",
    "backward() twice",
    "Labels in a column",
    "Targets without the last dimension",
    "A missing Flatten",
    "An index outside of an Embedding",
    "The images are missing",
    "Text in a column of numbers",
    "File not found",
    "The weights of another network",
    "The weights of a network with another head",
    "A loss that is NaN",
    "A copy of a tensor",
    "An option that an optimizer does not have",
    "A function of values without its header",
};

ErrorPage error_page() {
  const EmptyFolder here;
  ErrorPage page(most_common);
  page.text("# Errors and what to do next");
  page.text(
      "gpunet throws one type of exception, `gpunet::Error` (besides `std::bad_alloc`: out of "
      "memory). Its text has the form *where: what is wrong (why it matters), what to do*. Errors "
      "are shown here with the lines that cause them, as a test runs them. An error that is not "
      "caught ends the program with `terminate called ...` and the text; README's `main` catches "
      "it.");
  page.text("All examples follow these lines:");
  SHOW_AND_RUN(using Net = nn::Sequential<nn::Input<4>, nn::Named<"fc1", nn::Linear<8>>, nn::ReLU,
                                          nn::Named<"fc2", nn::Linear<3>>>;
               manual_seed(0); Host device; Model<Net, Host> net(device);
               nn::CrossEntropyLoss criterion; optim::SGD optimizer(net, {.lr = 0.1});
               auto inputs = randn(device, {16, 4});
               Tensor<label_t, Host> labels(device, {16}, std::vector<label_t>(16, 2)))
  devices(page);
  tensors(page, device);
  models(page, device, net, criterion, inputs, labels);
  functions(page, device);
  optimizers(page, net, optimizer);
  mixed_precision(page, device);
  datasets(page, device, inputs, labels);
  transforms(page);
  files(page, device, net);
  training(page, device, net, criterion, optimizer, inputs, labels);
  compile_errors(page);
  CHECK(page.entries() >= 250);
  return page;
}

}  // namespace

TEST_CASE("docs/errors.md shows the most common errors as they are") {
  const ErrorPage pages = error_page();
  write(GPUNET_ALL_ERRORS, pages.all());
  const std::string path = GPUNET_PROJECT "/docs/errors.md",
                    page = pages.common() +
                           gpunet::concat("\n## All errors\n\nThese are ", most_common.size(),
                                          " of ", pages.entries(),
                                          ". `docs/all_errors.md` in the archive of a release has "
                                          "all of them; `./scripts/test.sh` writes it, too, into "
                                          "`tests/docs/` of the build folder.\n");
  if (std::getenv("GPUNET_WRITE_DOCS")) write(path, page);
  std::istringstream made(page), kept(slurp(path));
  std::string line, other;
  for (int number = 1; std::getline(made, line); ++number) {
    CAPTURE(number);
    REQUIRE_MESSAGE(std::getline(kept, other), "the page ends early");
    REQUIRE(line == other);
  }
  CHECK(page == slurp(path));
}
