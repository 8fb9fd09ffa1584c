#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <gpunet/gpunet.hpp>

#include "io/temp_folder.hpp"
#include "support/arrays.hpp"
#include "support/devices.hpp"
#include "support/end_of.hpp"
#include "support/networks.hpp"

using namespace gpunet;

TEST_CASE_TEMPLATE("a saved model is loaded bit for bit", D, GPUNET_TEST_DEVICES) {
  const TempFolder folder;
  D& device = test_device<D>();
  manual_seed(3);
  Model<SmallNet, D> saved(device), loaded(device);
  io::save(saved, folder / "net.safetensors");
  CHECK(folder.count() == 1);

  const auto file = io::SafetensorsFile::read(folder / "net.safetensors");
  const auto sizes_of = [&](std::string_view name) {
    for (const auto& entry : file.entries())
      if (entry.name == name) return to_string(entry.sizes);
    return std::string("missing");
  };
  CHECK(file.entries().size() == 6);
  CHECK(sizes_of("conv.weight") == "[3, 2, 3, 3]");
  CHECK(sizes_of("conv.bias") == "[3]");
  // Without a name, the layer's position as in torch.nn.Sequential.
  CHECK(sizes_of("4.weight") == "[5, 27]");
  CHECK(sizes_of("out.bias") == "[4]");

  const auto values = [&](const Model<SmallNet, D>& model) {
    std::vector<float> all(static_cast<std::size_t>(model.parameters().numel()));
    device.download(all.data(), model.parameters().data(), all.size() * sizeof(float));
    return all;
  };
  CHECK(values(saved) != values(loaded));
  io::load(loaded, folder / "net.safetensors");
  CHECK(values(saved) == values(loaded));
  for (const char* name : {"net.pth", "net.npz"}) {
    CAPTURE(name);
    Model<SmallNet, D> other(device);
    io::save(saved, folder / name);
    io::load(other, folder / name);
    CHECK(values(saved) == values(other));
  }
}

TEST_CASE(
    "a file that another program cuts short or rewrites while it is loaded does not end the "
    "program") {
  const TempFolder folder;
  Host device;
  const Model<SmallNet, Host> saved(device);
  const auto values = [](const Model<SmallNet, Host>& model) {
    return std::vector<float>(model.parameters().data(),
                              model.parameters().data() + model.parameters().numel());
  };
  for (const char* name : {"net.safetensors", "net.pth", "net.npz"}) {
    CAPTURE(name);
    const std::string path = folder / name;
    io::save(saved, path);
    CHECK(end_of([&] {
            Model<SmallNet, Host> net(device);
            const std::vector<float> before = values(net);
            bool cut = false;
            // Called when the names are known, before any number.
            const auto cut_short = [&](std::string_view key) {
              if (!std::exchange(cut, true)) std::filesystem::resize_file(path, 0);
              return std::string(key);
            };
            const std::string error = error_of([&] { io::load(net, path, {.rename = cut_short}); });
            if (!cut) _exit(1);
            if (error.empty()) _exit(values(net) == values(saved) ? 7 : 2);  // of a copy
            _exit(contains(error, " ends ") && contains(error, "it was cut short") &&
                          values(net) == before
                      ? 7
                      : 3);
          }) == 7);

    io::save(saved, path);
    const std::string whole = read_text(path);
    CHECK(end_of([&] {
            std::atomic<bool> done = false;
            // As `cp other net` does: the file is empty for a moment, then grows.
            std::thread writer([&] {
              for (int i = 0; i < 100'000 && !done; ++i)
                std::ofstream(path, std::ios::binary) << whole;
            });
            Model<SmallNet, Host> net(device);
            for (int i = 0; i < 300; ++i) {
              const std::string error = error_of([&] { io::load(net, path); });
              if (!error.empty() && !error.starts_with("gpunet::io")) _exit(4);
            }
            done = true;
            writer.join();
            io::load(net, path);
            _exit(values(net) == values(saved) ? 7 : 5);
          }) == 7);
  }
}

TEST_CASE("a mapped file gives the same numbers") {
  const TempFolder folder;
  Host device;
  for (const char* name : {"net.safetensors", "net.pth", "net.npz"}) {
    CAPTURE(name);
    const Model<SmallNet, Host> saved(device);
    Model<SmallNet, Host> copied(device), mapped(device);
    io::save(saved, folder / name);
    io::load(copied, folder / name);
    io::load(mapped, folder / name, {.map = true});
    const auto bytes = static_cast<std::size_t>(saved.parameters().numel()) * sizeof(float);
    CHECK(std::memcmp(saved.parameters().data(), copied.parameters().data(), bytes) == 0);
    CHECK(std::memcmp(saved.parameters().data(), mapped.parameters().data(), bytes) == 0);
  }
}

TEST_CASE("a file of another network changes nothing, and the error names every key") {
  const TempFolder folder;
  Host host;
  Model<nn::Sequential<nn::Input<4>, nn::Named<"a", nn::Linear<3>>, nn::Named<"b", nn::Linear<2>>>,
        Host>
      first(host);
  Model<nn::Sequential<nn::Input<4>, nn::Named<"a", nn::Linear<5>>, nn::Named<"c", nn::Linear<2>>>,
        Host>
      second(host);
  io::save(first, folder / "net.safetensors");
  const std::vector<float> before(second.parameters().data(),
                                  second.parameters().data() + second.parameters().numel());
  const std::string error = error_of([&] { io::load(second, folder / "net.safetensors"); });
  for (const char* part :
       {"net.safetensors does not fit this network", "missing keys: c.weight, c.bias",
        "unexpected keys:", "b.weight", "b.bias",
        "size mismatch for a.weight: [3, 4] in the file, [5, 4] in the network",
        "size mismatch for a.bias: [3] in the file, [5] in the network"}) {
    CAPTURE(part);
    CHECK(error.find(part) != std::string::npos);
  }
  CHECK(before == std::vector<float>(second.parameters().data(),
                                     second.parameters().data() + second.parameters().numel()));
  CHECK(error_of([&] { io::load(first, folder / "none.safetensors"); }).find("none.safetensors") !=
        std::string::npos);
}

TEST_CASE("a load without the head leaves the head as it is") {
  const TempFolder folder;
  Host host;
  using Small =
      nn::Sequential<nn::Input<4>, nn::Named<"a", nn::Linear<3>>, nn::Named<"bn", nn::BatchNorm1d>,
                     nn::Named<"fc2", nn::Linear<3>>, nn::Named<"fc", nn::Linear<2>>>;
  using Large =
      nn::Sequential<nn::Input<4>, nn::Named<"a", nn::Linear<3>>, nn::Named<"bn", nn::BatchNorm1d>,
                     nn::Named<"fc2", nn::Linear<3>>, nn::Named<"fc", nn::Linear<5>>>;
  Model<Small, Host> from(host);
  const auto numbers = [](const auto& net, const char* name) {
    return get_parameter(net, name).to_vector();
  };
  for (const char* file : {"net.pth", "net.safetensors", "net.npz"}) {
    io::save(from, folder / file);
    for (const std::vector<std::string>& skip :
         {{"fc.*"}, {"fc"}, std::vector<std::string>{"fc.weight", "fc.b?as"}}) {
      manual_seed(1);
      Model<Large, Host> to(host);
      const auto head = numbers(to, "fc.weight"), bias = numbers(to, "fc.bias");
      const io::IncompatibleKeys keys = io::load(to, folder / file, {.skip = skip});
      CHECK(keys.missing_keys.empty());
      CHECK(keys.unexpected_keys.empty());
      CHECK(numbers(to, "a.weight") == numbers(from, "a.weight"));
      CHECK(numbers(to, "fc2.bias") == numbers(from, "fc2.bias"));
      CHECK(numbers(to, "fc.weight") == head);
      CHECK(numbers(to, "fc.bias") == bias);
    }
  }
  const std::string path = folder / "net.pth";
  Model<Large, Host> to(host);
  manual_seed(2);
  io::load(to, from, {.skip = {"fc"}});  // of a network in memory
  CHECK(numbers(to, "a.weight") == numbers(from, "a.weight"));
  // Its place in the file is left out too.
  io::load(to, path, {.skip = {"fc"}, .match = io::by_order});
  CHECK(numbers(to, "fc2.bias") == numbers(from, "fc2.bias"));

  // Of the file alone: a network without a head; of the network alone: a file without one.
  Model<
      nn::Sequential<nn::Input<4>, nn::Named<"a", nn::Linear<3>>, nn::Named<"bn", nn::BatchNorm1d>>,
      Host>
      body(host);
  io::load(body, path, {.skip = {"fc*"}});
  CHECK(numbers(body, "a.weight") == numbers(from, "a.weight"));
  io::save(body, folder / "body.pth");
  io::load(to, folder / "body.pth", {.skip = {"fc", "fc2"}});

  // What is not skipped has to be there.
  CHECK(contains(error_of([&] { io::load(to, folder / "body.pth", {.skip = {"fc"}}); }),
                 "missing keys: fc2.weight, fc2.bias"));
  CHECK(error_of([&] {
          io::load(to, path, {.skip = {"fc", "head.*"}});
        }) == "gpunet::io::load: nothing in the network or in " + path +
                  " is called \"head.*\", which .skip leaves out (the network has a.weight, "
                  "a.bias, bn.weight, bn.bias, "
                  "bn.running_mean, bn.running_var, bn.num_batches_tracked, fc2.weight, fc2.bias, "
                  "fc.weight and 1 more), "
                  "give a "
                  "name, a part as \"fc\", or a pattern as \"fc.*\"");
  CHECK(contains(error_of([&] { io::load(to, path, {.skip = {"*"}}); }),
                 ".skip leaves out all parameters"));
  CHECK(contains(error_of([&] { io::load(to, path); }),
                 "size mismatch for fc.bias: [2] in the file, [5] in the network\nleave these out "
                 "with {.skip = "
                 "{\"fc\"}}, so that they keep their values, or load a file that"));
}

TEST_CASE("a load of a part returns what the file lacks and what the model has no use for") {
  const TempFolder folder;
  Host host;
  Model<nn::Sequential<nn::Input<4>, nn::Named<"a", nn::Linear<3>>>, Host> first(host);
  Model<nn::Sequential<nn::Input<4>, nn::Named<"a", nn::Linear<3>>, nn::Named<"b", nn::Linear<2>>>,
        Host>
      second(host);
  io::save(first, folder / "first.pth");
  io::save(second, folder / "second.pth");
  const io::IncompatibleKeys lacks = io::load(second, folder / "first.pth", {.strict = false});
  CHECK(lacks.missing_keys == std::vector<std::string>{"b.weight", "b.bias"});
  CHECK(lacks.unexpected_keys.empty());
  const io::IncompatibleKeys more = io::load(first, folder / "second.pth", {.strict = false});
  CHECK(more.missing_keys.empty());
  CHECK(more.unexpected_keys == std::vector<std::string>{"b.bias", "b.weight"});
  const io::IncompatibleKeys all = io::load(first, folder / "first.pth");
  CHECK((all.missing_keys.empty() && all.unexpected_keys.empty()));
}

TEST_CASE_TEMPLATE("a model with BatchNorm keeps its running statistics and its count in a file", D,
                   GPUNET_TEST_DEVICES) {
  using Net =
      nn::Sequential<nn::Input<2, 4, 4>, nn::Conv2d<3, 3>, nn::Named<"norm", nn::BatchNorm2d>,
                     nn::Flatten, nn::Linear<2>, nn::BatchNorm1d>;
  const TempFolder folder;
  D& device = test_device<D>();
  Generator generator(4);
  const Tensor<float, D> x(device, {5, 2, 4, 4}, random_values<float>(160, generator));
  Model<Net, D> saved(device);
  for (int i = 0; i < 3; ++i)
    saved(x);
  saved.eval();
  const std::vector<float> expected = saved(x).tensor().to_vector();
  for (const char* name : {"net.safetensors", "net.pth", "net.npz"}) {
    CAPTURE(name);
    io::save(saved, folder / name);
    Model<Net, D> loaded(device);
    loaded.eval();
    CHECK(loaded(x).tensor().to_vector() != expected);
    io::load(loaded, folder / name);
    CHECK(loaded(x).tensor().to_vector() == expected);
    index_t batches = 0;
    device.download(&batches, loaded.buffers().data() + loaded.named_buffers()[2].offset,
                    sizeof batches);
    CHECK(batches == 3);
  }
  const auto file = io::read_tensors(folder / "net.pth");
  std::string keys;  // in the order of PyTorch
  for (const io::TensorEntry& entry : file.entries())
    keys += entry.name + to_string(entry.sizes) + " ";
  CHECK(keys ==
        "0.weight[3, 2, 3, 3] 0.bias[3] norm.weight[3] norm.bias[3] norm.running_mean[3] "
        "norm.running_var[3] "
        "norm.num_batches_tracked[] 3.weight[2, 12] 3.bias[2] 4.weight[2] 4.bias[2] "
        "4.running_mean[2] "
        "4.running_var[2] 4.num_batches_tracked[] ");
}

TEST_CASE("the weights that PyTorch saved for its lesson are right as often as there") {
  const char* data = std::getenv("GPUNET_TEST_DATA");
  if (!data) {
    MESSAGE(
        "skipped: GPUNET_TEST_DATA does not name a folder with weights/cifar_net.pth and cifar10/");
    return;
  }
  Host host;
  const data::Compose transform(data::ToTensor{},
                                data::Normalize{{0.5f, 0.5f, 0.5f}, {0.5f, 0.5f, 0.5f}});
  const auto images = data::CIFAR10::test(std::string(data) + "/cifar10", transform);
  Model<LeNet, Host> net(host);
  io::load(net, std::string(data) + "/weights/cifar_net.pth");
  train::Accuracy<Host> accuracy(host, 10);
  bool first = true;
  for (auto [inputs, labels] : data::DataLoader(images, {.batch_size = 500}).to(host)) {
    auto outputs = net(inputs);
    accuracy.update(outputs, labels);
    if (!std::exchange(first, false)) continue;
    const std::vector<float> logits = outputs.tensor().to_vector();
    const std::vector<double> expected{-0.4495, -0.3149, -0.3942, 1.1108, -0.9802,
                                       0.3570,  -0.0418, -0.3932, 0.9108, -0.0543};
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(std::abs(logits[i] - expected[i]) < 1e-4);  // which were printed with four places
  }
  CHECK(accuracy.result().correct() == 5490);
}

TEST_CASE("a count may be of any type of number, in brackets, or missing") {
  using Net = nn::Sequential<nn::Input<2>, nn::Named<"norm", nn::BatchNorm1d>>;
  const TempFolder folder;
  Host& host = test_device<Host>();
  Model<Net, Host> net(host);
  const std::vector<float> zeros(2), ones{1, 1};
  const float too_small = 0.5f, below = -1;
  const std::int32_t seven = 7;
  const auto entry = [](const char* name, const auto& values) {
    return io::TensorEntry{name, io::Dtype::F32, {2}, std::as_bytes(std::span(values))};
  };
  const auto load = [&](std::vector<io::TensorEntry> count) {
    count.insert(count.end(), {entry("norm.weight", ones), entry("norm.bias", zeros),
                               entry("norm.running_mean", zeros), entry("norm.running_var", ones)});
    io::write_tensors(folder / "net.safetensors", count, {});
    io::load(net, folder / "net.safetensors");
    return *reinterpret_cast<const index_t*>(net.buffers().data() + net.named_buffers()[2].offset);
  };
  const char* name = "norm.num_batches_tracked";
  CHECK(load({{name, io::Dtype::I32, {}, std::as_bytes(std::span(&seven, 1))}}) == 7);
  CHECK(load({{name, io::Dtype::F32, {1}, std::as_bytes(std::span(&too_small, 1))}}) == 0);
  CHECK(load({{name, io::Dtype::I32, {1}, std::as_bytes(std::span(&seven, 1))}}) == 7);
  CHECK(load({}) == 7);  // as it was
  CHECK(contains(error_of([&] {
                   load({{name, io::Dtype::F32, {}, std::as_bytes(std::span(&below, 1))}});
                 }),
                 "\"norm.num_batches_tracked\" is -1 (want a count, 0 or more)"));
}
